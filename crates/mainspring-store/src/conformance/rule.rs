//! What a store promises about rules: where they hold, and what happens when they change.

use mainspring_core::gate::Rule;
use mainspring_core::limits::RULES_MAX;
use mainspring_core::name::TenantName;
use mainspring_core::store::*;

use super::stage::*;

pub async fn a_pattern_holds_at_each_gate_by_itself(stage: Stage) {
    stage.limit(at(0), "key:eu:*", slots(1)).await;
    let keys = ["eu:1", "eu:1", "eu:2", "eu:2", "us:1", "us:1"];
    stage.accept(at(0), (1..).zip(keys).map(|(number, key)| with_key(number, key)).collect()).await;
    assert_eq!(stage.took(at(0), 10).await, [1, 3, 5, 6].map(id));
}

pub async fn a_pattern_of_types_or_queues_holds_as_one_of_keys_does(stage: Stage) {
    stage.limit(at(0), "type:img:*", slots(1)).await;
    stage.limit(at(0), "queue:o*", slots(1)).await;
    let resize = |number| of_type("img:resize", job(number));
    stage.accept(at(0), vec![resize(1), resize(2), of_type("img:crop", job(3)), job(4)]).await;
    stage.accept(at(0), vec![in_queue("other", job(5)), in_queue("other", job(6))]).await;
    assert_eq!(stage.took(at(0), 10).await, [1, 3, 4, 5].map(id));
}

pub async fn the_rule_that_names_a_gate_goes_before_patterns_and_the_longer_before_the_shorter(stage: Stage) {
    for (of, rule) in [("key:*", slots(1)), ("key:eu:*", slots(2)), ("key:eu:7", slots(3))] {
        stage.limit(at(0), of, rule).await;
    }
    let four = |from: u32, key: &'static str| (from..from + 4).map(move |number| with_key(number, key));
    stage.accept(at(0), four(1, "us").chain(four(11, "eu:1")).chain(four(21, "eu:7")).collect()).await;
    assert_eq!(stage.took(at(0), 20).await, [1, 11, 12, 21, 22, 23].map(id));
}

pub async fn a_failure_stays_where_it_is_a_rule_is_its_tenants_alone(stage: Stage) {
    let command =
        Command::Gate { tenant: tenant("acme"), reach: reach("queue:mail"), what: GateCommand::Set(slots(0)) };
    assert_eq!(stage.store.command(at(0), vec![command]).await.expect("command"), [Commanded::Done]);
    stage.accept(at(0), vec![job(1)]).await;
    assert_eq!(stage.gates(at(0)).await, []);
    assert_eq!(stage.command_gate(at(0), "queue:mail", GateCommand::Clear).await, Commanded::Missing);
    assert_eq!(stage.took(at(0), 10).await, [id(1)]);
}

pub async fn a_limit_that_is_set_later_knows_who_runs(stage: Stage) {
    stage.accept(at(0), (1..=4).map(|number| with_key(number, "a")).collect()).await;
    let taken = stage.take(at(0), 3).await;
    stage.limit(at(1), "key:*", slots(2)).await;
    assert_eq!(stage.took(at(1), 10).await, []);
    stage.end(at(2), taken[0].lease_id(), succeed()).await;
    assert_eq!(stage.took(at(2), 10).await, [], "two still run");
    let stage = stage.reopen().await;
    stage.end(at(3), taken[1].lease_id(), succeed()).await;
    assert_eq!(stage.took(at(3), 10).await, [id(4)]);
}

pub async fn a_limit_that_is_raised_lets_more_in_at_once(stage: Stage) {
    stage.limit(at(0), "key:a", slots(1)).await;
    stage.accept(at(0), (1..=4).map(|number| with_key(number, "a")).collect()).await;
    assert_eq!(stage.took(at(0), 10).await, [id(1)]);
    stage.limit(at(1), "key:a", slots(3)).await;
    assert_eq!(stage.took(at(1), 10).await, [2, 3].map(id));
}

pub async fn a_limit_that_is_lowered_stops_nobody_and_lets_nobody_in_until_enough_have_ended(stage: Stage) {
    stage.limit(at(0), "key:a", slots(3)).await;
    stage.accept(at(0), (1..=4).map(|number| with_key(number, "a")).collect()).await;
    let taken = stage.take(at(0), 10).await;
    stage.limit(at(1), "key:a", slots(1)).await;
    for claimed in &taken {
        assert_eq!(stage.took(at(2), 10).await, []);
        stage.end(at(2), claimed.lease_id(), succeed()).await;
    }
    assert_eq!(stage.took(at(3), 10).await, [id(4)]);
}

