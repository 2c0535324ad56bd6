//! A failure in the worker's words. A long text is cut by the core, never refused: the failure itself must get through.

use mainspring_core::job::Failure;
use mainspring_core::verdict::{Outcome, RetryWish};
use mainspring_wire::{ErrorView, Span};

use crate::ask::FieldError;

pub(crate) fn failure(error: ErrorView, retry_after: Option<Span>, never_retry: bool) -> Result<Outcome, FieldError> {
    let retry = match (retry_after, never_retry) {
        (Some(_), true) => {
            let message = "retry_after and never_retry contradict each other: give one of them";
            return Err(FieldError::invalid("retry_after", message));
        }
        (Some(wait), false) => RetryWish::After(wait.into()),
        (None, true) => RetryWish::Never,
        (None, false) => RetryWish::AsPolicy,
    };
    let error = Failure { message: error.message, kind: error.kind, detail: error.detail }.cut();
    Ok(Outcome::Failed { error, retry })
}
