//! What a store promises when a job has ended that others wait for.

use mainspring_core::id::JobId;
use mainspring_core::job::{Dependency, Job, OnFailure};
use mainspring_core::lifecycle::State;
use mainspring_core::segment::Segments;
use mainspring_core::store::*;

use super::depend::ended;
use super::stage::*;

pub async fn a_failure_stays_where_it_is_an_end_touches_no_child_before_promote(stage: Stage) {
    stage.accept(at(0), vec![job(1), child(2, &[1]), job(3)]).await;
    assert_eq!(stage.run(at(1), 1, succeed()).await, ended(State::Succeeded, true));
    assert_eq!(stage.state(id(2)).await, State::Blocked);
    assert_eq!(stage.run(at(2), 3, succeed()).await, ended(State::Succeeded, false), "nobody waits for this one");
    assert_eq!(stage.promote(at(3)).await, 1);
    assert_eq!(stage.state(id(2)).await, State::Ready);
}

pub async fn an_attempt_that_does_not_end_its_job_releases_nobody(stage: Stage) {
    stage.accept(at(0), vec![job(1), child(2, &[1])]).await;
    stage.register(at(0), 1).await;
    let lease = stage.claim_one(at(0), 1).await.lease_id();
    let settled = stage.settle(at(1), lease, retry(at(100))).await;
    assert!(matches!(settled, Settled::Applied { state: State::Waiting, awaited: false, .. }), "{settled:?}");
    assert_eq!(stage.promote(at(50)).await, 0);
    assert_eq!(stage.state(id(2)).await, State::Blocked);
}

pub async fn nothing_accepted_is_lost_a_release_survives_a_reopen_before_and_after_promote(stage: Stage) {
    stage.accept(at(0), vec![job(1), child(2, &[1]), child(3, &[1]), child(4, &[2])]).await;
    stage.run(at(1), 1, bury()).await;
    let stage = stage.reopen().await;
    let promoted = stage.store.promote(at(2), everything(1)).await.expect("promote");
    assert_eq!((promoted.cancelled, promoted.more), (vec![(id(2), queue_ref("mail"))], true));
    let stage = stage.reopen().await;
    stage.promote(at(3)).await;
    let stage = stage.reopen().await;
    assert_eq!(stage.states(1..=4).await, [State::Dead, State::Cancelled, State::Cancelled, State::Cancelled]);
    assert_eq!(stage.store.promote(at(4), everything(10)).await.expect("promote"), Promoted::default());
}

pub async fn a_child_becomes_ready_with_the_last_of_its_parents(stage: Stage) {
    stage.accept(at(0), vec![job(1), job(2), child(3, &[1, 2])]).await;
    stage.run(at(1), 1, succeed()).await;
    assert_eq!(stage.promote(at(2)).await, 0);
    assert_eq!(stage.state(id(3)).await, State::Blocked);
    let stage = stage.reopen().await;
    stage.run(at(3), 2, succeed()).await;
    let promoted = stage.store.promote(at(4), everything(10)).await.expect("promote");
    assert_eq!(promoted, Promoted { ready: vec![(queue_ref("mail"), 1)], ..Promoted::default() });
    assert_eq!(stage.claim_one(at(4), 1).await.job.id, id(3));
}

pub async fn order_is_fair_a_child_is_due_from_its_release_or_its_own_time(stage: Stage) {
    let later = Job { run_at: at(500), ..child(3, &[1]) };
    stage.accept(at(0), vec![job(1), child(2, &[1]), later]).await;
    stage.run(at(1), 1, succeed()).await;
    assert_eq!(stage.promote(at(40)).await, 1);
    let (two, three) = (stage.view(id(2)).await.standing, stage.view(id(3)).await.standing);
    assert_eq!((two.state, two.ready_at), (State::Ready, at(40)));
    assert_eq!((three.state, three.ready_at), (State::Waiting, at(500)));
    let ask = Promote { look_ahead_until: at(1000), look_ahead_limit: 9, ..everything(9) };
    assert_eq!(stage.store.promote(at(41), ask).await.expect("promote").upcoming, [at(500)]);
    assert_eq!(stage.promote(at(500)).await, 1);
}

