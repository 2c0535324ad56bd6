//! Limits on the real program, under a clock that the test moves: what a key, a breaker and a changed limit do to jobs, and that none
//! of it is forgotten when the server is killed.

mod harness;

use harness::{Process, Server};
use mainspring_wire::{
    Advance, BreakerPhase, ClaimRequest, ClaimedJob, ErrorView, Explanation, LimitRule, NewJob, Outcome, Reason,
    Register, RetryPolicy, RetryStrategy, SettleRequest, Settled, SettledAs, Settlement, Span, Status, Tenants,
};
use mainspring_worker::Client;
use uuid::Uuid;

/// For how long workers are told to keep away.
const AWAY: Span = Span::from_secs(600);

/// A server, and a worker of it.
struct House {
    _dir: tempfile::TempDir,
    server: Server,
    client: Client,
    worker_id: Uuid,
}

impl House {
    async fn open() -> House {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let flags = ["--log-level", "warn", "--virtual-clock=2026-12-01T09:00:00Z", "--lease", "1h"];
        let server = Server::start_with(dir.path(), &flags);
        let client = Client::new(&server.url).expect("an address");
        let worker_id = register(&client).await;
        House { _dir: dir, server, client, worker_id }
    }

    /// `kill -9`, and the same folder again. The worker is still known.
    fn kill(&mut self) {
        self.server.kill();
        self.server.restart();
        self.client = Client::new(&self.server.url).expect("an address");
    }

    async fn set(&self, reach: &str, rule: &str) {
        let rule: LimitRule = serde_json::from_str(rule).expect("a rule");
        self.client.set_limit(reach, &rule).await.expect("it is set");
    }

    async fn submit(&self, job: NewJob) -> Uuid {
        self.client.submit(&job).await.expect("it is taken in").job_id
    }

    async fn claim(&self, max: u32, wait: Option<Span>) -> Vec<ClaimedJob> {
        let queues = vec!["default".to_owned()];
        let (worker_id, tenants) = (self.worker_id, Tenants::Own);
        let ask = ClaimRequest { worker_id, queues, max, tenants, wait, settlements: vec![] };
        self.client.claim(&ask).await.expect("an answer").jobs
    }

    async fn settle(&self, job: &ClaimedJob, outcome: Outcome) -> Settled {
        let error = (outcome == Outcome::Failure).then(|| ErrorView { message: "down".into(), ..ErrorView::default() });
        let retry_after = (outcome == Outcome::RateLimited).then_some(AWAY);
        let settlement = Settlement { error, retry_after, ..Settlement::new(job.job_id, job.fence, outcome) };
        let answer = self.client.settle(&SettleRequest { settlements: vec![settlement] }).await.expect("an answer");
        answer.results[0].clone()
    }

    async fn advance(&self, by: Span) {
        self.client.advance_clock(&Advance { by: Some(by), to: None }).await.expect("the clock is virtual");
    }

    async fn explain(&self, job: Uuid) -> Explanation {
        self.client.explain(job).await.expect("an explanation")
    }

    async fn reason(&self, job: Uuid, code: &str) -> Reason {
        let explained = self.explain(job).await;
        let found = explained.reasons.iter().find(|reason| reason.code == code);
        found.unwrap_or_else(|| panic!("{code} is not in {explained:?}")).clone()
    }

    async fn breaker(&self, reach: &str) -> BreakerPhase {
        let state = self.client.limit(reach).await.expect("the limit").state.expect("one gate has a state");
        state.breaker.expect("it has a breaker").phase
    }
}

async fn register(client: &Client) -> Uuid {
    let register = Register { lease: Some(Span::from_secs(3600)), ..Register::default() };
    client.register(&register).await.expect("it is registered").worker_id
}

#[tokio::test]
async fn a_key_that_a_worker_was_told_to_keep_away_from_stays_closed_over_a_kill() {
    let mut house = House::open().await;
    let keyed = || NewJob { rate_key: Some("api".into()), max_attempts: Some(1), ..NewJob::new("call") };
    let (first, second) = (house.submit(keyed()).await, house.submit(keyed()).await);
    let held = house.claim(1, None).await;
    let settled = house.settle(&held[0], Outcome::RateLimited).await;
    assert_eq!(settled.state, SettledAs::RateLimited);
    let opens_at = settled.next_fire_time.expect("it says when");
    for _ in 0..2 {
        assert!(house.claim(10, None).await.is_empty(), "neither goes before its key opens");
        for job in [first, second] {
            assert_eq!(house.reason(job, Reason::LIMIT_CLOSED).await.until, Some(opens_at));
            assert_eq!(house.explain(job).await.eta, Some(opens_at));
        }
        house.kill();
    }
    assert_eq!(house.client.job(first).await.expect("the job").attempts, 0, "no attempt was used up");
    house.advance(AWAY).await;
    assert_eq!(house.claim(10, None).await.len(), 2);
}

