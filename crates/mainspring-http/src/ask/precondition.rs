//! `If-Match` and `If-None-Match`: what the caller believes of the thing it changes. A revision is its entity tag.

use axum::extract::FromRequestParts;
use http::request::Parts;
use http::{HeaderName, StatusCode, header};
use mainspring_wire::problem;

use crate::door::Door;
use crate::problem::Refusal;

/// How a thing must stand for the request to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precondition {
    /// Nothing was said.
    None,
    /// `If-None-Match: *`.
    Absent,
    /// `If-Match: *`.
    Present,
    /// `If-Match: "3"`.
    Revision(u64),
}

impl FromRequestParts<Door> for Precondition {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &Door) -> Result<Precondition, Refusal> {
        let said = |name: HeaderName| parts.headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        read(said(header::IF_MATCH), said(header::IF_NONE_MATCH))
    }
}

fn read(if_match: Option<&str>, if_none_match: Option<&str>) -> Result<Precondition, Refusal> {
    match (if_match.map(str::trim), if_none_match.map(str::trim)) {
        (None, None) => Ok(Precondition::None),
        (Some(_), Some(_)) => Err(bad("If-None-Match", "If-Match and If-None-Match contradict each other: give one")),
        (None, Some("*")) => Ok(Precondition::Absent),
        (None, Some(_)) => Err(bad("If-None-Match", "only If-None-Match: * is understood: it must not exist yet")),
        (Some("*"), None) => Ok(Precondition::Present),
        (Some(tag), None) => {
            let revision = tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"')).and_then(|tag| tag.parse().ok());
            let detail = "send one ETag as the answer before gave it, such as If-Match: \"3\", or If-Match: *";
            revision.map(Precondition::Revision).ok_or_else(|| bad("If-Match", detail))
        }
    }
}

fn bad(field: &str, detail: &str) -> Refusal {
    Refusal::new(problem::INVALID_FIELD, StatusCode::BAD_REQUEST, detail).at(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_precondition_is_one_revision_or_none() {
        let check = |if_match, if_none_match, expected| assert_eq!(read(if_match, if_none_match).ok(), expected);
        check(None, None, Some(Precondition::None));
        check(Some("\"3\""), None, Some(Precondition::Revision(3)));
        check(Some(" \"3\" "), None, Some(Precondition::Revision(3)));
        check(Some("*"), None, Some(Precondition::Present));
        check(None, Some("*"), Some(Precondition::Absent));
        for bad in ["3", "\"3", "\"\"", "\"x\"", "W/\"3\"", "\"3\", \"4\"", "", "\"-1\"", "?"] {
            check(Some(bad), None, None);
            check(None, Some(bad), None);
        }
        check(Some("\"3\""), Some("*"), None);
    }
}
