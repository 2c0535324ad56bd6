//! Asks for as many jobs as there is room for, one request at a time, and starts what comes. What ended and made the room is
//! settled by the same request. Never asks for a job it could not start at once.

use std::sync::Arc;
use std::time::Duration;

use mainspring_wire::{ClaimRequest, ClaimedJob, Holding, Order, Settlement, Span};
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinSet;

use super::attempt;
use super::incarnation::Incarnation;
use super::settle;
use super::workplace::Workplace;
use crate::backoff::Backoff;
use crate::clock;
use crate::error::{Error, Result, with_causes};
use crate::outcome::Outcome;

/// The server takes no larger claim.
const CLAIM_JOBS_MAX: usize = 1_000;

/// The attempts under way.
pub(super) struct Attempts {
    running: JoinSet<()>,
}

impl Attempts {
    pub fn new() -> Attempts {
        Attempts { running: JoinSet::new() }
    }
}

/// Polls until the incarnation is forgotten, which is for others to notice, or a claim is refused for good.
pub(super) async fn poll(workplace: &Arc<Workplace>, incarnation: &Incarnation, attempts: &mut Attempts) -> Error {
    let mut backoff = Backoff::of_a_loop();
    loop {
        workplace.handle.vitals().polls = false;
        incarnation.standing.ordered(Order::Work).await;
        let coming = workplace.outbox.expect_claim();
        let mut places = workplace.take_places(CLAIM_JOBS_MAX).await;
        let asking = Asking::new(workplace, incarnation, places.num_permits(), coming.take());
        while attempts.running.try_join_next().is_some() {}
        workplace.handle.vitals().polls = true;

        let asked_at = clock::now();
        let settles = asking.settles();
        match asking.send().await {
            Ok(jobs) => {
                let answered_at = clock::now();
                workplace.handle.vitals().polled_at = Some(answered_at);
                let took = answered_at.saturating_duration_since(asked_at);
                if !settles && came_back_at_once(jobs.len(), took, workplace.settings.claim_wait) {
                    clock::sleep(backoff.next(clock::dice())).await;
                    continue;
                }
                backoff.reset();
                for job in jobs {
                    start(workplace, incarnation, attempts, job, places.split(1)).await;
                }
            }
            Err(error) if error.is_unknown_worker() => {
                incarnation.standing.forget(workplace);
                std::future::pending::<()>().await;
            }
            Err(error) if error.is_passing() => {
                drop(places);
                let wait = pause(&error, backoff.next(clock::dice()));
                tracing::warn!(error = with_causes(&error), ?wait, "could not claim; trying again");
                clock::sleep(wait).await;
            }
            // Perhaps because of what it was to settle: a claim by itself will tell.
            Err(error) if settles => tracing::debug!(%error, "a claim with settlements was refused"),
            Err(error) => return error,
        }
    }
}

/// A claim, and what it settles. If it fails or is dropped, the settler gets the settlements: nobody knows what became of them.
struct Asking<'a> {
    workplace: &'a Workplace,
    request: ClaimRequest,
}

impl Asking<'_> {
    /// A claim that settles does not wait: the next one, with nothing to settle, does.
    fn new<'a>(
        workplace: &'a Workplace,
        incarnation: &Incarnation,
        places: usize,
        settlements: Vec<Settlement>,
    ) -> Asking<'a> {
        let request = ClaimRequest {
            worker_id: incarnation.worker_id,
            queues: workplace.settings.register.queues.clone(),
            tenants: workplace.settings.tenants,
            max: u32::try_from(places).unwrap_or(u32::MAX),
            wait: settlements.is_empty().then(|| Span::from(workplace.settings.claim_wait)),
            settlements,
        };
        Asking { workplace, request }
    }

    fn settles(&self) -> bool {
        !self.request.settlements.is_empty()
    }

    async fn send(mut self) -> Result<Vec<ClaimedJob>> {
        let answer = self.workplace.client.claim(&self.request).await?;
        let settlements = std::mem::take(&mut self.request.settlements);
        settle::taken(self.workplace, &settlements, &answer.settled, false);
        match answer.problem {
            Some(problem) => Err(Error::of(problem)),
            None => Ok(answer.jobs),
        }
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        if self.settles() {
            self.workplace.outbox.give_back(std::mem::take(&mut self.request.settlements));
        }
    }
}

/// Nothing, and without the wait: the server is going down. Asking again at once would only keep it busy.
fn came_back_at_once(jobs: usize, took: Duration, wait: Duration) -> bool {
    jobs == 0 && took < (wait / 2).max(Duration::from_millis(100))
}

/// As long as the server asks for, and no shorter than our own backoff.
fn pause(error: &Error, backoff: Duration) -> Duration {
    match error {
        Error::Busy { retry_after: Some(asked), .. } => backoff.max(*asked),
        _ => backoff,
    }
}

async fn start(
    workplace: &Arc<Workplace>,
    incarnation: &Incarnation,
    attempts: &mut Attempts,
    job: ClaimedJob,
    place: Option<OwnedSemaphorePermit>,
) {
    let Some(place) = place else {
        // More than was asked for. Whoever answers this settlement, it is better off with somebody else.
        let holding = Holding { job_id: job.job_id, fence: job.fence };
        let room = workplace.outbox.room().await;
        let settlement = Settlement { tenant: workplace.tenant_of(&job), ..Outcome::Release.settlement(holding) };
        workplace.outbox.put(room, settlement, None);
        return;
    };
    let attempt = attempt::Attempt::begin(workplace, job, incarnation.lease);
    attempts.running.spawn(attempt.see_through(Arc::clone(workplace), place));
}

#[cfg(test)]
mod tests {
    use mainspring_wire::Problem;

    use super::*;

    #[test]
    fn an_empty_answer_that_did_not_wait_slows_the_poll() {
        let check = |jobs, took_ms, wait_ms, expected| {
            let (took, wait) = (Duration::from_millis(took_ms), Duration::from_millis(wait_ms));
            assert_eq!(came_back_at_once(jobs, took, wait), expected, "{jobs} jobs after {took:?} of {wait:?}");
        };
        check(0, 1, 20_000, true);
        check(0, 20_000, 20_000, false);
        check(1, 1, 20_000, false);
        // Without a wait to speak of, this is what keeps the loop from spinning.
        check(0, 1, 0, true);
        check(0, 150, 0, false);
    }

    #[test]
    fn a_busy_server_says_how_long_to_wait() {
        let busy = |seconds: Option<u64>| Error::Busy {
            retry_after: seconds.map(Duration::from_secs),
            problem: Box::new(Problem::default()),
        };
        let backoff = Duration::from_secs(2);
        assert_eq!(pause(&busy(Some(5)), backoff), Duration::from_secs(5));
        assert_eq!(pause(&busy(Some(1)), backoff), backoff);
        assert_eq!(pause(&busy(None), backoff), backoff);
    }
}
