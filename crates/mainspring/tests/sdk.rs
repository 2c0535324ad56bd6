//! The Rust SDK against a real server over real connections: the node with the reference store, in a runtime of its own, so that
//! it can be ended like a process and started again on what it remembers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use mainspring_engine::{Engine, Parts, Settings, SystemClock};
use mainspring_store::memory::{Alone, Memory};
use mainspring_wire::{
    Batch, CancelRequest, ClaimRequest, Complete, DeadQuery, Event, EventKind, ExecutionOutcome, Fail, Heartbeat,
    JobPatch, JobQuery, JobView, NewJob, Order, Purge, QueuePatch, Readiness, Register, Replay, RetryPolicy,
    RetryRequest, RetryStrategy, Span, Start, Status, Tenants,
};
use mainspring_worker::{
    BoxError, Client, Context, Error, Events, Failure, Outcome, Result, StopReason, Worker, WorkerHandle, Workflow,
};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::JoinHandle;
use uuid::Uuid;

/// Past this a test hangs rather than waits.
const PATIENCE: Duration = Duration::from_secs(30);
/// The shortest lease there is, so that heartbeats come every third of a second.
const LEASE: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_handler_runs_and_its_result_is_kept() {
    let server = Server::start();
    let mut events = server.client().events().await.expect("events");
    let id = submit(&server, NewJob { data: raw("\"ada\""), ..NewJob::new("greet") }).await;
    let running = Running::start(server.worker().handle("greet", |ctx| async move {
        let name: String = ctx.data()?;
        Ok::<_, BoxError>(format!("hello {name}"))
    }));
    until(&mut events, id, EventKind::Completed).await;
    let job = server.job(id).await;
    assert_eq!((job.status, job.attempts), (Status::Completed, 1));
    assert_eq!(job.result.expect("a result").get(), "\"hello ada\"");
    assert!(running.control.is_healthy(PATIENCE));
    running.stop().await;
    assert!(server.client().workers().await.expect("workers").workers.is_empty(), "it has left");
}

#[tokio::test]
async fn a_step_reads_the_results_of_the_steps_before_it() {
    let server = Server::start();
    let mut events = server.client().events().await.expect("events");
    let workflow = Workflow::new()
        .job("sum", NewJob::new("sum"))
        .after("left")
        .after("right")
        .job("left", NewJob { data: raw("2"), ..NewJob::new("number") })
        .job("right", NewJob { data: raw("3"), ..NewJob::new("number") })
        .build();
    let submitted = server.client().submit_workflow(&workflow).await.expect("it is taken in");
    let worker = server
        .worker()
        .handle("number", |ctx: Context| async move { ctx.data::<u64>() })
        .handle("sum", |ctx: Context| async move {
            Ok::<_, Failure>(ctx.parent::<u64>("left").await? + ctx.parent::<u64>("right").await?)
        });
    let running = Running::start(worker);
    let sum = submitted.jobs["sum"];
    until(&mut events, sum, EventKind::Completed).await;
    assert_eq!(server.job(sum).await.result.expect("a result").get(), "5");
    running.stop().await;
}

#[tokio::test]
async fn every_way_to_fail_costs_an_attempt_and_not_the_worker() {
    let server = Server::start();
    let mut events = server.client().events().await.expect("events");
    let worker = server
        .worker()
        .handle("fails", |_| async { Err::<(), _>("boom") })
        .handle("panics", |_| async { if true { panic!("ouch") } else { Ok::<_, Failure>(()) } })
        .handle("never", |_| async { Err::<(), _>(Failure::new("hopeless").never_retry()) });
    let running = Running::start(worker);
    for (kind, attempts, words) in [
        ("fails", 2, "boom"),
        ("panics", 2, "the handler panicked: ouch"),
        ("never", 1, "hopeless"),
        ("unheard-of", 2, "this worker has no handler for the type \"unheard-of\"; it knows: fails, never, panics"),
    ] {
        let id = submit(&server, NewJob { max_attempts: Some(2), retry: Some(at_once()), ..NewJob::new(kind) }).await;
        until(&mut events, id, EventKind::Failed).await;
        let job = server.job(id).await;
        assert_eq!((job.status, job.attempts), (Status::Failed, attempts), "{kind}");
        assert_eq!(job.error.expect("an error").message, words);
    }
    running.stop().await;
}

