//! What is said of an attempt, however its handler ends.

use std::collections::HashMap;

use super::*;
use crate::handler::boxed;

#[test]
fn what_is_told_depends_on_how_and_why_it_ended() {
    let done = || Ended::Returned(Outcome::Done(None));
    let failed = || Ended::Returned(Outcome::fail("boom"));
    let snoozed = || Ended::Returned(Outcome::Snooze(Duration::from_secs(1)));
    let limited = || Ended::Returned(Outcome::RateLimited(Duration::from_secs(1)));
    let panicked = || Ended::Panicked("oh".to_owned());
    let check = |ended: Ended, reason: Option<StopReason>, expected: &str| {
        let told = match conclude(ended, reason) {
            None => "nothing".to_owned(),
            Some(Outcome::Done(_)) => "done".to_owned(),
            Some(Outcome::Snooze(_)) => "snooze".to_owned(),
            Some(Outcome::RateLimited(_)) => "rate limited".to_owned(),
            Some(Outcome::Release) => "release".to_owned(),
            Some(Outcome::Fail(failure)) => failure.error().kind.clone().unwrap_or_else(|| failure.to_string()),
        };
        assert_eq!(told, expected, "stopped because of {reason:?}");
    };
    check(done(), None, "done");
    check(failed(), None, "boom");
    check(snoozed(), None, "snooze");
    check(limited(), None, "rate limited");
    check(panicked(), None, "Panic");

    check(done(), Some(StopReason::ShuttingDown), "done");
    check(failed(), Some(StopReason::ShuttingDown), "release");
    check(snoozed(), Some(StopReason::ShuttingDown), "snooze");
    check(limited(), Some(StopReason::ShuttingDown), "rate limited");
    check(panicked(), Some(StopReason::ShuttingDown), "Panic");
    check(Ended::Dropped, Some(StopReason::ShuttingDown), "release");

    check(failed(), Some(StopReason::TimedOut), "boom");
    check(Ended::Dropped, Some(StopReason::TimedOut), "Timeout");
    check(failed(), Some(StopReason::Cancelled), "boom");
    check(Ended::Dropped, Some(StopReason::Cancelled), "Cancelled");

    check(done(), Some(StopReason::Lost), "nothing");
    check(failed(), Some(StopReason::Lost), "nothing");
    check(Ended::Dropped, Some(StopReason::Lost), "nothing");
}

#[test]
fn a_type_without_a_handler_fails_and_names_the_known_ones() {
    let mut handlers = Handlers::default();
    assert!(no_handler(&handlers, "a").to_string().ends_with("it knows: none"));
    let handler = boxed(|_| async { Outcome::Release });
    handlers.by_type = HashMap::from([("b".to_owned(), handler.clone()), ("a".to_owned(), handler.clone())]);
    assert!(handlers.find("c").is_none());
    let failure = no_handler(&handlers, "c");
    assert_eq!(failure.to_string(), "this worker has no handler for the type \"c\"; it knows: a, b");
    assert_eq!(failure.wish(), crate::RetryWish::AsPolicy, "another worker may know it");
    handlers.any = Some(handler);
    assert!(handlers.find("c").is_some());
}

/// An attempt around any future, without a server.
fn attempt(time_left: Option<Duration>, work: impl Future<Output = Outcome> + Send + 'static) -> Attempt {
    Attempt {
        holding: Holding { job_id: uuid::Uuid::nil(), fence: 1 },
        tenant: None,
        stop: Stop::default(),
        time_left,
        stop_grace: Duration::ZERO,
        task: Task(tokio::spawn(work)),
    }
}

#[tokio::test]
async fn a_panic_is_a_failure_that_says_what_happened() {
    for (mut attempt, words) in [
        (attempt(None, async { panic!("plain") }), "plain"),
        (attempt(None, async { panic!("with {}", 1) }), "with 1"),
        (attempt(None, async { std::panic::panic_any(7) }), "no message"),
    ] {
        let Some(Outcome::Fail(failure)) = conclude(attempt.end().await, None) else { panic!("no failure") };
        assert_eq!(failure.to_string(), format!("the handler panicked: {words}"));
    }
}

#[tokio::test]
async fn a_handler_past_its_time_is_asked_to_stop_and_then_dropped() {
    let deaf = std::future::pending::<Outcome>();
    let mut attempt = attempt(Some(Duration::ZERO), deaf);
    let ended = attempt.end().await;
    assert!(matches!(ended, Ended::Dropped));
    assert_eq!(attempt.stop.reason(), Some(StopReason::TimedOut));
    assert!((&mut attempt.task.0).await.is_err_and(|error| error.is_cancelled()));
}

#[tokio::test]
async fn a_handler_that_listens_may_still_answer() {
    let (heard, listen) = tokio::sync::oneshot::channel::<()>();
    let mut attempt = attempt(None, async move {
        let _ = listen.await;
        Outcome::Done(None)
    });
    attempt.stop_grace = Duration::from_secs(60);
    let stop = attempt.stop.clone();
    let (ended, ()) = tokio::join!(attempt.end(), async {
        stop.ask(StopReason::Cancelled);
        heard.send(()).expect("the handler listens");
    });
    assert!(matches!(ended, Ended::Returned(Outcome::Done(None))));
}

#[test]
fn the_time_left_is_told_by_the_servers_own_two_times() {
    let job = crate::testing::Trial::new(()).job();
    assert_eq!(time_left(&job), None);
    let timeout_at = Some(mainspring_wire::Timestamp::from_millis(job.claimed_at.as_millis() + 1500));
    assert_eq!(time_left(&ClaimedJob { timeout_at, ..job }), Some(Duration::from_millis(1500)));
}
