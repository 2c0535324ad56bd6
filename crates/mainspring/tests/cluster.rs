//! What must hold whoever is asked: three real nodes on one PostgreSQL, each word said to another of them.

mod harness;

use std::time::Duration;

use harness::Server;
use mainspring_store::postgres::testing::Database;
use mainspring_wire::{
    CancelRequest, ClaimRequest, ClaimedJob, Heartbeat, Holding, LedgerQuery, LedgerWhat, LimitRule, NewJob,
    NewSchedule, Outcome, Register, ScheduledJob, SettleRequest, SettledAs, Settlement, Span, Status, Tenants,
};
use mainspring_worker::{BoxError, Client, Expect, Worker};
use uuid::Uuid;

/// Of workers of the SDK: a node that hangs is noticed after a third of it.
const LEASE: Duration = Duration::from_secs(3);

/// Nodes that share a database, and a client of each.
struct Cluster {
    database: Database,
    dir: tempfile::TempDir,
    servers: Vec<Server>,
}

impl Cluster {
    fn new() -> Cluster {
        let dir = tempfile::tempdir().expect("a directory");
        Cluster { database: Database::bare(), dir, servers: Vec::new() }
    }

    fn of_three() -> Cluster {
        let mut cluster = Cluster::new();
        (0..3).for_each(|_| cluster.add(&[]));
        cluster
    }

    fn add(&mut self, flags: &[&str]) {
        let store = self.database.url();
        let flags = [&["--store", &store, "--term", "2s"], flags].concat();
        self.servers.push(Server::start_with(&self.dir.path().join("unused"), &flags));
    }

    fn client(&self, node: usize) -> Client {
        Client::new(&self.servers[node].url).expect("an address")
    }

    fn clients<const N: usize>(&self) -> [Client; N] {
        std::array::from_fn(|node| self.client(node))
    }

    fn node_at(&self, url: &str) -> usize {
        self.servers.iter().position(|server| server.url == url).expect("it is one of them")
    }

    /// A client that knows all of them.
    fn anyone(&self) -> Client {
        let urls: Vec<&str> = self.servers.iter().map(|server| server.url.as_str()).collect();
        Client::new(&urls.join(",")).expect("addresses")
    }
}

async fn register(client: &Client) -> Uuid {
    client.register(&Register::default()).await.expect("registered").worker_id
}

async fn claim(client: &Client, worker_id: Uuid, wait: Option<Span>) -> Vec<ClaimedJob> {
    let queues = vec!["default".into()];
    let claim = ClaimRequest { worker_id, queues, max: 10, wait, tenants: Tenants::Own, settlements: vec![] };
    client.claim(&claim).await.expect("an answer").jobs
}

async fn succeed(client: &Client, job: &ClaimedJob) -> SettledAs {
    let settlements = vec![Settlement::new(job.job_id, job.fence, Outcome::Success)];
    client.settle(&SettleRequest { settlements }).await.expect("an answer").results[0].state
}

/// Submits under a key, as often as it takes: a server that is killed may have heard it.
async fn submit_surely(client: &Client, key: &str) -> Uuid {
    let job = NewJob { idempotency_key: Some(key.into()), ..NewJob::new("hello") };
    loop {
        match client.submit(&job).await {
            Ok(submitted) => return submitted.job_id,
            Err(error) => assert!(error.is_passing(), "{error}"),
        }
    }
}

/// So long that only a signal ends it.
fn long() -> Option<Span> {
    Some(Span::from_secs(60))
}

#[tokio::test]
async fn a_worker_that_registered_at_one_node_beats_claims_and_settles_at_the_others() {
    let cluster = Cluster::of_three();
    let [a, b, c] = cluster.clients();
    let worker = register(&a).await;
    let submitted = c.submit(&NewJob::new("hello")).await.expect("accepted");
    let job = claim(&b, worker, long()).await.remove(0);
    assert_eq!(job.job_id, submitted.job_id);
    let holding = Holding { job_id: job.job_id, fence: job.fence };
    for node in [&a, &b, &c] {
        let beat = Heartbeat { held: Some(1), holding: Some(vec![holding]) };
        let answer = node.heartbeat(worker, &beat).await.expect("it is known");
        assert_eq!((answer.lost, answer.cancel, answer.recount), (vec![], vec![], false));
        assert_eq!(node.workers().await.expect("workers").workers[0].held, 1);
    }
    assert_eq!(succeed(&c, &job).await, SettledAs::Completed);
    assert_eq!(succeed(&b, &job).await, SettledAs::Stale, "it is over for every node");
    assert_eq!(a.job(job.job_id).await.expect("it is there").status, Status::Completed);
}

