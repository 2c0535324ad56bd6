//! What the worker holds, from the claim to the answer to its settlement. The server counts the same way, so a job that ended
//! but is not settled yet is still held.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use mainspring_wire::{Heartbeat, HeartbeatAnswer, Holding};

use crate::stop::{Stop, StopReason};

/// The server takes no longer list. Whoever holds more is only counted.
const HOLDING_JOBS_MAX: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct Holds {
    table: Mutex<HashMap<Holding, Stop>>,
}

impl Holds {
    pub fn take(&self, holding: Holding, stop: Stop) {
        self.table().insert(holding, stop);
    }

    /// It is settled, or not ours.
    pub fn release(&self, holding: &Holding) {
        self.table().remove(holding);
    }

    /// Everyone is asked to stop, and still held.
    pub fn stop_all(&self, reason: StopReason) {
        self.table().values().for_each(|stop| stop.ask(reason));
    }

    /// The server forgot this worker: nothing is held any more.
    pub fn lose_all(&self) {
        self.table().drain().for_each(|(_, stop)| stop.ask(StopReason::Lost));
    }

    /// How many are held; which ones only if the server wants a recount.
    pub fn heartbeat(&self, recount: bool) -> Heartbeat {
        let table = self.table();
        let held = Some(u32::try_from(table.len()).unwrap_or(u32::MAX));
        let listed = recount && table.len() <= HOLDING_JOBS_MAX;
        let holding = listed.then(|| table.keys().copied().collect());
        Heartbeat { held, holding }
    }

    /// Hands on what the server said of single jobs. What is not held (any more) is not meant by it.
    pub fn hear(&self, answer: &HeartbeatAnswer) {
        let mut table = self.table();
        for holding in &answer.cancel {
            if let Some(stop) = table.get(holding) {
                stop.ask(StopReason::Cancelled);
            }
        }
        for holding in &answer.lost {
            if let Some(stop) = table.remove(holding) {
                stop.ask(StopReason::Lost);
            }
        }
    }

    fn table(&self) -> MutexGuard<'_, HashMap<Holding, Stop>> {
        self.table.lock().expect("nobody panics while counting")
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn holding(number: u128) -> Holding {
        Holding { job_id: Uuid::from_u128(number), fence: 1 }
    }

    fn holds(numbers: &[u128]) -> (Holds, Vec<Stop>) {
        let holds = Holds::default();
        let stops: Vec<Stop> = numbers.iter().map(|_| Stop::default()).collect();
        numbers.iter().zip(&stops).for_each(|(number, stop)| holds.take(holding(*number), stop.clone()));
        (holds, stops)
    }

    #[test]
    fn a_heartbeat_counts_and_lists_only_for_a_recount() {
        let (holds, _) = holds(&[1, 2]);
        assert_eq!(holds.heartbeat(false), Heartbeat { held: Some(2), holding: None });
        let mut listed = holds.heartbeat(true).holding.expect("a recount lists");
        listed.sort_by_key(|holding| holding.job_id);
        assert_eq!(listed, [holding(1), holding(2)]);
        holds.release(&holding(1));
        assert_eq!(holds.heartbeat(true), Heartbeat { held: Some(1), holding: Some(vec![holding(2)]) });
    }

    #[test]
    fn a_list_the_server_would_refuse_is_not_sent() {
        let numbers: Vec<u128> = (0..=HOLDING_JOBS_MAX as u128).collect();
        let (holds, _) = holds(&numbers);
        assert_eq!(holds.heartbeat(true), Heartbeat { held: Some(10_001), holding: None });
        holds.release(&holding(0));
        assert_eq!(holds.heartbeat(true).holding.map(|listed| listed.len()), Some(HOLDING_JOBS_MAX));
    }

    #[test]
    fn the_answer_reaches_the_jobs_it_means_and_no_others() {
        let (holds, stops) = holds(&[1, 2, 3]);
        let cancel = vec![holding(1), holding(9), Holding { fence: 2, ..holding(3) }];
        let answer = HeartbeatAnswer { cancel, lost: vec![holding(2), holding(8)], ..HeartbeatAnswer::default() };
        holds.hear(&answer);
        let reasons: Vec<_> = stops.iter().map(Stop::reason).collect();
        assert_eq!(reasons, [Some(StopReason::Cancelled), Some(StopReason::Lost), None]);
        assert_eq!(holds.heartbeat(false).held, Some(2), "a cancelled job is held until it is settled");
    }

    #[test]
    fn a_forgotten_worker_holds_nothing() {
        let (holds, stops) = holds(&[1, 2]);
        holds.lose_all();
        assert!(stops.iter().all(|stop| stop.reason() == Some(StopReason::Lost)));
        assert_eq!(holds.heartbeat(true), Heartbeat { held: Some(0), holding: Some(Vec::new()) });
    }
}
