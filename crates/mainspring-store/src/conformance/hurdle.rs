//! What a store promises to show of limits, and what it hints at.

use std::time::Duration;

use mainspring_core::gate::{Bucket, Entry, GateState, Rule};
use mainspring_core::job::{Job, Keys};
use mainspring_core::limits::HOLDERS_SHOWN_MAX;
use mainspring_core::store::*;
use mainspring_core::time::Time;
use mainspring_core::verdict::Verdict;

use super::stage::*;

pub async fn every_reason_at_every_gate_is_named(stage: Stage) {
    stage.limit(at(0), "tenant", one_a_second(3)).await;
    stage.limit(at(0), "queue:mail", slots(3)).await;
    stage.limit(at(0), "type:send", breaker()).await;
    stage.limit(at(0), "key:a", Rule { rate: one_a_second(1).rate, ..slots(1) }).await;
    let both = |number| Job { keys: Keys { concurrency: key("a"), rate: key("a"), weight: 1 }, ..job(number) };
    stage.accept(at(0), vec![job(1), job(2), both(3), both(4)]).await;
    let taken = stage.take(at(0), 10).await;
    assert_eq!(ids_of(&taken), [1, 2, 3].map(id));
    assert_eq!(
        stage.reasons(at(0), 4).await,
        [
            ("tenant".to_owned(), vec![Entry::NoToken { next_at: at(1000) }]),
            ("queue:mail".to_owned(), vec![Entry::Full { running: 3, max: 3 }]),
            ("key:a".to_owned(), vec![Entry::Full { running: 1, max: 1 }, Entry::NoToken { next_at: at(1000) }]),
        ]
    );
    stage.end(at(10), taken[0].lease_id(), bury()).await;
    stage.end(at(10), taken[1].lease_id(), bury()).await;
    stage.end(at(10), taken[2].lease_id(), Verdict::Close { wait: Duration::from_secs(2) }).await;
    let expected = [
        ("type:send".to_owned(), vec![Entry::BreakerOpen { probe_at: at(10_010) }]),
        ("key:a".to_owned(), vec![Entry::ClosedUntil(at(2010))]),
    ];
    assert_eq!(stage.reasons(at(2000), 4).await, expected);
    let stage = stage.reopen().await;
    assert_eq!(stage.reasons(at(2000), 4).await, expected);
    assert_eq!(stage.reasons(at(10_010), 4).await, []);
}

pub async fn a_full_gate_names_who_holds_it_lowest_first_and_no_more_than_the_limit(stage: Stage) {
    let count = HOLDERS_SHOWN_MAX as u32 + 3;
    stage.limit(at(0), "key:a", slots(count)).await;
    let jobs = (1..=count + 1).map(|number| with_key(number, "a")).collect();
    stage.accept(at(0), vec![with_rate_key(100, "a"), job(101)]).await;
    stage.accept(at(0), jobs).await;
    stage.take(at(0), 50).await;
    let hurdles = stage.hurdles(at(1), count + 1).await.expect("it is on offer");
    assert_eq!((hurdles.len(), &hurdles[0].gate), (1, &gate("key:a")));
    let lowest: Vec<_> = (1..=HOLDERS_SHOWN_MAX as u32).map(id).collect();
    assert_eq!(hurdles[0].holders, lowest);
    stage.limit(at(2), "key:a", one_a_second(1)).await;
    assert_eq!(stage.hurdles(at(3), count + 1).await, Some(vec![]), "nobody holds what is not full");
}

pub async fn only_a_job_that_is_on_offer_has_hurdles(stage: Stage) {
    stage.limit(at(0), "type:send", slots(0)).await;
    stage.accept(at(0), vec![job(1), Job { run_at: at(5000), ..job(2) }, job(3)]).await;
    stage.command(at(0), id(3), JobCommand::Pause).await;
    assert_eq!(stage.hurdles(at(1), 1).await.map(|hurdles| hurdles.len()), Some(1));
    assert_eq!(stage.hurdles(at(1), 2).await, None);
    assert_eq!(stage.hurdles(at(1), 3).await, None);
    assert_eq!(stage.hurdles(at(1), 9).await, None);
    let other = stage.store.hurdles(&tenant("acme"), id(1), at(1)).await.expect("hurdles");
    assert_eq!(other, None, "it is not this tenant's");
    stage.limit(at(2), "type:send", slots(1)).await;
    assert_eq!(stage.hurdles(at(2), 1).await, Some(vec![]));
}

pub async fn a_gate_is_listed_with_what_holds_and_what_happened_there(stage: Stage) {
    stage.limit(at(0), "key:*", Rule { rate: one_a_second(2).rate, ..slots(5) }).await;
    stage.limit(at(0), "queue:mail", slots(9)).await;
    let both = |number, name| Job { keys: Keys { concurrency: key(name), rate: key(name), weight: 2 }, ..job(number) };
    stage.accept(at(0), vec![both(1, "a"), with_key(2, "b"), with_rate_key(3, "c")]).await;
    let taken = stage.take(at(0), 10).await;
    let listed = async |now: Time| -> Vec<(String, GateState)> {
        stage.gates(now).await.into_iter().map(|view| (view.reach.text(), view.state)).collect()
    };
    let taking = |running, permits: u64| {
        let full_at = if permits == 0 { 0 } else { at(permits * 1000).as_millis() << 16 };
        GateState { running, bucket: Bucket { full_at }, ..GateState::default() }
    };
    let of = |gate: &str, state| (gate.to_owned(), state);
    let rest = GateState::default();
    assert_eq!(
        listed(at(1)).await,
        [
            of("queue:mail", taking(4, 0)),
            of("key:a", taking(2, 2)),
            of("key:b", taking(1, 0)),
            of("key:c", taking(0, 1)),
            of("key:*", rest)
        ]
    );
    for claimed in &taken {
        stage.end(at(500), claimed.lease_id(), succeed()).await;
    }
    assert_eq!(listed(at(1000)).await, [of("queue:mail", rest), of("key:a", taking(0, 2)), of("key:*", rest)]);
    assert_eq!(listed(at(2000)).await, [of("queue:mail", rest), of("key:*", rest)]);
}

