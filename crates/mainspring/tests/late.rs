//! Workers that come back late: frozen with SIGSTOP past their lease, or just slow. Whatever they say is stale, and their
//! successor is untouched.

mod harness;

use std::time::Duration;

use harness::{Process, Server};
use mainspring_wire::{
    Checkpoint, ClaimRequest, ClaimedJob, Complete, ErrorView, ExecutionOutcome, Fail, NewJob, Outcome, Progress,
    RawValue, Register, RetryPolicy, RetryStrategy, SettleRequest, SettledAs, Settlement, Span, Start, Status, Tenants,
};
use mainspring_worker::{Client, Error};
use rustix::process::Signal;
use uuid::Uuid;

/// A job whose lost attempt is tried again at once.
fn new_job() -> NewJob {
    let retry = RetryPolicy {
        strategy: RetryStrategy::Fixed,
        base: Some(Span::from_millis(1)),
        jitter: Some(0.0),
        ..RetryPolicy::default()
    };
    NewJob { retry: Some(retry), ..NewJob::new("late") }
}

fn worker(server: &Server, script: &str) -> Process {
    let args = ["worker", "--exec", "sh", "--lease", "1s", "--concurrency", "1", "--", "-c", script];
    Process::start(&mut server.client(&args))
}

#[tokio::test]
async fn no_two_holders_a_worker_frozen_past_its_lease_is_stale_and_its_successor_stands() {
    let dir = tempfile::tempdir().expect("a directory");
    let server = Server::start_with(dir.path(), &["--lease", "1s"]);
    let client = Client::new(&server.url).expect("an address");
    let job = client.submit(&new_job()).await.expect("submitted").job_id;

    let begun = dir.path().join("begun");
    let script =
        format!("touch {}; while [ ! -e {}/go ]; do :; done; echo late", begun.display(), dir.path().display());
    let mut frozen = worker(&server, &script);
    until(|| async { begun.exists().then_some(()) }).await;
    frozen.signal(Signal::STOP);

    let _successor = worker(&server, "echo successor");
    let view = until(|| async {
        let view = client.job(job).await.expect("the job");
        (view.status == Status::Completed).then_some(view)
    })
    .await;
    assert!(view.result.expect("a result").get().contains("successor"));

    std::fs::write(dir.path().join("go"), "").expect("a file");
    frozen.signal(Signal::CONT);
    // Whichever it hears first: that it was written off, or that what it says is stale.
    frozen.wait_for_line(|line| {
        (line.contains("the server forgot this worker") || line.contains("no longer held")).then_some(())
    });

    let view = client.job(job).await.expect("the job");
    assert_eq!(view.status, Status::Completed);
    assert!(view.result.expect("a result").get().contains("successor"), "the successor's result stands");
    let outcomes: Vec<_> =
        client.executions(job).await.expect("executions").executions.into_iter().map(|one| one.outcome).collect();
    assert_eq!(outcomes, [Some(ExecutionOutcome::Crashed), Some(ExecutionOutcome::Succeeded)]);
}

#[tokio::test]
async fn no_two_holders_a_late_worker_gets_stale_for_everything() {
    let dir = tempfile::tempdir().expect("a directory");
    let server = Server::start_with(dir.path(), &["--lease", "1s"]);
    let client = Client::new(&server.url).expect("an address");
    let job = client.submit(&new_job()).await.expect("submitted").job_id;

    let late = claim(&client, Span::from_secs(1)).await;
    let successor = until(|| async {
        // The late worker says nothing; its job comes back.
        let claimed = try_claim(&client, Span::from_secs(60)).await;
        claimed.into_iter().next()
    })
    .await;
    assert_eq!((late.job_id, successor.job_id), (job, job));
    assert!(successor.fence > late.fence);
    assert_eq!(successor.attempt, late.attempt + 1);

    let fence = late.fence;
    let json = |text: &str| RawValue::from_string(text.into()).expect("JSON");
    is_stale(client.start(job, &Start { fence }).await);
    let progress = Some(Progress { percent: Some(50.0), note: None });
    is_stale(client.checkpoint(job, &Checkpoint { fence, data: Some(json("1")), progress }).await);
    is_stale(client.complete(job, &Complete { fence, result: Some(json("\"late\"")) }).await);
    let error = ErrorView { message: "late".into(), ..ErrorView::default() };
    is_stale(client.fail(job, &Fail { fence, error, retry_after: None, never_retry: true }).await);
    let snooze_for = Some(Span::from_secs(1));
    let error = Some(ErrorView { message: "late".into(), ..ErrorView::default() });
    let say = |outcome| Settlement::new(job, fence, outcome);
    let settlements = vec![
        say(Outcome::Success),
        Settlement { error, ..say(Outcome::Failure) },
        Settlement { snooze_for, ..say(Outcome::Snooze) },
        say(Outcome::Release),
    ];
    let answer = client.settle(&SettleRequest { settlements }).await.expect("an answer");
    assert_eq!(answer.results.len(), 4);
    assert!(answer.results.iter().all(|settled| settled.state == SettledAs::Stale), "{answer:?}");

    let view = client.job(job).await.expect("the job");
    assert_eq!(view.lease.map(|lease| lease.fence), Some(successor.fence), "the successor holds it");
    assert!(view.checkpoint.is_none() && view.progress.is_none());
    let done = Complete { fence: successor.fence, result: Some(json("\"successor\"")) };
    client.complete(job, &done).await.expect("the successor settles");
    let view = client.job(job).await.expect("the job");
    assert_eq!((view.status, view.result.expect("a result").get()), (Status::Completed, "\"successor\""));
}

fn is_stale<T: std::fmt::Debug>(answer: Result<T, Error>) {
    assert!(matches!(answer, Err(Error::Stale(_))), "{answer:?}");
}

async fn claim(client: &Client, lease: Span) -> ClaimedJob {
    let mut jobs = try_claim(client, lease).await;
    jobs.pop().expect("a job is ready")
}

async fn try_claim(client: &Client, lease: Span) -> Vec<ClaimedJob> {
    let worker_id: Uuid =
        client.register(&Register { lease: Some(lease), ..Register::default() }).await.expect("registered").worker_id;
    let wait = Some(Span::from_secs(1));
    let ask = ClaimRequest {
        worker_id,
        queues: vec!["default".into()],
        max: 1,
        wait,
        tenants: Tenants::Own,
        settlements: vec![],
    };
    client.claim(&ask).await.expect("an answer").jobs
}

/// Asks until there is an answer, for a minute at most.
async fn until<T, F: Future<Output = Option<T>>>(ask: impl Fn() -> F) -> T {
    let asking = async {
        loop {
            if let Some(found) = ask().await {
                return found;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), asking).await.expect("it happens within a minute")
}
