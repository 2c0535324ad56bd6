//! The server's clock: `GET /v1/clock`, `POST /v1/clock/advance`. For tests against a server that was started with a virtual clock.

use std::time::Duration;

use mainspring_wire::{Advance, ClockView};

use super::Client;
use super::call::Call;
use crate::error::Result;

/// A long way takes its time: everything that falls due on it happens, in order.
const ADVANCE_WAIT_MAX: Duration = Duration::from_secs(300);

impl Client {
    /// What time it is on the server.
    pub async fn clock(&self) -> Result<ClockView> {
        self.ask(Call::get("/v1/clock")).await
    }

    /// Moves a virtual clock on. When this answers, everything that fell due on the way is done.
    pub async fn advance_clock(&self, advance: &Advance) -> Result<ClockView> {
        self.ask(Call::post("/v1/clock/advance").body(advance).waiting(ADVANCE_WAIT_MAX)).await
    }
}
