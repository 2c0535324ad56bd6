//! What a store promises about how much runs at once.

use mainspring_core::gate::Rule;
use mainspring_core::id::JobId;
use mainspring_core::job::{Job, Keys};
use mainspring_core::name::TenantName;
use mainspring_core::store::*;
use mainspring_core::verdict::{Cause, Verdict};

use super::stage::*;

pub async fn a_queue_runs_no_more_than_its_limit_and_stops_no_other(stage: Stage) {
    holds_two(stage, "queue:mail", job, in_queue("other", job(9))).await;
}

pub async fn a_type_runs_no_more_than_its_limit_and_stops_no_other(stage: Stage) {
    holds_two(stage, "type:send", job, of_type("print", job(9))).await;
}

pub async fn a_key_runs_no_more_than_its_limit_and_stops_no_other(stage: Stage) {
    holds_two(stage, "key:a", |number| with_key(number, "a"), with_key(9, "b")).await;
}

pub async fn a_tenant_runs_no_more_than_its_limit_and_stops_no_other(stage: Stage) {
    let beat = Beat {
        worker: worker(2),
        tenant: tenant("acme"),
        kind: BeatKind::Register { info: WorkerInfo::default(), lease: LEASE },
    };
    stage.store.heartbeat(at(0), vec![beat]).await.expect("heartbeat");
    stage.limit(at(0), "tenant", slots(2)).await;
    stage.accept(at(0), vec![job(1), in_queue("other", job(2)), job(3), of_tenant("acme", job(9))]).await;
    assert_eq!(stage.took(at(0), 10).await, [1, 2].map(id));
    let queues = vec![queue("mail")];
    let claim = Claim { worker: worker(2), tenant: tenant("acme"), whose: Whose::Own, queues, max: 10 };
    let answer = stage.store.claim(at(0), vec![claim]).await.expect("claim").remove(0);
    assert!(matches!(&answer, ClaimAnswer::Jobs(jobs) if ids_of(jobs) == [id(9)]), "{answer:?}");
}

/// Two of the first three go, and the one beside them; the third follows when one of the two has ended.
async fn holds_two(stage: Stage, of: &str, inside: impl Fn(u32) -> Job, beside: Job) {
    stage.limit(at(0), of, slots(2)).await;
    stage.accept(at(0), vec![inside(1), inside(2), inside(3), beside]).await;
    let taken = stage.take(at(0), 10).await;
    assert_eq!(ids_of(&taken), [1, 2, 9].map(id));
    assert_eq!(stage.took(at(1), 10).await, []);
    stage.end(at(2), taken[1].lease_id(), succeed()).await;
    assert_eq!(stage.took(at(3), 10).await, [id(3)]);
}

pub async fn a_limit_holds_over_all_requests_of_a_batch(stage: Stage) {
    stage.limit(at(0), "key:a", slots(2)).await;
    stage.accept(at(0), (1..=4).map(|number| with_key(number, "a")).collect()).await;
    stage.register(at(0), 1).await;
    let queues = vec![queue("mail")];
    let claim = Claim { worker: worker(1), tenant: TenantName::default_tenant(), whose: Whose::Own, queues, max: 1 };
    let answers = stage.store.claim(at(0), vec![claim; 3]).await.expect("claim");
    let given: Vec<usize> = answers
        .iter()
        .map(|answer| if let ClaimAnswer::Jobs(jobs) = answer { jobs.len() } else { panic!("{answer:?}") })
        .collect();
    assert_eq!(given, [1, 1, 0]);
}

pub async fn a_job_takes_as_many_slots_as_it_weighs(stage: Stage) {
    stage.limit(at(0), "queue:mail", slots(5)).await;
    stage.accept(at(0), vec![heavy(2, job(1)), heavy(3, job(2)), job(3)]).await;
    let taken = stage.take(at(0), 10).await;
    assert_eq!(ids_of(&taken), [1, 2].map(id));
    stage.end(at(1), taken[0].lease_id(), succeed()).await;
    stage.accept(at(1), vec![job(4), job(5)]).await;
    assert_eq!(stage.took(at(1), 10).await, [3, 4].map(id));
}

pub async fn order_is_fair_nobody_overtakes_at_a_shut_gate(stage: Stage) {
    stage.limit(at(0), "key:a", slots(3)).await;
    let jobs =
        vec![with_key(1, "a"), heavy(3, with_key(2, "a")), with_key(3, "a"), in_queue("other", with_key(4, "a"))];
    stage.accept(at(0), jobs).await;
    let first = stage.take(at(0), 10).await;
    assert_eq!(ids_of(&first), [id(1)], "two slots are free, but the next in line needs three");
    assert_eq!(stage.took(at(1), 10).await, []);
    stage.end(at(2), first[0].lease_id(), succeed()).await;
    assert_eq!(stage.took(at(2), 10).await, [id(2)]);
}

