//! What a person sets for a gate, and its bounds. Holds no state: what happened since is in [`super::state`].

use std::time::Duration;

use super::name::GateName;
use crate::limits::*;

/// What holds at a gate. Nothing set, nothing limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub struct Rule {
    /// How much weight may run at once. Zero lets nothing start until it is changed. A job that is heavier than the
    /// whole of it runs alone, rather than never.
    pub concurrency: Option<u32>,
    pub rate: Option<Rate>,
    pub breaker: Option<BreakerRule>,
    /// A tenant's share in fair sharing, 1 if not set.
    pub weight: Option<u32>,
}

/// `permits` per `per`, and at most `burst` in one instant. Over any span t, at most `burst + permits · t / per` start.
///
/// The clock ticks in milliseconds: a rate above 1000 per second is reached only with a burst that lasts a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rate {
    pub permits: u32,
    pub per: Duration,
    pub burst: u32,
}

/// When a breaker opens and how it finds the way back. See [`super::breaker`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BreakerRule {
    /// How far back ended attempts are looked at.
    pub window: Duration,
    /// With fewer than this in the window it never opens.
    pub min_attempts: u32,
    /// Opens when at least this many of a thousand failed.
    pub failures_per_mille: u32,
    /// How long it stays open before it probes.
    pub cooldown: Duration,
    /// How many jobs probe at a time.
    pub probes: u32,
    /// How many probes must succeed for it to close.
    pub closes_after: u32,
}

impl Default for BreakerRule {
    fn default() -> BreakerRule {
        BreakerRule {
            window: Duration::from_secs(60),
            min_attempts: 20,
            failures_per_mille: 500,
            cooldown: Duration::from_secs(30),
            probes: 1,
            closes_after: 3,
        }
    }
}

/// Why a rule cannot be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadRule {
    #[error("{field} is {given}; it must be {min} to {max}")]
    Number { field: &'static str, given: u32, min: u32, max: u32 },
    #[error("{field} is {given:?}; it must be {min:?} to {max:?}")]
    Span { field: &'static str, given: Duration, min: Duration, max: Duration },
    #[error(
        "rate.burst of {burst} would take {days} days to fill; at most {max} are allowed: lower it, or raise the rate"
    )]
    FillsTooSlowly { burst: u32, days: u64, max: u64 },
    #[error("weight is a tenant's share of its queues and can only be set on `tenant`, not on `{gate}`")]
    WeightBesideTenant { gate: String },
}

impl Rule {
    /// Every bound, by the name of the field. A store may keep any rule that passed here.
    pub fn check(&self, gate: &GateName) -> Result<(), BadRule> {
        if let Some(concurrency) = self.concurrency {
            number("concurrency", concurrency, 0, CONCURRENCY_MAX)?;
        }
        if let Some(rate) = &self.rate {
            rate.check()?;
        }
        if let Some(breaker) = &self.breaker {
            breaker.check()?;
        }
        match self.weight {
            Some(_) if *gate != GateName::Tenant => Err(BadRule::WeightBesideTenant { gate: gate.text() }),
            Some(weight) => number("weight", weight, 1, SHARE_WEIGHT_MAX),
            None => Ok(()),
        }
    }

    /// Nothing is set: the gate can be forgotten.
    pub fn is_empty(&self) -> bool {
        *self == Rule::default()
    }
}

impl Rate {
    fn check(&self) -> Result<(), BadRule> {
        number("rate.permits", self.permits, 1, RATE_PERMITS_MAX)?;
        number("rate.burst", self.burst, 1, RATE_BURST_MAX)?;
        span("rate.per", self.per, RATE_PER_MIN..=RATE_PER_MAX)?;
        let fill_s = u64::from(self.burst) * self.per.as_secs() / u64::from(self.permits);
        let day_s = 24 * 3600;
        if fill_s > RATE_FILL_MAX.as_secs() {
            let max = RATE_FILL_MAX.as_secs() / day_s;
            return Err(BadRule::FillsTooSlowly { burst: self.burst, days: fill_s / day_s, max });
        }
        Ok(())
    }
}

impl BreakerRule {
    fn check(&self) -> Result<(), BadRule> {
        span("breaker.window", self.window, BREAKER_WINDOW_MIN..=BREAKER_WINDOW_MAX)?;
        number("breaker.min_attempts", self.min_attempts, 1, BREAKER_ATTEMPTS_MAX)?;
        number("breaker.failures_per_mille", self.failures_per_mille, 1, 1000)?;
        span("breaker.cooldown", self.cooldown, BREAKER_COOLDOWN_MIN..=BREAKER_COOLDOWN_MAX)?;
        number("breaker.probes", self.probes, 1, BREAKER_PROBES_MAX)?;
        number("breaker.closes_after", self.closes_after, 1, BREAKER_CLOSES_AFTER_MAX)
    }
}

fn number(field: &'static str, given: u32, min: u32, max: u32) -> Result<(), BadRule> {
    if (min..=max).contains(&given) { Ok(()) } else { Err(BadRule::Number { field, given, min, max }) }
}

