//! What a store promises about whose turn it is among tenants.

use mainspring_core::gate::Rule;
use mainspring_core::job::Job;
use mainspring_core::store::*;
use mainspring_core::time::Time;

use super::stage::*;

async fn limit(stage: &Stage, name: &str, of: &str, rule: Rule) {
    let command = Command::Gate { tenant: tenant(name), reach: reach(of), what: GateCommand::Set(rule) };
    assert_eq!(stage.store.command(at(0), vec![command]).await.expect("command"), [Commanded::Done]);
}

/// So many jobs of a tenant, from this number on.
fn jobs(name: &str, from: u32, count: u32) -> Vec<Job> {
    (from..from + count).map(|number| of_tenant(name, job(number))).collect()
}

/// Whose the jobs are that are handed out next.
async fn turns(stage: &Stage, now: Time, max: usize) -> String {
    let taken = stage.share_out(now, &["mail"], max).await;
    // Each is told apart by its first letter.
    taken.iter().map(|claimed| &claimed.job.tenant.as_str()[..1]).collect::<Vec<_>>().join(" ")
}

pub async fn order_is_fair_tenants_take_turns_whoever_came_first(stage: Stage) {
    stage.accept(at(0), jobs("a", 1, 100)).await;
    stage.accept(at(1), [jobs("b", 101, 3), jobs("c", 201, 2)].concat()).await;
    assert_eq!(turns(&stage, at(2), 9).await, "a b c a b c a b a");
}

pub async fn order_is_fair_a_tenant_goes_as_often_as_it_weighs(stage: Stage) {
    limit(&stage, "b", "tenant", share(3)).await;
    stage.accept(at(0), [jobs("a", 1, 50), jobs("b", 101, 50)].concat()).await;
    let order = turns(&stage, at(1), 40).await;
    assert_eq!(order.matches('b').count(), 30, "{order}");
    assert_eq!(order.matches('a').count(), 10, "{order}");
}

pub async fn order_is_fair_a_heavy_job_is_a_long_turn(stage: Stage) {
    let heavy_ones = jobs("a", 1, 10).into_iter().map(|job| heavy(3, job)).collect();
    stage.accept(at(0), [heavy_ones, jobs("b", 101, 10)].concat()).await;
    let order = turns(&stage, at(1), 8).await;
    assert_eq!(order.matches('b').count(), 6, "{order}");
}

pub async fn order_is_fair_an_idle_tenant_saves_up_nothing(stage: Stage) {
    stage.accept(at(0), [jobs("a", 1, 50), jobs("b", 101, 1)].concat()).await;
    turns(&stage, at(1), 30).await;
    stage.accept(at(2), jobs("b", 201, 10)).await;
    let order = turns(&stage, at(2), 8).await;
    assert_eq!(order.matches('b').count(), 4, "{order}");
}

pub async fn order_is_fair_the_turns_go_on_from_request_to_request(stage: Stage) {
    stage.accept(at(0), [jobs("a", 1, 9), jobs("b", 101, 9), jobs("c", 201, 9)].concat()).await;
    let mut order = Vec::new();
    for ms in 1..=6 {
        order.push(turns(&stage, at(ms), 1).await);
    }
    assert_eq!(order.join(" "), "a b c a b c");
}

pub async fn order_is_fair_within_a_tenant_the_best_rank_goes_first(stage: Stage) {
    let urgent = Job { priority: priority(100), ..of_tenant("a", job(9)) };
    stage.accept(at(0), [jobs("a", 1, 3), vec![urgent], jobs("b", 101, 3)].concat()).await;
    assert_eq!(ids_of(&stage.share_out(at(1), &["mail"], 3).await), [9, 101, 1].map(id));
}

pub async fn order_is_fair_the_best_offer_of_all_asked_queues_goes_first(stage: Stage) {
    let urgent = |number| Job { priority: priority(100), ..in_queue("other", of_tenant("a", job(number))) };
    stage.accept(at(0), [jobs("a", 1, 2), jobs("b", 101, 2), vec![urgent(8), urgent(9)]].concat()).await;
    let taken = stage.share_out(at(1), &["mail", "other", "mail"], 10).await;
    assert_eq!(ids_of(&taken), [8, 9, 1, 101, 2, 102].map(id), "turns in one queue are none in another");
}

pub async fn a_failure_stays_where_it_is_a_tenant_that_is_held_back_blocks_no_other(stage: Stage) {
    limit(&stage, "a", "tenant", slots(1)).await;
    stage.accept(at(0), [jobs("a", 1, 5), jobs("b", 101, 3)].concat()).await;
    assert_eq!(turns(&stage, at(1), 10).await, "a b b b");
}

pub async fn a_failure_stays_where_it_is_a_tenants_turn_goes_to_a_job_that_can_go(stage: Stage) {
    limit(&stage, "a", "key:x", slots(1)).await;
    let behind = |number| of_tenant("a", with_key(number, "x"));
    stage.accept(at(0), vec![behind(1), behind(2), behind(3), of_tenant("a", job(4))]).await;
    stage.accept(at(0), jobs("b", 101, 2)).await;
    assert_eq!(ids_of(&stage.share_out(at(1), &["mail"], 10).await), [1, 101, 4, 102].map(id));
}

pub async fn a_failure_stays_where_it_is_a_paused_queue_takes_no_turn(stage: Stage) {
    stage.accept(at(0), [jobs("a", 1, 2), jobs("b", 101, 2)].concat()).await;
    let queue = mainspring_core::name::QueueRef { tenant: tenant("a"), queue: queue("mail") };
    let pause = Command::Queue { queue, what: QueueCommand::Pause };
    stage.store.command(at(0), vec![pause]).await.expect("command");
    assert_eq!(turns(&stage, at(1), 10).await, "b b");
}

pub async fn a_job_of_another_tenant_is_settled_as_any_other(stage: Stage) {
    limit(&stage, "a", "tenant", slots(1)).await;
    stage.accept(at(0), jobs("a", 1, 2)).await;
    let first = stage.share_out(at(1), &["mail"], 10).await;
    assert_eq!((ids_of(&first), &first[0].job.tenant), (vec![id(1)], &tenant("a")));
    stage.end(at(2), first[0].lease_id(), succeed()).await;
    assert_eq!(ids_of(&stage.share_out(at(3), &["mail"], 10).await), [id(2)]);
}

pub async fn a_worker_that_asks_for_its_own_gets_no_others(stage: Stage) {
    stage.accept(at(0), [jobs("a", 1, 2), jobs("default", 101, 1)].concat()).await;
    assert_eq!(stage.took(at(1), 10).await, [id(101)]);
    assert_eq!(turns(&stage, at(2), 0).await, "");
    assert_eq!(turns(&stage, at(2), 10).await, "a a");
}

pub async fn order_is_fair_after_a_reopen_all_turns_are_equal(stage: Stage) {
    stage.accept(at(0), [jobs("a", 1, 30), jobs("b", 101, 30)].concat()).await;
    turns(&stage, at(1), 7).await;
    let stage = stage.reopen().await;
    let order = turns(&stage, at(2), 10).await;
    assert_eq!(order.matches('a').count(), 5, "{order}");
}