pub async fn order_is_fair_others_go_past_a_job_that_is_held_back(stage: Stage) {
    stage.limit(at(0), "key:a", slots(1)).await;
    let urgent = |number| Job { priority: priority(100), ..with_key(number, "a") };
    stage.accept(at(0), vec![urgent(1), urgent(2), urgent(3), with_key(4, "b"), job(5)]).await;
    assert_eq!(stage.took(at(0), 10).await, [1, 4, 5].map(id));
}

pub async fn order_is_fair_the_best_of_those_held_back_goes_when_a_slot_is_free(stage: Stage) {
    stage.limit(at(0), "key:a", slots(1)).await;
    stage.accept(at(0), (1..=3).map(|number| with_key(number, "a")).collect()).await;
    let first = stage.take(at(0), 10).await;
    stage.accept(at(1), vec![Job { priority: priority(50), ..with_key(4, "a") }]).await;
    let what = JobCommand::Update { data: None, priority: Some(priority(40)), run_at: None };
    assert_eq!(stage.command(at(1), id(3), what).await, Commanded::Done);
    let stage = stage.reopen().await;
    stage.end(at(2), first[0].lease_id(), succeed()).await;
    let mut order = Vec::new();
    for _ in 0..3 {
        let taken = stage.take(at(3), 10).await;
        order.extend(ids_of(&taken));
        stage.end(at(4), taken[0].lease_id(), succeed()).await;
    }
    assert_eq!(order, [4, 3, 2].map(id));
}

pub async fn a_failure_stays_where_it_is_a_job_before_one_gate_shuts_no_other(stage: Stage) {
    stage.limit(at(0), "key:a", slots(1)).await;
    stage.limit(at(0), "queue:mail", slots(4)).await;
    stage.accept(at(0), vec![with_key(1, "a"), heavy(4, with_key(2, "a")), job(3)]).await;
    assert_eq!(stage.took(at(0), 10).await, [1, 3].map(id), "the second has no room in the queue, but is not asked");
    let reasons = stage.reasons(at(1), 2).await;
    let gates: Vec<&str> = reasons.iter().map(|(gate, _)| gate.as_str()).collect();
    assert_eq!(gates, ["queue:mail", "key:a"]);
}

pub async fn no_state_without_an_exit_a_job_that_is_heavier_than_its_limit_runs_alone(stage: Stage) {
    stage.limit(at(0), "key:a", slots(2)).await;
    stage.accept(at(0), vec![with_key(1, "a"), heavy(9, with_key(2, "a")), with_key(3, "a")]).await;
    let first = stage.take(at(0), 10).await;
    assert_eq!(ids_of(&first), [id(1)]);
    stage.end(at(1), first[0].lease_id(), succeed()).await;
    let alone = stage.take(at(2), 10).await;
    assert_eq!(ids_of(&alone), [id(2)]);
    stage.end(at(3), alone[0].lease_id(), succeed()).await;
    assert_eq!(stage.took(at(4), 10).await, [id(3)]);
}

pub async fn a_limit_of_zero_lets_nothing_start_until_it_is_changed(stage: Stage) {
    stage.limit(at(0), "type:send", slots(0)).await;
    stage.accept(at(0), vec![job(1), of_type("print", job(2))]).await;
    assert_eq!(stage.took(at(0), 10).await, [id(2)]);
    stage.limit(at(1), "type:send", slots(1)).await;
    assert_eq!(stage.took(at(1), 10).await, [id(1)]);
}

pub async fn all_gates_must_let_a_job_in_or_it_enters_none(stage: Stage) {
    stage.limit(at(0), "type:send", slots(1)).await;
    stage.limit(at(0), "key:a", slots(1)).await;
    stage.accept(at(0), vec![job(1), with_key(2, "a"), of_type("print", with_key(3, "a"))]).await;
    assert_eq!(stage.took(at(0), 1).await, [id(1)]);
    // The second stands before its type and has taken no slot of its key.
    assert_eq!(stage.took(at(1), 10).await, [id(3)]);
    let running = stage.gate(at(2), "key:a").await.expect("it has a rule").state.running;
    assert_eq!(running, 1);
}

