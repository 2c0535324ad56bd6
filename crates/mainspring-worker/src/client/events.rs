//! What happens, as it happens: `GET /v1/events`. Never reconnects: events missed in between would go unnoticed.

use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use mainspring_wire::Event;

use super::Client;
use super::call::{Answer, Call};
use super::sse::Frames;
use crate::error::{Error, Result};

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
        let (call, response) = self.open(Call::get("/v1/events"), "text/event-stream").await?;
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
