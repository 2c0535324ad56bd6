//! What a store promises about forgetting.

use mainspring_core::id::JobId;
use mainspring_core::job::{Idempotency, Job};
use mainspring_core::name::IdempotencyKey;
use mainspring_core::store::*;
use mainspring_core::time::Time;
use mainspring_core::verdict::Verdict;

use super::stage::*;

pub async fn nothing_accepted_is_lost_what_is_not_final_is_never_forgotten(stage: Stage) {
    stage.running(job(1)).await;
    stage.accept(at(0), vec![job(2), Job { run_at: at(9000), ..job(3) }, job(4)]).await;
    stage.command(at(0), id(4), JobCommand::Pause).await;
    assert_eq!(stage.prune(at(1), Time::MAX, Time::MAX).await, Pruned::default());
    assert_eq!(stage.find(Filter::default(), 10).await, [4, 3, 2, 1].map(id));
}

pub async fn what_ended_before_its_retention_is_forgotten_and_no_other(stage: Stage) {
    for (number, ms, verdict) in [(1, 100, succeed()), (2, 200, succeed()), (3, 100, cancelled()), (4, 100, bury())] {
        ended(&stage, number, at(ms), verdict).await;
    }
    assert_eq!(
        stage.prune(at(1000), at(200), at(100)).await,
        Pruned { jobs: 2, keys: 0, rows: 0, deposed: false, more: false }
    );
    let stage = stage.reopen().await;
    assert_eq!(stage.find(Filter::default(), 10).await, [4, 2].map(id));
    assert_eq!(stage.executions(id(1)).await, []);
    assert_eq!(stage.queue("mail").await.counts, Counts { succeeded: 1, dead: 1, ..Counts::default() });
    assert_eq!(
        stage.prune(at(1000), at(0), at(101)).await,
        Pruned { jobs: 1, keys: 0, rows: 0, deposed: false, more: false }
    );
    assert_eq!(stage.find(Filter::default(), 10).await, [id(2)]);
}

pub async fn the_first_to_end_is_the_first_to_be_forgotten(stage: Stage) {
    for (number, ms) in [(1, 300), (2, 100), (3, 200)] {
        ended(&stage, number, at(ms), succeed()).await;
    }
    let ask = Prune { ended_before: at(1000), limit: 1, ..nothing() };
    let left: [&[JobId]; 3] = [&[id(3), id(1)], &[id(1)], &[]];
    for (more, left) in [true, true, false].into_iter().zip(left) {
        let pruned = stage.store.prune(at(1000), ask).await.expect("prune");
        assert_eq!(pruned, Pruned { jobs: 1, keys: 0, rows: 0, deposed: false, more });
        assert_eq!(stage.find(Filter::default(), 10).await, left);
    }
}

pub async fn limits_are_named_one_call_forgets_no_more_than_its_limit(stage: Stage) {
    let key = |number| Idempotency {
        key: IdempotencyKey::parse(&format!("key {number}")).expect("printable"),
        fingerprint: [0; 16],
        until: at(500),
    };
    stage.accept(at(0), (1..=5).map(|number| Job { idempotency: Some(key(number)), ..job(number) }).collect()).await;
    for number in 1..=3 {
        stage.command(at(1), id(number), cancel()).await;
    }
    let (mut jobs, mut keys) = (0, 0);
    for _ in 0..100 {
        let ask = Prune { ended_before: at(2), dead_before: at(2), limit: 2, ..nothing() };
        let pruned = stage.store.prune(at(500), ask).await.expect("prune");
        assert!(pruned.jobs + pruned.keys <= 2);
        jobs += pruned.jobs;
        keys += pruned.keys;
        if !pruned.more {
            assert_eq!((jobs, keys), (3, 5));
            return;
        }
    }
    panic!("prune says that there is more for ever");
}

pub async fn a_key_is_forgotten_after_its_time_and_not_before(stage: Stage) {
    let key = IdempotencyKey::parse("once").expect("printable");
    let said = |number| Job {
        idempotency: Some(Idempotency { key: key.clone(), fingerprint: [0; 16], until: at(500) }),
        ..job(number)
    };
    stage.accept(at(0), vec![said(1)]).await;
    assert_eq!(stage.prune(at(499), Time::ZERO, Time::ZERO).await, Pruned::default());
    assert_eq!(stage.submit(at(499), vec![said(2)]).await, [Submitted::Duplicate { id: id(1) }]);
    assert_eq!(
        stage.prune(at(500), Time::ZERO, Time::ZERO).await,
        Pruned { jobs: 0, keys: 1, rows: 0, deposed: false, more: false }
    );
}

pub async fn a_revived_job_is_not_forgotten(stage: Stage) {
    ended(&stage, 1, at(100), bury()).await;
    stage.command(at(200), id(1), JobCommand::Revive { data: None }).await;
    assert_eq!(stage.prune(at(1000), Time::MAX, Time::MAX).await, Pruned::default());
    let lease = stage.claim_one(at(300), 1).await.lease_id();
    stage.end(at(400), lease, succeed()).await;
    assert_eq!(stage.prune(at(1000), at(400), Time::MAX).await, Pruned::default(), "its last end counts");
    assert_eq!(
        stage.prune(at(1000), at(401), Time::ZERO).await,
        Pruned { jobs: 1, keys: 0, rows: 0, deposed: false, more: false }
    );
}

/// A job that ran and ended then.
async fn ended(stage: &Stage, number: u32, end_at: Time, verdict: Verdict) {
    stage.accept(at(0), vec![job(number)]).await;
    stage.register(at(0), 1).await;
    let lease = stage.claim_one(at(0), 1).await.lease_id();
    stage.end(end_at, lease, verdict).await;
}

fn cancelled() -> Verdict {
    Verdict::Cancel { reason: "told to".into() }
}
