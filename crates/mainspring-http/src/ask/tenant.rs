//! Whose request it is. The one place that decides it.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use http::request::Parts;
use mainspring_core::name::TenantName;

use crate::door::Door;

#[derive(Clone, Debug)]
pub(crate) struct Tenant(pub TenantName);

impl FromRequestParts<Door> for Tenant {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, door: &Door) -> Result<Tenant, Infallible> {
        Ok(Tenant(tenant_of(parts, door)))
    }
}

/// Until requests carry tokens, all of them are the default tenant's.
fn tenant_of(_: &Parts, door: &Door) -> TenantName {
    door.tenant.clone()
}
