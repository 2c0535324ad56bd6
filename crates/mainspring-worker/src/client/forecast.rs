//! What will fire: `GET /v1/forecast`.

use mainspring_wire::{Forecast, ForecastQuery};

use super::Client;
use super::call::Call;
use crate::error::Result;

impl Client {
    /// What will fire in the days ahead, minute by minute, and where many fire at once.
    pub async fn forecast(&self, query: &ForecastQuery) -> Result<Forecast> {
        self.ask(Call::get("/v1/forecast").query(query)).await
    }
}
