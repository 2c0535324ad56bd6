//! What happens, as it happens: `GET /v1/events`. Never reconnects: events missed in between would go unnoticed.

use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use mainspring_wire::{Event, EventKind};

use super::Client;
use super::call::{Answer, Call};
use super::sse::Frames;
use crate::error::{Error, Result};

/// No event is longer.
const EVENT_BYTES_MAX: usize = 1024 * 1024;
const PROBLEM_BYTES_MAX: usize = 64 * 1024;

impl Client {
    /// Opens a stream of what happens from now on.
    ///
    /// ```no_run
    /// # async fn run(client: mainspring_worker::Client) -> mainspring_worker::Result<()> {
    /// let mut events = client.events().await?;
    /// while let Some(event) = events.next().await? {
    ///     println!("{} {}", event.at, event.kind);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn events(&self) -> Result<Events> {
        self.events_of(None, &[]).await
    }

    /// Opens a stream of what happens from now on in this queue, of these kinds; of all queues, all kinds if none is given.
    pub async fn events_of(&self, queue: Option<&str>, kinds: &[EventKind]) -> Result<Events> {
        let kinds: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
        let kinds = Some(kinds.join(",")).filter(|kinds| !kinds.is_empty());
        let call = Call::get("/v1/events").query(&[("queue", queue), ("kind", kinds.as_deref())]);
        let (call, response) = self.open(call, "text/event-stream").await?;
        let (head, body) = response.into_parts();
        if head.status.is_success() {
            return Ok(Events { call, body, frames: Frames::default() });
        }
        let body = tokio::time::timeout(self.timeout, Limited::new(body, PROBLEM_BYTES_MAX).collect()).await;
        let body = body.ok().and_then(|body| body.ok()).map(|body| body.to_bytes()).unwrap_or_default();
        Err(Answer::new(call, head.status, head.headers, body).error())
    }
}

/// A stream of events. Dropping it closes the connection.
#[derive(Debug)]
pub struct Events {
    call: String,
    body: Incoming,
    frames: Frames,
}

impl Events {
    /// The next event; `None` when the server closed the stream. Waits for as long as nothing happens.
    pub async fn next(&mut self) -> Result<Option<Event>> {
        loop {
            if let Some(data) = self.frames.next() {
                let data = data.map_err(|error| self.not_understood(error))?;
                return serde_json::from_str(&data).map(Some).map_err(|error| self.not_understood(error));
            }
            if self.frames.unended_bytes() > EVENT_BYTES_MAX {
                return Err(self.not_understood("an event without an end"));
            }
            match self.body.frame().await {
                None => return Ok(None),
                Some(Ok(frame)) => self.frames.push(frame.data_ref().map_or(&[][..], |data| data)),
                Some(Err(error)) => {
                    return Err(Error::Unreachable { call: self.call.clone(), source: error.into() });
                }
            }
        }
    }

    fn not_understood(&self, error: impl std::fmt::Display) -> Error {
        Error::Protocol { call: self.call.clone(), reason: error.to_string() }
    }
}
