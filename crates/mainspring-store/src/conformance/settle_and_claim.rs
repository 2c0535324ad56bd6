//! What a store promises to workers that settle what they have done and claim the next at once: as if they did one after the other.

use mainspring_core::id::{Fence, LeaseId};
use mainspring_core::job::Claimed;
use mainspring_core::lifecycle::State;
use mainspring_core::store::*;
use mainspring_core::time::Time;
use mainspring_core::verdict::Verdict;

use super::stage::*;

pub async fn a_worker_that_is_done_has_the_next_and_best_job(stage: Stage) {
    stage.accept(at(0), (1..=5).map(job).collect()).await;
    stage.register(at(0), 1).await;
    stage.register(at(0), 2).await;
    let (one, other) = (stage.claim_one(at(0), 1).await, stage.claim_one(at(0), 2).await);
    let ends = [&one, &other].map(|held| Settlement { lease: held.lease_id(), verdict: succeed() });
    let (settled, claimed) = stage.go_on(at(1), ends.to_vec(), &[(1, 1), (2, 2)]).await;
    assert!(settled.iter().all(|settled| matches!(settled, Settled::Applied { state: State::Succeeded, .. })));
    let held: Vec<Vec<_>> = claimed.iter().map(|claimed| ids_of(claimed)).collect();
    assert_eq!(held, [vec![id(3)], vec![id(4), id(5)]]);
    assert_eq!([&claimed[0][0], &claimed[1][0]].map(|claimed| claimed.lease.worker), [worker(1), worker(2)]);
    let counts = Counts { succeeded: 2, running: 3, ..Counts::default() };
    assert_eq!(stage.queue("mail").await.counts, counts);
    let stage = stage.reopen().await;
    assert_eq!(stage.states(1..=3).await, [State::Succeeded, State::Succeeded, State::Running]);
    assert_eq!(stage.executions(id(1)).await.len(), 1);
}

pub async fn whoever_is_done_with_many_has_as_many_next(stage: Stage) {
    const MANY: u32 = 100;
    stage.accept(at(0), (1..=2 * MANY).map(job).collect()).await;
    stage.register(at(0), 1).await;
    let held = stage.claim(at(0), 1, MANY as usize).await;
    let ends = held.iter().map(|held| Settlement { lease: held.lease_id(), verdict: succeed() }).collect();
    let (settled, claimed) = stage.go_on(at(1), ends, &[(1, MANY as usize)]).await;
    assert!(settled.iter().all(|settled| matches!(settled, Settled::Applied { state: State::Succeeded, .. })));
    assert_eq!(ids_of(&claimed[0]), (MANY + 1..=2 * MANY).map(id).collect::<Vec<_>>());
    let counts = Counts { succeeded: MANY.into(), running: MANY.into(), ..Counts::default() };
    assert_eq!(stage.queue("mail").await.counts, counts);
}

pub async fn no_two_holders_a_stale_settlement_and_a_good_one_share_a_call_with_a_claim(stage: Stage) {
    stage.accept(at(0), (1..=3).map(job).collect()).await;
    stage.register(at(0), 1).await;
    let held = stage.claim(at(0), 1, 2).await;
    let wrong = LeaseId { fence: Fence(held[0].lease.fence.0 + 100), ..held[0].lease_id() };
    let ends = [wrong, held[1].lease_id(), held[1].lease_id()];
    let ends = ends.map(|lease| Settlement { lease, verdict: succeed() }).to_vec();
    let (settled, claimed) = stage.go_on(at(1), ends.clone(), &[(1, 5)]).await;
    let stale: Vec<bool> = settled.iter().map(|settled| *settled == Settled::Stale).collect();
    assert_eq!(stale, [true, false, true]);
    assert_eq!(ids_of(&claimed[0]), [id(3)]);
    assert_eq!(stage.states(1..=3).await, [State::Running, State::Succeeded, State::Running]);
    let (again, none) = stage.go_on(at(2), ends, &[(1, 5)]).await;
    assert!(again.iter().all(|settled| *settled == Settled::Stale) && none[0].is_empty());
}

