//! A retry policy as written becomes one that can be followed. Every strategy has its own fields.

use std::time::Duration;

use mainspring_core::limits;
use mainspring_core::retry::{Backoff, RetryPolicy};
use mainspring_wire::{self as wire, RetryStrategy};

use crate::accept::Findings;
use crate::ask::FieldError;

pub(super) fn policy(said: wire::RetryPolicy, found: &mut Findings) -> RetryPolicy {
    let standard = RetryPolicy::default();
    let strategy = said.strategy;
    refuse_foreign_fields(&said, found);

    let backoff = match strategy {
        RetryStrategy::Fixed => Backoff::Fixed { delay: base(&said) },
        RetryStrategy::Linear => Backoff::Linear { step: base(&said) },
        RetryStrategy::Exponential => Backoff::Exponential { base: base(&said), factor: factor(&said, found) },
        RetryStrategy::List => Backoff::List { delays: delays(&said, found) },
    };
    // Waits that are written down one by one are meant; only those that grow need a cap.
    let cap_default = match strategy {
        RetryStrategy::Fixed | RetryStrategy::List => limits::SPAN_MAX,
        RetryStrategy::Linear | RetryStrategy::Exponential => standard.cap.max(base(&said)),
    };
    let cap = said.cap.map_or(cap_default, Duration::from);
    if let (Some(base), Some(cap)) = (said.base, said.cap)
        && base > cap
    {
        found.add(FieldError::invalid("retry.base", format!("{base} is longer than the cap, {cap}")));
    }
    let jitter = said.jitter.unwrap_or(standard.jitter);
    if !(0.0..=1.0).contains(&jitter) {
        found.add(FieldError::invalid("retry.jitter", format!("{jitter} is not from 0 to 1")));
    }
    RetryPolicy { backoff, cap, jitter }
}

fn refuse_foreign_fields(said: &wire::RetryPolicy, found: &mut Findings) {
    let strategy = said.strategy;
    let listed = strategy == RetryStrategy::List;
    if said.base.is_some() && listed {
        found.add(FieldError::invalid("retry.base", "does not go with strategy `list`: its waits are in `delays`"));
    }
    if said.factor.is_some() && strategy != RetryStrategy::Exponential {
        let message = format!("does not go with strategy `{strategy}`, only with `exponential`");
        found.add(FieldError::invalid("retry.factor", message));
    }
    if said.delays.is_some() && !listed {
        let message = format!("does not go with strategy `{strategy}`, only with `list`");
        found.add(FieldError::invalid("retry.delays", message));
    }
}

fn base(said: &wire::RetryPolicy) -> Duration {
    const BASE_DEFAULT: Duration = Duration::from_secs(5);
    said.base.map_or(BASE_DEFAULT, Duration::from)
}

fn factor(said: &wire::RetryPolicy, found: &mut Findings) -> f64 {
    const FACTOR_DEFAULT: f64 = 2.0;
    let factor = said.factor.unwrap_or(FACTOR_DEFAULT);
    let (min, max) = (RetryPolicy::FACTOR_MIN, RetryPolicy::FACTOR_MAX);
    if !(min..=max).contains(&factor) {
        found.add(FieldError::invalid("retry.factor", format!("{factor} is not from {min} to {max}")));
    }
    factor
}

fn delays(said: &wire::RetryPolicy, found: &mut Findings) -> Vec<Duration> {
    let delays = said.delays.as_deref().unwrap_or_default();
    if delays.is_empty() {
        found.add(FieldError::invalid("retry.delays", "strategy `list` needs at least one delay"));
    }
    if delays.len() > limits::RETRY_DELAYS_MAX {
        let (count, max) = (delays.len(), limits::RETRY_DELAYS_MAX);
        let message = format!("has {count} items, and retry_delays_max is {max}");
        found.add(FieldError::invalid("retry.delays", message).limited("retry_delays_max", max as u64));
    }
    delays.iter().copied().map(Duration::from).collect()
}