pub async fn only_gates_at_rest_are_forgotten(stage: Stage) {
    stage.limit(at(0), "key:*", one_a_second(1)).await;
    stage.limit(at(0), "type:*", breaker()).await;
    stage.accept(at(0), vec![with_rate_key(1, "a"), with_key(2, "b"), with_rate_key(3, "a"), with_key(4, "c")]).await;
    let taken = stage.take(at(0), 2).await;
    assert_eq!(ids_of(&taken), [1, 2].map(id));
    stage.end(at(0), taken[0].lease_id(), bury()).await;
    stage.prune(at(10), Time::ZERO, Time::ZERO).await;
    let stage = stage.reopen().await;
    assert_eq!(stage.took(at(10), 1).await, [id(4)], "the permit is still taken");
    assert_eq!(stage.gate(at(10), "key:b").await.map(|view| view.state.running), Some(1));
    let opened = news(stage.settle(at(11), taken[1].lease_id(), bury()).await).breakers;
    assert_eq!(opened.len(), 1, "the failure before was not forgotten");
    stage.prune(at(1000), Time::ZERO, Time::ZERO).await;
    stage.command_gate(at(1000), "type:send", GateCommand::Reopen).await;
    assert_eq!(stage.took(at(500), 10).await, [id(3)], "what is at rest is forgotten, whatever the clock reads then");
}

pub async fn a_store_without_limits_hints_at_nothing(stage: Stage) {
    stage.accept(at(0), vec![with_key(1, "a"), with_rate_key(2, "a")]).await;
    let lease = stage.take(at(0), 1).await[0].lease_id();
    assert_eq!(stage.gate_hints(at(1)).await, (vec![], None));
    assert_eq!(news(stage.settle(at(1), lease, succeed()).await), GateNews::default());
    assert_eq!(stage.gate_hints(at(2)).await, (vec![], None));
}

pub async fn who_waits_is_told_which_queues_a_free_slot_opens(stage: Stage) {
    stage.limit(at(0), "key:a", slots(1)).await;
    stage.accept(at(0), vec![with_key(1, "a"), in_queue("other", with_key(2, "a")), with_key(3, "b")]).await;
    let taken = stage.take(at(0), 10).await;
    assert_eq!(ids_of(&taken), [1, 3].map(id));
    let opened = news(stage.settle(at(1), taken[0].lease_id(), succeed()).await).opened;
    assert!(opened.contains(&queue_ref("other")), "{opened:?}");
    assert_eq!(stage.took(at(2), 10).await, [id(2)]);
}

pub async fn who_waits_is_told_what_a_breaker_that_closes_opens(stage: Stage) {
    stage.limit(at(0), "type:send", breaker()).await;
    stage.accept(at(0), (1..=4).map(job).chain([in_queue("other", job(5))]).collect()).await;
    for claimed in stage.take(at(0), 2).await {
        stage.end(at(0), claimed.lease_id(), bury()).await;
    }
    assert_eq!(stage.took(at(1), 10).await, []);
    for (ms, number, queue) in [(10_000, 3, "mail"), (10_010, 4, "other")] {
        let probe = stage.take(at(ms), 10).await;
        assert_eq!(ids_of(&probe), [id(number)]);
        let opened = news(stage.settle(at(ms + 1), probe[0].lease_id(), succeed()).await).opened;
        assert!(opened.contains(&queue_ref(queue)), "{opened:?}");
    }
}

pub async fn who_waits_is_told_when_time_opens_a_gate(stage: Stage) {
    stage.limit(at(0), "key:rate", one_a_second(1)).await;
    stage.limit(at(0), "type:print", breaker()).await;
    stage.accept(at(0), vec![with_rate_key(1, "rate"), with_rate_key(2, "rate"), with_key(3, "told")]).await;
    stage.accept(at(0), (4..=6).map(|number| in_queue("other", of_type("print", job(number)))).collect()).await;
    let taken = stage.take(at(0), 10).await;
    assert_eq!(ids_of(&taken), [1, 3, 4, 5, 6].map(id));
    stage.end(at(0), taken[1].lease_id(), Verdict::Close { wait: Duration::from_secs(5) }).await;
    for claimed in &taken[2..] {
        stage.end(at(0), claimed.lease_id(), retry(at(0))).await;
    }
    assert_eq!(stage.took(at(1), 10).await, []);
    let (mut stage, mut seen, mut now) = (stage, Vec::new(), at(1));
    // Follows the hints as whoever keeps the time does, and asks nobody before one says so.
    for _ in 0..100 {
        stage = stage.reopen().await;
        let (opened, next) = stage.gate_hints(now).await;
        if !opened.is_empty() {
            seen.extend(stage.took(now, 10).await.into_iter().map(|id| (now, id)));
        }
        let Some(next) = next else { break };
        now = next.max(now.after(Duration::from_millis(1)));
    }
    assert_eq!(seen, [(at(1000), id(2)), (at(5000), id(3)), (at(10_000), id(4))]);
}
