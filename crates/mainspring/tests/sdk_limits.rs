//! The Rust SDK and limits, against the real program: the calls, a handler that is told to come back later, and a worker that serves
//! all tenants.

mod harness;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use harness::Server;
use mainspring_wire::{BreakerPhase, EventKind, ExecutionOutcome, LimitRule, NewJob, Status};
use mainspring_worker::{BoxError, Client, Context, Outcome, Worker, Workflow};

/// Past this a test hangs rather than waits.
const PATIENCE: Duration = Duration::from_secs(60);

fn server() -> (tempfile::TempDir, Server) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start_with(dir.path(), &["--log-level", "warn", "--store", "memory"]);
    (dir, server)
}

fn client(server: &Server) -> Client {
    Client::new(&server.url).expect("an address")
}

/// Waits until a job has ended this way.
async fn until(client: &Client, job: uuid::Uuid, kind: EventKind) {
    let mut events = client.events_of(None, &[]).await.expect("events");
    let ended = async {
        while !matches!(client.job(job).await.expect("the job").status, Status::Completed | Status::Failed) {
            events.next().await.expect("the stream is understood");
        }
    };
    tokio::time::timeout(PATIENCE, ended).await.expect("it ends in time");
    let status = client.job(job).await.expect("the job").status;
    let expected = if kind == EventKind::Completed { Status::Completed } else { Status::Failed };
    assert_eq!(status, expected);
}

#[tokio::test]
async fn every_call_about_limits_is_spoken() {
    let (_dir, server) = server();
    let client = client(&server);
    let rule: LimitRule =
        serde_json::from_str(r#"{"concurrency":2,"rate":{"permits":5,"per":"1m"},"breaker":{}}"#).expect("a rule");
    let checked = client.check_limit("key:a b/*", &rule).await.expect("it is a rule");
    assert_eq!(checked.rule.and_then(|rule| rule.rate).and_then(|rate| rate.burst), Some(5));
    assert!(client.limits().await.expect("limits").limits.is_empty(), "nothing was set");

    let set = client.set_limit("key:a b/*", &rule).await.expect("it is set");
    assert_eq!((set.reach.as_str(), set.state), ("key:a b/*", None));
    let one = client.limit("key:a b/c").await.expect("the pattern holds there");
    let state = one.state.expect("one gate has a state");
    assert_eq!((one.pattern.as_deref(), state.tokens), (Some("key:a b/*"), Some(5)));
    assert_eq!(state.breaker.map(|breaker| breaker.phase), Some(BreakerPhase::Closed));
    assert_eq!(client.reopen_limit("key:a b/*").await.expect("it is there").reach, "key:a b/*");
    assert_eq!(client.limits().await.expect("limits").limits.len(), 1);
    client.remove_limit("key:a b/*").await.expect("it is there");
    assert!(client.remove_limit("key:a b/*").await.is_err_and(|error| error.is_not_found()));
    assert!(client.limit("key:a b/c").await.is_err_and(|error| error.is_not_found()));
    let refused = client.set_limit("everything", &rule).await.expect_err("it is no reach");
    assert_eq!(refused.problem().and_then(|problem| problem.field.as_deref()), Some("reach"));
}

#[tokio::test]
async fn a_handler_that_is_told_to_come_back_later_uses_up_no_attempt() {
    let (_dir, server) = server();
    let client = client(&server);
    let job = NewJob { rate_key: Some("api".into()), max_attempts: Some(1), ..NewJob::new("call") };
    let id = client.submit(&job).await.expect("it is taken in").job_id;
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let worker = Worker::new(client.clone()).handle("call", move |_| {
        let is_first = counted.fetch_add(1, Ordering::SeqCst) == 0;
        async move { if is_first { Outcome::RateLimited(Duration::from_millis(50)) } else { Outcome::done("called") } }
    });
    let control = worker.control();
    let running = tokio::spawn(worker.run());
    until(&client, id, EventKind::Completed).await;
    control.stop();
    running.await.expect("the worker does not panic").expect("it ends well");
    let history = client.executions(id).await.expect("the history").executions;
    let outcomes: Vec<_> = history.iter().filter_map(|execution| execution.outcome).collect();
    assert_eq!(outcomes, [ExecutionOutcome::RateLimited, ExecutionOutcome::Succeeded]);
    let (first, second) = (&history[0], &history[1]);
    let opened = first.ended_at.expect("it ended").as_millis() + 50;
    assert!(second.started_at.as_millis() >= opened, "its key was closed for so long: {history:?}");
    assert_eq!(client.job(id).await.expect("the job").failures, 0);
}

#[tokio::test]
async fn a_worker_for_all_tenants_reports_and_settles_for_each() {
    let (_dir, server) = server();
    let own = client(&server);
    let acme = client(&server).with_tenant("acme").expect("a tenant");
    let workflow = Workflow::new()
        .job("one", NewJob { queue: Some("q".into()), ..NewJob::new("number") })
        .job("two", NewJob { queue: Some("q".into()), ..NewJob::new("twice") })
        .after("one")
        .build();
    let theirs = acme.submit_workflow(&workflow).await.expect("it is taken in").jobs["two"];
    let bad = NewJob { queue: Some("q".into()), max_attempts: Some(1), ..NewJob::new("bad") };
    let bad = acme.submit(&bad).await.expect("it is taken in").job_id;
    let ours =
        own.submit(&NewJob { queue: Some("q".into()), ..NewJob::new("number") }).await.expect("it is taken in").job_id;
    let worker = Worker::new(own.clone())
        .queue("q")
        .all_tenants()
        .claim_wait(Duration::from_millis(500))
        .handle("number", |ctx: Context| async move {
            ctx.checkpoint(&1).await?;
            Ok::<_, BoxError>(if ctx.tenant() == "acme" { 21 } else { 7 })
        })
        .handle("twice", |ctx: Context| async move {
            let (_, step) = ctx.step().ok_or("it is a step")?;
            assert_eq!(step, "two");
            Ok::<_, BoxError>(ctx.parent::<u64>("one").await? * 2)
        })
        .handle("bad", |_| async { Err::<(), _>("no") });
    let control = worker.control();
    let running = tokio::spawn(worker.run());
    until(&acme, theirs, EventKind::Completed).await;
    until(&acme, bad, EventKind::Failed).await;
    until(&own, ours, EventKind::Completed).await;
    control.stop();
    running.await.expect("the worker does not panic").expect("it ends well");
    let result = |view: mainspring_wire::JobView| view.result.map(|result| result.get().to_owned());
    assert_eq!(result(acme.job(theirs).await.expect("the job")).as_deref(), Some("42"));
    assert_eq!(result(own.job(ours).await.expect("the job")).as_deref(), Some("7"));
    assert!(own.job(theirs).await.is_err_and(|error| error.is_not_found()), "it is not ours");
    assert_eq!(acme.job(bad).await.expect("the job").failures, 1);
}

#[tokio::test]
async fn a_tenant_that_cannot_be_said_is_refused_before_a_call() {
    let (_dir, server) = server();
    assert!(client(&server).with_tenant("").is_err());
    assert!(client(&server).with_tenant("a\nb").is_err());
    let odd = client(&server).with_tenant("a b").expect("the server judges names");
    let refused = odd.jobs(&mainspring_wire::JobQuery::default()).await.expect_err("it is none");
    assert_eq!(refused.problem().and_then(|problem| problem.field.as_deref()), Some("Mainspring-Tenant"));
}
