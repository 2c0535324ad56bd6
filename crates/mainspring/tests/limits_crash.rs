//! No limit is exceeded at any instant: random work by several workers under limits by key, queue and type and a rate, `kill -9` in
//! between, and then the history of every attempt is added up.

mod harness;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use harness::Server;
use mainspring_wire::{
    Batch, ClaimRequest, ErrorView, Heartbeat, LimitRule, NewJob, Outcome, Register, RetryPolicy, RetryStrategy,
    SettledAs, Settlement, Span, Tenants,
};
use mainspring_worker::Client;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tokio::sync::Semaphore;
use uuid::Uuid;

const KILLS: u64 = 8;
const WORKERS: u64 = 4;
/// Jobs that are submitted before each kill.
const JOBS: usize = 60;
/// No run takes longer to come to its end.
const PATIENCE: Duration = Duration::from_secs(240);

/// How much may run at once, where.
const LIMITS: [(&str, u64); 4] = [("queue:q1", 6), ("type:b", 3), ("key:k*", 2), ("tenant", 9)];
const RATE_REACH: &str = "key:rated";
const RATE_PERMITS: u64 = 40;
const RATE_BURST: u64 = 5;
const RATE_PER_MS: u64 = 1000;

#[test]
fn no_limit_is_exceeded_at_any_instant_by_random_work_with_kills_in_between() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let run = async {
        let dir = tempfile::tempdir().expect("a directory");
        // Workers of a killed server's time are silent afterwards; a short lease brings their jobs back soon.
        let mut server = Server::start_with(dir.path(), &["--lease", "1s", "--log-level", "warn"]);
        set_limits(&client(&server)).await;
        let mut jobs = Vec::new();
        for kill in 0..KILLS {
            jobs.extend(work_and_kill(&mut server, kill).await);
            server.restart();
        }
        let client = client(&server);
        drain(&client).await;
        check(&client, &jobs).await;
    };
    runtime.block_on(async { tokio::time::timeout(PATIENCE, run).await.expect("it comes to its end") });
}

fn client(server: &Server) -> Client {
    Client::new(&server.url).expect("an address")
}

