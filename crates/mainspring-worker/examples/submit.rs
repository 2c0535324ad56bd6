//! Run it beside a server (`mainspring serve`): `cargo run -p mainspring-worker --example submit -- http://127.0.0.1:7710`
//!
//! Submits a job that is due in two seconds, twice with the same idempotency key, and watches it until it ends. With no worker
//! about it stays `PENDING`; start the example `worker` to see it run.

use std::time::Duration;

use mainspring_worker::wire::{NewJob, Span, Status};
use mainspring_worker::{BoxError, Client};
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "http://127.0.0.1:7710".to_owned());
    let client = Client::new(&url)?;

    let job = NewJob {
        queue: Some("mail".to_owned()),
        data: Some(serde_json::value::to_raw_value(&json!({ "to": "ada@example.com" }))?),
        delay: Some(Span::from_secs(2)),
        // One welcome per process: a repeated submit answers the job that the first one made.
        idempotency_key: Some(format!("welcome-{}", std::process::id())),
        ..NewJob::new("welcome")
    };
    let first = client.submit(&job).await?;
    let again = client.submit(&job).await?;
    assert_eq!(first.job_id, again.job_id);
    println!("{} is {}; submitted again: duplicate = {}", first.job_id, first.status, again.duplicate);

    let mut last = None;
    let mut wait = Duration::from_millis(100);
    loop {
        let job = client.job(first.job_id).await?;
        if last != Some(job.status) {
            println!("{} after {} attempt(s)", job.status, job.attempts);
            last = Some(job.status);
        }
        if matches!(job.status, Status::Completed | Status::Failed | Status::Cancelled) {
            println!("result: {}", job.result.map_or_else(|| "none".to_owned(), |result| result.to_string()));
            return Ok(());
        }
        pause(wait).await;
        wait = (wait * 2).min(Duration::from_secs(2));
    }
}

#[allow(clippy::disallowed_methods, reason = "an example that polls, as a user's program would")]
async fn pause(wait: Duration) {
    tokio::time::sleep(wait).await;
}
