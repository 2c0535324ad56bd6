//! What a store promises to readers.

use mainspring_core::job::Job;
use mainspring_core::lifecycle::Status;
use mainspring_core::name::{Tag, TypeName};
use mainspring_core::store::*;

use super::stage::*;

pub async fn jobs_come_in_the_order_asked(stage: Stage) {
    stage.accept(at(0), vec![job(1), job(2)]).await;
    let ids = vec![id(2), id(9), id(1), id(2)];
    let views = stage.store.get(&tenant("default"), ids).await.expect("get");
    let found: Vec<_> = views.into_iter().map(|view| view.map(|view| view.job.id)).collect();
    assert_eq!(found, [Some(id(2)), None, Some(id(1)), Some(id(2))]);
}

pub async fn a_failure_stays_where_it_is_a_tenant_reads_only_its_own(stage: Stage) {
    let theirs = Job { tenant: tenant("other"), ..job(1) };
    stage.accept(at(0), vec![theirs, job(2)]).await;
    assert_eq!(stage.look(id(1)).await, None);
    assert_eq!(stage.find(Filter::default(), 10).await, [id(2)]);
    assert_eq!(stage.store.ahead(&tenant("default"), id(1), 10).await.expect("ahead"), None);
    let queues = stage.store.queues(Some(&tenant("other"))).await.expect("queues");
    assert_eq!(queues.iter().map(|view| &view.queue.tenant).collect::<Vec<_>>(), [&tenant("other")]);
    assert_eq!(stage.store.queues(None).await.expect("queues").len(), 2);
}

pub async fn pages_go_from_the_newest_to_the_oldest_and_miss_none(stage: Stage) {
    stage.accept(at(0), (1..=10).map(job).collect()).await;
    let expected: Vec<_> = (1..=10).rev().map(id).collect();
    for limit in [1, 3, 5, 10, 11] {
        assert_eq!(stage.find(Filter::default(), limit).await, expected);
    }
}

pub async fn a_filter_finds_what_matches_all_it_names(stage: Stage) {
    let tag = |text| Tag::parse(text).expect("a tag");
    let kind = TypeName::parse("other").expect("a name");
    stage
        .accept(
            at(0),
            vec![
                Job { tags: vec![tag("red"), tag("blue")], ..job(1) },
                Job { tags: vec![tag("red")], queue: queue("other"), ..job(2) },
                Job { kind: kind.clone(), run_at: at(9000), ..job(3) },
                Job { kind: kind.clone(), tags: vec![tag("blue")], ..job(4) },
            ],
        )
        .await;
    stage.command(at(0), id(4), JobCommand::Pause).await;
    let filter = Filter::default;
    let check = async |filter: Filter, expected: &[u32]| {
        let expected: Vec<_> = expected.iter().map(|number| id(*number)).collect();
        assert_eq!(stage.find(filter.clone(), 2).await, expected, "{filter:?}");
    };
    check(Filter { tag: Some(tag("red")), ..filter() }, &[2, 1]).await;
    check(Filter { tag: Some(tag("red")), queue: Some(queue("mail")), ..filter() }, &[1]).await;
    check(Filter { kind: Some(kind.clone()), ..filter() }, &[4, 3]).await;
    check(Filter { statuses: vec![Status::Paused, Status::Scheduled], ..filter() }, &[4, 3]).await;
    check(Filter { statuses: vec![Status::Pending], ..filter() }, &[2, 1]).await;
    check(Filter { statuses: vec![Status::Pending], kind: Some(kind), ..filter() }, &[]).await;
}

pub async fn every_status_can_be_found(stage: Stage) {
    stage.register(at(0), 1).await;
    let ends = [(1, retry(at(9000))), (2, succeed()), (3, bury())];
    for (number, verdict) in ends {
        stage.accept(at(0), vec![job(number)]).await;
        let lease = stage.claim_one(at(0), 1).await.lease_id();
        stage.end(at(1), lease, verdict).await;
    }
    stage.accept(at(0), vec![job(4)]).await;
    stage.claim_one(at(0), 1).await;
    stage.accept(at(0), vec![job(5), job(6), Job { run_at: at(9000), ..job(7) }, job(8)]).await;
    stage.command(at(0), id(6), JobCommand::Pause).await;
    stage.command(at(0), id(8), cancel()).await;
    let stage = stage.reopen().await;
    use Status::*;
    let expected = [Retrying, Completed, Failed, Running, Pending, Paused, Scheduled, Cancelled];
    for (number, status) in (1..).zip(expected) {
        let filter = Filter { statuses: vec![status], ..Filter::default() };
        assert_eq!(stage.find(filter, 10).await, [id(number)], "{status}");
    }
}