#[tokio::test]
async fn a_cancelled_job_is_heard_of_by_its_handler() {
    let server = Server::start();
    let mut events = server.client().events().await.expect("events");
    let (started, mut heard) = mpsc::unbounded_channel();
    let running = Running::start(server.worker().handle("long", listening(started)));
    let id = submit(&server, NewJob::new("long")).await;
    assert_eq!(next(&mut heard).await, "started");
    server.client().cancel(id, &CancelRequest::default()).await.expect("it is asked");
    assert_eq!(next(&mut heard).await, "Some(Cancelled)");
    until(&mut events, id, EventKind::Cancelled).await;
    assert_eq!(server.job(id).await.status, Status::Cancelled);
    running.stop().await;
}

#[tokio::test]
async fn an_attempt_past_its_timeout_is_asked_to_stop_and_counts_as_failed() {
    let server = Server::start();
    let mut events = server.client().events().await.expect("events");
    let (started, mut heard) = mpsc::unbounded_channel();
    let running = Running::start(server.worker().handle("long", listening(started)));
    let timeout = Some(Span::from_millis(200));
    let id = submit(&server, NewJob { timeout, max_attempts: Some(1), ..NewJob::new("long") }).await;
    assert_eq!(next(&mut heard).await, "started");
    assert_eq!(next(&mut heard).await, "Some(TimedOut)");
    until(&mut events, id, EventKind::Failed).await;
    assert_eq!(server.job(id).await.status, Status::Failed);
    running.stop().await;
}

#[tokio::test]
async fn the_next_attempt_goes_on_from_the_checkpoint() {
    let server = Server::start();
    let client = server.client();
    let mut events = client.events().await.expect("events");
    let worker = server.worker().handle("import", move |ctx: Context| {
        let client = client.clone();
        async move {
            if let Some(row) = ctx.last_checkpoint::<u32>()? {
                return Ok((row, ctx.attempt()));
            }
            ctx.checkpoint(&7).await?;
            ctx.progress(0.5, "half way").await?;
            let progress = client.job(ctx.job_id()).await?.progress.unwrap_or_default();
            Err(BoxError::from(format!("interrupted at {:?}, {:?}", progress.percent, progress.note)))
        }
    });
    let running = Running::start(worker);
    let id = submit(&server, NewJob { retry: Some(at_once()), ..NewJob::new("import") }).await;
    until(&mut events, id, EventKind::Completed).await;
    assert_eq!(server.job(id).await.result.expect("a result").get(), "[7,2]");
    let executions = server.client().executions(id).await.expect("executions").executions;
    let error = executions[0].error.as_ref().map(|error| error.message.as_str());
    assert_eq!(error, Some("interrupted at Some(50.0), Some(\"half way\")"));
    running.stop().await;
}

#[tokio::test]
async fn a_shutdown_lets_handlers_finish_and_gives_back_what_does_not() {
    let server = Server::start();
    let (started, mut heard) = mpsc::unbounded_channel();
    let (finish, finished) = tokio::sync::watch::channel(false);
    let worker = server
        .worker()
        .handle("deaf", {
            let started = started.clone();
            move |_| {
                let _ = started.send("started".to_owned());
                std::future::pending::<Outcome>()
            }
        })
        .handle("interrupted", listening(started.clone()))
        .handle("quick", move |_| {
            let _ = started.send("started".to_owned());
            let mut finished = finished.clone();
            async move { finished.wait_for(|finished| *finished).await.map(drop) }
        });
    let running = Running::start(worker.grace(Duration::from_millis(500)).stop_grace(Duration::from_millis(200)));
    let mut ids = Vec::new();
    for kind in ["deaf", "interrupted", "quick"] {
        ids.push(submit(&server, NewJob::new(kind)).await);
        assert_eq!(next(&mut heard).await, "started");
    }
    running.control.stop();
    finish.send(true).expect("the handler listens");
    running.ended().await;
    assert_eq!(next(&mut heard).await, "Some(ShuttingDown)");
    for (id, expected) in ids.into_iter().zip([Status::Pending, Status::Pending, Status::Completed]) {
        let job = server.job(id).await;
        assert_eq!((job.status, job.failures, job.crashes), (expected, 0, 0), "{}", job.kind);
        let executions = server.client().executions(id).await.expect("executions").executions;
        let outcome =
            if expected == Status::Pending { ExecutionOutcome::Released } else { ExecutionOutcome::Succeeded };
        assert_eq!(executions.last().and_then(|execution| execution.outcome), Some(outcome), "{}", job.kind);
    }
}