pub async fn a_key_for_one_part_is_no_key_for_the_other(stage: Stage) {
    stage.limit(at(0), "key:a", Rule { rate: one_a_second(1).rate, ..slots(1) }).await;
    // Slots and permits of one key are taken by different jobs.
    stage.accept(at(0), vec![with_key(1, "a"), with_rate_key(2, "a")]).await;
    let both = |number| Job { keys: Keys { concurrency: key("a"), rate: key("a"), weight: 1 }, ..job(number) };
    assert_eq!(stage.took(at(0), 10).await, [1, 2].map(id));
    stage.accept(at(0), vec![both(3)]).await;
    assert_eq!(stage.reasons(at(0), 3).await.len(), 1, "a key that is named twice is one gate");
    assert_eq!(stage.reasons(at(0), 3).await[0].1.len(), 2);
    assert_eq!(stage.reasons(at(1000), 3).await[0].1.len(), 1);
}

pub async fn a_key_named_for_both_parts_takes_one_slot_and_one_permit(stage: Stage) {
    stage.limit(at(0), "key:a", Rule { rate: one_a_second(2).rate, ..slots(2) }).await;
    let both = |number| Job { keys: Keys { concurrency: key("a"), rate: key("a"), weight: 1 }, ..job(number) };
    stage.accept(at(0), vec![both(1), both(2), both(3)]).await;
    let taken = stage.take(at(0), 10).await;
    assert_eq!(ids_of(&taken), [1, 2].map(id));
    stage.end(at(10), taken[0].lease_id(), succeed()).await;
    assert_eq!(stage.took(at(999), 10).await, [], "a slot is free, a permit is not");
    assert_eq!(stage.took(at(1000), 10).await, [id(3)]);
}

pub async fn every_verdict_frees_the_slot_it_was_held_by(stage: Stage) {
    stage.limit(at(0), "key:a", slots(1)).await;
    let lost = |cause| Verdict::Bury { cause, error: mainspring_core::job::Failure::new("boom") };
    let verdicts = [
        succeed(),
        retry(at(900_000)),
        Verdict::Snooze { at: at(900_000) },
        bury(),
        lost(Cause::Timeout),
        lost(Cause::Crash),
        Verdict::Cancel { reason: "told to".into() },
        Verdict::Release,
    ];
    for (number, verdict) in (1..).zip(verdicts) {
        stage.accept(at(0), vec![with_key(number, "a")]).await;
        let taken = stage.take(at(10), 10).await;
        assert_eq!(ids_of(&taken), [id(number)], "before {verdict:?}");
        stage.accept(at(10), vec![with_key(100 + number, "a")]).await;
        assert_eq!(stage.took(at(10), 10).await, [], "while it is held");
        stage.command(at(11), id(100 + number), cancel()).await;
        stage.end(at(12), taken[0].lease_id(), verdict).await;
        assert_eq!(stage.gate(at(13), "key:a").await.expect("it has a rule").state.running, 0);
    }
}

pub async fn what_a_leaving_worker_held_is_free(stage: Stage) {
    stage.limit(at(0), "key:a", slots(1)).await;
    stage.accept(at(0), vec![with_key(1, "a"), with_key(2, "a")]).await;
    assert_eq!(stage.took(at(0), 10).await, [id(1)]);
    let pulse = stage.beat(at(1), 1, BeatKind::Leave).await;
    assert!(matches!(pulse, Pulse::Alive { gates: Some(news), .. } if news.opened == [queue_ref("mail")]));
    stage.register(at(2), 2).await;
    assert_eq!(ids_of(&stage.claim(at(2), 2, 10).await), [id(1)]);
}

pub async fn what_never_arrived_is_free(stage: Stage) {
    stage.limit(at(0), "key:a", slots(2)).await;
    stage.accept(at(0), (1..=3).map(|number| with_key(number, "a")).collect()).await;
    let taken = stage.take(at(0), 10).await;
    assert_eq!(ids_of(&taken), [1, 2].map(id));
    let kind = BeatKind::Holding { leases: vec![taken[1].lease_id()], claimed_before: at(5) };
    let pulse = stage.beat(at(10), 1, kind).await;
    assert!(matches!(pulse, Pulse::Alive { held: 1, gates: Some(news), .. } if news.opened == [queue_ref("mail")]));
    assert_eq!(stage.took(at(11), 10).await, [id(1)]);
}

