//! Many claims, submits and hang-ups at once. The clock stands still, so nothing polls behind the wakes: a wake that is
//! lost, or a job that is dropped on the way, shows as a job that is never delivered.

use std::collections::BTreeSet;
use std::sync::Mutex;

use tokio::task::JoinSet;

use super::*;

const JOBS: usize = 1_500;
const QUEUES: [&[&str]; 4] = [&["a"], &["b"], &["a", "b"], &["c", "a", "b"]];

/// A worker's loop. Every third request hangs up after a moment.
async fn work(engine: Engine, at: usize, done: Arc<Mutex<BTreeSet<JobId>>>) {
    let worker = engine.register(tenant(), WorkerInfo::default(), None).await.unwrap().worker;
    for round in 0.. {
        let queues = QUEUES[at % QUEUES.len()].iter().map(|name| queue(name)).collect();
        let claim = engine.claim(ClaimAsk { worker, tenant: tenant(), queues, max: 1 + at % 5, wait: seconds(30) });
        let claimed = if round % 3 == 0 {
            let hang_up = async {
                for _ in 0..round % 50 {
                    tokio::task::yield_now().await;
                }
            };
            tokio::select! {
                answer = claim => jobs(answer.unwrap()),
                () = hang_up => continue,
            }
        } else {
            jobs(claim.await.unwrap())
        };
        let ends = claimed.iter().map(|claimed| end(claimed, Outcome::Succeeded { result: None })).collect();
        for (settled, claimed) in engine.settle(ends).await.unwrap().into_iter().zip(claimed) {
            assert!(matches!(settled, Settled::Applied { state: State::Succeeded, .. }), "{settled:?}");
            assert!(done.lock().unwrap().insert(claimed.job.id), "delivered twice");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn in_a_storm_every_job_is_delivered_once_and_none_is_forgotten() {
    let world = World::running().await;
    let done = Arc::new(Mutex::new(BTreeSet::new()));
    let mut workers = JoinSet::new();
    for at in 0..16 {
        workers.spawn(work(world.engine.clone(), at, done.clone()));
    }
    let mut submits = JoinSet::new();
    for at in 0..JOBS / 5 {
        let engine = world.engine.clone();
        let drafts = vec![Draft { queue: queue(["a", "b", "c"][at % 3]), ..draft() }; 5];
        submits.spawn(async move { engine.submit(drafts).await.unwrap().len() });
    }
    assert_eq!(submits.join_all().await.into_iter().sum::<usize>(), JOBS);
    while done.lock().unwrap().len() < JOBS {
        if let Some(ended) = workers.try_join_next() {
            ended.expect("a worker only ends by a failed assertion");
        }
        tokio::task::yield_now().await;
    }
}
