//! `mainspring job submit`: flags to a job. Judges nothing but the shape of what it reads; the server does the rest.

use std::io::Read as _;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use mainspring_wire::{DependsOn, NewJob, OnFailure, RawValue, RetryPolicy, Span, Timestamp};
use mainspring_worker::Client;

use crate::commands::retry_spec::parse as parse_retry;
use crate::commands::{show, wait};
use crate::exit::Usage;
use crate::output::Format;

#[derive(Args, Debug)]
pub struct SubmitArgs {
    /// What the worker runs
    #[arg(value_name = "TYPE")]
    kind: String,
    /// The job's data: JSON, @FILE, or - for stdin
    #[arg(long, value_name = "JSON", allow_negative_numbers = true)]
    data: Option<Payload>,
    /// Where it waits [default: default]
    #[arg(long)]
    queue: Option<String>,
    /// Not before this long from now, such as 90s or 2h
    #[arg(long, value_name = "DURATION", conflicts_with = "run_at")]
    delay: Option<Span>,
    /// Not before this instant, such as 2026-12-01T09:00:00Z
    #[arg(long, value_name = "TIME")]
    run_at: Option<Timestamp>,
    /// A random wait of up to this long is added
    #[arg(long, value_name = "DURATION")]
    jitter: Option<Span>,
    /// From -1000 to 1000, higher first [default: 5]
    #[arg(long, allow_negative_numbers = true)]
    priority: Option<i32>,
    /// Should be done by then: pulls the job forward in its queue
    #[arg(long, value_name = "TIME")]
    deadline: Option<Timestamp>,
    /// Cancelled if it has not started this long after its run time
    #[arg(long, value_name = "DURATION")]
    expires_in: Option<Span>,
    /// Dead after this many failed attempts [default: 3]
    #[arg(long)]
    max_attempts: Option<u32>,
    /// Dead when more than this many workers were lost over it [default: 5]
    #[arg(long)]
    max_crashes: Option<u32>,
    /// When a failed attempt is tried again: fixed:30s, linear:10s,cap=5m, exponential:1s,factor=3,jitter=0.2 or list:1s,10s,1m
    #[arg(long, value_name = "POLICY", value_parser = parse_retry)]
    retry: Option<RetryPolicy>,
    /// How long one attempt may take
    #[arg(long, value_name = "DURATION")]
    timeout: Option<Span>,
    /// A word to find it by; may be given several times
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// The same key and job again answers the job it made first
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// Not before this job has succeeded; :run or :hold behind it says what happens if it fails (else it is cancelled). May be given
    /// several times
    #[arg(long, value_name = "ID[:ON_FAILURE]", value_parser = parent)]
    depends_on: Vec<DependsOn>,
    /// Jobs with the same key share a limit on how many run at once
    #[arg(long, value_name = "KEY")]
    concurrency_key: Option<String>,
    /// Jobs with the same key share a limit on how many start in a span of time
    #[arg(long, value_name = "KEY")]
    rate_key: Option<String>,
    /// How much of a limit it takes [default: 1]
    #[arg(long)]
    weight: Option<u32>,
    /// Wait until it has ended, and show how
    #[arg(long)]
    wait: bool,
}

fn parent(text: &str) -> Result<DependsOn, String> {
    let (id, on_failure) = match text.split_once(':') {
        None => (text, OnFailure::default()),
        Some((id, word)) => (id, word.parse().map_err(|error: mainspring_wire::ParseError| error.to_string())?),
    };
    let job_id = id.parse().map_err(|error| format!("{id:?} is not the id of a job: {error}"))?;
    Ok(DependsOn { job_id, on_failure })
}

impl SubmitArgs {
    pub async fn run(self, client: &Client, format: Format) -> Result<()> {
        let wait = self.wait;
        let submitted = client.submit(&self.job()?).await?;
        if wait {
            return wait::until_ended(client, submitted.job_id, format).await;
        }
        format.print(&submitted, show::submitted)
    }

    fn job(self) -> Result<NewJob> {
        Ok(NewJob {
            kind: self.kind,
            queue: self.queue,
            data: self.data.map(Payload::read).transpose()?,
            priority: self.priority,
            run_at: self.run_at,
            delay: self.delay,
            jitter: self.jitter,
            deadline: self.deadline,
            expires_in: self.expires_in,
            retry: self.retry,
            max_attempts: self.max_attempts,
            max_crashes: self.max_crashes,
            timeout: self.timeout,
            idempotency_key: self.idempotency_key,
            tags: self.tags,
            depends_on: self.depends_on,
            concurrency_key: self.concurrency_key,
            rate_key: self.rate_key,
            weight: self.weight,
            ..NewJob::default()
        })
    }
}

/// Where the data comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    Given(String),
    File(PathBuf),
    Stdin,
}

impl From<&str> for Payload {
    fn from(text: &str) -> Payload {
        match text.strip_prefix('@') {
            Some(path) => Payload::File(path.into()),
            None if text == "-" => Payload::Stdin,
            None => Payload::Given(text.to_owned()),
        }
    }
}

impl Payload {
    pub fn read(self) -> Result<Box<RawValue>> {
        let (text, source) = match self {
            Payload::Given(text) => (text, "--data".to_owned()),
            Payload::File(path) => {
                let text = std::fs::read_to_string(&path);
                (text.with_context(|| format!("could not read {}", path.display()))?, path.display().to_string())
            }
            Payload::Stdin => {
                let mut text = String::new();
                std::io::stdin().read_to_string(&mut text).context("could not read stdin")?;
                (text, "stdin".to_owned())
            }
        };
        RawValue::from_string(text.trim().to_owned())
            .map_err(|error| Usage(format!("{source} is not JSON: {error}; quote text as '\"text\"'")).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_says_what_its_failure_means() {
        let id = "01980000-0000-7000-8000-000000000001";
        assert_eq!(parent(id).expect("an id").on_failure, OnFailure::Cancel);
        assert_eq!(parent(&format!("{id}:hold")).expect("an id").on_failure, OnFailure::Hold);
        assert!(parent(&format!("{id}:retry")).expect_err("is no way").contains("cancel, run, hold"));
        assert!(parent("seven:run").expect_err("is no id").contains("is not the id of a job"));
    }

    #[test]
    fn data_is_given_or_from_a_file_or_from_stdin() {
        assert_eq!(Payload::from("{}"), Payload::Given("{}".into()));
        assert_eq!(Payload::from("@a/b.json"), Payload::File("a/b.json".into()));
        assert_eq!(Payload::from("-"), Payload::Stdin);
        assert_eq!(Payload::from("-1"), Payload::Given("-1".into()));
    }

    #[test]
    fn data_stays_as_it_was_written() {
        let read = |text: &str| Payload::from(text).read().map(|json| json.get().to_owned());
        assert_eq!(read(" {\"a\":  1.0}\n").expect("is JSON"), "{\"a\":  1.0}");
        assert!(read("hello").expect_err("is not").to_string().contains("--data is not JSON"));
        assert!(read("@/no/such/file").expect_err("is not there").to_string().contains("/no/such/file"));
    }
}
