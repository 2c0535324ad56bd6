//! The doctor: `GET /v1/doctor`.

use mainspring_wire::Doctor;

use super::Client;
use super::call::Call;
use crate::error::Result;

impl Client {
    /// What is wrong with the server, its cluster and its store, where, and what to do.
    pub async fn doctor(&self) -> Result<Doctor> {
        self.ask(Call::get("/v1/doctor")).await
    }
}
