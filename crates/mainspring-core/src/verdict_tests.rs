//! What [`decide`] owes: every outcome, every bound.

use super::*;
use crate::id::JobId;
use crate::job::Keys;
use crate::lifecycle::{self, Move};
use crate::name::{QueueName, TenantName, TypeName};
use crate::rank::Priority;
use crate::retry::{Backoff, RetryPolicy};
use proptest::prelude::*;

const NOW: Time = Time::from_millis(1_000_000);

fn job(max_attempts: u32, max_crashes: u32) -> Job {
    Job {
        id: JobId::MIN,
        tenant: TenantName::default_tenant(),
        queue: QueueName::default_queue(),
        kind: TypeName::parse("mail").expect("a name"),
        data: Json::null(),
        priority: Priority::DEFAULT,
        submitted_at: Time::ZERO,
        run_at: Time::ZERO,
        deadline: None,
        expires_at: None,
        retry: RetryPolicy {
            backoff: Backoff::Fixed { delay: Duration::from_secs(5) },
            cap: Duration::from_secs(60),
            jitter: 0.0,
        },
        max_attempts,
        max_crashes,
        timeout: None,
        tags: vec![],
        idempotency: None,
        depends_on: vec![],
        workflow: None,
        origin: None,
        keys: Keys::default(),
    }
}

fn tally(attempts: u32, failures: u32, crashes: u32) -> Tally {
    Tally { attempts, failures, crashes }
}

fn failed(retry: RetryWish) -> Outcome {
    Outcome::Failed { error: Failure::new("boom"), retry }
}

fn verdict(tally: Tally, outcome: Outcome) -> Verdict {
    decide(Attempt { job: &job(3, 1), tally, cancel_asked: None }, outcome, NOW, 0)
}

#[test]
fn a_failure_is_retried_until_its_attempts_are_used_up() {
    let retry =
        Verdict::Retry { at: NOW.after(Duration::from_secs(5)), cause: Cause::Failure, error: Failure::new("boom") };
    assert_eq!(verdict(tally(1, 0, 0), failed(RetryWish::AsPolicy)), retry);
    assert_eq!(verdict(tally(2, 1, 0), failed(RetryWish::AsPolicy)), retry);
    let bury = Verdict::Bury { cause: Cause::Failure, error: Failure::new("boom") };
    assert_eq!(verdict(tally(3, 2, 0), failed(RetryWish::AsPolicy)), bury);
    assert_eq!(verdict(tally(1, 0, 0), failed(RetryWish::Never)), bury);
}

#[test]
fn a_worker_may_name_the_wait_but_not_more_attempts() {
    let wish = RetryWish::After(Duration::from_secs(77));
    assert!(
        matches!(verdict(tally(1, 0, 0), failed(wish)), Verdict::Retry { at, .. } if at == NOW.after(Duration::from_secs(77)))
    );
    assert!(matches!(verdict(tally(3, 2, 0), failed(wish)), Verdict::Bury { .. }));
}

#[test]
fn crashes_are_counted_apart_from_failures() {
    assert!(matches!(verdict(tally(3, 2, 0), Outcome::Crashed), Verdict::Retry { cause: Cause::Crash, .. }));
    assert!(matches!(verdict(tally(2, 0, 1), Outcome::Crashed), Verdict::Bury { cause: Cause::Crash, .. }));
    assert!(matches!(verdict(tally(3, 2, 0), Outcome::TimedOut), Verdict::Bury { cause: Cause::Timeout, .. }));
}

#[test]
fn a_job_asked_to_stop_ends_cancelled_unless_it_was_done() {
    let asked = |outcome| {
        decide(Attempt { job: &job(3, 1), tally: tally(1, 0, 0), cancel_asked: Some("stop") }, outcome, NOW, 0)
    };
    assert_eq!(asked(Outcome::Released), Verdict::Cancel { reason: "stop".into() });
    assert!(matches!(asked(Outcome::Crashed), Verdict::Cancel { .. }));
    assert!(matches!(asked(failed(RetryWish::AsPolicy)), Verdict::Cancel { .. }));
    assert!(matches!(asked(Outcome::Succeeded { result: None }), Verdict::Succeed { .. }));
}

