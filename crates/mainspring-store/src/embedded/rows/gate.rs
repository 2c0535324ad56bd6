//! Limits, what is remembered of gates, and which gates hold for a job. Holds no `running`: that is counted from the leases.

use std::hash::Hasher;
use std::time::Duration;

use mainspring_core::gate::{
    Breaker, BreakerRule, Bucket, GateName, GateRef, GateState, Part, Phase, Rate, Reach, Rule, breaker,
};
use mainspring_core::job::Keys;
use mainspring_core::name::{LimitKey, TenantName, TypeName};
use mainspring_core::store::{Error, Result};
use mainspring_core::time::Time;
use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher13;

/// The gates of type and keys that a job passes, by the hash of their names, and how heavy it is: what a claim must know
/// without reading the record. Two names with one hash share a limit: it is never exceeded, and among a million keys of
/// a tenant that happens once in 37 million tenants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ways {
    kind: [u8; 8],
    concurrency: Option<[u8; 8]>,
    rate: Option<[u8; 8]>,
    pub weight: u16,
}

impl Ways {
    pub fn of(kind: &TypeName, keys: &Keys) -> Ways {
        let key = |key: &Option<LimitKey>| key.as_ref().map(|key| hash("key:", key.as_str()).to_be_bytes());
        Ways {
            kind: hash("type:", kind.as_str()).to_be_bytes(),
            concurrency: key(&keys.concurrency),
            rate: key(&keys.rate),
            weight: keys.weight,
        }
    }

    pub fn new(kind: &str, concurrency: Option<&str>, rate: Option<&str>, weight: u16) -> Ways {
        let key = |text| hash("key:", text).to_be_bytes();
        Ways { kind: hash("type:", kind).to_be_bytes(), concurrency: concurrency.map(key), rate: rate.map(key), weight }
    }

    /// Its gates of type and keys in the order of [`mainspring_core::gate::gates_of`], with the part it is under.
    pub fn passes(&self) -> impl Iterator<Item = (u64, Part)> + use<> {
        let is_one = self.concurrency.is_some() && self.concurrency == self.rate;
        let concurrency = if is_one { Part::Both } else { Part::Concurrency };
        let rate = self.rate.filter(|_| !is_one);
        [
            Some((self.kind, Part::Both)),
            self.concurrency.map(|key| (key, concurrency)),
            rate.map(|key| (key, Part::Rate)),
        ]
        .into_iter()
        .flatten()
        .map(|(hash, part)| (u64::from_be_bytes(hash), part))
    }

    /// The hash of a gate's name, which is the same for all tenants.
    pub fn hash_of(gate: &GateName) -> u64 {
        match gate {
            GateName::Tenant => TENANT_GATE,
            GateName::Queue(queue) => hash("queue:", queue.as_str()),
            GateName::Type(kind) => hash("type:", kind.as_str()),
            GateName::Key(key) => hash("key:", key.as_str()),
        }
    }
}

/// The gate of a tenant as a whole. No text is needed to tell it from others.
pub const TENANT_GATE: u64 = 0;

/// SipHash-1-3 under the zero key: the same for ever, since it is on disk.
fn hash(word: &str, name: &str) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write(word.as_bytes());
    hasher.write(name.as_bytes());
    hasher.finish()
}

/// What is remembered of a gate, under its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateRow {
    full_at: u64,
    closed_until_ms: Option<u64>,
    phase: PhaseRow,
    newest_ms: u64,
    slots: [(u32, u32); breaker::Window::SLOTS],
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum PhaseRow {
    Closed,
    Open { until_ms: u64 },
    HalfOpen { since_ms: u64, probing: u32, succeeded: u32 },
}

impl GateRow {
    /// `None` if there is nothing that has to be remembered.
    pub fn of(state: &GateState) -> Option<GateRow> {
        if (GateState { running: 0, ..*state }) == GateState::default() {
            return None;
        }
        let phase = match state.breaker.phase {
            Phase::Closed => PhaseRow::Closed,
            Phase::Open { until } => PhaseRow::Open { until_ms: until.as_millis() },
            Phase::HalfOpen { since, probing, succeeded } => {
                PhaseRow::HalfOpen { since_ms: since.as_millis(), probing, succeeded }
            }
        };
        let window = &state.breaker.window;
        Some(GateRow {
            full_at: state.bucket.full_at,
            closed_until_ms: state.closed_until.map(Time::as_millis),
            phase,
            newest_ms: window.newest_at.as_millis(),
            slots: window.slots.map(|slot| (slot.attempts, slot.failures)),
        })
    }

    pub fn state(&self) -> GateState {
        let phase = match self.phase {
            PhaseRow::Closed => Phase::Closed,
            PhaseRow::Open { until_ms } => Phase::Open { until: Time::from_millis(until_ms) },
            PhaseRow::HalfOpen { since_ms, probing, succeeded } => {
                Phase::HalfOpen { since: Time::from_millis(since_ms), probing, succeeded }
            }
        };
        let slots = self.slots.map(|(attempts, failures)| breaker::Slot { attempts, failures });
        let window = breaker::Window { newest_at: Time::from_millis(self.newest_ms), slots };
        GateState {
            running: 0,
            bucket: Bucket { full_at: self.full_at },
            closed_until: self.closed_until_ms.map(Time::from_millis),
            breaker: Breaker { phase, window },
        }
    }
}

