//! `mainspring events`: what happens, as it happens, one line each. Hints for people: the truth is the job itself.

use anyhow::bail;
use clap::Args;
use mainspring_wire::{Event, EventKind};
use mainspring_worker::Client;
use uuid::Uuid;

use crate::commands::show;
use crate::output::{Format, print_json_line, print_text};

#[derive(Args, Debug, Default)]
pub struct EventsArgs {
    /// Only of this queue
    #[arg(long)]
    queue: Option<String>,
    /// Only of this job
    #[arg(long)]
    job: Option<Uuid>,
    /// Only of these kinds, such as failed,retrying
    #[arg(long, value_delimiter = ',')]
    kind: Vec<EventKind>,
    /// End after this many
    #[arg(long)]
    max: Option<u64>,
}

impl EventsArgs {
    pub async fn run(&self, client: &Client, format: Format) -> anyhow::Result<()> {
        let mut events = client.events().await?;
        eprintln!("following {}", client.url());
        let mut shown = 0;
        while self.max.is_none_or(|max| shown < max) {
            let Some(event) = events.next().await? else { bail!("the server ended the stream") };
            if !self.wants(&event) {
                continue;
            }
            match format {
                Format::Json => print_json_line(&event)?,
                Format::Table => print_text(&show::event(&event))?,
            }
            shown += 1;
        }
        Ok(())
    }

    /// Being told that something was missed is never filtered out.
    fn wants(&self, event: &Event) -> bool {
        let of_queue = self.queue.is_none() || self.queue == event.queue;
        let of_job = self.job.is_none() || self.job == event.job_id;
        let of_kind = self.kind.is_empty() || self.kind.contains(&event.kind);
        event.kind == EventKind::Lagged || of_queue && of_job && of_kind
    }
}

#[cfg(test)]
mod tests {
    use mainspring_wire::Timestamp;

    use super::*;

    #[test]
    fn every_condition_that_is_given_must_hold() {
        let mut event = Event::new(Timestamp(0), EventKind::Failed);
        event.queue = Some("mail".into());
        let args = |queue: Option<&str>, kind: Vec<EventKind>| EventsArgs {
            queue: queue.map(str::to_owned),
            kind,
            ..EventsArgs::default()
        };
        assert!(args(None, vec![]).wants(&event));
        assert!(args(Some("mail"), vec![EventKind::Failed, EventKind::Ready]).wants(&event));
        assert!(!args(Some("post"), vec![]).wants(&event));
        assert!(!args(Some("mail"), vec![EventKind::Ready]).wants(&event));
        let lagged = Event::new(Timestamp(0), EventKind::Lagged);
        assert!(args(Some("post"), vec![EventKind::Ready]).wants(&lagged));
    }
}
