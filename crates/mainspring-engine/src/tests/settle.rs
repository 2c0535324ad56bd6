//! Settlements: the core's verdicts reach the store, and the next attempt comes when it should.

use mainspring_core::id::{Fence, LeaseId};

use super::*;
use crate::EventKind;

#[tokio::test]
async fn a_failed_attempt_is_tried_again_after_its_delay() {
    let world = World::running().await;
    let worker = world.worker().await;
    let id = world.submit(draft()).await;
    let first = world.claim_now(worker).await.remove(0);
    let settled = world.settle(&first, failed()).await;
    assert!(
        matches!(settled, Settled::Applied { state: State::Waiting, ready_at, .. } if ready_at == START.after(seconds(5)))
    );

    let claim = world.waiting(ask(worker, seconds(30))).await;
    world.ground.clock.advance(seconds(5));
    let second = claim.await.unwrap().remove(0);
    assert_eq!((second.job.id, second.tally.attempts, second.tally.failures), (id, 2, 1));
    assert_eq!(second.last_error, Some(Failure::new("boom")));
}

#[tokio::test]
async fn a_job_that_used_up_its_attempts_is_dead() {
    let world = World::running().await;
    let id = world.submit(draft()).await;
    for _ in 0..3 {
        let worker = world.worker().await;
        let claimed = jobs(world.engine.claim(ask(worker, seconds(30))).await.unwrap()).remove(0);
        world.settle(&claimed, failed()).await;
        world.ground.clock.advance(seconds(5));
    }
    assert_eq!(world.state(id).await, State::Dead);
}

#[tokio::test]
async fn answers_keep_the_order_of_what_was_sent() {
    let world = World::running().await;
    let worker = world.worker().await;
    world.engine.submit(vec![draft(); 5]).await.unwrap();
    let claimed = world.claim_now(worker).await;
    let stale = AttemptEnd { outcome: failed(), ..end(&claimed[0], Outcome::Released) };
    let ends = vec![
        end(&claimed[0], Outcome::Succeeded { result: None }),
        end(&claimed[1], failed()),
        stale,
        end(&claimed[2], Outcome::Snoozed { wait: seconds(60) }),
        end(&claimed[3], Outcome::Released),
        end(&claimed[4], Outcome::Failed { error: Failure::new("no"), retry: RetryWish::Never }),
    ];
    let states: Vec<Option<State>> = world
        .engine
        .settle(ends)
        .await
        .unwrap()
        .into_iter()
        .map(|settled| match settled {
            Settled::Applied { state, .. } => Some(state),
            Settled::Stale => None,
        })
        .collect();
    let expected = [
        Some(State::Succeeded),
        Some(State::Waiting),
        None,
        Some(State::Waiting),
        Some(State::Ready),
        Some(State::Dead),
    ];
    assert_eq!(states, expected);
}

#[tokio::test]
async fn a_snooze_and_a_release_cost_no_attempt() {
    let world = World::running().await;
    let worker = world.worker().await;
    let id = world.submit(draft()).await;
    for outcome in [Outcome::Released, Outcome::Snoozed { wait: Duration::ZERO }] {
        let claimed = world.claim_now(worker).await.remove(0);
        world.settle(&claimed, outcome).await;
        let standing = world.view(id).await.unwrap().standing;
        assert_eq!((standing.state, standing.tally.attempts), (State::Ready, 0));
    }
}

#[tokio::test]
async fn onlookers_hear_the_walk_of_a_job() {
    let world = World::running().await;
    let worker = world.worker().await;
    let mut events = world.engine.events();
    let id = world.submit(Draft { max_attempts: 2, ..draft() }).await;
    let claimed = world.claim_now(worker).await.remove(0);
    world.settle(&claimed, failed()).await;
    world.ground.clock.advance(seconds(5));
    let claimed = jobs(world.engine.claim(ask(worker, seconds(30))).await.unwrap()).remove(0);
    world.settle(&claimed, failed()).await;

    use EventKind::*;
    for kind in [Submitted, Claimed, Retrying, Ready, Claimed, Failed] {
        let event = events.next().await.unwrap();
        assert_eq!(event.kind, kind);
        assert_eq!(event.queue.unwrap().queue, QueueName::default_queue());
        assert!(event.job == Some(id) || (kind, event.count) == (Ready, Some(1)));
        assert_eq!(event.error.is_some(), matches!(kind, Retrying | Failed));
    }
}