#[tokio::test]
async fn a_key_used_at_one_node_answers_the_same_job_at_the_others() {
    let cluster = Cluster::of_three();
    let job = NewJob { idempotency_key: Some("once".into()), ..NewJob::new("hello") };
    let [a, b, c] = cluster.clients();
    let (one, other, third) = tokio::join!(a.submit(&job), b.submit(&job), c.submit(&job));
    let answers = [one, other, third].map(|answer| answer.expect("accepted"));
    assert!(answers.iter().all(|answer| answer.job_id == answers[0].job_id), "{answers:?}");
    assert_eq!(answers.iter().filter(|answer| !answer.duplicate).count(), 1, "one of them made it");
}

#[tokio::test]
async fn a_limit_set_at_one_node_holds_for_what_all_of_them_hand_out_together() {
    let cluster = Cluster::of_three();
    let [a, b, c] = cluster.clients();
    let rule = LimitRule { concurrency: Some(2), ..LimitRule::default() };
    a.set_limit("key:shared", &rule).await.expect("it is set");
    for node in [&a, &b, &c, &a, &b] {
        let job = NewJob { concurrency_key: Some("shared".into()), ..NewJob::new("hello") };
        node.submit(&job).await.expect("accepted");
    }
    let worker = register(&a).await;
    let mut held = Vec::new();
    for node in [&b, &c, &a] {
        held.extend(claim(node, worker, None).await);
    }
    assert_eq!(held.len(), 2, "as many as the limit says, at whichever node");
    // A claim that waits at one node goes on when a job ends at another.
    let waiting = {
        let b = b.clone();
        tokio::spawn(async move { claim(&b, worker, long()).await })
    };
    assert_eq!(succeed(&c, &held[0]).await, SettledAs::Completed);
    assert_eq!(waiting.await.expect("it does not panic").len(), 1);
    a.remove_limit("key:shared").await.expect("it is removed");
    assert_eq!(claim(&c, worker, long()).await.len(), 2, "no limit holds the rest back");
}

#[tokio::test]
async fn a_queue_paused_at_one_node_gives_nothing_at_the_others_until_it_is_resumed() {
    let cluster = Cluster::of_three();
    let [a, b, c] = cluster.clients();
    let worker = register(&b).await;
    // Once through, so that every node has known the queue while it was open.
    for node in [&a, &b, &c] {
        node.submit(&NewJob::new("hello")).await.expect("accepted");
        claim(node, worker, long()).await;
    }
    a.pause_queue("default").await.expect("paused");
    b.submit(&NewJob::new("hello")).await.expect("accepted");
    for node in [&b, &c] {
        assert!(claim(node, worker, None).await.is_empty(), "the queue is paused");
    }
    let waiting = {
        let b = b.clone();
        tokio::spawn(async move { claim(&b, worker, long()).await })
    };
    c.resume_queue("default").await.expect("resumed");
    assert_eq!(waiting.await.expect("it does not panic").len(), 1);
}

#[tokio::test]
async fn schedules_made_at_one_node_are_fired_by_whoever_has_their_segments_each_occurrence_once() {
    let cluster = Cluster::of_three();
    let [a, b, c] = cluster.clients();
    // Enough of them that every node has some.
    let names: Vec<String> = (0..12).map(|number| format!("tick-{number}")).collect();
    for name in &names {
        let job = ScheduledJob { kind: "tick".into(), ..ScheduledJob::default() };
        let schedule =
            NewSchedule { cron: Some("* * * * * *".into()), max_runs: Some(2), job, ..NewSchedule::default() };
        a.put_schedule(name, &schedule, Expect::Anything).await.expect("it is made");
    }
    let worker = register(&c).await;
    let mut jobs = Vec::new();
    while jobs.len() < 2 * names.len() {
        let claimed = claim(&b, worker, long()).await;
        assert!(!claimed.is_empty(), "all of them fire");
        jobs.extend(claimed.iter().map(|job| job.job_id));
    }
    for name in &names {
        let rows = c.ledger(name, &LedgerQuery::default()).await.expect("the ledger").rows;
        let fired: Vec<Uuid> = rows.iter().filter_map(|row| row.job_id).collect();
        assert!(rows.iter().all(|row| row.what == LedgerWhat::Fired && row.count == 1), "{rows:?}");
        assert_eq!(fired.len(), 2, "{name}: {rows:?}");
        assert!(fired.iter().all(|id| jobs.contains(id)), "{name}: {rows:?}");
    }
    assert!(claim(&a, worker, None).await.is_empty(), "nothing fired twice");
}

#[tokio::test]
async fn a_job_cancelled_at_one_node_stops_at_the_worker_of_another_by_its_heartbeat() {
    let cluster = Cluster::of_three();
    let [a, b, c] = cluster.clients();
    let worker = register(&b).await;
    let id = c.submit(&NewJob::new("hello")).await.expect("accepted").job_id;
    let job = claim(&b, worker, long()).await.remove(0);
    a.cancel(id, &CancelRequest::default()).await.expect("asked");
    let answer = c.heartbeat(worker, &Heartbeat { held: Some(1), holding: None }).await.expect("it is known");
    assert_eq!(answer.cancel, [Holding { job_id: id, fence: job.fence }]);
    let settlements = vec![Settlement::new(id, job.fence, Outcome::Release)];
    let settled = b.settle(&SettleRequest { settlements }).await.expect("an answer");
    assert_eq!(settled.results[0].state, SettledAs::Cancelled);
    assert_eq!(a.job(id).await.expect("it is there").status, Status::Cancelled);
}