/// A limit, under what it was set for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuleRow {
    concurrency: Option<u32>,
    /// Permits, the span they are for, burst.
    rate: Option<(u32, Duration, u32)>,
    breaker: Option<BreakerRuleRow>,
    weight: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct BreakerRuleRow {
    window: Duration,
    min_attempts: u32,
    failures_per_mille: u32,
    cooldown: Duration,
    probes: u32,
    closes_after: u32,
}

impl RuleRow {
    pub fn of(rule: &Rule) -> RuleRow {
        RuleRow {
            concurrency: rule.concurrency,
            rate: rule.rate.map(|rate| (rate.permits, rate.per, rate.burst)),
            breaker: rule.breaker.map(|it| BreakerRuleRow {
                window: it.window,
                min_attempts: it.min_attempts,
                failures_per_mille: it.failures_per_mille,
                cooldown: it.cooldown,
                probes: it.probes,
                closes_after: it.closes_after,
            }),
            weight: rule.weight,
        }
    }

    pub fn rule(self) -> Rule {
        Rule {
            concurrency: self.concurrency,
            rate: self.rate.map(|(permits, per, burst)| Rate { permits, per, burst }),
            breaker: self.breaker.map(|it| BreakerRule {
                window: it.window,
                min_attempts: it.min_attempts,
                failures_per_mille: it.failures_per_mille,
                cooldown: it.cooldown,
                probes: it.probes,
                closes_after: it.closes_after,
            }),
            weight: self.weight,
        }
    }
}

/// The gate that a key of `gates` names.
pub fn read_gate(key: &[u8]) -> Result<GateRef> {
    let (tenant, text) = named("gates", key)?;
    let gate = GateName::parse(text).map_err(|error| damaged("gates", &error))?;
    Ok(GateRef { tenant, gate })
}

/// Whose rule a key of `rules` is for, and what it was set for.
pub fn read_rule(key: &[u8]) -> Result<(TenantName, Reach)> {
    let (tenant, text) = named("rules", key)?;
    Ok((tenant, Reach::parse(text).map_err(|error| damaged("rules", &error))?))
}

fn named<'k>(table: &str, key: &'k [u8]) -> Result<(TenantName, &'k str)> {
    let text = std::str::from_utf8(key).map_err(|error| damaged(table, &error))?;
    let (tenant, name) = text.split_once('\0').ok_or_else(|| damaged(table, &"no tenant"))?;
    Ok((TenantName::parse(tenant).map_err(|error| damaged(table, &error))?, name))
}

fn damaged(table: &str, why: &dyn std::fmt::Display) -> Error {
    Error::Damaged(format!("a key of table {table} cannot be read: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainspring_core::gate::gates_of;
    use mainspring_core::name::QueueName;

    #[test]
    fn a_gate_reads_back_as_it_was_remembered() {
        let phases = [
            Phase::Closed,
            Phase::Open { until: Time::from_millis(7) },
            Phase::HalfOpen { since: Time::from_millis(8), probing: 2, succeeded: 1 },
        ];
        for phase in phases {
            let mut window = breaker::Window { newest_at: Time::from_millis(5), ..breaker::Window::default() };
            window.slots[3] = breaker::Slot { attempts: 9, failures: 4 };
            let state = GateState {
                running: 0,
                bucket: Bucket { full_at: 1 << 60 },
                closed_until: Some(Time::from_millis(11)),
                breaker: Breaker { phase, window },
            };
            let row = GateRow::of(&GateState { running: 12, ..state }).unwrap();
            let bytes = postcard::to_allocvec(&row).unwrap();
            assert_eq!(postcard::from_bytes::<GateRow>(&bytes).unwrap().state(), state);
        }
        assert_eq!(GateRow::of(&GateState { running: 12, ..GateState::default() }), None);
    }

    #[test]
    fn a_limit_reads_back_as_it_was_set() {
        let full = Rule {
            concurrency: Some(0),
            rate: Some(Rate { permits: 3, per: Duration::from_secs(60), burst: 5 }),
            breaker: Some(BreakerRule::default()),
            weight: Some(2),
        };
        for rule in [full, Rule::default()] {
            let bytes = postcard::to_allocvec(&RuleRow::of(&rule)).unwrap();
            assert_eq!(postcard::from_bytes::<RuleRow>(&bytes).unwrap().rule(), rule);
        }
    }

    #[test]
    fn the_ways_of_a_job_are_its_gates_in_their_order() {
        let key = |text: &str| Some(LimitKey::parse(text).unwrap());
        let kind = TypeName::parse("mail").unwrap();
        let queue = QueueName::default_queue();
        for (concurrency, rate) in
            [(None, None), (key("a"), None), (None, key("a")), (key("a"), key("b")), (key("a"), key("a"))]
        {
            let keys = Keys { concurrency, rate, weight: 3 };
            let expected: Vec<(u64, Part)> =
                gates_of(&queue, &kind, &keys).skip(2).map(|pass| (Ways::hash_of(&pass.gate), pass.part)).collect();
            let ways = Ways::of(&kind, &keys);
            assert_eq!(ways.passes().collect::<Vec<_>>(), expected);
            let bytes = postcard::to_allocvec(&ways).unwrap();
            assert_eq!(postcard::from_bytes::<Ways>(&bytes).unwrap(), ways);
        }
    }

    #[test]
    fn hashes_never_change_since_they_are_on_disk() {
        assert_eq!(Ways::hash_of(&GateName::parse("key:customer:42").unwrap()), HASH_OF_CUSTOMER_42);
    }

    const HASH_OF_CUSTOMER_42: u64 = 8_744_224_107_604_606_933;
}
