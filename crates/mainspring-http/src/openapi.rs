//! The OpenAPI document, made from the routes themselves: a path is in it because it is in the router.

use std::collections::BTreeMap;

use mainspring_wire::{FieldProblem, Limit, Problem};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{IntoResponses, OpenApi};

use crate::{problem, router};

/// The document as `/openapi.json` serves it.
pub fn document() -> utoipa::openapi::OpenApi {
    router::table().into_openapi()
}

/// What does not come from a route.
#[derive(Debug, OpenApi)]
#[openapi(
    info(
        title = "Mainspring",
        description = "A distributed job scheduler: submit, claim, heartbeat, settle. Errors are RFC 9457 problem+json. \
                       The header Mainspring-Tenant says whose a request is; without it, the default tenant's.",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    components(schemas(Problem, Limit, FieldProblem)),
    tags(
        (name = "jobs", description = "Submit, look at and change jobs"),
        (name = "schedules", description = "Rules that make jobs"),
        (name = "workflows", description = "Jobs that wait for each other"),
        (name = "work", description = "What workers call"),
        (name = "queues", description = "Queues and their settings"),
        (name = "limits", description = "What may run at once, and how fast"),
        (name = "dead letters", description = "Jobs that used up their attempts"),
        (name = "operations", description = "Health, metrics, events, forecast, clock")
    )
)]
pub(crate) struct Frame;

/// What any route may answer instead.
#[derive(Debug)]
pub(crate) struct Refused;

impl IntoResponses for Refused {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
        let response = ResponseBuilder::new()
            .description("Why it was refused: what is wrong, where, and what to do")
            .content(problem::CONTENT_TYPE, content)
            .build();
        BTreeMap::from([("default".to_owned(), RefOr::T(response))])
    }
}