pub async fn a_lease_that_was_taken_back_holds_its_slot_until_it_is_settled(stage: Stage) {
    stage.limit(at(0), "key:a", slots(1)).await;
    stage.accept(at(0), vec![with_key(1, "a"), with_key(2, "a")]).await;
    assert_eq!(stage.took(at(0), 10).await, [id(1)]);
    let taken_back = stage.reclaim(at(60_000)).await.leases.remove(0);
    assert_eq!(stage.took(at(60_000), 10).await, [], "nobody knows whether its worker has stopped");
    let stage = stage.reopen().await;
    assert_eq!(stage.took(at(60_001), 10).await, []);
    stage.end(at(60_002), taken_back.claimed.lease_id(), retry(at(900_000))).await;
    assert_eq!(stage.took(at(60_003), 10).await, [id(2)]);
}

pub async fn what_does_not_end_a_lease_frees_nothing(stage: Stage) {
    stage.limit(at(0), "key:a", slots(1)).await;
    stage.accept(at(0), vec![with_key(1, "a"), with_key(2, "a")]).await;
    let lease = stage.take(at(0), 10).await[0].lease_id();
    stage.report(at(1), lease, ReportKind::Started).await;
    assert_eq!(stage.command(at(1), id(1), cancel()).await, Commanded::Asked);
    stage.beat(at(1), 1, BeatKind::Alive).await;
    stage.end(at(2), lease, succeed()).await;
    let again = stage.take(at(3), 10).await;
    assert_eq!(ids_of(&again), [id(2)]);
    assert_eq!(stage.settle(at(4), lease, succeed()).await, Settled::Stale);
    stage.accept(at(4), vec![with_key(3, "a")]).await;
    assert_eq!(stage.took(at(5), 10).await, [], "a stale settlement gives no slot back");
}

pub async fn nothing_accepted_is_lost_a_limit_and_its_holders_survive_a_reopen(stage: Stage) {
    stage.limit(at(0), "key:a", slots(3)).await;
    stage.accept(at(0), vec![heavy(2, with_key(1, "a")), with_key(2, "a"), with_key(3, "a")]).await;
    let taken = stage.take(at(0), 10).await;
    assert_eq!(ids_of(&taken), [1, 2].map(id));
    let stage = stage.reopen().await;
    assert_eq!(stage.took(at(1), 10).await, []);
    stage.end(at(2), taken[0].lease_id(), succeed()).await;
    stage.accept(at(2), vec![with_key(4, "a"), with_key(5, "a")]).await;
    assert_eq!(stage.took(at(3), 10).await, [3, 4].map(id), "a weight of two is free");
}

pub async fn a_failure_stays_where_it_is_many_behind_one_key_are_in_nobodys_way(stage: Stage) {
    stage.limit(at(0), "key:a", slots(1)).await;
    let many: Vec<Job> = (1..=3000).map(|number| with_key(number, "a")).collect();
    stage.accept(at(0), many).await;
    stage.accept(at(1), vec![job(4001), with_key(4002, "b")]).await;
    assert_eq!(stage.took(at(1), 10).await, [1, 4001, 4002].map(id));
    let stage = stage.reopen().await;
    stage.accept(at(2), vec![job(4003)]).await;
    assert_eq!(stage.took(at(2), 10).await, [id(4003)]);
    assert_eq!(stage.queue("mail").await.counts.ready, 2999);
    let ahead = stage.store.ahead(&TenantName::default_tenant(), id(3000), 10_000).await.expect("ahead");
    assert_eq!(ahead, Some(2998), "who is held back is still in line");
}

pub async fn jobs_that_are_held_back_can_be_cancelled_paused_and_found(stage: Stage) {
    stage.limit(at(0), "key:a", slots(1)).await;
    stage.accept(at(0), (1..=5).map(|number| with_key(number, "a")).collect()).await;
    let first = stage.take(at(0), 10).await;
    assert_eq!(stage.command(at(1), id(2), cancel()).await, Commanded::Done);
    assert_eq!(stage.command(at(1), id(3), JobCommand::Pause).await, Commanded::Done);
    let later = JobCommand::Update { data: None, priority: None, run_at: Some(at(5000)) };
    assert_eq!(stage.command(at(1), id(4), later).await, Commanded::Done);
    stage.end(at(2), first[0].lease_id(), succeed()).await;
    let fifth = stage.take(at(3), 10).await;
    assert_eq!(ids_of(&fifth), [id(5)]);
    assert_eq!(stage.command(at(4), id(3), JobCommand::Resume).await, Commanded::Done);
    assert_eq!(stage.promote(at(5000)).await, 1);
    stage.end(at(5001), fifth[0].lease_id(), succeed()).await;
    let third = stage.take(at(5002), 10).await;
    assert_eq!(ids_of(&third), [id(3)]);
    let all: Vec<JobId> = stage.find(Filter::default(), 2).await;
    assert_eq!(all, [5, 4, 3, 2, 1].map(id));
}
