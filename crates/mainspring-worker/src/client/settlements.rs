//! Settling: `POST /v1/settlements`.

use mainspring_wire::{SettleAnswer, SettleRequest};

use super::Client;
use super::call::Call;
use crate::error::Result;

impl Client {
    /// Says how attempts ended. One answer each, in their order; a late word is answered `stale`, so repeating is safe.
    pub async fn settle(&self, request: &SettleRequest) -> Result<SettleAnswer> {
        self.ask(Call::post("/v1/settlements").body(request)).await
    }
}
