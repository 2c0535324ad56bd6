//! How the server is: `GET /readyz` and `GET /metrics`.

use mainspring_wire::Ready;

use super::Client;
use super::call::Call;
use crate::error::Result;

impl Client {
    /// Whether the server takes work. One that says it does not is an answer here, not an error.
    pub async fn ready(&self) -> Result<Ready> {
        let answer = self.send(Call::get("/readyz")).await?;
        match answer.read() {
            Ok(ready) => Ok(ready),
            Err(unread) if answer.status.is_success() => Err(unread),
            Err(_) => Err(answer.error()),
        }
    }

    /// The server's metrics, as Prometheus reads them.
    pub async fn metrics(&self) -> Result<String> {
        self.tell(Call::get("/metrics")).await?.text()
    }
}
