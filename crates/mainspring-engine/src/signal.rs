//! A word that is said once and stays said: "the node closes". Carries nothing.

use tokio::sync::watch;

#[derive(Debug)]
pub(crate) struct Signal(watch::Sender<bool>);

impl Signal {
    pub(crate) fn new() -> Signal {
        Signal(watch::Sender::new(false))
    }

    pub(crate) fn raise(&self) {
        self.0.send_replace(true);
    }

    pub(crate) fn is_raised(&self) -> bool {
        *self.0.borrow()
    }

    pub(crate) fn listen(&self) -> Listener {
        Listener(self.0.subscribe())
    }
}

#[derive(Debug)]
pub(crate) struct Listener(watch::Receiver<bool>);

impl Listener {
    /// Returns once it is raised, or nobody is left to raise it.
    pub(crate) async fn raised(&mut self) {
        let _ = self.0.wait_for(|raised| *raised).await;
    }
}