pub async fn a_child_is_cancelled_with_its_parent_and_says_why(stage: Stage) {
    stage.accept(at(0), vec![job(1), job(2), child(3, &[1]), child(4, &[2])]).await;
    assert_eq!(stage.run(at(1), 1, bury()).await, ended(State::Dead, true));
    stage.command(at(1), id(2), cancel()).await;
    let promoted = stage.store.promote(at(2), everything(10)).await.expect("promote");
    let cancelled = vec![(id(3), queue_ref("mail")), (id(4), queue_ref("mail"))];
    assert_eq!(promoted, Promoted { cancelled, ..Promoted::default() });
    let stage = stage.reopen().await;
    let expected = [(3, format!("its parent {} failed", id(1))), (4, format!("its parent {} was cancelled", id(2)))];
    for (number, reason) in expected {
        let standing = stage.view(id(number)).await.standing;
        let ended = standing.ended.expect("it ended");
        assert_eq!((standing.state, ended.at, ended.reason), (State::Cancelled, at(2), Some(reason)));
    }
    assert_eq!(stage.queue("mail").await.counts, Counts { dead: 1, cancelled: 3, ..Counts::default() });
}

pub async fn a_child_that_runs_all_the_same_runs_after_a_failure(stage: Stage) {
    let jobs = vec![job(1), job(2), bound(3, &[1], OnFailure::Run), bound(4, &[2], OnFailure::Run)];
    stage.accept(at(0), jobs).await;
    stage.run(at(1), 1, bury()).await;
    stage.command(at(1), id(2), cancel()).await;
    assert_eq!(stage.promote(at(2)).await, 2);
    assert_eq!(stage.states([3, 4]).await, [State::Ready; 2]);
}

pub async fn a_held_child_waits_until_its_parent_is_revived_and_succeeds(stage: Stage) {
    stage.accept(at(0), vec![job(1), bound(2, &[1], OnFailure::Hold)]).await;
    for round in [10, 20] {
        assert_eq!(stage.run(at(round), 1, bury()).await, ended_at(round, State::Dead));
        let promoted = stage.store.promote(at(round + 1), everything(10)).await.expect("promote");
        assert_eq!(promoted, Promoted::default());
        assert_eq!(stage.state(id(2)).await, State::Blocked);
        let revived = stage.command(at(round + 10), id(1), JobCommand::Revive { data: None }).await;
        assert_eq!(revived, Commanded::Done);
    }
    let stage = stage.reopen().await;
    assert_eq!(stage.run(at(40), 1, succeed()).await, ended_at(30, State::Succeeded));
    assert_eq!(stage.promote(at(41)).await, 1);
    assert_eq!(stage.state(id(2)).await, State::Ready);
}

pub async fn a_held_child_can_be_run_or_cancelled_by_a_person(stage: Stage) {
    let held = |number| bound(number, &[1], OnFailure::Hold);
    stage.accept(at(0), vec![job(1), held(2), held(3)]).await;
    stage.run(at(1), 1, bury()).await;
    stage.promote(at(2)).await;
    assert_eq!(stage.command(at(3), id(2), JobCommand::RunNow).await, Commanded::Done);
    assert_eq!(stage.command(at(3), id(3), cancel()).await, Commanded::Done);
    assert_eq!(stage.states([2, 3]).await, [State::Ready, State::Cancelled]);
}

pub async fn a_parent_that_was_revived_in_time_is_waited_for_again(stage: Stage) {
    stage.accept(at(0), vec![job(1), child(2, &[1]), bound(3, &[1], OnFailure::Run)]).await;
    stage.run(at(1), 1, bury()).await;
    stage.command(at(2), id(1), JobCommand::Revive { data: None }).await;
    let stage = stage.reopen().await;
    assert_eq!(stage.store.promote(at(3), everything(10)).await.expect("promote"), Promoted::default());
    assert_eq!(stage.states([2, 3]).await, [State::Blocked; 2]);
    stage.run(at(4), 1, succeed()).await;
    assert_eq!(stage.promote(at(5)).await, 2);
}

pub async fn what_a_failed_parent_decided_stays_when_it_is_revived_later(stage: Stage) {
    stage.accept(at(0), vec![job(1), child(2, &[1]), bound(3, &[1], OnFailure::Run)]).await;
    stage.run(at(1), 1, bury()).await;
    stage.promote(at(2)).await;
    stage.command(at(3), id(1), JobCommand::Revive { data: None }).await;
    assert_eq!(stage.states([2, 3]).await, [State::Cancelled, State::Ready]);
    stage.command(at(3), id(3), cancel()).await;
    let settled = stage.run(at(4), 1, succeed()).await;
    assert!(matches!(settled, Settled::Applied { awaited: false, .. }), "{settled:?}");
}

