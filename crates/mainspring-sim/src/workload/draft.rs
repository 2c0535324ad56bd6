//! The jobs of a world. What a worker does with one is in its type.

use std::time::Duration;

use mainspring_core::job::{Json, Keys};
use mainspring_core::name::{QueueName, TenantName, TypeName};
use mainspring_core::rank::Priority;
use mainspring_core::retry::{Backoff, RetryPolicy};
use mainspring_engine::{Draft, Expiry, When};

use crate::world::Chance;

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
}

impl Kind {
    const ALL: [(Kind, &'static str); 5] = [
        (Kind::Mail, "mail"),
        (Kind::Poison, "poison"),
        (Kind::Slow, "slow"),
        (Kind::Hang, "hang"),
        (Kind::Lazy, "lazy"),
    ];

    pub fn draw(chance: &Chance) -> Kind {
        match chance.below(100) {
            0..4 => Kind::Poison,
            4..9 => Kind::Slow,
            9..12 => Kind::Hang,
            12..20 => Kind::Lazy,
            _ => Kind::Mail,
        }
    }

    pub fn of(kind: &TypeName) -> Kind {
        let named = Kind::ALL.into_iter().find(|(_, name)| *name == kind.as_str());
        named.map_or(Kind::Mail, |(kind, _)| kind)
    }

    pub fn name(self) -> TypeName {
        let (_, name) = Kind::ALL.into_iter().find(|(kind, _)| *kind == self).expect("every kind is in the table");
        TypeName::parse(name).expect("a name")
    }
}

pub fn retry(chance: &Chance) -> RetryPolicy {
    let delay = chance.ms(100, 3_000);
    RetryPolicy { backoff: Backoff::Fixed { delay }, cap: Duration::from_secs(10), jitter: 0.0 }
}

pub fn draft(chance: &Chance, tenant: TenantName, queue: QueueName) -> Draft {
    let kind = Kind::draw(chance);
    let when = if chance.percent(50) { When::Now } else { When::In(chance.ms(1, 15_000)) };
    Draft {
        tenant,
        queue,
        kind: kind.name(),
        data: Json::null(),
        priority: Priority::new(chance.between(0, 20) as i64 - 10).expect("in range"),
        when,
        jitter: if chance.percent(10) { chance.ms(1, 2_000) } else { Duration::ZERO },
        deadline: None,
        expires: chance.percent(5).then(|| Expiry::In(chance.ms(1_000, 20_000))),
        retry: retry(chance),
        max_attempts: chance.between(1, 4) as u32,
        max_crashes: chance.between(1, 3) as u32,
        timeout: (kind == Kind::Hang).then(|| chance.ms(500, 3_000)),
        tags: vec![],
        idempotency: None,
        depends_on: vec![],
        keys: Keys::default(),
    }
}
