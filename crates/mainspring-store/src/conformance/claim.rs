//! What a store promises when it hands jobs out.

use std::time::Duration;

use mainspring_core::id::JobId;
use mainspring_core::job::{Job, Tally};
use mainspring_core::lifecycle::State;
use mainspring_core::name::TenantName;
use mainspring_core::rank::Aging;
use mainspring_core::store::*;
use mainspring_core::time::Time;

use super::stage::*;

pub async fn no_two_holders_a_job_is_handed_out_once(stage: Stage) {
    stage.accept(at(0), vec![job(1), job(2), job(3)]).await;
    stage.register(at(0), 1).await;
    stage.register(at(0), 2).await;
    let claim = |number| Claim {
        worker: worker(number),
        tenant: TenantName::default_tenant(),
        whose: Whose::Own,
        queues: vec![queue("mail"), queue("mail")],
        max: 2,
    };
    let answers = stage.store.claim(at(0), vec![claim(1), claim(2)]).await.expect("claim");
    let handed: Vec<Vec<JobId>> = answers.iter().map(ids).collect();
    assert_eq!(handed, [vec![id(1), id(2)], vec![id(3)]]);
    assert!(stage.claim(at(1), 2, 10).await.is_empty());
}

pub async fn no_two_holders_a_fence_is_never_used_twice(stage: Stage) {
    stage.accept(at(0), vec![job(1), job(2)]).await;
    stage.register(at(0), 1).await;
    let first = stage.claim_one(at(0), 1).await;
    let second = stage.claim_one(at(0), 1).await;
    assert!(second.lease.fence > first.lease.fence);
    stage.end(at(1), first.lease_id(), retry(at(1))).await;
    let stage = stage.reopen().await;
    let again = stage.claim_one(at(2), 1).await;
    assert_eq!(again.job.id, id(1));
    assert!(again.lease.fence > second.lease.fence);
}

pub async fn no_two_holders_a_claimed_job_stays_claimed_through_a_reopen(stage: Stage) {
    let claimed = stage.running(job(1)).await;
    let stage = stage.reopen().await;
    assert!(stage.claim(at(1), 1, 10).await.is_empty());
    assert_eq!(stage.view(id(1)).await.standing.lease, Some(claimed.lease.clone()));
    stage.end(at(2), claimed.lease_id(), succeed()).await;
}

pub async fn order_is_fair_the_higher_priority_goes_first(stage: Stage) {
    let with = |number, points| Job { priority: priority(points), ..job(number) };
    stage.accept(at(0), vec![with(1, -1000), with(2, 6), with(3, 1000), with(4, 5), with(5, 0)]).await;
    assert_eq!(stage.order(at(0)).await, [3, 2, 4, 5, 1].map(id));
}

pub async fn order_is_fair_a_long_wait_beats_a_priority(stage: Stage) {
    // Ten seconds are worth a point: six points of head start are a minute.
    let with = |number, points, ms| Job { priority: priority(points), run_at: at(ms), ..job(number) };
    let jobs = vec![with(1, 10, 59_999), with(2, 4, 0), with(3, 10, 60_001), with(4, 10, 60_000)];
    stage.accept(at(100_000), jobs).await;
    assert_eq!(stage.order(at(100_000)).await, [1, 2, 4, 3].map(id));
}

pub async fn order_is_fair_equal_ranks_go_to_the_older_id(stage: Stage) {
    stage.accept(at(0), vec![job(3), job(1)]).await;
    stage.accept(at(0), vec![job(2)]).await;
    assert_eq!(stage.order(at(0)).await, [1, 2, 3].map(id));
}

pub async fn order_is_fair_a_near_deadline_goes_first(stage: Stage) {
    let by = |number, seconds: u64| Job { deadline: Some(at(seconds * 1000)), ..job(number) };
    stage.accept(at(0), vec![job(1), by(2, 4000), by(3, 600), by(4, 60)]).await;
    assert_eq!(stage.order(at(0)).await, [4, 3, 1, 2].map(id));
}

pub async fn order_is_fair_over_all_asked_queues_together(stage: Stage) {
    let in_queue = |number, name, points| Job { queue: queue(name), priority: priority(points), ..job(number) };
    let jobs = vec![in_queue(1, "a", 1), in_queue(2, "b", 3), in_queue(3, "a", 2), in_queue(4, "c", 9)];
    stage.accept(at(0), jobs).await;
    stage.register(at(0), 1).await;
    let answer = stage.claim_from(at(0), 1, &["a", "b", "b"], 10).await;
    assert_eq!(ids(&answer), [2, 3, 1].map(id));
}