pub async fn a_limit_that_is_cleared_holds_nobody_back(stage: Stage) {
    stage.limit(at(0), "key:a", slots(1)).await;
    stage.accept(at(0), (1..=3).map(|number| with_key(number, "a")).collect()).await;
    assert_eq!(stage.took(at(0), 10).await, [id(1)]);
    let stage = stage.reopen().await;
    assert_eq!(stage.command_gate(at(1), "key:a", GateCommand::Clear).await, Commanded::Done);
    assert_eq!(stage.command_gate(at(1), "key:a", GateCommand::Clear).await, Commanded::Missing);
    assert_eq!(stage.took(at(1), 10).await, [2, 3].map(id));
    let stage = stage.reopen().await;
    assert_eq!(stage.gates(at(2)).await, []);
}

pub async fn under_a_rule_that_is_cleared_the_pattern_holds_again(stage: Stage) {
    stage.limit(at(0), "key:*", slots(2)).await;
    stage.limit(at(0), "key:a", slots(1)).await;
    stage.accept(at(0), (1..=4).map(|number| with_key(number, "a")).collect()).await;
    assert_eq!(stage.took(at(0), 10).await, [id(1)]);
    assert_eq!(stage.command_gate(at(1), "key:a", GateCommand::Clear).await, Commanded::Done);
    assert_eq!(stage.took(at(1), 10).await, [id(2)]);
    let set_for = stage.gate(at(2), "key:a").await.expect("two run there").rule.expect("a pattern holds").0;
    assert_eq!(set_for, reach("key:*"));
}

pub async fn a_rule_can_be_set_and_cleared_over_jobs_that_wait_already(stage: Stage) {
    stage.accept(at(0), (1..=5).map(|number| with_key(number, "a")).collect()).await;
    stage.limit(at(0), "key:a", slots(1)).await;
    let first = stage.take(at(0), 10).await;
    assert_eq!(ids_of(&first), [id(1)]);
    stage.limit(at(1), "type:send", slots(2)).await;
    stage.accept(at(1), vec![job(6), job(7)]).await;
    assert_eq!(stage.took(at(1), 10).await, [id(6)]);
    assert_eq!(stage.command_gate(at(2), "key:a", GateCommand::Clear).await, Commanded::Done);
    stage.end(at(2), first[0].lease_id(), succeed()).await;
    assert_eq!(stage.took(at(2), 10).await, [id(2)], "the type lets one more in");
}

pub async fn limits_are_named_one_rule_too_many_is_refused_and_nothing_of_the_call_happens(stage: Stage) {
    let set = |number: usize, slots_of: u32| Command::Gate {
        tenant: TenantName::default_tenant(),
        reach: reach(&format!("key:{number}")),
        what: GateCommand::Set(slots(slots_of)),
    };
    let all: Vec<Command> = (0..RULES_MAX).map(|number| set(number, 1)).collect();
    assert_eq!(stage.store.command(at(0), all).await.expect("command").len(), RULES_MAX);
    let refused = stage.store.command(at(1), vec![set(0, 7), set(RULES_MAX, 1)]).await;
    assert!(matches!(&refused, Err(Error::Invalid(why)) if why.contains("10000")), "{refused:?}");
    assert_eq!(stage.gate(at(1), "key:0").await.expect("a rule").rule.expect("a rule").1, slots(1));
    let command =
        Command::Gate { tenant: TenantName::default_tenant(), reach: reach("key:7"), what: GateCommand::Clear };
    stage.store.command(at(2), vec![set(3, 9), command]).await.expect("a rule in place of another is not one more");
    stage.store.command(at(3), vec![set(RULES_MAX, 1)]).await.expect("there is room for one again");
}

pub async fn nothing_accepted_is_lost_every_field_of_a_rule_is_there_after_a_reopen(stage: Stage) {
    let full = Rule { rate: one_a_second(7).rate, breaker: breaker().breaker, weight: Some(3), ..slots(5) };
    let rules = [("tenant", full), ("queue:mail", slots(2)), ("type:send", breaker()), ("key:*", one_a_second(1))];
    for (of, rule) in rules {
        stage.limit(at(0), of, rule).await;
    }
    let before = stage.gates(at(1)).await;
    let stage = stage.reopen().await;
    assert_eq!(stage.gates(at(1)).await, before);
    let kept: Vec<_> = before.into_iter().map(|view| (view.reach.text(), view.rule.expect("a rule").1)).collect();
    assert_eq!(kept, rules.map(|(of, rule)| (of.to_owned(), rule)));
}
