//! `GET /v1/events`: what happens, as it happens, by server-sent events. Ends when the server stops.

use std::convert::Infallible;

use axum::extract::State;
use axum::response::sse::{Event as Sent, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use mainspring_core::name::{QueueName, TenantName};
use mainspring_engine::{Event, Events};
use mainspring_wire as wire;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::ask::{Pairs, Tenant};
use crate::convert::event_kind;
use crate::door::Door;
use crate::limits::EVENTS_KEEP_ALIVE;
use crate::openapi::Refused;
use crate::problem::Refusal;
use crate::show;

pub(crate) fn table() -> OpenApiRouter<Door> {
    OpenApiRouter::new().routes(routes!(stream_events))
}

/// What happens, as it happens.
///
/// A stream of server-sent events whose data is an `Event`. A reader that is too slow is told how many it missed.
#[utoipa::path(
    get, path = "/v1/events", tag = "operations",
    params(
        ("queue" = Option<String>, Query, description = "Only what happens in this queue"),
        ("kind" = Option<String>, Query, description = "Only these kinds of events, with commas between them")
    ),
    responses((status = 200, description = "The stream", body = wire::Event, content_type = "text/event-stream"), Refused)
)]
pub(crate) async fn stream_events(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    mut pairs: Pairs,
) -> Result<Response, Refusal> {
    let queue = pairs.parse("queue", QueueName::parse)?;
    let kinds = pairs.parse("kind", kinds)?;
    pairs.done()?;
    let reader = Reader { events: door.engine.events(), wanted: Wanted { tenant, queue, kinds } };
    let events = stream::unfold(reader, |mut reader| async {
        let event = reader.next().await?;
        Some((Ok::<_, Infallible>(print(&event)), reader))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(EVENTS_KEEP_ALIVE)).into_response())
}

#[derive(Debug)]
struct Reader {
    events: Events,
    wanted: Wanted,
}

impl Reader {
    async fn next(&mut self) -> Option<Event> {
        loop {
            let event = self.events.next().await?;
            if self.wanted.has(&event) {
                return Some(event);
            }
        }
    }
}

#[derive(Debug)]
struct Wanted {
    tenant: TenantName,
    queue: Option<QueueName>,
    kinds: Option<Vec<wire::EventKind>>,
}

impl Wanted {
    fn has(&self, event: &Event) -> bool {
        // Whoever misses something must know, whatever it asked for.
        let kind = event_kind(event.kind);
        if kind == wire::EventKind::Lagged {
            return true;
        }
        let queue = || event.queue.as_ref().map(|queue| &queue.queue);
        event.tenant.as_ref() == Some(&self.tenant)
            && self.queue.as_ref().is_none_or(|wanted| queue() == Some(wanted))
            && self.kinds.as_ref().is_none_or(|wanted| wanted.contains(&kind))
    }
}

fn print(event: &Event) -> Sent {
    let said = show::event(event);
    let json = serde_json::to_string(&said).expect("wire types print");
    Sent::default().event(said.kind.as_str()).data(json)
}

fn kinds(text: &str) -> Result<Vec<wire::EventKind>, wire::ParseError> {
    text.split(',').map(|word| word.trim().parse()).collect()
}
