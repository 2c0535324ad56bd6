//! Sends what no claim took along to the server: everything that waits in one request, in order, until the server has it. Never
//! drops a word because the server is away: only the server knows whether a lease was lost, and it answers `stale` then.

use std::collections::VecDeque;
use std::sync::Arc;

use mainspring_wire::{Holding, Outcome as Said, Problem, SettleRequest, Settled, SettledAs, Settlement};

use super::outbox::ToSettle;
use super::workplace::Workplace;
use crate::backoff::Backoff;
use crate::clock;
use crate::error::{Error, with_causes};
use crate::failure::Failure;
use crate::outcome::Outcome;

/// A server that fails so often at one request (about half a minute) may fail because of what is in it.
const BROKEN_TRIES_MAX: u32 = 10;

const REFUSED: &str = "ResultRefused";

/// Sends until the outbox is closed and nothing waits.
pub(super) async fn send(workplace: Arc<Workplace>) {
    while let Some(batch) = workplace.outbox.to_settle().await {
        settle(&workplace, batch).await;
    }
}

async fn settle(workplace: &Workplace, batch: ToSettle) {
    let mut parts = VecDeque::from([SettleRequest { settlements: batch.settlements }]);
    let mut backoff = Backoff::of_a_loop();
    let mut broken = 0;
    while let Some(part) = parts.front() {
        match workplace.client.settle(part).await {
            Ok(answer) => {
                let part = parts.pop_front().expect("it was the front");
                taken(workplace, &part.settlements, &answer.results, batch.repeated || backoff.failures() > 0);
                backoff.reset();
            }
            Err(error) if error.is_passing() && (broken < BROKEN_TRIES_MAX || !answered(&error)) => {
                broken += u32::from(answered(&error));
                let wait = backoff.next(clock::dice());
                let jobs = part.settlements.len();
                tracing::warn!(error = with_causes(&error), ?wait, jobs, "could not settle; trying again");
                clock::sleep(wait).await;
            }
            Err(error) => {
                let problem = error.problem().cloned().unwrap_or_default();
                let part = parts.pop_front().expect("it was the front");
                for smaller in without_the_poison(part.settlements, &problem).into_iter().rev() {
                    parts.push_front(SettleRequest { settlements: smaller });
                }
            }
        }
    }
}

/// The server has these: they are not held any more. `repeated` if it may have had them before.
pub(super) fn taken(workplace: &Workplace, settlements: &[Settlement], results: &[Settled], repeated: bool) {
    note(results, repeated);
    settlements.iter().for_each(|settlement| workplace.holds.release(&holding(settlement)));
}

/// The server read the request, and failed over it.
fn answered(error: &Error) -> bool {
    matches!(error, Error::Broken(_) | Error::Protocol { .. })
}

fn note(results: &[Settled], repeated: bool) {
    for settled in results.iter().filter(|settled| settled.state == SettledAs::Stale) {
        // If an answer got lost, the repetition of what was done is stale too.
        if repeated {
            tracing::info!(job_id = %settled.job_id, "settled before, or no longer held");
        } else {
            tracing::warn!(job_id = %settled.job_id, "no longer held: its outcome was not taken");
        }
    }
}

/// A refused request is sent again in halves, so that one settlement the server cannot take stops no other. One alone becomes
/// a failure that says why; if even that is refused, it is dropped, and the lease runs out.
fn without_the_poison(mut settlements: Vec<Settlement>, problem: &Problem) -> Vec<Vec<Settlement>> {
    if settlements.len() > 1 {
        let later = settlements.split_off(settlements.len().div_ceil(2));
        return vec![settlements, later];
    }
    let Some(settlement) = settlements.pop() else { return Vec::new() };
    let replaced = settlement.error.as_ref().is_some_and(|error| error.kind.as_deref() == Some(REFUSED));
    if replaced || settlement.outcome == Said::Release {
        tracing::error!(job_id = %settlement.job_id, %problem, "the server refused the outcome of an attempt");
        return Vec::new();
    }
    let failure = Failure::new(format!("the server refused the outcome of the attempt: {problem}")).kind(REFUSED);
    let replacement = Outcome::Fail(failure).settlement(holding(&settlement));
    vec![vec![Settlement { tenant: settlement.tenant, ..replacement }]]
}

fn holding(settlement: &Settlement) -> Holding {
    Holding { job_id: settlement.job_id, fence: settlement.fence }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn settlement(number: u64, outcome: Said) -> Settlement {
        let settlement = Settlement::new(Uuid::from_u128(u128::from(number)), number, outcome);
        Settlement { tenant: Some("acme".to_owned()), ..settlement }
    }

    /// Sends like `settle` to a server that refuses these, and answers what it took, in order.
    fn taken(count: u64, refused: impl Fn(&Settlement) -> bool) -> Vec<Settlement> {
        let mut parts =
            VecDeque::from([(0..count).map(|number| settlement(number, Said::Success)).collect::<Vec<_>>()]);
        let mut taken = Vec::new();
        while let Some(part) = parts.pop_front() {
            if part.iter().any(&refused) {
                let smaller =
                    without_the_poison(part, &Problem { detail: "too large".to_owned(), ..Problem::default() });
                smaller.into_iter().rev().for_each(|part| parts.push_front(part));
            } else {
                taken.extend(part);
            }
        }
        taken
    }

    #[test]
    fn a_poisoned_settlement_stops_no_other_and_keeps_its_place() {
        for poison in 0..7 {
            let taken = taken(7, |settlement| settlement.fence == poison && settlement.outcome == Said::Success);
            let fences: Vec<u64> = taken.iter().map(|settlement| settlement.fence).collect();
            assert_eq!(fences, [0, 1, 2, 3, 4, 5, 6]);
            let replaced = &taken[usize::try_from(poison).expect("small")];
            assert_eq!((replaced.outcome, replaced.tenant.as_deref()), (Said::Failure, Some("acme")));
            let message = &replaced.error.as_ref().expect("a failure has an error").message;
            assert!(message.contains("too large"), "{message}");
        }
    }

    #[test]
    fn what_is_refused_whatever_it_says_is_given_up() {
        let taken = taken(5, |settlement| settlement.fence == 3);
        let fences: Vec<u64> = taken.iter().map(|settlement| settlement.fence).collect();
        assert_eq!(fences, [0, 1, 2, 4]);
        let released = vec![settlement(1, Said::Release)];
        assert!(without_the_poison(released, &Problem::default()).is_empty());
    }
}
