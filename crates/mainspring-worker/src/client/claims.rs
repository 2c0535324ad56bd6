//! Claiming: `POST /v1/claims`.

use std::time::Duration;

use mainspring_wire::{ClaimAnswer, ClaimRequest};

use super::Client;
use super::call::Call;
use crate::error::Result;

impl Client {
    /// Asks for jobs, and waits as long as the request says if there are none. The worker holds what is answered. What the
    /// request settles is settled first, and then nothing is waited for; if the claim is refused after that, the answer says
    /// so in `problem`.
    pub async fn claim(&self, request: &ClaimRequest) -> Result<ClaimAnswer> {
        let wait = request.wait.map_or(Duration::ZERO, Duration::from);
        self.ask(Call::post("/v1/claims").body(request).waiting(wait)).await
    }
}
