//! Errors as RFC 9457 problem+json. The type names are stable and all here; a program tells problems apart by them, a
//! person by `detail`.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

macro_rules! problem_types {
    ($( $(#[$doc:meta])* $name:ident = $text:literal; )+) => {
        $( $(#[$doc])* pub const $name: &str = concat!("/problems/", $text); )+

        /// Every problem type.
        pub const ALL: &[&str] = &[$( $name ),+];
    };
}

problem_types! {
    /// The body is not JSON, or not of the right shape.
    INVALID_BODY = "invalid-body";
    /// A field has a value that is not allowed; `field` names it.
    INVALID_FIELD = "invalid-field";
    /// A field is not known; `field` names it.
    UNKNOWN_FIELD = "unknown-field";
    /// There is no such thing.
    NOT_FOUND = "not-found";
    /// The thing is not in a state that allows this.
    CONFLICT = "conflict";
    /// The worker no longer holds the job.
    STALE = "stale";
    /// The idempotency key was used before with another body.
    IDEMPOTENCY_MISMATCH = "idempotency-mismatch";
    /// The queue is at its bound; try again after `retry_after`.
    QUEUE_FULL = "queue-full";
    /// The body or a value is larger than `limit`.
    TOO_LARGE = "too-large";
    /// There are more items than `limit`.
    TOO_MANY = "too-many";
    /// The worker is not registered, or was silent for too long: register again.
    UNKNOWN_WORKER = "unknown-worker";
    /// The disk or the store is full; reads go on.
    STORE_FULL = "store-full";
    /// The server cannot do it now; try again.
    UNAVAILABLE = "unavailable";
    /// Too many requests are waiting; try again after `retry_after`.
    BUSY = "busy";
    /// The server has a bug.
    INTERNAL = "internal";
    /// The path exists, but not with this method.
    METHOD_NOT_ALLOWED = "method-not-allowed";
    /// The body is not `application/json`.
    UNSUPPORTED_MEDIA_TYPE = "unsupported-media-type";
    /// The request took too long.
    TIMEOUT = "timeout";
    /// A job that should end first is not there, or was forgotten; `field` names it.
    UNKNOWN_PARENT = "unknown-parent";
    /// A job that should end first has failed or was cancelled already; `field` names it.
    FAILED_PARENT = "failed-parent";
    /// `If-Match` or `If-None-Match` does not hold: somebody else changed it.
    PRECONDITION_FAILED = "precondition-failed";
    /// The server's clock is the real one: nobody can advance it.
    CLOCK_NOT_VIRTUAL = "clock-not-virtual";
}

/// Why a request was refused, as `application/problem+json`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// Stable, such as `/problems/invalid-field`.
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What is wrong, where, and what to do.
    pub detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// Where in the body, such as `jobs[3].priority`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The limit that was passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// Try again after this many seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
    /// Every wrong field, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldProblem>,
}

/// One wrong field of several.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct FieldProblem {
    pub field: String,
    pub detail: String,
}

/// A limit by its name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct Limit {
    pub name: String,
    pub max: u64,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.title, self.status)?;
        let field = self.field.as_deref().unwrap_or_default();
        write_wrong(f, ": ", field, &self.detail)?;
        // The first wrong field is the problem's own, and among `errors` again.
        let mut others = self.errors.iter().filter(|error| error.field != field || error.detail != self.detail);
        others.try_for_each(|error| write_wrong(f, "; ", &error.field, &error.detail))
    }
}

/// Where it is wrong, and what: as much of it as is known.
fn write_wrong(f: &mut fmt::Formatter<'_>, before: &str, field: &str, detail: &str) -> fmt::Result {
    match (field, detail) {
        ("", "") => Ok(()),
        (one, "") | ("", one) => write!(f, "{before}{one}"),
        (field, detail) => write!(f, "{before}{field}: {detail}"),
    }
}

impl std::error::Error for Problem {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::round_trip;

    #[test]
    fn a_problem_says_the_same_again() {
        let problem: Problem = round_trip(concat!(
            r#"{"type":"/problems/too-many","title":"Too many jobs","status":413,"detail":"send at most 1000","instance":"/v1/jobs/batch","#,
            r#""field":"jobs","limit":{"name":"batch_jobs_max","max":1000},"retry_after":3,"errors":[{"field":"jobs[0].type","detail":"d"}]}"#,
        ));
        assert_eq!(problem.kind, TOO_MANY);
        assert_eq!(problem.to_string(), "Too many jobs (413): jobs: send at most 1000; jobs[0].type: d");
        round_trip::<Problem>(r#"{"type":"/problems/internal","title":"t","status":500,"detail":"d"}"#);
    }

    #[test]
    fn a_problem_names_every_wrong_field_once() {
        let wrong = |field: &str, detail: &str| FieldProblem { field: field.into(), detail: detail.into() };
        let check = |field: Option<&str>, detail: &str, errors: Vec<FieldProblem>, expected: &str| {
            let problem = Problem {
                title: "t".into(),
                status: 422,
                field: field.map(Into::into),
                detail: detail.into(),
                errors,
                ..Problem::default()
            };
            assert_eq!(problem.to_string(), expected);
        };
        check(None, "", vec![], "t (422)");
        check(None, "is full", vec![], "t (422): is full");
        check(Some("priority"), "is too high", vec![], "t (422): priority: is too high");
        let both = vec![wrong("type", "is empty"), wrong("priority", "is too high")];
        check(Some("type"), "is empty", both, "t (422): type: is empty; priority: is too high");
    }

    #[test]
    fn problem_types_are_distinct() {
        let mut types = ALL.to_vec();
        types.sort_unstable();
        types.dedup();
        assert_eq!(types.len(), ALL.len());
        assert_eq!(ALL.len(), 22);
    }
}
