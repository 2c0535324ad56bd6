//! What a store promises to workers that say they are alive.

use std::time::Duration;

use mainspring_core::id::{Fence, LeaseId};
use mainspring_core::job::{ExecutionOutcome, Tally};
use mainspring_core::lifecycle::State;
use mainspring_core::store::*;

use super::stage::*;

const TICK: Duration = Duration::from_millis(1);

pub async fn a_worker_lives_from_beat_to_beat(stage: Stage) {
    stage.register(at(0), 1).await;
    let last = at(0).after(LEASE).before(TICK);
    assert_eq!(stage.beat(last, 1, BeatKind::Alive).await, alive(0));
    let seen = stage.store.workers().await.expect("workers").remove(0);
    assert_eq!((seen.registered_at, seen.last_seen_at, seen.expires_at), (at(0), last, last.after(LEASE)));
    assert_eq!(stage.reclaim(last.after(LEASE)).await.silent, [worker(1)]);
    assert_eq!(stage.beat(last.after(LEASE), 1, BeatKind::Alive).await, Pulse::Unknown);
}

pub async fn a_silent_worker_that_was_not_written_off_comes_back_with_what_it_holds(stage: Stage) {
    let claimed = stage.running(job(1)).await;
    stage.accept(at(0), vec![job(2)]).await;
    let late = at(0).after(LEASE).after(LEASE);
    assert_eq!(stage.beat(late, 1, BeatKind::Alive).await, alive(1));
    assert_eq!(stage.reclaim(late).await, Reclaimed::default());
    let later = late.after(LEASE);
    assert_eq!(stage.claim(later, 1, 1).await.len(), 1, "a claim is a sign of life too");
    assert_eq!(stage.reclaim(later).await, Reclaimed::default());
    stage.end(later, claimed.lease_id(), succeed()).await;
}

pub async fn a_worker_that_left_is_not_brought_back_nor_spared(stage: Stage) {
    stage.register(at(0), 1).await;
    assert_eq!(stage.beat(at(1), 1, BeatKind::Leave).await, alive(0));
    assert_eq!(stage.beat(at(1), 1, BeatKind::Alive).await, Pulse::Unknown);
    let ask = Reclaim { spare_silent: true, ..sweep(at(2)) };
    assert_eq!(stage.store.reclaim(at(2), ask).await.expect("reclaim").silent, [worker(1)]);
}

pub async fn a_beat_of_a_stranger_changes_nothing(stage: Stage) {
    assert_eq!(stage.beat(at(0), 1, BeatKind::Alive).await, Pulse::Unknown);
    assert_eq!(stage.beat(at(0), 1, BeatKind::Leave).await, Pulse::Unknown);
    assert!(stage.store.workers().await.expect("workers").is_empty());
}

pub async fn a_beat_never_shortens_a_life(stage: Stage) {
    stage.register(at(10_000), 1).await;
    assert_eq!(stage.beat(at(0), 1, BeatKind::Alive).await, alive(0));
    let worker = stage.store.workers().await.expect("workers").remove(0);
    assert_eq!((worker.last_seen_at, worker.expires_at), (at(0), at(10_000).after(LEASE)));
}

pub async fn a_worker_is_shown_as_it_registered(stage: Stage) {
    let info = WorkerInfo {
        name: Some("mailer".into()),
        host: Some("box-7".into()),
        pid: Some(4711),
        version: Some("1.2.3".into()),
        queues: vec![queue("mail"), queue("other")],
        concurrency: 16,
    };
    let kind = BeatKind::Register { info: info.clone(), lease: LEASE };
    assert_eq!(stage.beat(at(5), 2, kind).await, alive(0));
    stage.register(at(6), 1).await;
    let stage = stage.reopen().await;
    let workers = stage.store.workers().await.expect("workers");
    assert_eq!(workers.iter().map(|worker| worker.id).collect::<Vec<_>>(), [worker(1), worker(2)]);
    let expected = WorkerView {
        id: worker(2),
        tenant: tenant("default"),
        info,
        lease: LEASE,
        registered_at: at(5),
        last_seen_at: at(5),
        expires_at: at(5).after(LEASE),
        order: Order::Work,
        held: 0,
    };
    assert_eq!(workers[1], expected);
}

pub async fn registering_again_keeps_what_a_worker_holds(stage: Stage) {
    let claimed = stage.running(job(1)).await;
    let kind = BeatKind::Register { info: WorkerInfo::default(), lease: LEASE };
    assert_eq!(stage.beat(at(1), 1, kind).await, alive(1));
    stage.end(at(2), claimed.lease_id(), succeed()).await;
}

pub async fn a_failure_stays_where_it_is_nobody_beats_for_the_worker_of_another_tenant(stage: Stage) {
    stage.register(at(0), 1).await;
    let info = WorkerInfo::default();
    for kind in [BeatKind::Alive, BeatKind::Leave, BeatKind::Register { info, lease: LEASE * 2 }] {
        let beat = Beat { worker: worker(1), tenant: tenant("other"), kind };
        assert_eq!(stage.store.heartbeat(at(9), vec![beat]).await.expect("heartbeat"), [Pulse::Unknown]);
    }
    let seen = stage.store.workers().await.expect("workers").remove(0);
    assert_eq!((seen.tenant, seen.expires_at), (tenant("default"), at(0).after(LEASE)));
}

