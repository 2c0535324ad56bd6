//! Run it beside a server (`mainspring serve`): `cargo run -p mainspring-worker --example worker -- http://127.0.0.1:7710`
//!
//! Two handlers on the queue `mail`: `welcome` does its work, `flaky` fails its first two attempts and asks to be tried again
//! soon. Submits one of each, runs them until Ctrl-C, and prints what happens.

use std::time::Duration;

use mainspring_worker::wire::NewJob;
use mainspring_worker::{BoxError, Client, Context, Failure, Worker, shutdown_signal};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct Welcome {
    to: String,
}

async fn welcome(ctx: Context) -> Result<String, BoxError> {
    let mail: Welcome = ctx.data()?;
    println!("welcome: sent to {}", mail.to);
    Ok(format!("sent to {}", mail.to))
}

async fn flaky(ctx: Context) -> Result<&'static str, Failure> {
    println!("flaky: attempt {} of {}", ctx.attempt(), ctx.max_attempts());
    if ctx.attempt() < 3 {
        return Err(Failure::new("the mail server is busy").retry_after(Duration::from_secs(1)));
    }
    Ok("sent at last")
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let url = std::env::args().nth(1).unwrap_or_else(|| "http://127.0.0.1:7710".to_owned());
    let client = Client::new(&url)?;

    for kind in ["welcome", "flaky"] {
        let data = serde_json::value::to_raw_value(&json!({ "to": "ada@example.com" }))?;
        let job = NewJob { queue: Some("mail".to_owned()), data: Some(data), ..NewJob::new(kind) };
        println!("submitted {}: {kind}", client.submit(&job).await?.job_id);
    }

    Worker::new(client)
        .name("example")
        .queue("mail")
        .handle("welcome", welcome)
        .handle("flaky", flaky)
        .concurrency(4)
        .run_until(shutdown_signal())
        .await?;
    Ok(())
}