#[test]
fn an_attempt_given_back_is_not_counted() {
    for outcome in [Outcome::Released, Outcome::Snoozed { wait: Duration::from_secs(1) }] {
        assert_eq!(verdict(tally(2, 1, 0), outcome).count(tally(2, 1, 0)), tally(1, 1, 0));
    }
}

#[test]
fn a_rate_limited_attempt_closes_its_key_and_without_one_waits_alone() {
    let wait = Duration::from_secs(9);
    let key = |text: &str| crate::name::LimitKey::parse(text).ok();
    let limited = |keys: Keys| {
        let job = Job { keys, ..job(3, 1) };
        let attempt = Attempt { job: &job, tally: tally(2, 1, 0), cancel_asked: None };
        decide(attempt, Outcome::RateLimited { wait }, NOW, 0)
    };
    assert_eq!(limited(Keys::default()), Verdict::Snooze { at: NOW.after(wait) });
    let closes = limited(Keys { concurrency: key("a"), ..Keys::default() });
    assert_eq!(closes, Verdict::Close { wait });
    assert_eq!(closes.count(tally(2, 1, 0)), tally(1, 1, 0));
    assert_eq!(closes.destination(NOW, Time::ZERO), (State::Ready, Time::ZERO));
    let both = Keys { concurrency: key("a"), rate: key("b"), weight: 1 };
    assert_eq!(both.closing(), key("b").as_ref());
}

fn outcomes() -> impl Strategy<Value = Outcome> {
    let wait = (0u64..1 << 45).prop_map(Duration::from_millis);
    prop_oneof![
        Just(Outcome::Succeeded { result: None }),
        Just(failed(RetryWish::AsPolicy)),
        Just(failed(RetryWish::Never)),
        wait.clone().prop_map(|wait| failed(RetryWish::After(wait))),
        wait.clone().prop_map(|wait| Outcome::Snoozed { wait }),
        wait.prop_map(|wait| Outcome::RateLimited { wait }),
        Just(Outcome::Released),
        Just(Outcome::Crashed),
        Just(Outcome::TimedOut),
    ]
}

proptest! {
    #[test]
    fn every_verdict_is_a_move_of_the_table(outcome in outcomes(), failures in 0u32..5, crashes in 0u32..5, asked: bool, seed: u64) {
        let attempt = Attempt { job: &job(3, 2), tally: tally(failures + crashes + 1, failures, crashes), cancel_asked: asked.then_some("stop") };
        let verdict = decide(attempt, outcome, NOW, seed);
        let what = match verdict {
            Verdict::Succeed { .. } => Move::Succeed,
            Verdict::Retry { .. } => Move::Retry,
            Verdict::Snooze { .. } => Move::Snooze,
            Verdict::Release | Verdict::Close { .. } => Move::Release,
            Verdict::Bury { .. } => Move::Bury,
            Verdict::Cancel { .. } => Move::Cancel,
        };
        let (state, _) = verdict.destination(NOW, Time::ZERO);
        prop_assert!(lifecycle::allows(Some(State::Running), what, Some(state)));
    }

    #[test]
    fn no_job_is_tried_without_end(outcomes in prop::collection::vec(prop_oneof![
        Just(failed(RetryWish::AsPolicy)), Just(Outcome::Crashed), Just(Outcome::TimedOut)], 20)) {
        let job = job(3, 2);
        let mut counted = Tally::default();
        let ends = outcomes.into_iter().any(|outcome| {
            let during = Tally { attempts: counted.attempts + 1, ..counted };
            let verdict = decide(Attempt { job: &job, tally: during, cancel_asked: None }, outcome, NOW, 0);
            counted = verdict.count(during);
            matches!(verdict, Verdict::Bury { .. })
        });
        prop_assert!(ends && counted.attempts <= job.max_attempts + job.max_crashes);
    }
}
