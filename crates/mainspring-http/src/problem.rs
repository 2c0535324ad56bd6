//! Every refusal as RFC 9457 problem+json: what is wrong, where, and what to do. The names are the wire's.

use std::time::Duration;

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use mainspring_core::id::JobId;
use mainspring_core::lifecycle::State;
use mainspring_core::store;
use mainspring_engine as engine;
use mainspring_wire::problem::{self, FieldProblem, Limit, Problem};

use crate::accept::{Form, wrong_limit};
use crate::ask::FieldError;
use crate::limits::{DETAIL_CHARS_MAX, FIELD_ERRORS_MAX};

pub(crate) const CONTENT_TYPE: &str = "application/problem+json";

/// A request that is not done, and why. Boxed: it travels in the `Err` of every route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal(pub Box<Problem>);

impl Refusal {
    pub(crate) fn new(kind: &'static str, status: StatusCode, detail: impl Into<String>) -> Refusal {
        let problem = Problem {
            kind: kind.to_owned(),
            title: title(kind).to_owned(),
            status: status.as_u16(),
            detail: cut(detail.into()),
            ..Problem::default()
        };
        Refusal(Box::new(problem))
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Refusal {
        Refusal::new(problem::NOT_FOUND, StatusCode::NOT_FOUND, detail)
    }

    pub(crate) fn conflict(detail: impl Into<String>) -> Refusal {
        Refusal::new(problem::CONFLICT, StatusCode::CONFLICT, detail)
    }

    pub(crate) fn stale() -> Refusal {
        let detail = "this fence no longer holds the job: it was settled or taken over before. Stop working on it; \
                      nothing was changed";
        Refusal::new(problem::STALE, StatusCode::CONFLICT, detail)
    }

    pub(crate) fn unknown_worker() -> Refusal {
        let detail = "no worker with this id is registered, or it was silent for longer than its lease. Register again \
                      with POST /v1/workers, and claim with the new id";
        Refusal::new(problem::UNKNOWN_WORKER, StatusCode::NOT_FOUND, detail)
    }

    pub(crate) fn idempotency_mismatch(job: impl std::fmt::Display) -> Refusal {
        let detail = format!(
            "this idempotency key made job {job} from another body. Send the same body to get that job, or use a new key"
        );
        let refusal = Refusal::new(problem::IDEMPOTENCY_MISMATCH, StatusCode::UNPROCESSABLE_ENTITY, detail);
        refusal.at("idempotency_key")
    }

    pub(crate) fn queue_full(max_depth: u64) -> Refusal {
        let detail = format!(
            "the queue holds {max_depth} unfinished jobs, which is its bound. Try again later, or raise its max_depth"
        );
        let refusal = Refusal::new(problem::QUEUE_FULL, StatusCode::TOO_MANY_REQUESTS, detail);
        refusal.limit("max_depth", max_depth).retry_after(Duration::from_secs(1))
    }

    /// The job waits for one that this tenant does not have.
    pub(crate) fn unknown_parent(parent: JobId) -> Refusal {
        let detail = format!(
            "there is no job {parent} to wait for: it was never submitted, or its retention is over. Leave it out if it \
             is known to have ended"
        );
        Refusal::new(problem::UNKNOWN_PARENT, StatusCode::UNPROCESSABLE_ENTITY, detail)
    }

    /// The job waits for one that ended badly.
    pub(crate) fn failed_parent(parent: JobId, state: State) -> Refusal {
        let how = if state == State::Cancelled { "was cancelled" } else { "has failed" };
        let detail = format!(
            "job {parent} {how} already, so this one would be cancelled. Retry that one first, or say what its failure \
             means: \"on_failure\": \"run\" or \"hold\""
        );
        Refusal::new(problem::FAILED_PARENT, StatusCode::CONFLICT, detail)
    }

    pub(crate) fn precondition_failed(detail: impl Into<String>) -> Refusal {
        Refusal::new(problem::PRECONDITION_FAILED, StatusCode::PRECONDITION_FAILED, detail)
    }

    pub(crate) fn at(mut self, field: impl Into<String>) -> Refusal {
        self.0.field = Some(cut(field.into()));
        self
    }

    pub(crate) fn limit(mut self, name: &str, max: u64) -> Refusal {
        self.0.limit = Some(Limit { name: name.to_owned(), max });
        self
    }

    /// In whole seconds, rounded up: to come back too early is to come back twice.
    pub(crate) fn retry_after(mut self, wait: Duration) -> Refusal {
        self.0.retry_after = Some(wait.as_millis().div_ceil(1000).max(1).try_into().unwrap_or(u64::MAX));
        self
    }
}

/// The first wrong field is the problem's own; all of them are in `errors` if there are several.
impl From<Vec<FieldError>> for Refusal {
    fn from(mut errors: Vec<FieldError>) -> Refusal {
        errors.truncate(FIELD_ERRORS_MAX);
        let several = errors.len() > 1;
        let all = errors.iter().filter(|_| several);
        let all =
            all.map(|error| FieldProblem { field: cut(error.field.to_string()), detail: cut(error.message.clone()) });
        let all = all.collect();
        let Some(first) = errors.into_iter().next() else {
            return Refusal::new(problem::INVALID_BODY, StatusCode::UNPROCESSABLE_ENTITY, "the request is not valid");
        };
        let mut refusal = Refusal::new(first.kind, first.status(), first.message).at(first.field);
        refusal.0.limit = first.limit.map(|(name, max)| Limit { name: name.to_owned(), max });
        refusal.0.errors = all;
        refusal
    }
}

impl From<FieldError> for Refusal {
    fn from(error: FieldError) -> Refusal {
        Refusal::from(vec![error])
    }
}

impl From<engine::Error> for Refusal {
    fn from(error: engine::Error) -> Refusal {
        match error {
            engine::Error::Busy { retry_after } => {
                let detail = "too many requests are waiting. Nothing of this one happened: try again a little later";
                Refusal::new(problem::BUSY, StatusCode::TOO_MANY_REQUESTS, detail).retry_after(retry_after)
            }
            engine::Error::Closed => {
                let detail = "the server is shutting down. Nothing of this request happened: try again";
                Refusal::new(problem::UNAVAILABLE, StatusCode::SERVICE_UNAVAILABLE, detail)
                    .retry_after(Duration::from_secs(1))
            }
            engine::Error::Elsewhere { .. } | engine::Error::Mismatch(_) => {
                Refusal::new(problem::UNAVAILABLE, StatusCode::SERVICE_UNAVAILABLE, error.to_string())
                    .retry_after(Duration::from_secs(1))
            }
            engine::Error::Schedule(bad) => Refusal::from(Form::Several.wrong(bad)),
            engine::Error::Graph(bad) => Refusal::from(FieldError::invalid("jobs", bad.to_string())),
            engine::Error::Limit(bad) => Refusal::from(wrong_limit(&bad)),
            engine::Error::Store(error) => Refusal::from(error),
        }
    }
}

impl From<store::Error> for Refusal {
    fn from(error: store::Error) -> Refusal {
        match error {
            store::Error::Unavailable(_) => {
                let detail = format!("{error}. Try again: repeating the request is safe");
                Refusal::new(problem::UNAVAILABLE, StatusCode::SERVICE_UNAVAILABLE, detail)
                    .retry_after(Duration::from_secs(1))
            }
            store::Error::Full(_) => {
                let detail =
                    format!("{error}. Nothing that was accepted is lost, and reads go on; give the store room");
                Refusal::new(problem::STORE_FULL, StatusCode::INSUFFICIENT_STORAGE, detail)
                    .retry_after(Duration::from_secs(30))
            }
            store::Error::Invalid(_) => {
                Refusal::new(problem::INVALID_BODY, StatusCode::UNPROCESSABLE_ENTITY, error.to_string())
            }
            store::Error::Damaged(_) => {
                tracing::error!(%error, "the store is damaged");
                Refusal::new(problem::INTERNAL, StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
            }
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let problem = self.0;
        let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(&problem).expect("a problem prints");
        let mut response = (status, [(header::CONTENT_TYPE, CONTENT_TYPE)], body).into_response();
        if let Some(seconds) = problem.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

fn title(kind: &str) -> &'static str {
    match kind {
        problem::INVALID_BODY => "The body cannot be read",
        problem::INVALID_FIELD => "A value is not allowed",
        problem::UNKNOWN_FIELD => "A field is not known",
        problem::NOT_FOUND => "There is no such thing",
        problem::CONFLICT => "Not in this state",
        problem::STALE => "The lease is over",
        problem::IDEMPOTENCY_MISMATCH => "The idempotency key was used for another body",
        problem::QUEUE_FULL => "The queue is full",
        problem::TOO_LARGE => "Too large",
        problem::TOO_MANY => "Too many",
        problem::UNKNOWN_WORKER => "The worker is not registered",
        problem::STORE_FULL => "The store is full",
        problem::UNAVAILABLE => "Not available now",
        problem::BUSY => "Too many requests are waiting",
        problem::METHOD_NOT_ALLOWED => "The path does not take this method",
        problem::UNSUPPORTED_MEDIA_TYPE => "The body is not JSON",
        problem::TIMEOUT => "The request took too long",
        problem::UNKNOWN_PARENT => "There is no such job to wait for",
        problem::FAILED_PARENT => "The job to wait for has failed",
        problem::PRECONDITION_FAILED => "Somebody else changed it",
        problem::CLOCK_NOT_VIRTUAL => "The clock is the real one",
        _ => "Internal error",
    }
}

fn cut(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(DETAIL_CHARS_MAX) {
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_problem_has_its_own_title() {
        let mut titles: Vec<&str> = problem::ALL.iter().map(|kind| title(kind)).collect();
        titles.sort_unstable();
        titles.dedup();
        assert_eq!(titles.len(), problem::ALL.len());
    }

    #[test]
    fn whoever_is_told_to_come_back_is_told_when() {
        let check = |refusal: Refusal, status: u16, after: Option<&str>| {
            let response = refusal.into_response();
            assert_eq!(response.status(), status);
            assert_eq!(response.headers()[header::CONTENT_TYPE], CONTENT_TYPE);
            let said = response.headers().get(header::RETRY_AFTER).map(|value| value.to_str().expect("digits"));
            assert_eq!(said, after);
        };
        check(engine::Error::Busy { retry_after: Duration::from_millis(1_001) }.into(), 429, Some("2"));
        check(engine::Error::Closed.into(), 503, Some("1"));
        check(engine::Error::Elsewhere { role: "api" }.into(), 503, Some("1"));
        check(store::Error::Unavailable("x".into()).into(), 503, Some("1"));
        check(store::Error::Full("x".into()).into(), 507, Some("30"));
        check(store::Error::Invalid("x".into()).into(), 422, None);
        check(store::Error::Damaged("x".into()).into(), 500, None);
        check(Refusal::queue_full(5), 429, Some("1"));
        check(Refusal::stale(), 409, None);
    }

    #[test]
    fn several_wrong_fields_are_all_named_up_to_a_bound() {
        let errors =
            (0..FIELD_ERRORS_MAX + 5).map(|n| FieldError::invalid(format!("f{n}"), "is wrong")).collect::<Vec<_>>();
        let refusal = Refusal::from(errors);
        assert_eq!(refusal.0.field.as_deref(), Some("f0"));
        assert_eq!(refusal.0.errors.len(), FIELD_ERRORS_MAX);
        assert!(Refusal::from(FieldError::invalid("f", "is wrong")).0.errors.is_empty());
    }

    #[test]
    fn a_long_detail_is_cut_at_a_character() {
        let refusal = Refusal::not_found("é".repeat(10_000));
        assert_eq!(refusal.0.detail.chars().count(), DETAIL_CHARS_MAX + 1);
    }
}