#[tokio::test]
async fn what_a_turn_settles_is_there_for_its_own_claim() {
    let world = World::running().await;
    let worker = world.worker().await;
    let id = world.submit(draft()).await;
    let first = world.claim_now(worker).await.remove(0);
    let turn = world.engine.settle_and_claim(vec![end(&first, Outcome::Released)], ask(worker, Duration::ZERO));
    let (settled, claimed) = turn.await.unwrap();
    assert!(matches!(settled[..], [Settled::Applied { state: State::Ready, .. }]), "{settled:?}");
    let second = jobs(claimed.unwrap()).remove(0);
    assert_eq!((second.job.id, second.tally.attempts), (id, 1));
    assert!(second.lease.fence > first.lease.fence);
}

#[tokio::test]
async fn turns_that_are_gathered_get_their_own_answers() {
    let world = World::running().await;
    let worker = world.worker().await;
    world.engine.submit(vec![draft(); 20]).await.unwrap();
    let held = world.claim_now(worker).await;
    let turns = held.iter().enumerate().map(|(at, claimed)| {
        let engine = world.engine.clone();
        let lease = if at % 2 == 0 { claimed.lease_id() } else { LeaseId { fence: Fence(0), ..claimed.lease_id() } };
        let ends = vec![AttemptEnd { lease, ..end(claimed, Outcome::Succeeded { result: None }) }; 1 + at % 3];
        let ask = ClaimAsk { max: 1, ..ask(worker, Duration::ZERO) };
        tokio::spawn(async move { (at, engine.settle_and_claim(ends, ask).await.unwrap()) })
    });
    let turns: Vec<_> = turns.collect();
    let mut next = vec![];
    for turn in turns {
        let (at, (settled, claimed)) = turn.await.unwrap();
        let applied = settled.iter().filter(|settled| matches!(settled, Settled::Applied { .. })).count();
        assert_eq!((settled.len(), applied), (1 + at % 3, usize::from(at % 2 == 0)), "of turn {at}");
        next.extend(jobs(claimed.unwrap()).into_iter().map(|claimed| claimed.job.id));
    }
    next.sort();
    next.dedup();
    assert_eq!(next.len(), 10, "each got a job of its own");
}

#[tokio::test]
async fn settlements_stand_when_the_claim_beside_them_is_refused() {
    let world = World::running().await;
    let worker = world.worker().await;
    let id = world.submit(draft()).await;
    let claimed = world.claim_now(worker).await.remove(0);
    let stranger = ask(WorkerId(uuid::Uuid::from_u128(1)), seconds(30));
    let ends = vec![end(&claimed, Outcome::Succeeded { result: None })];
    let (settled, given) = world.engine.settle_and_claim(ends, stranger).await.unwrap();
    assert!(matches!(settled[..], [Settled::Applied { state: State::Succeeded, .. }]), "{settled:?}");
    assert_eq!(given.unwrap(), ClaimAnswer::UnknownWorker);
    assert_eq!(world.state(id).await, State::Succeeded);
}

#[tokio::test]
async fn a_failure_stays_where_it_is_one_that_another_tenant_tells_of_is_stale() {
    let world = World::running().await;
    let worker = world.worker().await;
    let id = world.submit(draft()).await;
    let claimed = world.claim_now(worker).await.remove(0);
    let stranger = TenantName::parse("stranger").unwrap();
    for outcome in [Outcome::Released, Outcome::Crashed, Outcome::Snoozed { wait: seconds(1) }] {
        let told = AttemptEnd { tenant: stranger.clone(), ..end(&claimed, outcome) };
        assert_eq!(world.engine.settle(vec![told]).await.unwrap(), [Settled::Stale]);
    }
    assert_eq!(world.state(id).await, State::Running);
}
