//! Submit bodies, written once: a batch is copied from a template and its times are patched in. Serializes nothing while the
//! clock runs.

use mainspring_wire::Timestamp;

/// The smallest payload that has room for the time in it.
pub const PAYLOAD_BYTES_MIN: usize = r#"{"at":0000000000000000,"pad":""}"#.len();

const AT: &str = "0000000000000000";
const RUN_AT: &str = "0000-00-00T00:00:00.000Z";

/// When the jobs of a batch are due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    Now,
    At,
}

/// What every job of a body is like.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'a> {
    pub queue: &'a str,
    pub payload_bytes: usize,
    pub due: Due,
    /// Its `concurrency_key` and its `rate_key`.
    pub key: Option<&'a str>,
}

/// The body of a submit with slots for the time it is sent and, if asked for, the time each job is due.
#[derive(Clone, Debug)]
pub struct Template {
    text: Vec<u8>,
    /// Offsets of the 16 digits of `data.at`, one per job.
    sent_slots: Vec<usize>,
    /// Offsets of `run_at`, one per job.
    due_slots: Vec<usize>,
}

impl Template {
    /// The body of `POST /v1/jobs`.
    pub fn single(shape: Shape<'_>) -> Template {
        Template::new("", &job(shape), "", 1)
    }

    /// The body of `POST /v1/jobs/batch`.
    pub fn batch(shape: Shape<'_>, jobs: usize) -> Template {
        Template::new(r#"{"jobs":["#, &job(shape), "]}", jobs)
    }

    fn new(head: &str, job: &str, foot: &str, jobs: usize) -> Template {
        let text = format!("{head}{}{foot}", vec![job; jobs].join(",")).into_bytes();
        let slots = |slot: &str| match job.find(slot) {
            Some(at) => (0..jobs).map(|index| head.len() + index * (job.len() + 1) + at).collect(),
            None => Vec::new(),
        };
        Template { sent_slots: slots(AT), due_slots: slots(RUN_AT), text }
    }

    pub fn jobs(&self) -> usize {
        self.sent_slots.len()
    }

    /// `due` is asked once for each job that has a time.
    pub fn fill(&self, sent_us: u64, mut due: impl FnMut() -> Timestamp) -> Vec<u8> {
        let mut text = self.text.clone();
        let sent = format!("{sent_us:016}");
        for &at in &self.sent_slots {
            text[at..at + AT.len()].copy_from_slice(sent.as_bytes());
        }
        for &at in &self.due_slots {
            text[at..at + RUN_AT.len()].copy_from_slice(due().to_string().as_bytes());
        }
        text
    }
}

fn job(shape: Shape<'_>) -> String {
    let Shape { queue, payload_bytes, due, key } = shape;
    let pad = "x".repeat(payload_bytes.saturating_sub(PAYLOAD_BYTES_MIN));
    let run_at = match due {
        Due::Now => String::new(),
        Due::At => format!(r#","run_at":"{RUN_AT}""#),
    };
    let keys = key.map(|key| format!(r#","concurrency_key":"{key}","rate_key":"{key}""#)).unwrap_or_default();
    format!(r#"{{"type":"bench","queue":"{queue}"{keys}{run_at},"data":{{"at":{AT},"pad":"{pad}"}}}}"#)
}

#[cfg(test)]
mod tests {
    use mainspring_wire::{Batch, NewJob};

    use super::*;

    const SENT_US: u64 = 1_796_115_600_123_456;

    fn shape(payload_bytes: usize, due: Due) -> Shape<'static> {
        Shape { queue: "q", payload_bytes, due, key: None }
    }

    fn never() -> Timestamp {
        panic!("there is no time to patch in")
    }

    #[test]
    fn a_payload_has_the_size_that_was_asked_for() {
        for size in [PAYLOAD_BYTES_MIN, 100, 400, 5000] {
            let body = Template::single(shape(size, Due::Now)).fill(SENT_US, never);
            let job: NewJob = serde_json::from_slice(&body).expect("the body is a job");
            let data = job.data.expect("it has data");
            assert_eq!(data.get().len(), size);
            assert!(data.get().starts_with(r#"{"at":1796115600123456,"#));
        }
    }

    #[test]
    fn every_job_of_a_batch_has_its_own_time() {
        let template = Template::batch(shape(50, Due::At), 3);
        let mut ms = 1_796_115_600_000;
        let body = template.fill(SENT_US, || {
            ms += 1;
            Timestamp(ms)
        });
        let batch: Batch = serde_json::from_slice(&body).expect("the body is a batch");
        let times: Vec<u64> = batch.jobs.iter().filter_map(|job| job.run_at).map(|at| at.0).collect();
        assert_eq!(times, [1_796_115_600_001, 1_796_115_600_002, 1_796_115_600_003]);
        assert!(batch.jobs.iter().all(|job| job.queue.as_deref() == Some("q")));
        assert_eq!(template.jobs(), 3);
    }

    #[test]
    fn a_key_is_what_every_job_shares() {
        let template = Template::batch(Shape { key: Some("k:1"), ..shape(50, Due::At) }, 2);
        let body = template.fill(SENT_US, || Timestamp(1_796_115_600_000));
        let batch: Batch = serde_json::from_slice(&body).expect("the body is a batch");
        for job in batch.jobs {
            assert_eq!((job.concurrency_key.as_deref(), job.rate_key.as_deref()), (Some("k:1"), Some("k:1")));
            assert!(job.run_at.is_some());
        }
    }

    #[test]
    fn a_batch_without_times_asks_for_none() {
        let body = Template::batch(shape(50, Due::Now), 2).fill(SENT_US, never);
        let batch: Batch = serde_json::from_slice(&body).expect("the body is a batch");
        assert!(batch.jobs.iter().all(|job| job.run_at.is_none()));
    }
}
