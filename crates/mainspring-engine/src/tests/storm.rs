//! Many claims, submits and hang-ups at once. The clock stands still, so nothing polls behind the wakes: a wake that is
//! lost, or a job that is dropped on the way, shows as a job that is never delivered.

use std::collections::{BTreeMap, BTreeSet};
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
        let claim = engine.claim(ClaimAsk {
            worker,
            tenant: tenant(),
            whose: Whose::Own,
            queues,
            max: 1 + at % 5,
            wait: seconds(30),
        });
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

const SLOTS: u32 = 2;
const KEYS: [&str; 3] = ["x", "y", "z"];

/// A worker's loop behind limits. `held` counts what all of them hold of each key. Some give jobs back.
async fn work_behind_limits(engine: Engine, at: usize, held: Arc<Mutex<BTreeMap<String, u32>>>, done: Done) {
    let worker = engine.register(tenant(), WorkerInfo::default(), None).await.unwrap().worker;
    for round in 0.. {
        let queues = QUEUES[at % QUEUES.len()].iter().map(|name| queue(name)).collect();
        let whose = if at.is_multiple_of(2) { Whose::Own } else { Whose::All };
        let ask = ClaimAsk { worker, tenant: tenant(), whose, queues, max: 1 + at % 5, wait: seconds(30) };
        let claimed = jobs(engine.claim(ask).await.unwrap());
        let keys: Vec<String> = claimed
            .iter()
            .map(|claimed| claimed.job.keys.concurrency.as_ref().expect("all have one").to_string())
            .collect();
        for key in &keys {
            let mut held = held.lock().unwrap();
            let count = held.entry(key.clone()).or_default();
            *count += 1;
            assert!(*count <= SLOTS, "{count} of {key} at once");
        }
        for _ in 0..round % 7 {
            tokio::task::yield_now().await;
        }
        // Before they are settled: the next one may have the slot before the answer is here.
        keys.iter().for_each(|key| *held.lock().unwrap().get_mut(key).expect("was counted") -= 1);
        let outcome = if round % 4 == 3 { Outcome::Released } else { self::done() };
        let ends = claimed.iter().map(|claimed| end(claimed, outcome.clone())).collect();
        engine.settle(ends).await.unwrap();
        if outcome != Outcome::Released {
            done.lock().unwrap().extend(ids(&claimed));
        }
    }
}

type Done = Arc<Mutex<BTreeSet<JobId>>>;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn in_a_storm_behind_limits_no_slot_is_taken_twice_and_no_free_one_forgotten() {
    let world = World::running().await;
    world.limit("key:*", at_once(SLOTS)).await;
    world.limit("queue:a", at_once(3)).await;
    let (done, held) = (Done::default(), Arc::default());
    let mut workers = JoinSet::new();
    for at in 0..12 {
        workers.spawn(work_behind_limits(world.engine.clone(), at, Arc::clone(&held), done.clone()));
    }
    let mut submitted = BTreeSet::new();
    for at in 0..JOBS / 10 {
        let drafts = vec![Draft { queue: queue(["a", "b", "c"][at % 3]), ..slot_of(KEYS[at % 4 % 3]) }; 2];
        submitted.extend(world.engine.submit(drafts).await.unwrap().into_iter().map(|submission| submission.id));
    }
    while done.lock().unwrap().len() < submitted.len() {
        if let Some(ended) = workers.try_join_next() {
            ended.expect("a worker only ends by a failed assertion");
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(*done.lock().unwrap(), submitted);
}