fn span(field: &'static str, given: Duration, range: std::ops::RangeInclusive<Duration>) -> Result<(), BadRule> {
    if range.contains(&given) {
        return Ok(());
    }
    let (min, max) = range.into_inner();
    Err(BadRule::Span { field, given, min, max })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn rate(permits: u32, per: Duration, burst: u32) -> Rule {
        Rule { rate: Some(Rate { permits, per, burst }), ..Rule::default() }
    }

    fn breaker(change: impl Fn(&mut BreakerRule)) -> Rule {
        let mut breaker = BreakerRule::default();
        change(&mut breaker);
        Rule { breaker: Some(breaker), ..Rule::default() }
    }

    fn field_of(rule: Rule) -> Option<&'static str> {
        match rule.check(&GateName::Tenant) {
            Ok(()) => None,
            Err(BadRule::Number { field, .. } | BadRule::Span { field, .. }) => Some(field),
            Err(BadRule::FillsTooSlowly { .. }) => Some("rate.burst fills"),
            Err(BadRule::WeightBesideTenant { .. }) => Some("weight beside"),
        }
    }

    #[test]
    fn every_bound_of_a_rule_is_held_and_named() {
        let concurrency = |n| Rule { concurrency: Some(n), ..Rule::default() };
        let weight = |n| Rule { weight: Some(n), ..Rule::default() };
        let just_over = |span: Duration| span + Duration::from_millis(1);
        let just_under = |span: Duration| span - Duration::from_millis(1);
        let table = [
            (concurrency(CONCURRENCY_MAX), concurrency(CONCURRENCY_MAX + 1), "concurrency"),
            (weight(1), weight(0), "weight"),
            (weight(SHARE_WEIGHT_MAX), weight(SHARE_WEIGHT_MAX + 1), "weight"),
            (rate(1, SECOND, 1), rate(0, SECOND, 1), "rate.permits"),
            (rate(RATE_PERMITS_MAX, SECOND, 1), rate(RATE_PERMITS_MAX + 1, SECOND, 1), "rate.permits"),
            (rate(1, SECOND, 1), rate(1, SECOND, 0), "rate.burst"),
            (rate(1, SECOND, RATE_BURST_MAX), rate(1, SECOND, RATE_BURST_MAX + 1), "rate.burst"),
            (rate(1, RATE_PER_MIN, 1), rate(1, just_under(RATE_PER_MIN), 1), "rate.per"),
            (rate(1, RATE_PER_MAX, 1), rate(1, just_over(RATE_PER_MAX), 1), "rate.per"),
            (rate(1, RATE_PER_MAX, 100), rate(1, RATE_PER_MAX, 101), "rate.burst fills"),
            (breaker(|b| b.window = BREAKER_WINDOW_MIN), breaker(|b| b.window = SECOND / 2), "breaker.window"),
            (
                breaker(|b| b.window = BREAKER_WINDOW_MAX),
                breaker(|b| b.window = just_over(BREAKER_WINDOW_MAX)),
                "breaker.window",
            ),
            (breaker(|b| b.min_attempts = 1), breaker(|b| b.min_attempts = 0), "breaker.min_attempts"),
            (
                breaker(|b| b.min_attempts = BREAKER_ATTEMPTS_MAX),
                breaker(|b| b.min_attempts = BREAKER_ATTEMPTS_MAX + 1),
                "breaker.min_attempts",
            ),
            (
                breaker(|b| b.failures_per_mille = 1),
                breaker(|b| b.failures_per_mille = 0),
                "breaker.failures_per_mille",
            ),
            (
                breaker(|b| b.failures_per_mille = 1000),
                breaker(|b| b.failures_per_mille = 1001),
                "breaker.failures_per_mille",
            ),
            (
                breaker(|b| b.cooldown = BREAKER_COOLDOWN_MIN),
                breaker(|b| b.cooldown = just_under(BREAKER_COOLDOWN_MIN)),
                "breaker.cooldown",
            ),
            (
                breaker(|b| b.cooldown = BREAKER_COOLDOWN_MAX),
                breaker(|b| b.cooldown = just_over(BREAKER_COOLDOWN_MAX)),
                "breaker.cooldown",
            ),
            (
                breaker(|b| b.probes = BREAKER_PROBES_MAX),
                breaker(|b| b.probes = BREAKER_PROBES_MAX + 1),
                "breaker.probes",
            ),
            (breaker(|b| b.probes = 1), breaker(|b| b.probes = 0), "breaker.probes"),
            (
                breaker(|b| b.closes_after = BREAKER_CLOSES_AFTER_MAX),
                breaker(|b| b.closes_after = BREAKER_CLOSES_AFTER_MAX + 1),
                "breaker.closes_after",
            ),
            (breaker(|b| b.closes_after = 1), breaker(|b| b.closes_after = 0), "breaker.closes_after"),
        ];
        for (good, bad, field) in table {
            assert_eq!(field_of(good), None, "{good:?}");
            assert_eq!(field_of(bad), Some(field), "{bad:?}");
        }
    }

    #[test]
    fn a_bad_rule_says_what_is_allowed() {
        let check = |rule: Rule, expected: &str| {
            let gate = GateName::parse("key:a").expect("a gate");
            assert_eq!(rule.check(&gate).expect_err("is bad").to_string(), expected);
        };
        check(rate(0, SECOND, 1), "rate.permits is 0; it must be 1 to 1000000");
        check(rate(1, SECOND / 2, 1), "rate.per is 500ms; it must be 1s to 31622400s");
        check(
            rate(1, RATE_PER_MAX, 500),
            "rate.burst of 500 would take 183000 days to fill; at most 36600 are allowed: lower it, or raise the rate",
        );
        check(
            Rule { weight: Some(2), ..Rule::default() },
            "weight is a tenant's share of its queues and can only be set on `tenant`, not on `key:a`",
        );
    }

    #[test]
    fn a_rule_that_sets_nothing_is_empty() {
        assert!(Rule::default().is_empty());
        assert!(!rate(1, SECOND, 1).is_empty());
        assert!(!Rule { weight: Some(1), ..Rule::default() }.is_empty());
    }
}
