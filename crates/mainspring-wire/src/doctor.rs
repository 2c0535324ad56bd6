//! The doctor: `GET /v1/doctor`. What is wrong, where, and what to do.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Doctor {
    pub now: Timestamp,
    /// The worst of all findings.
    pub severity: Severity,
    /// Everything that was looked at, the worst first.
    pub findings: Vec<Finding>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Finding {
    /// What was looked at: the same name whether it is well or not.
    pub name: String,
    pub severity: Severity,
    /// What is wrong, or what was found to be well.
    pub what: String,
    #[serde(rename = "where")]
    pub place: String,
    /// What to do about it; absent if nothing is to be done.
    #[serde(rename = "do", default, skip_serializing_if = "String::is_empty")]
    pub remedy: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Ok,
    Notice,
    Warning,
    Critical,
}

impl Severity {
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Ok => "ok",
            Severity::Notice => "notice",
            Severity::Warning => "warning",
            Severity::Critical => "critical",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::round_trip;

    #[test]
    fn the_doctor_says_the_same_again() {
        round_trip::<Doctor>(
            r#"{"now":"2026-12-01T09:00:00.000Z","severity":"warning","findings":[{"name":"leader","severity":"ok","what":"a leads","where":"the cluster"},{"name":"long_transaction","severity":"warning","what":"pid 7","where":"d on h","do":"end it"}]}"#,
        );
    }

    #[test]
    fn a_severity_is_shown_as_it_is_sent() {
        for severity in [Severity::Ok, Severity::Notice, Severity::Warning, Severity::Critical] {
            let sent = serde_json::to_string(&severity).expect("it prints");
            assert_eq!(sent, format!("{:?}", severity.as_str()));
        }
    }
}