async fn set_limits(client: &Client) {
    for (reach, max) in LIMITS {
        let concurrency = Some(u32::try_from(max).expect("small"));
        client.set_limit(reach, &LimitRule { concurrency, ..LimitRule::default() }).await.expect("it is set");
    }
    let rate = format!(r#"{{"rate":{{"permits":{RATE_PERMITS},"per":"1s","burst":{RATE_BURST}}}}}"#);
    client.set_limit(RATE_REACH, &serde_json::from_str(&rate).expect("a rule")).await.expect("it is set");
}

/// A job as it was submitted.
#[derive(Clone)]
struct Submitted {
    id: Uuid,
    job: NewJob,
}

async fn work_and_kill(server: &mut Server, seed: u64) -> Vec<Submitted> {
    let mut random = StdRng::seed_from_u64(seed);
    let client = client(server);
    let jobs: Vec<NewJob> = (0..JOBS).map(|_| new_job(&mut random)).collect();
    let answer = client.submit_batch(&Batch { jobs: jobs.clone() }).await.expect("they are taken in");
    let ids = answer.results.iter().map(|item| item.job_id.expect("it was accepted"));
    let submitted = ids.zip(jobs).map(|(id, job)| Submitted { id, job }).collect();

    // Each claimed or settled job is a permit: the server is killed after so many.
    let moves = Arc::new(Semaphore::new(0));
    let workers: Vec<_> = (0..WORKERS)
        .map(|worker| tokio::spawn(work_until_gone(client.clone(), Arc::clone(&moves), seed * 100 + worker)))
        .collect();
    let enough = random.random_range(10..60);
    moves.acquire_many(enough).await.expect("it is not closed").forget();
    server.kill();
    for worker in workers {
        worker.await.expect("a worker found something wrong");
    }
    submitted
}

fn new_job(random: &mut StdRng) -> NewJob {
    let retry = RetryPolicy {
        strategy: RetryStrategy::Fixed,
        base: Some(Span::from_millis(1)),
        jitter: Some(0.0),
        ..RetryPolicy::default()
    };
    let key = random.random_bool(0.6).then(|| format!("k{}", random.random_range(0..3)));
    NewJob {
        queue: Some(["q1", "q2"][random.random_range(0..2)].to_owned()),
        concurrency_key: key,
        rate_key: random.random_bool(0.3).then(|| "rated".to_owned()),
        weight: Some(random.random_range(1..=2)),
        retry: Some(retry),
        max_attempts: Some(1000),
        max_crashes: Some(1000),
        ..NewJob::new(["a", "b", "c"][random.random_range(0..3)])
    }
}

async fn work_until_gone(client: Client, moves: Arc<Semaphore>, seed: u64) {
    let mut random = StdRng::seed_from_u64(seed);
    let Ok(worker) = client.register(&Register::default()).await else { return };
    let mut held = Vec::new();
    while let Ok(moved) = work_once(&client, worker.worker_id, &mut held, &mut random).await {
        moves.add_permits(moved);
    }
}

/// Settles some of what is held and claims some more, so that attempts last for a few requests. An error means that the server is gone,
/// or has written the worker off.
async fn work_once(
    client: &Client,
    worker_id: Uuid,
    held: &mut Vec<(Uuid, u64)>,
    random: &mut StdRng,
) -> Result<usize, ()> {
    client.heartbeat(worker_id, &Heartbeat::default()).await.map_err(drop)?;
    let (done, kept): (Vec<_>, Vec<_>) = std::mem::take(held).into_iter().partition(|_| random.random_bool(0.4));
    *held = kept;
    let settlements: Vec<Settlement> = done.into_iter().map(|(job, fence)| end(job, fence, random)).collect();
    let claim = ClaimRequest {
        worker_id,
        queues: vec!["q1".into(), "q2".into()],
        max: random.random_range(1..6),
        tenants: Tenants::Own,
        wait: Some(Span::from_millis(20)),
        settlements,
    };
    let answer = client.claim(&claim).await.map_err(drop)?;
    let ended = answer.settled.iter().filter(|settled| settled.state != SettledAs::Stale).count();
    held.extend(answer.jobs.iter().map(|job| (job.job_id, job.fence)));
    if answer.problem.is_some() { Err(()) } else { Ok(ended + answer.jobs.len()) }
}

fn end(job: Uuid, fence: u64, random: &mut StdRng) -> Settlement {
    match random.random_range(0..10) {
        0 => Settlement::new(job, fence, Outcome::Release),
        1 => {
            let error = ErrorView { message: "not this time".into(), ..ErrorView::default() };
            Settlement { error: Some(error), ..Settlement::new(job, fence, Outcome::Failure) }
        }
        _ => Settlement::new(job, fence, Outcome::Success),
    }
}

/// Runs everything that is left, and what silent workers still hold once it comes back.
async fn drain(client: &Client) {
    let mut workers = Vec::new();
    for seed in 0..WORKERS {
        let lease = Some(Span::from_secs(300));
        let registered = client.register(&Register { lease, ..Register::default() }).await.expect("it is registered");
        let client = client.clone();
        workers.push(tokio::spawn(async move {
            let (mut random, mut held) = (StdRng::seed_from_u64(seed), Vec::new());
            loop {
                work_once(&client, registered.worker_id, &mut held, &mut random).await.expect("the server stays");
                let queues = client.queues().await.expect("the queues").queues;
                let unfinished = |queue: &mainspring_wire::QueueView| queue.pending + queue.scheduled + queue.running;
                if held.is_empty() && queues.iter().map(unfinished).sum::<u64>() == 0 {
                    return;
                }
            }
        }));
    }
    for worker in workers {
        worker.await.expect("a worker found something wrong");
    }
}

/// One attempt: its job's weight was held from here to there.
#[derive(Clone, Copy)]
struct Attempt {
    from_ms: u64,
    until_ms: u64,
    weight: u64,
}

async fn check(client: &Client, jobs: &[Submitted]) {
    let mut held: BTreeMap<String, Vec<Attempt>> = BTreeMap::new();
    let mut rated = Vec::new();
    for Submitted { id, job } in jobs {
        let history = client.executions(*id).await.expect("the history").executions;
        assert!(!history.is_empty(), "job {id} never ran");
        for execution in history {
            let until_ms = execution.ended_at.expect("everything has ended").as_millis();
            let weight = u64::from(job.weight.unwrap_or(1));
            let attempt = Attempt { from_ms: execution.started_at.as_millis(), until_ms, weight };
            let gates = [
                Some("tenant".to_owned()),
                job.queue.as_ref().map(|queue| format!("queue:{queue}")),
                Some(format!("type:{}", job.kind)),
                job.concurrency_key.as_ref().map(|key| format!("key:{key}")),
            ];
            gates.into_iter().flatten().for_each(|gate| held.entry(gate).or_default().push(attempt));
            rated.extend(job.rate_key.as_ref().map(|_| attempt));
        }
    }
    for (reach, max) in LIMITS {
        let gates = held.iter().filter(|(gate, _)| match reach.strip_suffix('*') {
            Some(prefix) => gate.starts_with(prefix),
            None => *gate == reach,
        });
        let peaks: Vec<(&String, u64)> = gates.map(|(gate, attempts)| (gate, peak(attempts))).collect();
        assert!(!peaks.is_empty(), "nothing ran through {reach}");
        for (gate, peak) in peaks {
            assert!(peak <= max, "{gate} let {peak} run at once, and {reach} allows {max}");
            // A job takes 1 or 2: with that much to do, less than one job fitted in at some instant.
            assert!(peak + 1 >= max, "{gate} was never full: at most {peak} of {max} ran, so nothing was shown");
        }
    }
    assert!(rated.len() as u64 > 4 * RATE_BURST, "the rate was hardly asked for anything");
    check_rate(rated);
}

/// The most weight at one instant. Who leaves in a millisecond makes room for who comes in it.
fn peak(attempts: &[Attempt]) -> u64 {
    let mut moves: Vec<(u64, i64)> = Vec::new();
    for attempt in attempts.iter().filter(|attempt| attempt.from_ms < attempt.until_ms) {
        let weight = i64::try_from(attempt.weight).expect("small");
        moves.extend([(attempt.from_ms, weight), (attempt.until_ms, -weight)]);
    }
    moves.sort_unstable();
    let mut running = 0;
    let peak = moves.into_iter().map(|(_, weight)| {
        running += weight;
        running
    });
    u64::try_from(peak.max().unwrap_or(0)).expect("nobody leaves before it came")
}

/// In every span that begins and ends with a start, no more weight started than the burst and what came back meanwhile.
fn check_rate(mut starts: Vec<Attempt>) {
    starts.sort_unstable_by_key(|attempt| attempt.from_ms);
    for (at, first) in starts.iter().enumerate() {
        let mut weight = 0;
        for last in &starts[at..] {
            weight += last.weight;
            let span_ms = last.from_ms - first.from_ms;
            let allowed = RATE_BURST * RATE_PER_MS + RATE_PERMITS * span_ms;
            assert!(weight * RATE_PER_MS <= allowed, "{weight} started within {span_ms} ms");
        }
    }
}
