//! Dead letters: `GET /v1/dead`, `POST /v1/dead/{replay,purge}`.

use mainspring_wire::{DeadQuery, JobPage, Purge, Purged, Replay, Replayed};

use super::Client;
use super::call::Call;
use crate::error::Result;

impl Client {
    /// A page of dead letters.
    pub async fn dead(&self, query: &DeadQuery) -> Result<JobPage> {
        self.ask(Call::get("/v1/dead").query(query)).await
    }

    /// Runs dead letters again, in bounded steps: while the answer says `more`, call again.
    pub async fn replay(&self, replay: &Replay) -> Result<Replayed> {
        self.ask(Call::post("/v1/dead/replay").body(replay)).await
    }

    /// Deletes dead letters for good, in bounded steps: while the answer says `more`, call again.
    pub async fn purge(&self, purge: &Purge) -> Result<Purged> {
        self.ask(Call::post("/v1/dead/purge").body(purge)).await
    }
}