#[tokio::test]
async fn a_closed_key_is_reopened_by_hand() {
    let house = House::open().await;
    let job = house.submit(NewJob { concurrency_key: Some("api".into()), ..NewJob::new("call") }).await;
    let held = house.claim(1, None).await;
    house.settle(&held[0], Outcome::RateLimited).await;
    let explained = house.server.run(&["job", "explain", &job.to_string()]).succeeded();
    explained.shows(&["limit_closed", "mainspring limit reopen key:api"]).shows(&["starts at", "2026-12-01T09:10:00"]);
    house.server.run(&["limit", "list"]).succeeded().shows(&["key:api", "2026-12-01T09:10:00.000Z"]);
    house.server.run(&["limit", "reopen", "key:api"]).succeeded();
    assert_eq!(house.claim(1, None).await[0].job_id, job);
}

#[tokio::test]
async fn a_breaker_opens_on_failures_survives_a_kill_probes_and_closes() {
    let mut house = House::open().await;
    let mut events = Process::start(&mut house.server.client(&["events", "--kind", "breaker_opened", "--max", "1"]));
    events.wait_for_line(|line| line.starts_with("following").then_some(()));
    house
        .set("type:call", r#"{"breaker":{"failure_ratio":0.5,"min_attempts":4,"cooldown":"30s","closes_after":2}}"#)
        .await;
    let retry =
        RetryPolicy { strategy: RetryStrategy::Fixed, base: Some(Span::from_secs(7200)), ..RetryPolicy::default() };
    let call = || NewJob { retry: Some(retry.clone()), ..NewJob::new("call") };
    for _ in 0..8 {
        house.submit(call()).await;
    }
    let waiting = house.submit(call()).await;
    let other = house.submit(NewJob::new("other")).await;
    for held in house.claim(4, None).await {
        house.settle(&held, Outcome::Failure).await;
    }
    assert!(events.wait().success(), "the opening was told");
    house.kill();
    assert_eq!(house.breaker("type:call").await, BreakerPhase::Open);
    let free = house.claim(10, None).await;
    assert_eq!(free.iter().map(|job| job.job_id).collect::<Vec<_>>(), [other], "other types go on");
    let open = house.reason(waiting, Reason::BREAKER_OPEN).await;
    assert_eq!((open.limit.as_deref(), open.until), (Some("type:call"), house.explain(waiting).await.eta));

    house.advance(Span::from_secs(30)).await;
    let mut events = Process::start(&mut house.server.client(&["events", "--kind", "breaker_closed", "--max", "1"]));
    events.wait_for_line(|line| line.starts_with("following").then_some(()));
    for left in [2, 1] {
        let probes = house.claim(10, None).await;
        assert_eq!(probes.len(), 1, "one probes at a time, {left} to go");
        assert_eq!(house.breaker("type:call").await, BreakerPhase::HalfOpen);
        house.reason(waiting, Reason::BREAKER_PROBING).await;
        assert_eq!(house.settle(&probes[0], Outcome::Success).await.state, SettledAs::Completed);
    }
    assert!(events.wait().success(), "the closing was told");
    assert_eq!(house.breaker("type:call").await, BreakerPhase::Closed);
    assert_eq!(house.claim(10, None).await.len(), 3, "the rest goes");
}

#[tokio::test]
async fn a_limit_that_is_changed_holds_at_once_for_what_waits() {
    let house = House::open().await;
    house.set("queue:default", r#"{"concurrency":1}"#).await;
    let mut jobs = Vec::new();
    for _ in 0..4 {
        jobs.push(house.submit(NewJob::new("t")).await);
    }
    let first = house.claim(10, None).await;
    assert_eq!(first.len(), 1);
    let full = house.reason(jobs[1], Reason::LIMIT_FULL).await;
    assert_eq!((full.running, full.max, full.holders), (Some(1), Some(1), vec![jobs[0]]));

    // The claim waits already when the limit is raised.
    let (more, ()) =
        tokio::join!(house.claim(10, Some(Span::from_secs(60))), house.set("queue:default", r#"{"concurrency":3}"#));
    assert!(!more.is_empty(), "whoever waits is woken");
    let held = 1 + more.len() + house.claim(10, None).await.len();
    assert_eq!(held, 3);

    house.set("queue:default", r#"{"concurrency":1}"#).await;
    house.settle(&first[0], Outcome::Success).await;
    assert!(house.claim(10, None).await.is_empty(), "two run still, and one may");
    assert_eq!(house.client.job(jobs[3]).await.expect("the job").status, Status::Pending);
    house.client.remove_limit("queue:default").await.expect("it is there");
    assert_eq!(house.claim(10, None).await.len(), 1);
}
