//! The instants that the trigger waits for, open to everyone who learns of one. The store stays the truth: an instant
//! that is not here is found by the next resync.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use super::wheel::Wheel;
use crate::nudge::Nudge;
use mainspring_core::time::Time;

#[derive(Debug)]
pub(crate) struct Plan {
    agenda: Mutex<Agenda>,
    nudge: Arc<Nudge>,
    look_ahead: Duration,
}

#[derive(Debug)]
struct Agenda {
    wheel: Wheel,
    /// What the trigger was told last: an earlier instant must wake it.
    sleeping_until: Time,
    asked: Asked,
}

/// What somebody asked the trigger to do, beside what is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    /// A resync.
    pub(super) look_again: bool,
    /// A job ended that others wait for.
    pub(super) released: bool,
    /// A claim found nothing, and a limit may be why: when does time open its gate?
    pub(super) gates: bool,
    /// The schedules of the last round are turned.
    pub(super) round_over: bool,
}

impl Plan {
    pub(crate) fn new(now: Time, look_ahead: Duration) -> Plan {
        let asked = Asked { look_again: true, ..Asked::default() };
        let agenda = Agenda { wheel: Wheel::new(now), sleeping_until: Time::ZERO, asked };
        Plan { agenda: Mutex::new(agenda), nudge: Arc::default(), look_ahead }
    }

    pub(crate) fn nudge(&self) -> Arc<Nudge> {
        self.nudge.clone()
    }

    /// Until when instants are worth telling. Twice the look-ahead: a job that is stored while a resync reads must not
    /// fall between the two.
    pub(crate) fn horizon(&self, now: Time) -> Time {
        now.after(self.look_ahead).after(self.look_ahead)
    }

    /// Something falls due at these instants, given in order.
    pub(crate) fn expect(&self, instants: &[Time]) {
        let Some(&first) = instants.first() else { return };
        let mut agenda = self.agenda();
        instants.iter().for_each(|&at| agenda.insert(at));
        if first < agenda.sleeping_until {
            self.nudge.notify_one();
        }
    }

    /// Asks the trigger to read the store again: what it may promote has changed.
    pub(crate) fn look_again(&self) {
        self.agenda().asked.look_again = true;
        self.nudge.notify_one();
    }

    /// A job ended, and others may wait for it: asks the trigger to go on with them.
    pub(crate) fn release(&self) {
        self.agenda().asked.released = true;
        self.nudge.notify_one();
    }

    /// A claim found nothing where there are limits: asks the trigger when the next gate opens.
    pub(crate) fn look_at_gates(&self) {
        let mut agenda = self.agenda();
        // One look answers all who ask before it begins.
        if !std::mem::replace(&mut agenda.asked.gates, true) {
            self.nudge.notify_one();
        }
    }

    /// Asks the trigger for the schedules that are due by now.
    pub(super) fn round_over(&self) {
        self.agenda().asked.round_over = true;
        self.nudge.notify_one();
    }

    /// Whether somebody asked when a gate opens. For a node that may not look itself.
    pub(super) fn take_gates(&self) -> bool {
        std::mem::take(&mut self.agenda().asked.gates)
    }

    /// Whether something is due by now, and what somebody asked for.
    pub(super) fn take_due(&self, now: Time) -> (bool, Asked) {
        let mut agenda = self.agenda();
        (!agenda.wheel.advance(now).is_empty(), std::mem::take(&mut agenda.asked))
    }

    /// The next instant, but not after `latest`; the trigger sleeps until then.
    pub(super) fn sleep(&self, latest: Time) -> Time {
        let mut agenda = self.agenda();
        agenda.sleeping_until = agenda.wheel.next_at().unwrap_or(latest).min(latest);
        agenda.sleeping_until
    }

    fn agenda(&self) -> MutexGuard<'_, Agenda> {
        self.agenda.lock().expect("nobody panics while planning")
    }
}

impl Agenda {
    fn insert(&mut self, at: Time) {
        // A full wheel forgets the instant; the resync comes before long and finds what is due.
        let _ = self.wheel.insert(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    const NOW: Time = Time::from_millis(1_000_000);

    fn at(ms: u64) -> Time {
        NOW.after(Duration::from_millis(ms))
    }

    fn is_nudged(plan: &Plan) -> bool {
        let nudge = plan.nudge();
        pin!(nudge.notified()).poll(&mut Context::from_waker(Waker::noop())) == Poll::Ready(())
    }

    #[test]
    fn only_an_earlier_instant_wakes_the_trigger() {
        let plan = Plan::new(NOW, Duration::from_secs(5));
        plan.expect(&[at(50)]);
        assert_eq!(plan.sleep(at(1_000)), at(50));
        plan.expect(&[at(50), at(60)]);
        assert!(!is_nudged(&plan));
        plan.expect(&[at(49)]);
        assert!(is_nudged(&plan));
        assert_eq!(plan.sleep(at(1_000)), at(49));
    }

    #[test]
    fn an_instant_is_due_once_and_the_sleep_is_never_longer_than_asked() {
        let plan = Plan::new(NOW, Duration::from_secs(5));
        plan.expect(&[at(1), at(5_000)]);
        let asked = Asked { look_again: true, ..Asked::default() };
        assert_eq!(plan.take_due(at(0)), (false, asked));
        assert_eq!(plan.take_due(at(1)), (true, Asked::default()));
        assert_eq!(plan.take_due(at(1)), (false, Asked::default()));
        assert_eq!(plan.sleep(at(1_000)), at(1_000));
    }
}
