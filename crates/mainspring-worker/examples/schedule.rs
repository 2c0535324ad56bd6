//! Run it beside a server (`mainspring serve`): `cargo run -p mainspring-worker --example schedule -- http://127.0.0.1:7710`
//!
//! A schedule that fires every other second, with the weekend left out, and a worker that runs what it makes until Ctrl-C. Then
//! it prints the ledger and removes the schedule.

use mainspring_worker::wire::{Exclusion, LedgerQuery, NewSchedule, Overlap, PreviewQuery, ScheduledJob, Span};
use mainspring_worker::{BoxError, Client, Context, Expect, Worker, shutdown_signal};
use serde_json::json;

async fn report(ctx: Context) -> Result<&'static str, BoxError> {
    println!("report: {} is running", ctx.job_id());
    Ok("written")
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let url = std::env::args().nth(1).unwrap_or_else(|| "http://127.0.0.1:7710".to_owned());
    let client = Client::new(&url)?;

    let schedule = NewSchedule {
        every: Some(Span::from_secs(2).into()),
        timezone: Some("Europe/Berlin".to_owned()),
        exclude: vec![Exclusion::Weekdays(vec!["SAT".to_owned(), "SUN".to_owned()])],
        overlap: Some(Overlap::Skip),
        note: Some("the example of the SDK".to_owned()),
        job: ScheduledJob {
            kind: "report".to_owned(),
            queue: Some("reports".to_owned()),
            data: Some(serde_json::value::to_raw_value(&json!({ "of": "sales" }))?),
            ..ScheduledJob::default()
        },
        ..NewSchedule::default()
    };
    let preview = client.preview_unsaved(&schedule, &PreviewQuery { count: Some(3), after: None }).await?;
    for occurrence in preview.occurrences {
        println!("will fire at {} ({})", occurrence.local, occurrence.utc_offset);
    }
    // The same however often this is run: a schedule by this name is replaced.
    let stored = client.put_schedule("the-example-report", &schedule, Expect::Anything).await?;
    println!("stored as revision {}; Ctrl-C ends it", stored.revision);

    let worker = Worker::new(client.clone()).queue("reports").handle("report", report);
    worker.run_until(shutdown_signal()).await?;

    let ledger = client.ledger("the-example-report", &LedgerQuery { limit: Some(5), cursor: None }).await?;
    for row in ledger.rows {
        println!(
            "{} {} {}",
            row.occurrence,
            row.what,
            row.late_ms.map_or_else(String::new, |ms| format!("{ms} ms late"))
        );
    }
    client.delete_schedule("the-example-report", Expect::Anything).await?;
    Ok(())
}
