//! Reads a JSON body into a wire type. The good path parses once, into borrowed text; what is wrong is found out by
//! parsing again.

use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use mainspring_wire::problem;
use serde::de::DeserializeOwned;

use crate::ask::misread;
use crate::door::Door;
use crate::limits::BODY_WAIT_MAX;
use crate::problem::Refusal;

/// What the body says.
#[derive(Debug)]
pub(crate) struct Said<T>(pub T);

/// What the body says; nothing is the default.
#[derive(Debug)]
pub(crate) struct MaybeSaid<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Door> for Said<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, door: &Door) -> Result<Said<T>, Refusal> {
        let body = read(request, door.options.body_bytes_max).await?;
        if body.is_empty() {
            let detail = "the body is empty; this call needs a JSON object";
            return Err(Refusal::new(problem::INVALID_BODY, StatusCode::BAD_REQUEST, detail));
        }
        parse(&body).map(Said)
    }
}

impl<T: DeserializeOwned + Default> FromRequest<Door> for MaybeSaid<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, door: &Door) -> Result<MaybeSaid<T>, Refusal> {
        let body = read(request, door.options.body_bytes_max).await?;
        if body.is_empty() { Ok(MaybeSaid(T::default())) } else { parse(&body).map(MaybeSaid) }
    }
}

/// One check of the whole text is cheaper than one per string, and says where the bad byte is.
fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    let text = std::str::from_utf8(body).map_err(|error| {
        let detail = format!("the body is not UTF-8: the byte at {} begins no character", error.valid_up_to());
        Refusal::new(problem::INVALID_BODY, StatusCode::BAD_REQUEST, detail)
    })?;
    parse_text(text)
}

/// A text as a wire type, or what is wrong with it.
pub(crate) fn parse_text<T: DeserializeOwned>(text: &str) -> Result<T, Refusal> {
    serde_json::from_str(text).map_err(|error| misread::explain::<T>(text, &error))
}

async fn read(request: Request, bytes_max: usize) -> Result<Bytes, Refusal> {
    let (parts, body) = request.into_parts();
    check_media_type(&parts.headers)?;
    let announced = parts.headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if announced.is_some_and(|length: u64| length > bytes_max as u64) {
        return Err(too_large(bytes_max));
    }
    // The clock starts only if the body is not there yet, which it nearly always is.
    match tokio::time::timeout(BODY_WAIT_MAX, Limited::new(body, bytes_max).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large(bytes_max)),
        Ok(Err(error)) => {
            let detail = format!("the body ended early: {error}");
            Err(Refusal::new(problem::INVALID_BODY, StatusCode::BAD_REQUEST, detail))
        }
        Err(_) => {
            let detail = format!("the body did not arrive within {} s", BODY_WAIT_MAX.as_secs());
            Err(Refusal::new(problem::TIMEOUT, StatusCode::REQUEST_TIMEOUT, detail))
        }
    }
}

fn too_large(bytes_max: usize) -> Refusal {
    let detail = format!("the body is larger than body_bytes_max, {bytes_max} bytes: send it in several requests");
    Refusal::new(problem::TOO_LARGE, StatusCode::PAYLOAD_TOO_LARGE, detail).limit("body_bytes_max", bytes_max as u64)
}

/// No content type is taken as JSON: there is nothing else it could be.
fn check_media_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let Some(value) = headers.get(header::CONTENT_TYPE) else { return Ok(()) };
    if value == "application/json" || value.to_str().is_ok_and(is_json) {
        return Ok(());
    }
    let detail = format!(
        "the content type is {value:?}; send the body as application/json: with curl use --json, \
         or add -H 'content-type: application/json'"
    );
    Err(Refusal::new(problem::UNSUPPORTED_MEDIA_TYPE, StatusCode::UNSUPPORTED_MEDIA_TYPE, detail))
}

fn is_json(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let subtype = essence.strip_prefix("application/");
    subtype.is_some_and(|subtype| subtype == "json" || subtype.ends_with("+json"))
}

#[cfg(test)]
mod tests {
    use super::is_json;

    #[test]
    fn json_is_known_by_its_media_type() {
        for good in
            ["application/json", "application/json; charset=utf-8", "Application/JSON", "application/merge-patch+json"]
        {
            assert!(is_json(good), "{good}");
        }
        for bad in ["text/plain", "application/x-www-form-urlencoded", "", "json", "application/jsonx"] {
            assert!(!is_json(bad), "{bad}");
        }
    }
}
