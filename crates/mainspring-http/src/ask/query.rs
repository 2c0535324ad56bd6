//! Reads query parameters by name. What nobody asks for by name is refused by name.

use axum::extract::{FromRequestParts, Query};
use http::StatusCode;
use http::request::Parts;
use mainspring_wire::problem;

use crate::door::Door;
use crate::problem::Refusal;

/// The parameters as they came. Taken one by one; [`Pairs::done`] refuses the rest.
#[derive(Debug)]
pub(crate) struct Pairs {
    left: Vec<(String, String)>,
    asked: Vec<&'static str>,
}

impl FromRequestParts<Door> for Pairs {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &Door) -> Result<Pairs, Refusal> {
        let Query(left) = Query::try_from_uri(&parts.uri).map_err(|error| {
            let detail = format!("the query cannot be read: {error}");
            Refusal::new(problem::INVALID_FIELD, StatusCode::BAD_REQUEST, detail)
        })?;
        Ok(Pairs { left, asked: Vec::new() })
    }
}

impl Pairs {
    /// The value of a parameter. Given twice it would be unclear which one counts.
    pub(crate) fn take(&mut self, name: &'static str) -> Result<Option<String>, Refusal> {
        self.asked.push(name);
        let Some(at) = self.left.iter().position(|(given, _)| given == name) else { return Ok(None) };
        let (_, value) = self.left.swap_remove(at);
        if self.left.iter().any(|(given, _)| given == name) {
            return Err(bad(name, format!("the query parameter `{name}` is given twice")));
        }
        Ok(Some(value))
    }

    /// The value of a parameter, read by `parse`; an empty one is as wrong as any other.
    pub(crate) fn parse<T, E: std::fmt::Display>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<Option<T>, Refusal> {
        let Some(value) = self.take(name)? else { return Ok(None) };
        parse(&value).map(Some).map_err(|error| bad(name, error.to_string()))
    }

    pub(crate) fn done(self) -> Result<(), Refusal> {
        let Some((name, _)) = self.left.into_iter().next() else { return Ok(()) };
        let detail = if self.asked.is_empty() {
            format!("the query parameter `{name}` is not known; this call takes none")
        } else {
            format!("the query parameter `{name}` is not known; allowed here: {}", self.asked.join(", "))
        };
        Err(Refusal::new(problem::UNKNOWN_FIELD, StatusCode::BAD_REQUEST, detail).at(name))
    }
}

fn bad(name: &'static str, detail: String) -> Refusal {
    Refusal::new(problem::INVALID_FIELD, StatusCode::BAD_REQUEST, detail).at(name)
}
