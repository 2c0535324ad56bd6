//! Makes it so, item by item, each only if it is still as it was looked at. Stops at the first that fails: what was done is done,
//! and applying again goes on from there.

use anyhow::{Context, Result};
use mainspring_wire::QueuePatch;
use mainspring_worker::{Client, Error};

use super::plan::{Item, Plan, Step, What};

pub async fn carry_out(client: &Client, plan: &Plan) -> Result<()> {
    let mut done = 0;
    for item in &plan.items {
        let what = match item.what {
            What::Queue => "queue",
            What::Limit => "limit",
            What::Schedule => "schedule",
        };
        step(client, item).await.map_err(explained).with_context(|| {
            format!(
                "could not apply {what} {}; {done} of {} changes are done, apply again for the rest",
                item.name,
                plan.changes()
            )
        })?;
        done += usize::from(!matches!(item.step, Step::Nothing));
    }
    Ok(())
}

async fn step(client: &Client, item: &Item) -> Result<(), Error> {
    let name = &item.name;
    match &item.step {
        Step::Nothing => Ok(()),
        Step::Put { schedule, expect } => client.put_schedule(name, schedule, *expect).await.map(drop),
        Step::Delete { expect } => match client.delete_schedule(name, *expect).await {
            Err(error) if error.is_not_found() => Ok(()),
            answer => answer,
        },
        Step::Limit { rule } => client.set_limit(name, rule).await.map(drop),
        Step::Queue { patch, paused } => {
            if *patch != QueuePatch::default() {
                client.patch_queue(name, patch).await?;
            }
            match paused {
                Some(true) => client.pause_queue(name).await.map(drop),
                Some(false) => client.resume_queue(name).await.map(drop),
                None => Ok(()),
            }
        }
    }
}

fn explained(error: Error) -> anyhow::Error {
    let raced = error.is_precondition_failed();
    let error = anyhow::Error::from(error);
    if raced { error.context("somebody else changed it meanwhile") } else { error }
}