#[tokio::test]
async fn what_ended_while_the_server_was_away_is_settled_when_it_is_back() {
    let mut server = Server::start();
    let (started, mut heard) = mpsc::unbounded_channel();
    let (finish, finished) = tokio::sync::watch::channel(false);
    let worker = server.worker().lease(Duration::from_secs(60)).handle("long", move |_| {
        let _ = started.send("started".to_owned());
        let mut finished = finished.clone();
        async move {
            let finished = finished.wait_for(|finished| *finished).await;
            finished.map(|_| "survived")
        }
    });
    let running = Running::start(worker);
    let id = submit(&server, NewJob::new("long")).await;
    assert_eq!(next(&mut heard).await, "started");
    server.stop();
    finish.send(true).expect("the handler listens");
    let unreachable = server.client().job(id).await.expect_err("nobody is there");
    assert!(matches!(unreachable, Error::Unreachable { .. }), "{unreachable}");
    let other = running.control.worker_id();
    server.start_again();
    let mut events = server.client().events().await.expect("events");
    let again = submit(&server, NewJob::new("long")).await;
    until(&mut events, again, EventKind::Completed).await;
    let job = server.job(id).await;
    assert_eq!((job.status, job.attempts), (Status::Completed, 1));
    assert_eq!(running.control.worker_id(), other, "its lease outlived the outage");
    running.stop().await;
}

#[tokio::test]
async fn a_forgotten_worker_drops_what_it_held_and_comes_back_as_another() {
    let server = Server::start();
    let mut events = server.client().events().await.expect("events");
    let (started, mut heard) = mpsc::unbounded_channel();
    let tried = Arc::new(AtomicBool::new(false));
    let running = Running::start(server.worker().handle("long", move |ctx: Context| {
        let (started, tried) = (started.clone(), tried.clone());
        async move {
            let _ = started.send("started".to_owned());
            if tried.swap(true, Ordering::Relaxed) {
                return Ok("by its successor");
            }
            ctx.stopped().await;
            let _ = started.send(format!("{:?}", ctx.stop_reason()));
            Err("nobody will hear this")
        }
    }));
    let id = submit(&server, NewJob { retry: Some(at_once()), ..NewJob::new("long") }).await;
    assert_eq!(next(&mut heard).await, "started");
    let first = running.control.worker_id().expect("it is registered");
    server.client().leave(first).await.expect("somebody wrote it off");
    let stopped = [next(&mut heard).await, next(&mut heard).await];
    assert!(stopped.contains(&format!("{:?}", Some(StopReason::Lost))), "{stopped:?}");
    until(&mut events, id, EventKind::Completed).await;
    let job = server.job(id).await;
    assert_eq!(job.result.expect("a result").get(), "\"by its successor\"");
    assert_eq!((job.failures, job.crashes), (0, 0), "what is given back is not counted");
    assert_ne!(running.control.worker_id(), Some(first));
    running.stop().await;
}

