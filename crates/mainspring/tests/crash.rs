//! `kill -9` under load, over and over: what was acknowledged is where it should be, and no lease is settled twice.

mod harness;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use harness::Server;
use mainspring_wire::{
    Batch, ClaimRequest, ErrorView, JobQuery, JobView, NewJob, Outcome, RawValue, Register, RetryPolicy, RetryStrategy,
    SettleRequest, SettledAs, Settlement, Span, Status, Tenants,
};
use mainspring_worker::Client;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tokio::sync::Notify;
use uuid::Uuid;

/// How often the server is killed.
const KILLS: u64 = 55;
/// Callers of each sort at once.
const CALLERS: u64 = 3;

#[test]
fn nothing_accepted_is_lost_and_no_fence_is_settled_twice_over_fifty_kills() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let dir = tempfile::tempdir().expect("a directory");
        let ledger = Arc::new(Ledger::default());
        // Workers of a killed server's time are silent afterwards; a short lease brings their jobs back soon.
        let mut server = Server::start_with(dir.path(), &["--lease", "1s"]);
        for kill in 0..KILLS {
            load_and_kill(&mut server, &ledger, kill).await;
            server.restart();
        }
        let client = Client::new(&server.url).expect("an address");
        let before = all_jobs(&client).await;
        ledger.check(&before, false);
        drain(&client, &ledger).await;
        ledger.check(&all_jobs(&client).await, true);
        let book = ledger.book.lock().expect("nobody panicked");
        println!("{} jobs acknowledged, {} ends acknowledged, {KILLS} kills", book.accepted.len(), book.ended.len());
        assert!(book.ended.len() as u64 > KILLS, "the server was killed before it did anything");
    });
}

/// What clients were told.
#[derive(Default)]
struct Ledger {
    book: Mutex<Book>,
    told: Notify,
}

#[derive(Default)]
struct Book {
    accepted: HashSet<Uuid>,
    /// The fence under which each job's success was acknowledged.
    ended: HashMap<Uuid, u64>,
    /// Successes whose answer did not come.
    unsure: HashSet<(Uuid, u64)>,
    answers: u64,
}

impl Ledger {
    fn write(&self, entry: impl FnOnce(&mut Book)) {
        let mut book = self.book.lock().expect("nobody panicked");
        entry(&mut book);
        book.answers += 1;
        drop(book);
        self.told.notify_waiters();
    }

    /// Waits until so many more answers have come.
    async fn after(&self, answers: u64) {
        let goal = self.book.lock().expect("nobody panicked").answers + answers;
        loop {
            let told = self.told.notified();
            if self.book.lock().expect("nobody panicked").answers >= goal {
                return;
            }
            told.await;
        }
    }

    fn check(&self, jobs: &HashMap<Uuid, JobView>, drained: bool) {
        let book = self.book.lock().expect("nobody panicked");
        for id in &book.accepted {
            let job = jobs.get(id).unwrap_or_else(|| panic!("job {id} was accepted and is gone"));
            let fence = job.result.as_ref().map(|result| result.get().parse::<u64>().expect("a fence"));
            match (job.status, book.ended.get(id)) {
                (Status::Completed, Some(told)) => assert_eq!(fence, Some(*told), "job {id} ended under another fence"),
                (Status::Completed, None) => {
                    let fence = fence.expect("a success has its fence as result");
                    assert!(book.unsure.contains(&(*id, fence)), "job {id} ended and nobody ended it");
                }
                (status, Some(_)) => panic!("job {id} was acknowledged as ended and is {status}"),
                (Status::Pending | Status::Scheduled | Status::Retrying | Status::Running, None) => {
                    assert!(!drained, "job {id} was never run: {:?}", job.status);
                }
                (status, None) => panic!("job {id} is {status}, which nobody asked for"),
            }
        }
    }
}

async fn load_and_kill(server: &mut Server, ledger: &Arc<Ledger>, seed: u64) {
    let mut random = StdRng::seed_from_u64(seed);
    let mut callers = Vec::new();
    for caller in 0..CALLERS {
        let client = Client::new(&server.url).expect("an address");
        callers.push(tokio::spawn(submit_until_gone(client.clone(), Arc::clone(ledger), seed * 100 + caller)));
        callers.push(tokio::spawn(work_until_gone(client, Arc::clone(ledger), seed * 100 + caller)));
    }
    ledger.after(random.random_range(1..60)).await;
    server.kill();
    for caller in callers {
        caller.await.expect("a caller found something wrong");
    }
}

