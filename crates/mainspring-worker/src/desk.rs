//! Where a running attempt reports checkpoints and progress: the server, or a test's notebook.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mainspring_wire::Checkpoint;
use uuid::Uuid;

use crate::backoff::Backoff;
use crate::client::Client;
use crate::clock;
use crate::error::{Error, Result};
use crate::stop::{Stop, StopReason};

#[derive(Clone, Debug)]
pub(crate) enum Desk {
    Server {
        client: Client,
        /// How long a checkpoint is tried again: past the lease there is nothing left to save it for.
        patience: Duration,
    },
    Notebook(Notebook),
}

/// What was reported, in order.
pub(crate) type Notebook = Arc<Mutex<Vec<Checkpoint>>>;

impl Desk {
    pub async fn report(&self, job_id: Uuid, report: Checkpoint, stop: &Stop) -> Result<()> {
        match self {
            Desk::Server { client, patience } => {
                let patience = if report.data.is_some() { *patience } else { Duration::ZERO };
                send(client, job_id, &report, patience, stop).await
            }
            Desk::Notebook(notebook) => {
                notebook.lock().expect("nobody panics while writing").push(report);
                Ok(())
            }
        }
    }
}

async fn send(client: &Client, job_id: Uuid, report: &Checkpoint, patience: Duration, stop: &Stop) -> Result<()> {
    let give_up_at = clock::now() + patience;
    let mut backoff = Backoff::of_a_loop();
    loop {
        match client.checkpoint(job_id, report).await {
            Ok(held) if held.cancel_requested => {
                stop.ask(StopReason::Cancelled);
                return Ok(());
            }
            Ok(_) => return Ok(()),
            Err(error @ Error::Stale(_)) => {
                stop.ask(StopReason::Lost);
                return Err(error);
            }
            Err(error) if error.is_passing() && !stop.token().is_cancelled() => {
                let wait = backoff.next(clock::dice());
                if clock::now() + wait > give_up_at {
                    return Err(error);
                }
                tracing::debug!(%error, %job_id, "could not save a checkpoint; trying again");
                clock::sleep(wait).await;
            }
            Err(error) => return Err(error),
        }
    }
}