pub async fn a_cancelled_child_takes_its_own_children_along(stage: Stage) {
    // A chain whose ids fall, so that each step of it has to start again from the front of the list.
    stage.accept(at(0), vec![job(9), child(8, &[9]), child(7, &[8]), child(6, &[7])]).await;
    stage.run(at(1), 9, bury()).await;
    let promoted = stage.store.promote(at(2), everything(10)).await.expect("promote");
    assert_eq!(cancelled(&promoted), [8, 7, 6].map(id));
    assert!(!promoted.more);
    let reason = stage.view(id(6)).await.standing.ended.expect("it ended").reason;
    assert_eq!(reason, Some(format!("its parent {} was cancelled", id(7))));
}

pub async fn the_lowest_parent_and_its_lowest_child_come_first_whatever_the_limit(stage: Stage) {
    for (round, limit) in [(0, 100), (100, 1), (200, 2)] {
        let number = |number| round + number;
        let with = |of, parents: &[u32]| child(number(of), &parents.iter().copied().map(number).collect::<Vec<_>>());
        // 5 has a child below itself, 2, whose cancelling comes before the other children of 5.
        let jobs = vec![with(5, &[]), with(6, &[]), with(2, &[5]), with(9, &[6, 5, 2]), with(7, &[5]), with(8, &[6])];
        stage.accept(at(0), jobs).await;
        stage.command(at(1), id(number(6)), cancel()).await;
        stage.command(at(1), id(number(5)), cancel()).await;
        let mut found = Vec::new();
        loop {
            let promoted = stage.store.promote(at(2), everything(limit)).await.expect("promote");
            found.extend(cancelled(&promoted));
            if !promoted.more {
                break;
            }
        }
        assert_eq!(found, [2, 9, 7, 8].map(|of| id(number(of))), "limit {limit}");
        let reason = stage.view(id(number(9))).await.standing.ended.expect("it ended").reason;
        assert_eq!(reason, Some(format!("its parent {} was cancelled", id(number(2)))));
    }
}

pub async fn every_way_to_end_releases_those_who_wait(stage: Stage) {
    let run = |number, parent| bound(number, &[parent], OnFailure::Run);
    stage.accept(at(0), vec![job(1), Job { expires_at: Some(at(50)), ..job(2) }, job(3), job(4)]).await;
    stage.accept(at(0), vec![child(5, &[4]), run(11, 1), run(12, 2), run(13, 3), run(15, 5)]).await;
    stage.register(at(0), 1).await;
    let held = stage.claim_one(at(0), 1).await;
    assert_eq!(held.job.id, id(1));
    assert_eq!(stage.command(at(1), id(1), cancel()).await, Commanded::Asked);
    stage.beat(at(1), 1, BeatKind::Leave).await;
    assert_eq!(stage.state(id(1)).await, State::Cancelled, "its worker left without it");
    assert_eq!(stage.reclaim(at(50)).await.expired.len(), 1);
    stage.command(at(51), id(3), cancel()).await;
    stage.command(at(51), id(4), cancel()).await;
    assert_eq!(stage.promote(at(52)).await, 4);
    assert_eq!(stage.states([11, 12, 13, 15]).await, [State::Ready; 4]);
    assert_eq!(stage.state(id(5)).await, State::Cancelled);
}

pub async fn limits_are_named_promote_goes_over_no_more_than_its_limit(stage: Stage) {
    stage.accept(at(0), vec![job(1)]).await;
    stage.accept(at(0), (2..=21).map(|number| child(number, &[1])).collect()).await;
    stage.accept(at(0), (30..=34).map(|number| Job { run_at: at(5), ..job(number) }).collect()).await;
    stage.run(at(1), 1, succeed()).await;
    let mut ready = 0;
    for _ in 0..100 {
        let promoted = stage.store.promote(at(10), everything(6)).await.expect("promote");
        let count: u64 = promoted.ready.iter().map(|(_, count)| count).sum();
        assert!(count <= 6, "{promoted:?}");
        assert!(promoted.upcoming.is_empty());
        if ready + count <= 20 {
            assert_eq!(promoted.oldest, None, "children come before due jobs, and were not late");
        }
        ready += count;
        if !promoted.more {
            assert_eq!(ready, 25);
            return;
        }
    }
    panic!("promote says that there is more for ever");
}

