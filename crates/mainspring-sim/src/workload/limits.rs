//! Limits: set at the beginning, changed, cleared and reopened on the way. At the end none is left that lets too little through.

use std::sync::Arc;
use std::time::Duration;

use mainspring_core::gate::{BreakerRule, Rate, Reach, Rule};
use mainspring_core::store::{Command, GateCommand, Views};

use super::operators::insist;
use super::{TENANTS, some_tenant, tenant};
use crate::hop::at_once;
use crate::world::{Chance, World, sleep};

const REACHES: [&str; 12] = [
    "tenant",
    "tenant",
    "queue:a",
    "queue:b",
    "queue:*",
    "type:mail",
    "type:broken",
    "type:*",
    "key:eu:1",
    "key:eu:*",
    "key:us:1",
    "key:*",
];

fn some_reach(chance: &Chance) -> Reach {
    Reach::parse(REACHES[chance.below(REACHES.len())]).expect("a reach")
}

fn some_rule(chance: &Chance, reach: &Reach) -> Rule {
    let concurrency = || if chance.percent(4) { 0 } else { chance.between(1, 5) as u32 };
    let rate = || Rate {
        permits: chance.between(3, 30) as u32,
        per: Duration::from_secs(chance.between(1, 2)),
        burst: chance.between(1, 4) as u32,
    };
    let breaker = || BreakerRule {
        window: chance.ms(1_000, 8_000),
        min_attempts: chance.between(1, 4) as u32,
        failures_per_mille: *chance.pick(&[1, 500, 900]),
        cooldown: chance.ms(200, 3_000),
        probes: chance.between(1, 2) as u32,
        closes_after: chance.between(1, 2) as u32,
    };
    let weight = (reach.text() == "tenant").then(|| chance.between(1, 3) as u32);
    let rule = Rule {
        concurrency: chance.percent(50).then(concurrency),
        rate: chance.percent(35).then(rate),
        breaker: chance.percent(30).then(breaker),
        weight,
    };
    if rule.is_empty() { Rule { concurrency: Some(concurrency()), ..rule } } else { rule }
}

/// Meddles for as long as the storm lasts.
pub async fn meddle(world: Arc<World>, chance: Chance) {
    for _ in 0..world.plan.limits {
        change(&world, &chance, 100).await;
    }
    while !world.weather.is_clear() {
        sleep(chance.ms(1_000, 8_000)).await;
        if world.weather.is_clear() || world.plan.limits == 0 {
            return;
        }
        change(&world, &chance, 50).await;
    }
}

/// Sets one, so many times in a hundred, else clears or reopens one.
async fn change(world: &World, chance: &Chance, sets: u32) {
    let (owner, reach) = (some_tenant(chance), some_reach(chance));
    if chance.percent(sets) {
        let rule = some_rule(chance, &reach);
        let _ = world.ask(chance, |engine| async move { engine.set_limit(owner, reach, rule).await }).await;
    } else if chance.percent(60) {
        let _ = world.ask(chance, |engine| async move { engine.clear_limit(owner, reach).await }).await;
    } else {
        let _ = world.ask(chance, |engine| async move { engine.reopen_limit(owner, reach).await }).await;
    }
}

/// What a limit lets through at the end, at the least: everything must get through it within the calm.
const WIDE: u32 = 4;

/// Widens what lets too little through; in half of all worlds every limit is cleared.
pub async fn relent(world: &World, chance: &Chance) {
    let all = chance.percent(50);
    for owner in TENANTS.map(tenant) {
        let views =
            at_once(world.court.ground().gates(&owner, world.now())).expect("the reference store always answers");
        for view in views {
            let is_own = |(set_for, _): &(Reach, Rule)| *set_for == view.reach;
            let Some((reach, rule)) = view.rule.clone().filter(is_own) else { continue };
            let wide = Rule { concurrency: rule.concurrency.map(|max| max.max(WIDE)), ..rule };
            let what = if all { GateCommand::Clear } else { GateCommand::Set(wide) };
            insist(world, chance, Command::Gate { tenant: owner.clone(), reach, what }).await;
        }
    }
}
