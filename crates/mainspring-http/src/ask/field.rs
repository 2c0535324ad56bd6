//! One wrong field: where it is and what is wrong with it. The words for people are complete without the name.

use std::borrow::Cow;

use http::StatusCode;
use mainspring_wire::problem;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldError {
    pub kind: &'static str,
    /// Such as `jobs[3].priority`. Borrowed until there is a place to put before it.
    pub field: Cow<'static, str>,
    pub message: String,
    pub limit: Option<(&'static str, u64)>,
}

impl FieldError {
    pub(crate) fn invalid(field: impl Into<Cow<'static, str>>, message: impl Into<String>) -> FieldError {
        FieldError { kind: problem::INVALID_FIELD, field: field.into(), message: message.into(), limit: None }
    }

    /// Longer than a named limit, in bytes.
    pub(crate) fn too_large(field: &'static str, bytes: usize, limit: &'static str, max: usize) -> FieldError {
        let message = format!("has {bytes} bytes, and {limit} is {max}: send less, or a reference to it");
        let limit = Some((limit, max as u64));
        FieldError { kind: problem::TOO_LARGE, limit, ..FieldError::invalid(field, message) }
    }

    /// More items than a named limit.
    pub(crate) fn too_many(field: &'static str, count: usize, limit: &'static str, max: usize) -> FieldError {
        let message = format!("has {count} items, and {limit} is {max}: send fewer at once");
        let limit = Some((limit, max as u64));
        FieldError { kind: problem::TOO_MANY, limit, ..FieldError::invalid(field, message) }
    }

    pub(crate) fn limited(self, name: &'static str, max: u64) -> FieldError {
        FieldError { limit: Some((name, max)), ..self }
    }

    /// The same, seen from the list it is in: `jobs[3].` before its field.
    pub(crate) fn within(self, list: &str, at: usize) -> FieldError {
        FieldError { field: format!("{list}[{at}].{}", self.field).into(), ..self }
    }

    /// The same, seen from the object it is in: `job.` before its field.
    pub(crate) fn inside(self, object: &str) -> FieldError {
        FieldError { field: format!("{object}.{}", self.field).into(), ..self }
    }

    pub(crate) fn status(&self) -> StatusCode {
        match self.kind {
            problem::TOO_MANY => StatusCode::PAYLOAD_TOO_LARGE,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        }
    }
}