pub async fn a_worker_is_told_what_to_stop(stage: Stage) {
    stage.accept(at(0), vec![job(1), job(2), job(3)]).await;
    stage.register(at(0), 1).await;
    let claimed = stage.claim(at(0), 1, 3).await;
    for number in [3, 1] {
        assert_eq!(stage.command(at(1), id(number), cancel()).await, Commanded::Asked);
    }
    let stage = stage.reopen().await;
    let Pulse::Alive { held, cancel, .. } = stage.beat(at(2), 1, BeatKind::Alive).await else { panic!("alive") };
    assert_eq!((held, cancel), (3, vec![claimed[0].lease_id(), claimed[2].lease_id()]));
}

pub async fn an_order_reaches_its_worker(stage: Stage) {
    stage.register(at(0), 1).await;
    let command = Command::Worker { id: worker(1), order: Order::Quiet };
    assert_eq!(stage.store.command(at(1), vec![command]).await.expect("command"), [Commanded::Done]);
    let stage = stage.reopen().await;
    let Pulse::Alive { order, .. } = stage.beat(at(2), 1, BeatKind::Alive).await else { panic!("alive") };
    assert_eq!(order, Order::Quiet);
    let command = Command::Worker { id: worker(9), order: Order::Quiet };
    assert_eq!(stage.store.command(at(1), vec![command]).await.expect("command"), [Commanded::Missing]);
}

pub async fn nothing_accepted_is_lost_what_never_arrived_is_given_back_uncounted(stage: Stage) {
    stage.accept(at(0), vec![job(1), job(2)]).await;
    stage.register(at(0), 1).await;
    let claimed = stage.claim(at(5), 1, 2).await;
    let kind = BeatKind::Holding { leases: vec![claimed[1].lease_id()], claimed_before: at(6) };
    let Pulse::Alive { held, lost, released, .. } = stage.beat(at(10), 1, kind).await else { panic!("alive") };
    assert_eq!((held, lost, released), (1, Vec::new(), vec![queue_ref("mail")]));
    let standing = stage.view(id(1)).await.standing;
    assert_eq!((standing.state, standing.ready_at, standing.tally), (State::Ready, at(0), Tally::default()));
    let execution = stage.executions(id(1)).await.remove(0);
    assert_eq!((execution.outcome, execution.attempt, execution.ended_at), (ExecutionOutcome::Released, 1, at(10)));
    assert_eq!(stage.settle(at(11), claimed[0].lease_id(), succeed()).await, Settled::Stale);
}

pub async fn a_fresh_claim_that_is_still_on_its_way_is_not_given_back(stage: Stage) {
    let claimed = stage.running(job(1)).await;
    let kind = BeatKind::Holding { leases: Vec::new(), claimed_before: at(0) };
    assert_eq!(stage.beat(at(10), 1, kind).await, alive(1));
    stage.end(at(11), claimed.lease_id(), succeed()).await;
}

pub async fn a_worker_learns_what_it_has_lost(stage: Stage) {
    stage.accept(at(0), vec![job(1), job(2)]).await;
    stage.register(at(0), 1).await;
    let held: Vec<LeaseId> = stage.claim(at(0), 1, 2).await.iter().map(|claimed| claimed.lease_id()).collect();
    stage.end(at(1), held[0], succeed()).await;
    let never = LeaseId { job: id(77), fence: Fence(1) };
    let wrong = LeaseId { fence: Fence(held[1].fence.0 + 100), ..held[1] };
    let kind = BeatKind::Holding { leases: vec![never, held[1], held[0], wrong], claimed_before: at(0) };
    let Pulse::Alive { held: count, lost, .. } = stage.beat(at(2), 1, kind).await else { panic!("alive") };
    assert_eq!((count, lost), (1, vec![never, held[0], wrong]));
}

pub async fn no_state_without_an_exit_what_a_leaving_worker_holds_is_given_back_and_not_counted(stage: Stage) {
    stage.running(job(1)).await;
    let pulse = stage.beat(at(100), 1, BeatKind::Leave).await;
    assert!(matches!(pulse, Pulse::Alive { held: 0, released, .. } if released == [queue_ref("mail")]));
    assert_eq!(stage.claim_from(at(100), 1, &["mail"], 1).await, ClaimAnswer::UnknownWorker);
    let standing = stage.view(id(1)).await.standing;
    assert_eq!((standing.state, standing.tally), (State::Ready, Tally::default()));
    assert_eq!(stage.reclaim(at(100)).await.silent, [worker(1)]);
}

pub async fn answers_come_in_the_order_of_the_beats(stage: Stage) {
    let beat = |number, kind| Beat { worker: worker(number), tenant: tenant("default"), kind };
    let register = BeatKind::Register { info: WorkerInfo::default(), lease: LEASE };
    let beats = vec![beat(1, BeatKind::Alive), beat(1, register), beat(1, BeatKind::Alive), beat(2, BeatKind::Alive)];
    let pulses = stage.store.heartbeat(at(0), beats).await.expect("heartbeat");
    assert_eq!(pulses, [Pulse::Unknown, alive(0), alive(0), Pulse::Unknown]);
}

fn alive(held: u64) -> Pulse {
    Pulse::Alive { order: Order::Work, held, cancel: Vec::new(), lost: Vec::new(), released: Vec::new(), gates: None }
}

pub async fn a_cancel_that_was_asked_is_not_forgotten_when_a_claim_never_arrived(stage: Stage) {
    stage.running(job(1)).await;
    assert_eq!(stage.command(at(1), id(1), JobCommand::Cancel { reason: "stop".into() }).await, Commanded::Asked);
    let kind = BeatKind::Holding { leases: vec![], claimed_before: at(2) };
    assert_eq!(stage.beat(at(2), 1, kind).await, alive(0));
    assert_eq!(stage.state(id(1)).await, State::Cancelled);
}
