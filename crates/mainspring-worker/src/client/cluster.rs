//! The cluster: `GET /v1/cluster`.

use mainspring_wire::Cluster;

use super::Client;
use super::call::Call;
use crate::error::Result;

impl Client {
    /// Who is there, who leads, and who has which segment.
    pub async fn cluster(&self) -> Result<Cluster> {
        self.ask(Call::get("/v1/cluster")).await
    }
}
