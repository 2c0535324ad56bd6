//! The retry policy of a job as it is written and shown. What a policy makes of a failure is decided in the core.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Span;

crate::words::words! {
    /// How the wait grows from one failed attempt to the next.
    #[derive(Default)]
    pub enum RetryStrategy: "a retry strategy" {
        /// Always `base`.
        Fixed = "fixed",
        /// `base` × the number of failures.
        Linear = "linear",
        /// `base` × `factor` to the power of the failures.
        #[default]
        Exponential = "exponential",
        /// `delays`, one after the other; the last one repeats.
        List = "list",
    }
}

/// When a failed attempt is tried again. What is left out takes the server's default.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryPolicy {
    #[serde(default)]
    pub strategy: RetryStrategy,
    /// The first wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<Span>,
    /// No wait is longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cap: Option<Span>,
    /// For `exponential`: how much longer each wait is than the one before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factor: Option<f64>,
    /// The part of each wait that is random, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<f64>,
    /// For `list`: the waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delays: Option<Vec<Span>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{refused, round_trip};

    #[test]
    fn a_policy_says_the_same_again() {
        round_trip::<RetryPolicy>(r#"{"strategy":"exponential","base":"5s","cap":"1h","factor":2.0,"jitter":0.1}"#);
        round_trip::<RetryPolicy>(r#"{"strategy":"list","delays":["1s","10s","1m"]}"#);
        let policy: RetryPolicy = serde_json::from_str("{}").expect("everything has a default");
        assert_eq!(policy, RetryPolicy::default());
        assert_eq!(policy.strategy, RetryStrategy::Exponential);
    }

    #[test]
    fn a_policy_refuses_what_it_does_not_know() {
        refused::<RetryPolicy>(r#"{"stratgy":"fixed"}"#, "unknown field `stratgy`");
        refused::<RetryPolicy>(r#"{"strategy":"random"}"#, "unknown variant `random`");
        refused::<RetryPolicy>(r#"{"delays":["soon"]}"#, "\"soon\" is not a duration");
    }
}
