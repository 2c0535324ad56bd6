//! Whose request it is. The one place that decides it: the header `Mainspring-Tenant`, or the default tenant if there is none.
//!
//! Until requests carry tokens this keeps tenants apart and is no security: whoever can reach the server can name any tenant.

use axum::extract::FromRequestParts;
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use mainspring_core::name::TenantName;
use mainspring_wire::problem;

use crate::door::Door;
use crate::problem::Refusal;

const NAME: &str = "mainspring-tenant";
/// As people write it.
const SHOWN: &str = "Mainspring-Tenant";

#[derive(Clone, Debug)]
pub(crate) struct Tenant(pub TenantName);

impl FromRequestParts<Door> for Tenant {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, door: &Door) -> Result<Tenant, Refusal> {
        Ok(Tenant(named(&parts.headers)?.unwrap_or_else(|| door.tenant.clone())))
    }
}

fn named(headers: &HeaderMap) -> Result<Option<TenantName>, Refusal> {
    let mut given = headers.get_all(NAME).iter();
    let Some(value) = given.next() else { return Ok(None) };
    if given.next().is_some() {
        return Err(wrong("the header Mainspring-Tenant is given twice: a request is of one tenant".to_owned()));
    }
    let text = value.to_str().map_err(|_| wrong("the header Mainspring-Tenant is not plain text".to_owned()))?;
    TenantName::parse(text).map(Some).map_err(|error| wrong(error.to_string()))
}

fn wrong(detail: String) -> Refusal {
    Refusal::new(problem::INVALID_FIELD, StatusCode::BAD_REQUEST, detail).at(SHOWN)
}
