//! Loading a queue with many jobs: as fast as the server takes them, with a bar for whoever waits.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use mainspring_wire::Timestamp;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tokio::task::JoinSet;

use crate::bench::body::{Due, Shape, Template};
use crate::bench::figures::{Figures, Latencies};
use crate::bench::hand::Submitter;
use crate::clock;

/// When the jobs fall due.
#[derive(Clone, Copy, Debug)]
pub enum Times {
    Now,
    At {
        ms: u64,
    },
    /// Evenly drawn from a window, so that the order of due times has nothing to do with the order of ids.
    Scattered {
        from_ms: u64,
        window_ms: u64,
        seed: u64,
    },
}

#[derive(Clone, Debug)]
pub struct Fill {
    pub queue: String,
    pub jobs: usize,
    pub batch: usize,
    pub connections: usize,
    pub payload_bytes: usize,
    /// What all of them share limits by.
    pub key: Option<String>,
    pub times: Times,
}

/// Answers `jobs_per_second` and the latency of a batch.
pub async fn fill(address: SocketAddr, fill: &Fill) -> anyhow::Result<Figures> {
    let due = if matches!(fill.times, Times::Now) { Due::Now } else { Due::At };
    let shape = Shape { queue: &fill.queue, payload_bytes: fill.payload_bytes, due, key: fill.key.as_deref() };
    let template = Template::batch(shape, fill.batch);
    let bar = bar(fill.jobs, "loading");
    let left = Arc::new(AtomicUsize::new(fill.jobs / fill.batch));
    let started = clock::instant();
    let mut submitters = JoinSet::new();
    for index in 0..fill.connections {
        let mut submitter = Submitter::batches(address, template.clone()).await?;
        let (left, bar, mut clockwork) = (left.clone(), bar.clone(), Clockwork::new(fill.times, index as u64));
        submitters.spawn(async move {
            let mut latencies = Latencies::new();
            while take_one(&left) {
                latencies.record(submitter.submit(|| clockwork.next()).await?);
                bar.inc(submitter.jobs() as u64);
            }
            anyhow::Ok(latencies)
        });
    }
    let mut latencies = Latencies::new();
    while let Some(submitted) = submitters.join_next().await {
        latencies.merge(&submitted.context("a connection panicked")??);
    }
    let elapsed = started.elapsed();
    bar.finish_and_clear();
    let mut figures = Figures::default();
    figures.add("jobs_per_second", (fill.jobs / fill.batch * fill.batch) as f64 / elapsed.as_secs_f64());
    latencies.put(&mut figures, "batch");
    Ok(figures)
}

/// A bar on stderr; nothing where stderr is no terminal.
pub fn bar(jobs: usize, what: &'static str) -> ProgressBar {
    let style = "{msg} {wide_bar} {human_pos}/{human_len} {per_sec} {eta}";
    let style = ProgressStyle::with_template(style).expect("the template is well formed");
    ProgressBar::new(jobs as u64).with_style(style).with_message(what)
}

fn take_one(left: &AtomicUsize) -> bool {
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
}

#[derive(Debug)]
struct Clockwork {
    times: Times,
    random: StdRng,
}

impl Clockwork {
    fn new(times: Times, index: u64) -> Clockwork {
        let seed = match times {
            Times::Scattered { seed, .. } => seed,
            _ => 0,
        };
        Clockwork { times, random: StdRng::seed_from_u64(seed.wrapping_add(index)) }
    }

    fn next(&mut self) -> Timestamp {
        match self.times {
            Times::Now => Timestamp::default(),
            Times::At { ms } => Timestamp(ms),
            Times::Scattered { from_ms, window_ms, .. } => {
                Timestamp(from_ms + self.random.random_range(0..window_ms.max(1)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scattered_times_fill_their_window_and_are_the_same_for_the_same_seed() {
        let draw = |seed| {
            let mut clockwork = Clockwork::new(Times::Scattered { from_ms: 1000, window_ms: 100, seed }, 0);
            (0..1000).map(|_| clockwork.next().0).collect::<Vec<_>>()
        };
        assert!(draw(1).iter().all(|ms| (1000..1100).contains(ms)));
        assert!(draw(1).contains(&1000) && draw(1).contains(&1099));
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn batches_are_taken_until_none_is_left() {
        let left = AtomicUsize::new(2);
        assert_eq!([take_one(&left), take_one(&left), take_one(&left)], [true, true, false]);
    }
}