#[tokio::test]
async fn orders_are_followed() {
    let server = Server::start();
    let client = server.client();
    let (started, mut heard) = mpsc::unbounded_channel();
    let worker = server.worker().claim_wait(Duration::from_millis(100)).handle("long", listening(started));
    let running = Running::start(worker.grace(PATIENCE));
    let first = submit(&server, NewJob::new("long")).await;
    assert_eq!(next(&mut heard).await, "started");
    let worker_id = running.control.worker_id().expect("it is registered");
    client.order(worker_id, Order::Quiet).await.expect("the order is taken");
    client.cancel(first, &CancelRequest::default()).await.expect("it is asked");
    assert_eq!(next(&mut heard).await, "Some(Cancelled)");
    // The order was given first, so it was heard no later. The server gives a quiet worker nothing either.
    assert_eq!(running.control.order(), Order::Quiet);
    let second = submit(&server, NewJob::new("long")).await;
    let patient = ClaimRequest {
        worker_id,
        queues: vec!["default".to_owned()],
        max: 1,
        wait: None,
        tenants: Tenants::Own,
        settlements: vec![],
    };
    assert!(client.claim(&patient).await.expect("an answer").jobs.is_empty());
    client.order(worker_id, Order::Work).await.expect("the order is taken");
    assert_eq!(next(&mut heard).await, "started");
    // Terminate does not wait for the grace.
    client.order(worker_id, Order::Terminate).await.expect("the order is taken");
    assert_eq!(next(&mut heard).await, "Some(ShuttingDown)");
    running.ended().await;
    assert_eq!(server.job(second).await.status, Status::Pending);
}

#[tokio::test]
async fn a_result_the_server_cannot_take_stops_no_other() {
    let server = Server::start();
    let mut events = server.client().events().await.expect("events");
    let big = submit(&server, NewJob { max_attempts: Some(1), ..NewJob::new("big") }).await;
    let small = submit(&server, NewJob::new("small")).await;
    let worker = server
        .worker()
        .handle("big", |_| async { Ok::<_, Failure>("x".repeat(1024 * 1024)) })
        .handle("small", |_| async { Ok::<_, Failure>("fine") });
    let running = Running::start(worker);
    let mut left = vec![big, small];
    while !left.is_empty() {
        let event = event(&mut events).await;
        left.retain(|id| event.job_id != Some(*id) || !matches!(event.kind, EventKind::Completed | EventKind::Failed));
    }
    assert_eq!(server.job(small).await.status, Status::Completed);
    let message = server.job(big).await.error.expect("an error").message;
    assert!(message.starts_with("the server refused the outcome of the attempt"), "{message}");
    running.stop().await;
}

#[tokio::test]
async fn no_more_run_at_once_than_were_asked_for_and_all_are_run() {
    const JOBS: usize = 200;
    let server = Server::start();
    let jobs = (0..JOBS).map(|_| NewJob::new("count")).collect();
    let answer = server.client().submit_batch(&Batch { jobs }).await.expect("a batch");
    assert_eq!(answer.accepted, JOBS as u64);
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (done, mut heard) = mpsc::unbounded_channel();
    let worker = server.worker().concurrency(7).handle("count", {
        let most = Arc::clone(&most);
        move |_| {
            let (now, most, done) = (Arc::clone(&now), Arc::clone(&most), done.clone());
            async move {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::task::yield_now().await;
                now.fetch_sub(1, Ordering::SeqCst);
                let _ = done.send("done".to_owned());
                Outcome::Done(None)
            }
        }
    });
    let running = Running::start(worker);
    for _ in 0..JOBS {
        assert_eq!(next(&mut heard).await, "done");
    }
    running.stop().await;
    let queue = server.client().queue("default").await.expect("the queue");
    assert_eq!((queue.completed, queue.running), (JOBS as u64, 0));
    let most = most.load(Ordering::SeqCst);
    assert!((2..=7).contains(&most), "{most} ran at once");
}

#[tokio::test]
async fn a_worker_that_cannot_ever_work_says_so() {
    let server = Server::start();
    let error = server.worker().queue("no such name!").run().await.expect_err("it is refused");
    let Error::Refused(problem) = &error else { panic!("{error:?}") };
    assert_eq!(problem.field.as_deref(), Some("queues[0]"), "{error}");
}

#[tokio::test]
async fn every_call_of_the_client_is_one_of_the_server() {
    let server = Server::start();
    check_every_call(&server.client()).await.expect("every call is understood");
}