async fn submit_until_gone(client: Client, ledger: Arc<Ledger>, seed: u64) {
    let mut random = StdRng::seed_from_u64(seed);
    loop {
        let jobs: Vec<NewJob> = (0..random.random_range(1..20)).map(|_| new_job(&mut random)).collect();
        let count = jobs.len() as u64;
        let Ok(answer) = client.submit_batch(&Batch { jobs }).await else { return };
        assert_eq!(answer.accepted, count);
        let ids = answer.results.iter().map(|item| item.job_id.expect("it was accepted"));
        ledger.write(|book| book.accepted.extend(ids));
    }
}

fn new_job(random: &mut StdRng) -> NewJob {
    let retry = RetryPolicy {
        strategy: RetryStrategy::Fixed,
        base: Some(Span::from_millis(1)),
        jitter: Some(0.0),
        ..RetryPolicy::default()
    };
    NewJob {
        retry: Some(retry),
        max_attempts: Some(1000),
        max_crashes: Some(1000),
        delay: random.random_bool(0.3).then(|| Span::from_millis(random.random_range(0..30))),
        ..NewJob::new("crash")
    }
}

async fn work_until_gone(client: Client, ledger: Arc<Ledger>, seed: u64) {
    let mut random = StdRng::seed_from_u64(seed);
    let Ok(worker) = client.register(&Register::default()).await else { return };
    while work_once(&client, &ledger, worker.worker_id, &mut random).await.is_ok() {}
}

/// Claims some jobs and settles them. An error means that the server is gone.
async fn work_once(client: &Client, ledger: &Ledger, worker_id: Uuid, random: &mut StdRng) -> Result<usize, ()> {
    let claim = ClaimRequest {
        worker_id,
        queues: vec!["default".into()],
        max: 10,
        wait: Some(Span::from_millis(100)),
        tenants: Tenants::Own,
        settlements: vec![],
    };
    let jobs = match client.claim(&claim).await {
        Ok(answer) => answer.jobs,
        Err(_) => return Err(()),
    };
    if jobs.is_empty() {
        let beat = client.heartbeat(worker_id, &mainspring_wire::Heartbeat::default()).await;
        return beat.map(|_| 0).map_err(|_| ());
    }
    let settlements: Vec<Settlement> = jobs
        .iter()
        .map(|job| match random.random_bool(0.9) {
            true => {
                let fence = RawValue::from_string(job.fence.to_string()).expect("a number is JSON");
                Settlement { result: Some(fence), ..Settlement::new(job.job_id, job.fence, Outcome::Success) }
            }
            false => {
                let error = ErrorView { message: "not this time".into(), ..ErrorView::default() };
                Settlement { error: Some(error), ..Settlement::new(job.job_id, job.fence, Outcome::Failure) }
            }
        })
        .collect();
    let said: Vec<(Uuid, u64, Outcome)> = settlements.iter().map(|it| (it.job_id, it.fence, it.outcome)).collect();
    match client.settle(&SettleRequest { settlements }).await {
        Ok(answer) => {
            ledger.write(|book| {
                for ((id, fence, _), settled) in said.iter().zip(&answer.results) {
                    if settled.state == SettledAs::Completed {
                        let before = book.ended.insert(*id, *fence);
                        assert_eq!(before, None, "job {id} was ended twice");
                    }
                }
            });
            Ok(said.len())
        }
        Err(_) => {
            let successes = said.into_iter().filter(|(_, _, outcome)| *outcome == Outcome::Success);
            ledger.book.lock().expect("nobody panicked").unsure.extend(successes.map(|(id, fence, _)| (id, fence)));
            Err(())
        }
    }
}

async fn all_jobs(client: &Client) -> HashMap<Uuid, JobView> {
    let mut jobs = HashMap::new();
    let mut cursor = None;
    loop {
        let query = JobQuery { limit: Some(1000), cursor, ..JobQuery::default() };
        let page = client.jobs(&query).await.expect("a page");
        jobs.extend(page.jobs.into_iter().map(|job| (job.job_id, job)));
        cursor = page.next_cursor;
        if cursor.is_none() {
            return jobs;
        }
    }
}

/// Runs everything that is left, and what silent workers still hold once it comes back.
async fn drain(client: &Client, ledger: &Ledger) {
    let worker = client
        .register(&Register { lease: Some(Span::from_secs(60)), ..Register::default() })
        .await
        .expect("registered");
    let mut random = StdRng::seed_from_u64(0);
    let patience = tokio::time::timeout(Duration::from_secs(120), async {
        loop {
            work_once(client, ledger, worker.worker_id, &mut random).await.expect("the server stays");
            let queue = client.queue("default").await.expect("the queue");
            if queue.pending + queue.scheduled + queue.running == 0 {
                return;
            }
        }
    });
    patience.await.expect("everything is run in the end");
}