#[tokio::test]
async fn nodes_with_a_role_each_do_together_what_one_does_alone() {
    let mut cluster = Cluster::new();
    ["api", "scheduler", "api,dispatcher"].into_iter().for_each(|roles| cluster.add(&["--roles", roles]));
    let [api, scheduler, dispatcher] = cluster.clients();
    let refused = scheduler.submit(&NewJob::new("hello")).await.expect_err("it answers no clients").to_string();
    assert!(refused.contains("has not the role of api"), "{refused}");
    let worker = register(&api).await;
    let claimed = ClaimRequest {
        worker_id: worker,
        queues: vec!["default".into()],
        max: 1,
        wait: None,
        tenants: Tenants::Own,
        settlements: vec![],
    };
    let refused = api.claim(&claimed).await.expect_err("it hands nothing out").to_string();
    assert!(refused.contains("has not the role of dispatcher"), "{refused}");

    // Made ready by the one, handed out by the other.
    let delayed = NewJob { delay: Some(Span::from_millis(300)), ..NewJob::new("hello") };
    let id = api.submit(&delayed).await.expect("accepted").job_id;
    let job = claim(&dispatcher, worker, long()).await.remove(0);
    assert_eq!(job.job_id, id);
    assert_eq!(succeed(&api, &job).await, SettledAs::Completed);
    let seats: Vec<usize> = {
        let nodes = api.cluster().await.expect("the cluster").nodes;
        let of = |client: &Client| {
            let address = client.url().strip_prefix("http://").map(str::to_owned);
            nodes.iter().find(|node| node.address == address).map_or(0, |node| node.segments.len())
        };
        [&api, &scheduler, &dispatcher].map(of).to_vec()
    };
    assert_eq!(seats, [0, 100, 0], "only a scheduler holds seats");
}

/// Waits until this job has run. On a slow machine one may run twice: its worker was not heard in time.
async fn has_run(runs: &mut tokio::sync::mpsc::UnboundedReceiver<Uuid>, id: Uuid) {
    while runs.recv().await.expect("the worker lives") != id {}
}

/// A worker of the SDK that knows all nodes, and tells which jobs it ran.
fn working(client: Client) -> (Worker, tokio::sync::mpsc::UnboundedReceiver<Uuid>) {
    let (ran, runs) = tokio::sync::mpsc::unbounded_channel();
    let worker = Worker::new(client).lease(LEASE).handle("hello", move |context| {
        let ran = ran.clone();
        async move { ran.send(context.job_id()).map_err(BoxError::from) }
    });
    (worker, runs)
}

#[tokio::test]
async fn a_worker_of_the_sdk_goes_on_at_another_node_when_its_own_is_killed() {
    let mut cluster = Cluster::of_three();
    let anyone = cluster.anyone();
    let (worker, mut runs) = working(anyone.clone());
    let control = worker.control();
    let working = tokio::spawn(worker.run());
    for round in 0..3 {
        let id = submit_surely(&anyone, &format!("before-{round}")).await;
        has_run(&mut runs, id).await;
        // Where the worker waits for its next job.
        let waits_at = anyone.url().to_owned();
        let at = cluster.node_at(&waits_at);
        cluster.servers[at].kill();
        let id = submit_surely(&anyone, &format!("after-{round}")).await;
        has_run(&mut runs, id).await;
        assert_ne!(anyone.url(), waits_at);
        cluster.servers[at].restart_in_place();
    }
    control.stop();
    working.await.expect("it does not panic").expect("it ends well");
}

#[tokio::test]
async fn a_worker_of_the_sdk_goes_on_at_another_node_when_its_own_hangs() {
    let cluster = Cluster::of_three();
    let anyone = cluster.anyone();
    let (worker, mut runs) = working(anyone.clone());
    let control = worker.control();
    let working = tokio::spawn(worker.run());
    let id = submit_surely(&anyone, "before").await;
    has_run(&mut runs, id).await;

    let hangs = cluster.node_at(anyone.url());
    cluster.servers[hangs].process.signal(rustix::process::Signal::STOP);
    // Its connections stay open, and so does the claim that waits there.
    let elsewhere = cluster.client((hangs + 1) % 3);
    let id = submit_surely(&elsewhere, "while it hangs").await;
    has_run(&mut runs, id).await;

    cluster.servers[hangs].process.signal(rustix::process::Signal::CONT);
    let id = submit_surely(&cluster.client(hangs), "after it woke").await;
    has_run(&mut runs, id).await;
    control.stop();
    working.await.expect("it does not panic").expect("it ends well");
}