async fn check_every_call(client: &Client) -> Result<()> {
    assert_eq!(client.ready().await?.status, Readiness::Ready);
    assert!(client.metrics().await?.contains("mainspring"));
    let later = NewJob { queue: Some("mail".to_owned()), delay: Some(Span::from_secs(3600)), ..NewJob::new("send") };
    let id = client.submit(&later).await?.job_id;
    assert_eq!(client.job(id).await?.status, Status::Scheduled);
    assert_eq!(client.explain(id).await?.job_id, id);
    let query = JobQuery { queue: Some("mail".to_owned()), ..JobQuery::default() };
    assert_eq!(client.jobs(&query).await?.jobs.len(), 1);
    assert_eq!(client.patch(id, &JobPatch { priority: Some(9), ..JobPatch::default() }).await?.priority, 9);
    assert_eq!(client.pause(id).await?.status, Status::Paused);
    assert_eq!(client.resume(id).await?.status, Status::Scheduled);
    assert_eq!(client.run(id).await?.status, Status::Pending);

    let registered = client.register(&Register::default()).await?;
    let worker_id = registered.worker_id;
    let claim = ClaimRequest {
        worker_id,
        queues: vec!["mail".to_owned()],
        max: 1,
        wait: None,
        tenants: Tenants::Own,
        settlements: vec![],
    };
    let held = client.claim(&claim).await?.jobs.remove(0);
    let fence = held.fence;
    assert!(client.start(id, &Start { fence }).await?.held);
    let stale = client.complete(id, &Complete { fence: fence + 1, result: None }).await.expect_err("not its fence");
    assert!(matches!(stale, Error::Stale(_)), "{stale}");
    let heartbeat = Heartbeat { held: Some(7), holding: None };
    assert!(client.heartbeat(worker_id, &heartbeat).await?.recount);
    let error = Failure::new("boom").error().clone();
    client.fail(id, &Fail { fence, error, retry_after: None, never_retry: true }).await?;

    assert_eq!(client.dead(&DeadQuery::default()).await?.jobs.len(), 1);
    let again = client.retry(id, &RetryRequest::default()).await?;
    assert_eq!(again.status, Status::Pending);
    let held = client.claim(&claim).await?.jobs.remove(0);
    let error = Failure::new("boom").error().clone();
    client.fail(id, &Fail { fence: held.fence, error, retry_after: None, never_retry: true }).await?;
    assert_eq!(client.replay(&Replay { ids: Some(vec![id]), ..Replay::default() }).await?.replayed, 1);
    let held = client.claim(&claim).await?.jobs.remove(0);
    client.complete(id, &Complete { fence: held.fence, result: None }).await?;
    assert_eq!(client.purge(&Purge { ids: Some(vec![id]), ..Purge::default() }).await?.missing, [id]);
    assert_eq!(client.executions(id).await?.executions.len(), 3);

    assert_eq!(client.queues().await?.queues.len(), 1);
    let patch = QueuePatch { max_depth: Some(Some(1)), ..QueuePatch::default() };
    assert_eq!(client.patch_queue("mail", &patch).await?.max_depth, Some(1));
    assert!(client.pause_queue("mail").await?.paused);
    assert!(!client.resume_queue("mail").await?.paused);
    client.submit(&later).await?;
    let full = client.submit(&later).await.expect_err("the queue is full");
    assert!(matches!(full, Error::Busy { retry_after: Some(_), .. }), "{full}");
    assert!(client.queue("nobody's").await.is_err_and(|error| !error.is_passing()));

    assert_eq!(client.workers().await?.workers.len(), 1);
    client.order(worker_id, Order::Quiet).await?;
    client.leave(worker_id).await?;
    assert!(client.heartbeat(worker_id, &Heartbeat::default()).await.is_err_and(|error| error.is_unknown_worker()));
    assert!(client.job(Uuid::nil()).await.is_err_and(|error| error.is_not_found()));

    let mut events = client.events_of(Some("mail"), &[EventKind::Cancelled]).await?;
    let id = client.jobs(&JobQuery { status: Some("SCHEDULED".to_owned()), ..query }).await?.jobs[0].job_id;
    client.cancel(id, &CancelRequest { reason: Some("enough".to_owned()) }).await?;
    assert_eq!(event(&mut events).await.job_id, Some(id));
    Ok(())
}

/// A node and its door in a runtime of their own.
struct Server {
    address: SocketAddr,
    store: Arc<Memory>,
    runtime: Option<Runtime>,
}

