//! Run it beside a server (`mainspring serve`): `cargo run -p mainspring-worker --example workflow -- http://127.0.0.1:7710`
//!
//! Two jobs that count words, one after both that adds up what they found, and a callback when all have ended. A child reads its
//! parents' results; a failed step would cancel it, unless it says otherwise.

use mainspring_worker::wire::{NewJob, WorkflowQuery};
use mainspring_worker::{BoxError, Client, Context, Worker, Workflow};
use tokio::sync::mpsc;

async fn count(ctx: Context) -> Result<usize, BoxError> {
    let text: String = ctx.data()?;
    Ok(text.split_whitespace().count())
}

async fn sum(ctx: Context) -> Result<usize, BoxError> {
    let (left, right): (usize, usize) = (ctx.parent("left").await?, ctx.parent("right").await?);
    println!("sum: {left} and {right} words");
    Ok(left + right)
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "http://127.0.0.1:7710".to_owned());
    let client = Client::new(&url)?;

    let job = |kind: &str| NewJob { queue: Some("words".to_owned()), ..NewJob::new(kind) };
    let count_of = |text: &str| -> Result<NewJob, BoxError> {
        Ok(NewJob { data: Some(serde_json::value::to_raw_value(text)?), ..job("count") })
    };
    let workflow = Workflow::new()
        .job("left", count_of("to be or not to be")?)
        .job("right", count_of("that is the question")?)
        .job("sum", job("sum"))
        .after("left")
        .after("right")
        .callback(job("tell"))
        .build();
    let submitted = client.submit_workflow(&workflow).await?;
    println!("workflow {} has {} jobs", submitted.workflow_id, submitted.jobs.len());

    let (told, mut tell) = mpsc::channel(1);
    let worker = Worker::new(client.clone()).queue("words").handle("count", count).handle("sum", sum).handle(
        "tell",
        move |_: Context| {
            let told = told.clone();
            async move { told.send(()).await.map_err(BoxError::from) }
        },
    );
    worker
        .run_until(async move {
            tell.recv().await;
        })
        .await?;

    let ended = client.workflow(submitted.workflow_id, &WorkflowQuery::default()).await?;
    let total = client.job(submitted.jobs["sum"]).await?.result.map_or_else(String::new, |result| result.to_string());
    println!("it is {}: {total} words", ended.status);
    Ok(())
}
