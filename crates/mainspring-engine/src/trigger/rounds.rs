//! Due schedules on their way from the trigger, which must not wait, to the actor that turns them. One round at a time: a
//! schedule that is not turned yet is still due, and would be listed again.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard};

use mainspring_core::schedule::ScheduleView;

use crate::nudge::Nudge;

/// Schedules in one round. While it is under way they are in memory, with their jobs.
pub(super) const ROUND_SCHEDULES_MAX: usize = 4_000;

#[derive(Debug)]
pub(crate) struct Rounds {
    round: Mutex<Round>,
    nudge: Arc<Nudge>,
}

#[derive(Debug)]
enum Round {
    None,
    Waiting(Vec<ScheduleView>),
    UnderWay,
}

impl Rounds {
    pub(crate) fn new() -> Rounds {
        Rounds { round: Mutex::new(Round::None), nudge: Arc::default() }
    }

    pub(crate) fn nudge(&self) -> Arc<Nudge> {
        self.nudge.clone()
    }

    pub(super) fn under_way(&self) -> bool {
        !matches!(*self.round(), Round::None)
    }

    /// Nothing is lost if there is a round already: what is due stays due.
    pub(super) fn hand_over(&self, due: Vec<ScheduleView>) {
        if due.is_empty() {
            return;
        }
        let mut round = self.round();
        if matches!(*round, Round::None) {
            *round = Round::Waiting(due);
            self.nudge.notify_one();
        }
    }

    /// The schedules of the round that waits; from here it is under way.
    pub(super) fn take(&self) -> Vec<ScheduleView> {
        let mut round = self.round();
        match mem::replace(&mut *round, Round::None) {
            Round::None => vec![],
            Round::UnderWay => {
                *round = Round::UnderWay;
                vec![]
            }
            Round::Waiting(due) => {
                *round = Round::UnderWay;
                due
            }
        }
    }

    pub(super) fn over(&self) {
        *self.round() = Round::None;
    }

    fn round(&self) -> MutexGuard<'_, Round> {
        self.round.lock().expect("nobody panics while handing over")
    }
}
