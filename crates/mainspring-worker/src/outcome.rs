//! How an attempt ended, in the handler's words, and how that is told to the server. Never decides what comes of it.

use std::time::Duration;

use mainspring_wire::{Holding, Outcome as Said, RawValue, Settlement, Span};
use serde::Serialize;

use crate::error::BoxError;
use crate::failure::{Failure, RetryWish};

/// How an attempt ended.
///
/// A handler answers this, or a `Result` of anything that serializes and of any error.
///
/// ```
/// use std::time::Duration;
/// use mainspring_worker::Outcome;
///
/// let done = Outcome::done(serde_json::json!({ "sent": 3 }));
/// let later = Outcome::Snooze(Duration::from_secs(300));
/// let throttled = Outcome::RateLimited(Duration::from_secs(30)); // from a 429's Retry-After
/// let failed = Outcome::fail("the disk is full");
/// # assert!(matches!(throttled, Outcome::RateLimited(_)));
/// # assert!(matches!((done, later, failed), (Outcome::Done(Some(_)), Outcome::Snooze(_), Outcome::Fail(_))));
/// ```
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Done, with a result that is kept with the job.
    Done(Option<Box<RawValue>>),
    /// Not done.
    Fail(Failure),
    /// Not now: again after this long, without using up an attempt.
    Snooze(Duration),
    /// Whoever it calls said to come back after this long: the job's `rate_key`, else its `concurrency_key`, is closed for so long,
    /// so that no other job of it tries before. Uses up no attempt. Without a key, only this job waits.
    RateLimited(Duration),
    /// Given back untouched for another worker, without using up an attempt.
    Release,
}

impl Outcome {
    /// Done, with this result. What serializes to `null`, such as `()`, is no result.
    pub fn done(result: impl Serialize) -> Outcome {
        match serde_json::value::to_raw_value(&result) {
            Ok(result) => Outcome::Done(Some(result).filter(|result| result.get() != "null")),
            Err(error) => Outcome::Fail(
                Failure::new(format!("the result cannot be written as JSON: {error}")).kind("InvalidResult"),
            ),
        }
    }

    /// Not done, because of this error.
    pub fn fail(error: impl Into<BoxError>) -> Outcome {
        Outcome::Fail(Failure::from_error(error.into()))
    }

    /// What the server is told of it.
    pub(crate) fn settlement(self, holding: Holding) -> Settlement {
        let settlement = |said| Settlement::new(holding.job_id, holding.fence, said);
        match self {
            Outcome::Done(result) => Settlement { result, ..settlement(Said::Success) },
            Outcome::Fail(failure) => Settlement {
                error: Some(failure.error),
                retry_after: match failure.wish {
                    RetryWish::After(wait) => Some(Span::from(wait)),
                    RetryWish::AsPolicy | RetryWish::Never => None,
                },
                never_retry: failure.wish == RetryWish::Never,
                ..settlement(Said::Failure)
            },
            Outcome::Snooze(wait) => Settlement { snooze_for: Some(Span::from(wait)), ..settlement(Said::Snooze) },
            Outcome::RateLimited(wait) => {
                Settlement { retry_after: Some(Span::from(wait)), ..settlement(Said::RateLimited) }
            }
            Outcome::Release => settlement(Said::Release),
        }
    }
}

/// What a handler may answer: an [`Outcome`], or a `Result`.
pub trait IntoOutcome {
    /// How the attempt ended.
    fn into_outcome(self) -> Outcome;
}

impl IntoOutcome for Outcome {
    fn into_outcome(self) -> Outcome {
        self
    }
}

impl<T: IntoDone, E: Into<BoxError>> IntoOutcome for Result<T, E> {
    fn into_outcome(self) -> Outcome {
        match self {
            Ok(done) => done.into_done(),
            Err(error) => Outcome::fail(error),
        }
    }
}

/// What may be in the `Ok` of a handler's `Result`: anything that serializes, or an [`Outcome`].
pub trait IntoDone {
    /// How the attempt ended.
    fn into_done(self) -> Outcome;
}

impl<T: Serialize> IntoDone for T {
    fn into_done(self) -> Outcome {
        Outcome::done(self)
    }
}

impl IntoDone for Outcome {
    fn into_done(self) -> Outcome {
        self
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use uuid::Uuid;

    use super::*;

    fn told(answer: impl IntoOutcome) -> String {
        let holding = Holding { job_id: Uuid::nil(), fence: 7 };
        let settlement = answer.into_outcome().settlement(holding);
        let json = serde_json::to_string(&settlement).expect("a settlement prints");
        json.replace(r#""job_id":"00000000-0000-0000-0000-000000000000","fence":7,"#, "")
    }

    #[test]
    fn what_a_handler_answers_is_what_the_server_is_told() {
        type Answer<T> = Result<T, Failure>;
        assert_eq!(told(Answer::Ok(())), r#"{"outcome":"success"}"#);
        assert_eq!(told(Answer::Ok(vec![1, 2])), r#"{"outcome":"success","result":[1,2]}"#);
        assert_eq!(told(Result::<(), _>::Err("boom")), r#"{"outcome":"failure","error":{"message":"boom"}}"#);
        assert_eq!(told(Outcome::Snooze(Duration::from_secs(5))), r#"{"outcome":"snooze","snooze_for":"5s"}"#);
        assert_eq!(
            told(Answer::Ok(Outcome::RateLimited(Duration::from_secs(30)))),
            r#"{"outcome":"rate_limited","retry_after":"30s"}"#
        );
        assert_eq!(told(Answer::Ok(Outcome::Release)), r#"{"outcome":"release"}"#);
        let failure = Failure::new("no").kind("Quota").retry_after(Duration::from_millis(1500));
        assert_eq!(
            told(Answer::<()>::Err(failure)),
            r#"{"outcome":"failure","error":{"message":"no","type":"Quota"},"retry_after":"1500ms"}"#,
        );
        let never = Failure::new("no").retry_after(Duration::from_secs(1)).never_retry();
        let expected = r#"{"outcome":"failure","error":{"message":"no"},"never_retry":true}"#;
        assert_eq!(told(Answer::<()>::Err(never)), expected, "the server refuses both wishes at once");
    }

    #[test]
    fn a_result_that_is_not_json_is_a_failure() {
        let odd = HashMap::from([(vec![1], 2)]);
        let Outcome::Fail(failure) = Outcome::done(odd) else { panic!("it was written") };
        assert!(failure.to_string().starts_with("the result cannot be written as JSON"), "{failure}");
    }
}
