//! The jobs of a world. What a worker does with one is in its type.

use std::time::Duration;

use mainspring_core::job::{Json, Keys};
use mainspring_core::name::{LimitKey, QueueName, TenantName, TypeName};
use mainspring_core::rank::Priority;
use mainspring_core::retry::{Backoff, RetryPolicy};
use mainspring_engine::{Draft, Expiry, When};

use crate::checkers::COST_MAX;
use crate::world::{Chance, World};

/// How a job goes, written as its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Mostly goes well.
    Mail,
    /// Kills the worker that touches it.
    Poison,
    /// Takes longer than a lease, while its worker beats.
    Slow,
    /// Never ends, and has a timeout.
    Hang,
    /// Is put off now and then.
    Lazy,
    /// Goes wrong, mostly.
    Broken,
    /// Comes on step by step, and writes down how far it is.
    Steps,
    /// Calls somebody who says now and then: come back later.
    Call,
}

impl Kind {
    const ALL: [(Kind, &'static str); 8] = [
        (Kind::Mail, "mail"),
        (Kind::Poison, "poison"),
        (Kind::Slow, "slow"),
        (Kind::Hang, "hang"),
        (Kind::Lazy, "lazy"),
        (Kind::Broken, "broken"),
        (Kind::Steps, "steps"),
        (Kind::Call, "call"),
    ];

    fn draw(chance: &Chance) -> Kind {
        match chance.below(100) {
            0..4 => Kind::Poison,
            4..8 => Kind::Slow,
            8..12 => Kind::Hang,
            12..20 => Kind::Lazy,
            20..28 => Kind::Broken,
            28..38 => Kind::Steps,
            38..50 => Kind::Call,
            _ => Kind::Mail,
        }
    }

    /// Where everything goes wrong.
    fn draw_bad(chance: &Chance) -> Kind {
        *chance.pick(&[Kind::Poison, Kind::Hang, Kind::Slow, Kind::Broken, Kind::Broken])
    }

    pub fn of(kind: &TypeName) -> Kind {
        let named = Kind::ALL.into_iter().find(|(_, name)| *name == kind.as_str());
        named.map_or(Kind::Mail, |(kind, _)| kind)
    }

    fn name(self) -> TypeName {
        let (_, name) = Kind::ALL.into_iter().find(|(kind, _)| *kind == self).expect("every kind is in the table");
        TypeName::parse(name).expect("a name")
    }
}

pub fn retry(chance: &Chance) -> RetryPolicy {
    let delay = chance.ms(100, 3_000);
    RetryPolicy { backoff: Backoff::Fixed { delay }, cap: Duration::from_secs(10), jitter: 0.0 }
}

/// Keys that jobs share limits by.
const KEYS: [&str; 3] = ["eu:1", "eu:2", "us:1"];

pub fn keys(chance: &Chance) -> Keys {
    let key =
        |percent| chance.percent(percent).then(|| LimitKey::parse(KEYS[chance.below(KEYS.len())]).expect("a key"));
    let weight = if chance.percent(80) { 1 } else { chance.between(1, u64::from(COST_MAX)) as u16 };
    Keys { concurrency: key(35), rate: key(30), weight }
}

pub fn draft(world: &World, chance: &Chance, tenant: TenantName, queue: QueueName) -> Draft {
    let is_bad = world.plan.poisoned.has(&tenant, &queue) && chance.percent(80);
    let kind = if is_bad { Kind::draw_bad(chance) } else { Kind::draw(chance) };
    let when = if chance.percent(50) { When::Now } else { When::In(chance.ms(1, 12_000)) };
    let timeout = match kind {
        Kind::Hang => Some(chance.ms(500, 3_000)),
        _ => chance.percent(15).then(|| chance.ms(300, 6_000)),
    };
    Draft {
        tenant,
        queue,
        kind: kind.name(),
        data: Json::null(),
        priority: Priority::new(chance.between(0, 20) as i64 - 10).expect("in range"),
        when,
        jitter: if chance.percent(10) { chance.ms(1, 2_000) } else { Duration::ZERO },
        deadline: chance.percent(20).then(|| world.now().after(chance.ms(1_000, 7_200_000))),
        expires: chance.percent(8).then(|| Expiry::In(chance.ms(500, 15_000))),
        retry: retry(chance),
        max_attempts: chance.between(1, 4) as u32,
        max_crashes: chance.between(1, 2) as u32,
        timeout,
        tags: vec![],
        idempotency: None,
        depends_on: vec![],
        keys: keys(chance),
    }
}
