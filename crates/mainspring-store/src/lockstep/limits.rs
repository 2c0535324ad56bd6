//! The words of a script that are about limits, and how they are drawn: few gates and small numbers, so that limits
//! bite.

use std::fmt;
use std::time::Duration;

use mainspring_core::gate::{BreakerRule, GateName, Kind, Rate, Reach, Rule};
use mainspring_core::job::Keys;
use mainspring_core::name::LimitKey;
use proptest::option::weighted;
use proptest::prelude::*;

use super::words::{K, L, Q};

impl L {
    pub fn key(self) -> LimitKey {
        LimitKey::parse(&format!("{self:?}")).expect("a letter and a number is a key")
    }
}

/// What a job shares limits by.
#[derive(Clone, Copy)]
pub struct Shared {
    pub slots: Option<L>,
    pub permits: Option<L>,
    pub weight: u16,
}

impl Shared {
    pub fn keys(self) -> Keys {
        let key = |of: Option<L>| of.map(L::key);
        Keys { concurrency: key(self.slots), rate: key(self.permits), weight: self.weight }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.slots.iter().try_for_each(|key| write!(f, " slot of {key:?}"))?;
        self.permits.iter().try_for_each(|key| write!(f, " permit of {key:?}"))?;
        if self.weight == 1 { Ok(()) } else { write!(f, " weight {}", self.weight) }
    }
}

/// What a limit is for.
#[derive(Clone, Copy, PartialEq)]
pub enum Place {
    Tenant,
    Queue(Q),
    Type(K),
    Key(L),
    EachQueue,
    EachType,
    EachKey,
    /// Every key that begins like this one: a longer pattern than that of every key.
    EachLike(L),
}

impl Place {
    pub fn reach(self) -> Reach {
        let each = |kind, prefix: &str| Reach::Each { kind, prefix: prefix.to_owned() };
        match self {
            Place::Tenant => Reach::One(GateName::Tenant),
            Place::Queue(queue) => Reach::One(GateName::Queue(queue.name())),
            Place::Type(kind) => Reach::One(GateName::Type(kind.kind())),
            Place::Key(key) => Reach::One(GateName::Key(key.key())),
            Place::EachQueue => each(Kind::Queue, ""),
            Place::EachType => each(Kind::Type, "k"),
            Place::EachKey => each(Kind::Key, ""),
            Place::EachLike(key) => each(Kind::Key, key.key().as_str()),
        }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reach().text())
    }
}

pub fn shared() -> impl Strategy<Value = Shared> {
    let weight = prop_oneof![5 => Just(1u16), 1 => Just(2u16), 1 => Just(3u16)];
    (weighted(0.4, key()), weighted(0.3, key()), weight).prop_map(|(slots, permits, weight)| Shared {
        slots,
        permits,
        weight,
    })
}

pub fn place() -> impl Strategy<Value = Place> {
    prop_oneof![
        3 => Just(Place::Tenant),
        3 => (0..2u8).prop_map(|queue| Place::Queue(Q(queue))),
        3 => (0..2u8).prop_map(|kind| Place::Type(K(kind))),
        4 => key().prop_map(Place::Key),
        1 => Just(Place::EachQueue),
        1 => Just(Place::EachType),
        2 => Just(Place::EachKey),
        1 => key().prop_map(Place::EachLike),
    ]
}

/// A place, and a rule that can be set there.
pub fn limit() -> impl Strategy<Value = (Place, Rule)> {
    (place(), rule(), weighted(0.6, 1..4u32)).prop_map(|(place, rule, weight)| {
        let weight = weight.filter(|_| place == Place::Tenant);
        (place, Rule { weight, ..rule })
    })
}

fn rule() -> impl Strategy<Value = Rule> {
    let concurrency = prop_oneof![1 => Just(0u32), 12 => 1..4u32];
    (weighted(0.6, concurrency), weighted(0.35, rate()), weighted(0.35, breaker()))
        .prop_map(|(concurrency, rate, breaker)| Rule { concurrency, rate, breaker, weight: None })
}

/// A permit takes two milliseconds to come back, as long as most steps of the clock; or a second.
fn rate() -> impl Strategy<Value = Rate> {
    let permits = prop_oneof![2 => Just(500u32), 1 => Just(1u32)];
    (permits, 1..4u32).prop_map(|(permits, burst)| Rate { permits, per: Duration::from_secs(1), burst })
}

/// As short as it may be, so that the clock gets past it.
pub fn breaker() -> impl Strategy<Value = BreakerRule> {
    let failures_per_mille = prop::sample::select(vec![1u32, 500, 1000]);
    let closes_after = prop_oneof![2 => Just(1u32), 1 => Just(2u32)];
    let cooldown_ms = prop_oneof![5 => Just(100u64), 1 => Just(1000u64)];
    (1..3u32, failures_per_mille, cooldown_ms, 1..3u32, closes_after).prop_map(
        |(min_attempts, failures_per_mille, cooldown_ms, probes, closes_after)| BreakerRule {
            window: Duration::from_secs(1),
            min_attempts,
            failures_per_mille,
            cooldown: Duration::from_millis(cooldown_ms),
            probes,
            closes_after,
        },
    )
}

fn key() -> impl Strategy<Value = L> {
    prop_oneof![2 => Just(L(0)), 1 => Just(L(1))]
}