pub async fn a_job_that_is_not_there_has_no_history(stage: Stage) {
    assert_eq!(stage.executions(id(1)).await, []);
}

pub async fn order_is_fair_a_job_knows_how_many_go_before_it(stage: Stage) {
    let with = |number, points| Job { priority: priority(points), ..job(number) };
    let elsewhere = Job { queue: queue("other"), ..with(9, 900) };
    stage.accept(at(0), vec![with(1, 5), with(2, 100), with(3, 5), with(4, 0), with(5, 50), elsewhere]).await;
    stage.command(at(0), id(5), JobCommand::Pause).await;
    let check = async |number: u32, limit: u64, expected: Option<u64>| {
        let ahead = stage.store.ahead(&tenant("default"), id(number), limit).await.expect("ahead");
        assert_eq!(ahead, expected, "job {number}");
    };
    check(2, 10, Some(0)).await;
    check(1, 10, Some(1)).await;
    check(3, 10, Some(2)).await;
    check(4, 10, Some(3)).await;
    check(4, 2, Some(2)).await;
    check(5, 10, None).await;
    check(7, 10, None).await;
    stage.register(at(0), 1).await;
    stage.claim_one(at(0), 1).await;
    check(2, 10, None).await;
    check(4, 10, Some(2)).await;
}

pub async fn counts_follow_every_job_through_its_life(stage: Stage) {
    let check = async |stage: &Stage, expected: Counts| assert_eq!(stage.queue("mail").await.counts, expected);
    let none = Counts::default;
    stage.accept(at(0), vec![Job { run_at: at(100), ..job(1) }]).await;
    check(&stage, Counts { waiting: 1, ..none() }).await;
    stage.promote(at(100)).await;
    check(&stage, Counts { ready: 1, ..none() }).await;
    stage.command(at(100), id(1), JobCommand::Pause).await;
    check(&stage, Counts { paused: 1, ..none() }).await;
    stage.command(at(100), id(1), JobCommand::Resume).await;
    stage.register(at(100), 1).await;
    let lease = stage.claim_one(at(100), 1).await.lease_id();
    check(&stage, Counts { running: 1, ..none() }).await;
    stage.end(at(101), lease, retry(at(200))).await;
    check(&stage, Counts { waiting: 1, ..none() }).await;
    stage.command(at(102), id(1), JobCommand::RunNow).await;
    let stage = stage.reopen().await;
    check(&stage, Counts { ready: 1, ..none() }).await;
    let lease = stage.claim_one(at(102), 1).await.lease_id();
    stage.end(at(103), lease, bury()).await;
    check(&stage, Counts { dead: 1, ..none() }).await;
    stage.command(at(104), id(1), JobCommand::Revive { data: None }).await;
    check(&stage, Counts { ready: 1, ..none() }).await;
    let lease = stage.claim_one(at(104), 1).await.lease_id();
    stage.end(at(105), lease, succeed()).await;
    check(&stage, Counts { succeeded: 1, ..none() }).await;
    stage.prune(at(106), at(106), at(106)).await;
    check(&stage, none()).await;
}

pub async fn the_oldest_ready_job_of_a_queue_is_shown(stage: Stage) {
    let due = |number, ms| Job { run_at: at(ms), ..job(number) };
    stage
        .accept(at(500), vec![Job { priority: priority(900), ..due(1, 300) }, due(2, 100), due(3, 200), due(4, 900)])
        .await;
    assert_eq!(stage.queue("mail").await.oldest_ready_at, Some(at(100)));
    stage.command(at(500), id(2), JobCommand::Pause).await;
    let stage = stage.reopen().await;
    assert_eq!(stage.queue("mail").await.oldest_ready_at, Some(at(200)));
    stage.register(at(500), 1).await;
    stage.claim(at(500), 1, 10).await;
    assert_eq!(stage.queue("mail").await.oldest_ready_at, None);
}

pub async fn queues_come_by_tenant_and_name(stage: Stage) {
    let named = |number, who: &str, name: &str| Job { tenant: tenant(who), queue: queue(name), ..job(number) };
    stage.accept(at(0), vec![named(1, "b", "x"), named(2, "a", "z"), named(3, "b", "a"), named(4, "a", "b")]).await;
    let queues = stage.store.queues(None).await.expect("queues");
    let names: Vec<_> =
        queues.iter().map(|view| (&view.queue.tenant.as_str()[..1], view.queue.queue.as_str())).collect();
    assert_eq!(names, [("a", "b"), ("a", "z"), ("b", "a"), ("b", "x")]);
}

pub async fn a_store_says_what_it_is(stage: Stage) {
    assert!(!stage.store.describe().is_empty());
}
