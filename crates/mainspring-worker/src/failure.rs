//! Why an attempt failed, in the handler's words, and what it asks for next. Whether there is a next attempt is the server's
//! to decide.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use mainspring_wire::ErrorView;

use crate::error::BoxError;

/// A failed attempt. Any error becomes one; make it yourself to say when to try again, or that it is no use.
///
/// ```
/// use std::time::Duration;
/// use mainspring_worker::{Failure, RetryWish};
///
/// let later = Failure::new("the mail server is busy").retry_after(Duration::from_secs(60));
/// let never = Failure::new("there is no such address").kind("NoSuchAddress").never_retry();
/// assert_eq!(never.wish(), RetryWish::Never);
/// assert_eq!(later.to_string(), "the mail server is busy");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub(crate) error: ErrorView,
    pub(crate) wish: RetryWish,
}

/// What a failed attempt asks for next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RetryWish {
    /// What the job's policy says.
    #[default]
    AsPolicy,
    /// Another attempt after this long.
    After(Duration),
    /// No other attempt: bury the job at once.
    Never,
}

impl Failure {
    /// A failure with this message, tried again as the job's policy says.
    pub fn new(message: impl Into<String>) -> Failure {
        let error = ErrorView { message: message.into(), kind: None, detail: None };
        Failure { error, wish: RetryWish::AsPolicy }
    }

    /// What sort of error it is, such as `Timeout`.
    #[must_use]
    pub fn kind(mut self, kind: impl Into<String>) -> Failure {
        self.error.kind = Some(kind.into());
        self
    }

    /// More for people: a stack trace, the tail of an output.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Failure {
        self.error.detail = Some(detail.into());
        self
    }

    /// Try again after this long, instead of what the job's policy says. The last wish counts.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Failure {
        self.wish = RetryWish::After(wait);
        self
    }

    /// Another attempt would fail as well: bury the job at once. The last wish counts.
    #[must_use]
    pub fn never_retry(mut self) -> Failure {
        self.wish = RetryWish::Never;
        self
    }

    /// What is told to the server.
    pub fn error(&self) -> &ErrorView {
        &self.error
    }

    /// What it asks for next.
    pub fn wish(&self) -> RetryWish {
        self.wish
    }

    /// Whether the job is to be buried at once.
    pub fn retries_never(&self) -> bool {
        self.wish == RetryWish::Never
    }

    /// Any error. A [`Failure`] in it, or among its causes, keeps what it asks for; the causes become the detail.
    pub fn from_error(error: BoxError) -> Failure {
        let error = match error.downcast::<Failure>() {
            Ok(failure) => return *failure,
            Err(error) => error,
        };
        let causes: Vec<&(dyn StdError + 'static)> =
            std::iter::successors(error.source(), |&cause| cause.source()).collect();
        let asked = causes.iter().find_map(|cause| cause.downcast_ref::<Failure>());
        let mut failure = asked.cloned().unwrap_or_else(|| Failure::new(""));
        failure.error.message = error.to_string();
        if failure.error.detail.is_none() && !causes.is_empty() {
            let lines: Vec<String> = causes.iter().map(|cause| format!("caused by: {cause}")).collect();
            failure.error.detail = Some(lines.join("\n"));
        }
        failure
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.error.message)
    }
}

impl StdError for Failure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Wrapped(&'static str, #[source] BoxError);

    #[test]
    fn any_error_becomes_a_failure_with_its_causes() {
        let failure = Failure::from_error("boom".into());
        assert_eq!(failure, Failure::new("boom"));

        let inner = Wrapped("connection lost", "reset by peer".into());
        let failure = Failure::from_error(Box::new(Wrapped("could not send", Box::new(inner))));
        let expected = "caused by: connection lost\ncaused by: reset by peer";
        assert_eq!(failure, Failure::new("could not send").detail(expected));
    }

    #[test]
    fn a_failure_keeps_what_it_asks_for_however_deep_it_is() {
        let asked = Failure::new("quota used up").never_retry().retry_after(Duration::from_secs(9)).kind("Quota");
        assert_eq!(Failure::from_error(Box::new(asked.clone())), asked);

        let wrapped = Wrapped("could not send", Box::new(Wrapped("inner", Box::new(asked))));
        let failure = Failure::from_error(Box::new(wrapped));
        assert_eq!(failure.to_string(), "could not send");
        assert_eq!(failure.wish(), RetryWish::After(Duration::from_secs(9)));
        assert_eq!(failure.error().kind.as_deref(), Some("Quota"));
        assert_eq!(failure.error().detail.as_deref(), Some("caused by: inner\ncaused by: quota used up"));
    }
}