pub async fn order_is_fair_each_queue_ages_at_its_own_rate(stage: Stage) {
    stage.command_queue(at(0), "quick", QueueCommand::SetAging(Aging::from_point_ms(1))).await;
    let with = |number, name, points, ms| Job {
        queue: queue(name),
        priority: priority(points),
        run_at: at(ms),
        ..job(number)
    };
    // 100 points are 100 ms in "quick" and 1,000 s in "mail".
    stage
        .accept(at(5000), vec![with(1, "quick", 100, 5000), with(2, "mail", 100, 5000), with(3, "quick", 0, 4800)])
        .await;
    stage.register(at(5000), 1).await;
    let answer = stage.claim_from(at(5000), 1, &["quick", "mail"], 10).await;
    assert_eq!(ids(&answer), [2, 3, 1].map(id));
}

pub async fn order_is_fair_a_new_aging_counts_for_what_waits_already(stage: Stage) {
    let with = |number, points, ms| Job { priority: priority(points), run_at: at(ms), ..job(number) };
    stage.accept(at(100_000), vec![with(1, 0, 0), with(2, 5, 90_000)]).await;
    stage.command_queue(at(100_000), "mail", QueueCommand::SetAging(Aging::STRICT)).await;
    let stage = stage.reopen().await;
    assert_eq!(stage.order(at(100_000)).await, [2, 1].map(id));
}

pub async fn order_is_fair_a_new_priority_counts_for_what_waits_already(stage: Stage) {
    stage.accept(at(0), vec![job(1), job(2)]).await;
    let what = JobCommand::Update { data: None, priority: Some(priority(6)), run_at: None };
    assert_eq!(stage.command(at(0), id(2), what).await, Commanded::Done);
    assert_eq!(stage.order(at(0)).await, [2, 1].map(id));
}

pub async fn order_is_fair_survives_a_reopen(stage: Stage) {
    let with = |number, points, ms| Job { priority: priority(points), run_at: at(ms), ..job(number) };
    let jobs = vec![with(1, 5, 9000), with(2, 6, 20_000), with(3, -3, 5), with(4, 5, 8000), with(5, 1000, 30_000)];
    stage.accept(at(0), jobs).await;
    stage.promote(at(30_000)).await;
    let stage = stage.reopen().await;
    assert_eq!(stage.order(at(30_000)).await, [5, 4, 1, 2, 3].map(id));
}

pub async fn limits_are_named_a_claim_takes_no_more_than_it_asked(stage: Stage) {
    stage.accept(at(0), (1..=5).map(job).collect()).await;
    stage.register(at(0), 1).await;
    assert_eq!(stage.claim(at(0), 1, 0).await.len(), 0);
    assert_eq!(stage.claim(at(0), 1, 2).await.len(), 2);
    assert_eq!(stage.queue("mail").await.counts.ready, 3);
}

pub async fn a_failure_stays_where_it_is_a_paused_queue_gives_nothing_and_stops_no_other(stage: Stage) {
    stage.accept(at(0), vec![job(1), Job { queue: queue("other"), ..job(2) }]).await;
    stage.command_queue(at(0), "mail", QueueCommand::Pause).await;
    stage.register(at(0), 1).await;
    let stage = stage.reopen().await;
    let answer = stage.claim_from(at(0), 1, &["mail", "other"], 10).await;
    assert_eq!(ids(&answer), [id(2)]);
    stage.command_queue(at(1), "mail", QueueCommand::Resume).await;
    assert_eq!(stage.claim_one(at(1), 1).await.job.id, id(1));
}

pub async fn a_failure_stays_where_it_is_a_paused_job_is_passed_over(stage: Stage) {
    stage.accept(at(0), vec![job(1), job(2)]).await;
    assert_eq!(stage.command(at(0), id(1), JobCommand::Pause).await, Commanded::Done);
    let stage = stage.reopen().await;
    assert_eq!(stage.order(at(0)).await, [id(2)]);
    assert_eq!(stage.command(at(1), id(1), JobCommand::Resume).await, Commanded::Done);
    assert_eq!(stage.order(at(1)).await, [id(1)]);
}