pub async fn nothing_accepted_is_lost_of_many_children(stage: Stage) {
    const CHILDREN: u32 = 3000;
    stage.accept(at(0), vec![job(1), job(2)]).await;
    stage.accept(at(0), (3..3 + CHILDREN).map(|number| child(number, &[1 + number % 2])).collect()).await;
    stage.run(at(1), 1, succeed()).await;
    stage.run(at(1), 2, bury()).await;
    let stage = stage.reopen().await;
    assert_eq!(stage.promote(at(2)).await, u64::from(CHILDREN / 2));
    let half = u64::from(CHILDREN / 2);
    let expected = Counts { ready: half, cancelled: half, succeeded: 1, dead: 1, ..Counts::default() };
    assert_eq!(stage.queue("mail").await.counts, expected);
}

pub async fn a_failure_stays_where_it_is_children_of_other_segments_are_left_alone(stage: Stage) {
    let jobs = vec![job(1), child(2, &[1]), child(3, &[1]), child(4, &[1])];
    stage.accept(at(0), jobs).await;
    stage.run(at(1), 1, bury()).await;
    let segments: Segments = [id(3).segment()].into_iter().collect();
    let promoted = stage.store.promote(at(2), Promote { segments, ..everything(10) }).await.expect("promote");
    assert_eq!((cancelled(&promoted), promoted.more), (vec![id(3)], false));
    assert_eq!(stage.states([2, 3, 4]).await, [State::Blocked, State::Cancelled, State::Blocked]);
    let stage = stage.reopen().await;
    let promoted = stage.store.promote(at(2), everything(10)).await.expect("promote");
    assert_eq!(cancelled(&promoted), [2, 4].map(id));
}

pub async fn a_parent_that_was_forgotten_leaves_held_children_to_a_person(stage: Stage) {
    stage.accept(at(0), vec![job(1), bound(2, &[1], OnFailure::Hold)]).await;
    stage.run(at(1), 1, bury()).await;
    stage.promote(at(2)).await;
    assert_eq!(stage.prune(at(10), at(10), at(10)).await.jobs, 1);
    let stage = stage.reopen().await;
    assert_eq!(stage.promote(at(11)).await, 0);
    assert_eq!(stage.state(id(2)).await, State::Blocked);
    assert_eq!(stage.command(at(12), id(2), JobCommand::RunNow).await, Commanded::Done);
}

pub async fn a_parent_that_was_forgotten_before_promote_still_releases_its_children(stage: Stage) {
    stage.accept(at(0), vec![job(1), job(2), child(3, &[1]), child(4, &[2])]).await;
    stage.run(at(1), 1, succeed()).await;
    stage.command(at(1), id(2), cancel()).await;
    assert_eq!(stage.command(at(2), id(1), JobCommand::Delete).await, Commanded::Done);
    assert_eq!(stage.prune(at(2), at(10), at(10)).await.jobs, 1);
    let stage = stage.reopen().await;
    assert_eq!(stage.promote(at(3)).await, 1);
    assert_eq!(stage.states([3, 4]).await, [State::Ready, State::Cancelled]);
}

pub async fn each_edge_decides_for_itself(stage: Stage) {
    let on = |parent, on_failure| Dependency { parent: id(parent), on_failure };
    let mixed = |number, first, second| Job { depends_on: vec![on(1, first), on(2, second)], ..job(number) };
    let jobs = vec![
        mixed(3, OnFailure::Run, OnFailure::Cancel),
        mixed(4, OnFailure::Hold, OnFailure::Cancel),
        mixed(5, OnFailure::Cancel, OnFailure::Run),
    ];
    stage.accept(at(0), vec![job(1), job(2)]).await;
    stage.accept(at(0), jobs).await;
    stage.run(at(1), 1, bury()).await;
    stage.run(at(1), 2, succeed()).await;
    assert_eq!(stage.promote(at(2)).await, 1);
    assert_eq!(stage.states([3, 4, 5]).await, [State::Ready, State::Blocked, State::Cancelled]);
}

fn cancelled(promoted: &Promoted) -> Vec<JobId> {
    promoted.cancelled.iter().map(|(id, _)| *id).collect()
}

/// A settlement that ended a job for which others wait.
fn ended_at(round: u64, state: State) -> Settled {
    let ready_at = if round == 10 { at(0) } else { at(round) };
    Settled::Applied { state, ready_at, queue: queue_ref("mail"), awaited: true, gates: None }
}