impl Server {
    fn start() -> Server {
        let mut server = Server { address: ([127, 0, 0, 1], 0).into(), store: Arc::new(Memory::new()), runtime: None };
        server.start_again();
        server
    }

    /// On the same address, with what the store remembers.
    fn start_again(&mut self) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let (ready, listening) = std::sync::mpsc::channel();
        let (address, store) = (self.address, self.store.clone());
        runtime.spawn(async move {
            let listener = TcpListener::bind(address).await.expect("the address is free");
            let parts =
                Parts { store: store.clone(), seats: store, wakeups: Arc::new(Alone), clock: Arc::new(SystemClock) };
            // After a start the sweep spares silent workers for as long as the default lease; and the seats of a server that was
            // killed are taken when its term is over.
            let settings = Settings { lease_default: LEASE, term: LEASE, ..Settings::default() };
            let engine = Engine::start(parts, settings).await.expect("the node starts");
            ready.send(listener.local_addr().expect("an address")).expect("the test waits");
            let router = mainspring_http::router(engine, mainspring_http::Options::default());
            mainspring_http::serve(listener, router, std::future::pending()).await.expect("it serves");
        });
        self.address = listening.recv().expect("the server starts");
        self.runtime = Some(runtime);
    }

    /// Like the end of a process: nothing is finished, every connection is cut.
    fn stop(&mut self) {
        self.runtime.take().expect("it runs").shutdown_background();
    }

    fn client(&self) -> Client {
        Client::new(&format!("http://{}", self.address)).expect("an address").with_timeout(Duration::from_secs(10))
    }

    fn worker(&self) -> Worker {
        Worker::new(self.client()).lease(LEASE)
    }

    async fn job(&self, id: Uuid) -> JobView {
        self.client().job(id).await.expect("the job is there")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Dropping a runtime inside another one is not allowed.
        self.runtime.take().into_iter().for_each(Runtime::shutdown_background);
    }
}

/// A worker at work.
struct Running {
    control: WorkerHandle,
    task: JoinHandle<Result<()>>,
}

impl Running {
    fn start(worker: Worker) -> Running {
        Running { control: worker.control(), task: tokio::spawn(worker.run()) }
    }

    async fn stop(self) {
        self.control.stop();
        self.ended().await;
    }

    async fn ended(self) {
        let ended = tokio::time::timeout(PATIENCE, self.task).await.expect("the worker ends in time");
        ended.expect("the worker does not panic").expect("the worker ends well");
    }
}

/// A handler that waits to be asked to stop, and says when it starts and why it stops.
fn listening(
    said: UnboundedSender<String>,
) -> impl Fn(Context) -> std::pin::Pin<Box<dyn Future<Output = std::result::Result<(), &'static str>> + Send>> {
    move |ctx| {
        let said = said.clone();
        Box::pin(async move {
            let _ = said.send("started".to_owned());
            ctx.stopped().await;
            let _ = said.send(format!("{:?}", ctx.stop_reason()));
            Err("it was stopped")
        })
    }
}

async fn submit(server: &Server, job: NewJob) -> Uuid {
    server.client().submit(&job).await.expect("the job is taken").job_id
}

fn at_once() -> RetryPolicy {
    RetryPolicy { strategy: RetryStrategy::Fixed, base: Some(Span::from_millis(1)), ..RetryPolicy::default() }
}

fn raw(json: &str) -> Option<Box<mainspring_wire::RawValue>> {
    Some(mainspring_wire::RawValue::from_string(json.to_owned()).expect("it is JSON"))
}

async fn until(events: &mut Events, job_id: Uuid, kind: EventKind) {
    loop {
        let event = event(events).await;
        if event.job_id == Some(job_id) && event.kind == kind {
            return;
        }
    }
}

async fn event(events: &mut Events) -> Event {
    let event = tokio::time::timeout(PATIENCE, events.next()).await.expect("something happens in time");
    let event = event.expect("the stream is understood").expect("the stream goes on");
    assert_ne!(event.kind, EventKind::Lagged);
    event
}

async fn next(heard: &mut UnboundedReceiver<String>) -> String {
    tokio::time::timeout(PATIENCE, heard.recv())
        .await
        .expect("it is said in time")
        .expect("somebody is there to say it")
}