pub async fn a_failure_stays_where_it_is_a_tenant_is_given_only_its_own(stage: Stage) {
    stage.accept(at(0), vec![Job { tenant: tenant("other"), ..job(1) }]).await;
    stage.register(at(0), 1).await;
    assert!(stage.claim(at(0), 1, 10).await.is_empty());
    let claim =
        Claim { worker: worker(1), tenant: tenant("other"), whose: Whose::Own, queues: vec![queue("mail")], max: 1 };
    let answers = stage.store.claim(at(0), vec![claim]).await.expect("claim");
    assert_eq!(answers, [ClaimAnswer::UnknownWorker], "a worker belongs to the tenant it registered under");
}

pub async fn a_waiting_job_is_not_handed_out_before_it_is_promoted(stage: Stage) {
    stage.accept(at(0), vec![Job { run_at: at(100), ..job(1) }]).await;
    stage.register(at(0), 1).await;
    assert!(stage.claim(at(100), 1, 1).await.is_empty());
    stage.promote(at(100)).await;
    assert_eq!(stage.claim_one(at(100), 1).await.job.id, id(1));
}

pub async fn a_job_past_its_expiry_is_not_handed_out(stage: Stage) {
    let until = |number, ms| Job { expires_at: Some(at(ms)), ..job(number) };
    stage.accept(at(0), vec![until(1, 100), until(2, 101)]).await;
    assert_eq!(stage.order(at(100)).await, [id(2)]);
    assert_eq!(stage.state(id(1)).await, State::Ready);
}

pub async fn a_stranger_gets_nothing(stage: Stage) {
    stage.accept(at(0), vec![job(1)]).await;
    assert_eq!(stage.claim_from(at(0), 1, &["mail"], 1).await, ClaimAnswer::UnknownWorker);
    stage.register(at(0), 1).await;
    stage.reclaim(at(0).after(LEASE)).await;
    assert_eq!(stage.claim_from(at(0).after(LEASE), 1, &["mail"], 1).await, ClaimAnswer::UnknownWorker);
    assert_eq!(stage.state(id(1)).await, State::Ready);
}

pub async fn a_worker_told_to_be_quiet_gets_nothing(stage: Stage) {
    stage.accept(at(0), vec![job(1)]).await;
    stage.register(at(0), 1).await;
    for order in [Order::Quiet, Order::Terminate] {
        let command = Command::Worker { id: worker(1), order };
        assert_eq!(stage.store.command(at(0), vec![command]).await.expect("command"), [Commanded::Done]);
        assert_eq!(stage.claim_from(at(0), 1, &["mail"], 1).await, ClaimAnswer::Quiet);
    }
}

pub async fn a_claim_counts_the_attempt_and_sets_its_own_timeout(stage: Stage) {
    let claimed = stage.running(Job { timeout: Some(Duration::from_secs(3)), ..job(1) }).await;
    assert_eq!(claimed.tally, Tally { attempts: 1, failures: 0, crashes: 0 });
    assert_eq!(claimed.lease.timeout_at, Some(at(3000)));
    assert_eq!((claimed.lease.worker, claimed.lease.claimed_at), (worker(1), at(0)));
    assert_eq!((claimed.lease.started_at, &claimed.lease.cancel_asked), (None, &None));
    let standing = stage.view(id(1)).await.standing;
    assert_eq!((standing.state, standing.tally, standing.lease), (State::Running, claimed.tally, Some(claimed.lease)));
}

pub async fn an_unknown_queue_gives_nothing_and_is_not_made(stage: Stage) {
    stage.register(at(0), 1).await;
    assert_eq!(stage.claim_from(at(0), 1, &["nowhere"], 1).await, ClaimAnswer::Jobs(Vec::new()));
    assert!(stage.store.queues(None).await.expect("queues").is_empty());
}

impl Stage {
    /// The order in which `mail` hands out all it has.
    async fn order(&self, now: Time) -> Vec<JobId> {
        self.register(now, 1).await;
        self.claim(now, 1, 100).await.into_iter().map(|claimed| claimed.job.id).collect()
    }
}

fn ids(answer: &ClaimAnswer) -> Vec<JobId> {
    match answer {
        ClaimAnswer::Jobs(jobs) => jobs.iter().map(|claimed| claimed.job.id).collect(),
        other => panic!("answered {other:?}"),
    }
}
