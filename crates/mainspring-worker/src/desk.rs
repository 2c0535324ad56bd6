//! Where a running attempt reports checkpoints and progress, and reads what came before it: the server, or a test's notebook.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mainspring_wire::{Checkpoint, ParentView, ParentsQuery};
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
    Notebook {
        notes: Notebook,
        parents: Vec<ParentView>,
    },
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
            Desk::Notebook { notes, .. } => {
                notes.lock().expect("nobody panics while writing").push(report);
                Ok(())
            }
        }
    }

    /// All of them, in the order of the job's `depends_on`.
    pub async fn parents(&self, job_id: Uuid, stop: &Stop) -> Result<Vec<ParentView>> {
        let (client, patience) = match self {
            Desk::Server { client, patience } => (client, *patience),
            Desk::Notebook { parents, .. } => return Ok(parents.clone()),
        };
        let mut parents = Vec::new();
        let mut query = ParentsQuery::default();
        loop {
            let page = patiently(patience, stop, || client.parents(job_id, &query)).await?;
            parents.extend(page.parents);
            query.cursor = page.next_cursor;
            if query.cursor.is_none() {
                return Ok(parents);
            }
        }
    }
}

async fn send(client: &Client, job_id: Uuid, report: &Checkpoint, patience: Duration, stop: &Stop) -> Result<()> {
    match patiently(patience, stop, || client.checkpoint(job_id, report)).await {
        Ok(held) => {
            if held.cancel_requested {
                stop.ask(StopReason::Cancelled);
            }
            Ok(())
        }
        Err(error) => {
            if matches!(error, Error::Stale(_)) {
                stop.ask(StopReason::Lost);
            }
            Err(error)
        }
    }
}

/// Makes a call again while it may do better, for as long as the patience lasts and nobody wants the attempt to stop.
async fn patiently<T, F>(patience: Duration, stop: &Stop, call: impl Fn() -> F) -> Result<T>
where
    F: Future<Output = Result<T>>,
{
    let give_up_at = clock::now() + patience;
    let mut backoff = Backoff::of_a_loop();
    loop {
        match call().await {
            Err(error) if error.is_passing() && !stop.token().is_cancelled() => {
                let wait = backoff.next(clock::dice());
                if clock::now() + wait > give_up_at {
                    return Err(error);
                }
                tracing::debug!(%error, "the server did not answer an attempt; trying again");
                clock::sleep(wait).await;
            }
            answer => return answer,
        }
    }
}
