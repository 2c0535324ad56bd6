//! The `Idempotency-Key` header. Whether the key may be one is the core's to say.

use axum::extract::FromRequestParts;
use http::request::Parts;

use crate::ask::FieldError;
use crate::door::Door;
use crate::problem::Refusal;

const NAME: &str = "idempotency-key";

/// Read from the request in place: taking all headers would copy them for every job.
#[derive(Clone, Debug)]
pub(crate) struct HeaderKey(pub Option<String>);

impl FromRequestParts<Door> for HeaderKey {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &Door) -> Result<HeaderKey, Refusal> {
        let Some(value) = parts.headers.get(NAME) else { return Ok(HeaderKey(None)) };
        let not_text = |_| FieldError::invalid("Idempotency-Key", "is not plain text: printable ASCII is allowed");
        Ok(HeaderKey(Some(value.to_str().map_err(not_text)?.to_owned())))
    }
}
