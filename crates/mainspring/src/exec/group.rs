//! The process group of a run. It never outlives the run: whoever drops it kills what is left.

use rustix::process::{Pid, Signal, kill_process_group};

#[derive(Debug)]
pub struct Group(Option<Pid>);

impl Group {
    /// The group led by a child that was started as leader of its own.
    pub fn of(child: &tokio::process::Child) -> Group {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Group(id.and_then(Pid::from_raw))
    }

    pub fn ask_to_end(&self) {
        self.signal(Signal::TERM);
    }

    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Everyone in it has ended: there is nobody to kill.
    pub fn is_over(&mut self) {
        self.0 = None;
    }

    /// A group that is gone is what we wanted.
    fn signal(&self, signal: Signal) {
        if let Some(leader) = self.0 {
            let _ = kill_process_group(leader, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
