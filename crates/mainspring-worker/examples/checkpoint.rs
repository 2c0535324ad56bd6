//! Run it beside a server (`mainspring serve`): `cargo run -p mainspring-worker --example checkpoint -- http://127.0.0.1:7710`
//!
//! A long job that saves how far it is. Stop it with Ctrl-C half way, or kill it, and run it again: the next attempt goes on
//! where the last one was.

use std::time::Duration;

use mainspring_worker::wire::NewJob;
use mainspring_worker::{BoxError, Client, Context, Outcome, Worker, shutdown_signal};
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Default, Serialize, Deserialize)]
struct Done {
    rows: u32,
}

async fn import(ctx: Context) -> Result<Outcome, BoxError> {
    let rows: u32 = ctx.data()?;
    let mut done: Done = ctx.last_checkpoint()?.unwrap_or_default();
    println!("{}: attempt {} begins at row {} of {rows}", ctx.job_id(), ctx.attempt(), done.rows);
    while done.rows < rows {
        tokio::select! {
            () = work_on_some_rows() => done.rows = (done.rows + 10).min(rows),
            // The checkpoint is safe already, so nothing is lost by giving the attempt back.
            () = ctx.stopped() => return Ok(Outcome::Release),
        }
        ctx.checkpoint(&done).await?;
        ctx.progress(done.rows as f32 / rows as f32, format!("{} rows", done.rows)).await?;
        println!("{}: {} rows", ctx.job_id(), done.rows);
    }
    Ok(Outcome::done(json!({ "imported": done.rows })))
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let url = std::env::args().nth(1).unwrap_or_else(|| "http://127.0.0.1:7710".to_owned());
    let client = Client::new(&url)?;

    let job = NewJob {
        queue: Some("imports".to_owned()),
        data: Some(serde_json::value::to_raw_value(&200)?),
        // The same job however often this is run, until it is done and forgotten.
        idempotency_key: Some("the-example-import".to_owned()),
        ..NewJob::new("import")
    };
    let submitted = client.submit(&job).await?;
    println!("{} is {}", submitted.job_id, submitted.status);

    // A short grace: a handler that checkpoints may be interrupted at any time.
    let worker = Worker::new(client).queue("imports").handle("import", import).grace(Duration::from_secs(1));
    worker.run_until(shutdown_signal()).await?;
    Ok(())
}

#[allow(clippy::disallowed_methods, reason = "an example that takes its time")]
async fn work_on_some_rows() {
    tokio::time::sleep(Duration::from_secs(1)).await;
}
