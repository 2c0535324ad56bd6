//! Waiting for a job to end, with a spinner for whoever waits. Looks again and again: events may be missed, the job is the truth.

use std::time::Duration;

use indicatif::ProgressBar;
use mainspring_wire::{JobView, Status};
use mainspring_worker::Client;
use uuid::Uuid;

use crate::clock;
use crate::commands::show;
use crate::exit::EndedBadly;
use crate::output::Format;

/// Short jobs are seen soon, long ones are not asked about all the time.
const LOOK_AFTER_MIN: Duration = Duration::from_millis(50);
const LOOK_AFTER_MAX: Duration = Duration::from_secs(1);

/// Shows the job when it has ended. One that failed or was cancelled is an error, after it was shown.
pub async fn until_ended(client: &Client, id: Uuid, format: Format) -> anyhow::Result<()> {
    let spinner = ProgressBar::new_spinner();
    spinner.enable_steady_tick(Duration::from_millis(100));
    let job = look_until_ended(client, id, &spinner).await;
    spinner.finish_and_clear();
    let job = job?;
    format.print(&job, show::job)?;
    match job.status {
        Status::Completed => Ok(()),
        status => Err(EndedBadly(format!("job {id} ended as {status}")).into()),
    }
}

async fn look_until_ended(client: &Client, id: Uuid, spinner: &ProgressBar) -> anyhow::Result<JobView> {
    let mut look_after = LOOK_AFTER_MIN;
    loop {
        let job = client.job(id).await?;
        if matches!(job.status, Status::Completed | Status::Failed | Status::Cancelled) {
            return Ok(job);
        }
        spinner.set_message(format!("{id} is {}", job.status));
        clock::sleep(look_after).await;
        look_after = (look_after * 2).min(LOOK_AFTER_MAX);
    }
}