pub async fn what_is_given_back_is_there_for_the_claim_that_comes_with_it(stage: Stage) {
    let held = stage.running(job(1)).await;
    let ends = vec![Settlement { lease: held.lease_id(), verdict: Verdict::Release }];
    let (_, claimed) = stage.go_on(at(1), ends, &[(1, 1)]).await;
    assert_eq!(ids_of(&claimed[0]), [id(1)]);
    assert!(claimed[0][0].lease.fence > held.lease.fence, "a new holder has a new fence");
}

pub async fn a_place_that_a_settlement_frees_is_there_for_the_claim_that_comes_with_it(stage: Stage) {
    stage.accept(at(0), vec![with_key(1, "k"), with_key(2, "k")]).await;
    stage.limit(at(0), "key:k", slots(1)).await;
    stage.register(at(0), 1).await;
    let held = stage.claim_one(at(0), 1).await;
    assert!(stage.claim(at(0), 1, 1).await.is_empty(), "the only place is taken");
    let ends = vec![Settlement { lease: held.lease_id(), verdict: succeed() }];
    let (_, claimed) = stage.go_on(at(1), ends, &[(1, 1)]).await;
    assert_eq!(ids_of(&claimed[0]), [id(2)]);
}

pub async fn the_steps_of_a_workflow_are_counted_when_one_ends_and_the_next_begins(stage: Stage) {
    stage.accept(at(0), vec![step(1, job(1)), step(1, job(2)), step(1, child(3, &[1]))]).await;
    stage.register(at(0), 1).await;
    let held = stage.claim_one(at(0), 1).await;
    let ends = vec![Settlement { lease: held.lease_id(), verdict: succeed() }];
    let (settled, claimed) = stage.go_on(at(1), ends, &[(1, 5)]).await;
    assert!(matches!(settled[0], Settled::Applied { awaited: true, .. }), "a child waits for it: {settled:?}");
    assert_eq!(ids_of(&claimed[0]), [id(2)]);
    let view = stage.store.workflow(&job(1).tenant, workflow(1)).await.expect("workflow").expect("it is here");
    assert_eq!(view.counts, Counts { succeeded: 1, running: 1, blocked: 1, ..Counts::default() });
    stage.promote(at(2)).await;
    assert_eq!(stage.state(id(3)).await, State::Ready);
}

pub async fn a_failure_stays_where_it_is_who_may_not_claim_settles_all_the_same(stage: Stage) {
    stage.accept(at(0), vec![job(1), job(2)]).await;
    stage.register(at(0), 1).await;
    let held = stage.claim_one(at(0), 1).await;
    let ends = vec![Settlement { lease: held.lease_id(), verdict: succeed() }];
    let claims = vec![claim_of(9, &["mail"], 1), claim_of(1, &["mail"], 1)];
    let (settled, claimed) = stage.store.settle_and_claim(at(1), ends, claims).await;
    assert!(matches!(settled.expect("settle")[..], [Settled::Applied { state: State::Succeeded, .. }]));
    let claimed = claimed.expect("claim");
    assert_eq!(claimed[0], ClaimAnswer::UnknownWorker);
    assert!(matches!(&claimed[1], ClaimAnswer::Jobs(jobs) if ids_of(jobs) == [id(2)]));
}

impl Stage {
    /// Settles, and claims for these workers so many from `mail`.
    async fn go_on(
        &self,
        now: Time,
        ends: Vec<Settlement>,
        asks: &[(u32, usize)],
    ) -> (Vec<Settled>, Vec<Vec<Claimed>>) {
        let claims = asks.iter().map(|&(number, max)| claim_of(number, &["mail"], max)).collect();
        let (settled, claimed) = self.store.settle_and_claim(now, ends, claims).await;
        let jobs = |answer| match answer {
            ClaimAnswer::Jobs(jobs) => jobs,
            other => panic!("{other:?} in place of jobs"),
        };
        (settled.expect("settle"), claimed.expect("claim").into_iter().map(jobs).collect())
    }
}
