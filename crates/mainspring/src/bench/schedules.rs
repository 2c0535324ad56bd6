//! What very many schedules cost, and how late they fire: storing them, memory before and after, many due in one second, and a
//! steady stream of fires with claims that wait for them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, ensure};
use bytes::Bytes;
use clap::Args;
use mainspring_wire::{
    ClaimRequest, LedgerQuery, LedgerWhat, Outcome, Register, SettleRequest, Settlement, Span, Tenants, Timestamp,
};
use mainspring_worker::Client;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::bench::conn::Conn;
use crate::bench::figures::{Figures, Latencies};
use crate::bench::fill::bar;
use crate::bench::target::Target;
use crate::bench::{Common, queue_name};
use crate::clock;

pub const SCHEDULES_MAX: usize = 1_000_000;
/// Room between the last schedule stored and the second in which they are due, beside what storing them takes.
const MARGIN_US: u64 = 5_000_000;
/// How long all that are due may take.
const FIRE_WAIT_US: u64 = 600_000_000;
const LOOK_EVERY: Duration = Duration::from_millis(5);
const CLAIM_WAIT: Span = Span::from_secs(2);
const LEDGER_ROWS: u32 = 1000;
/// Nothing may be missing for longer at the end of the stream.
const MISSING_WAIT: Duration = Duration::from_secs(30);

#[derive(Args, Clone, Debug)]
pub struct SchedulesArgs {
    /// How many schedules are stored, their next times scattered over a year
    #[arg(long, default_value_t = 100_000, value_parser = schedules)]
    schedules: usize,
    /// How many more are due in one second
    #[arg(long, default_value_t = 10_000, value_parser = schedules)]
    due: usize,
    /// How long ahead of that second they are stored; as long as it needs if left out
    #[arg(long, value_name = "DURATION")]
    lead: Option<Span>,
    /// Fires a second of the steady stream: so many schedules, each every second
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u16).range(1..=1000))]
    rate: u16,
    /// How long the steady stream is watched
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Connections that store schedules, and that wait for jobs
    #[arg(long, default_value_t = 32)]
    connections: usize,
}

fn schedules(text: &str) -> Result<usize, String> {
    crate::bench::within(text, 1, SCHEDULES_MAX)
}

impl SchedulesArgs {
    pub async fn measure(&self, target: &Target, common: &Common) -> anyhow::Result<Figures> {
        let Some(own) = &target.own else {
            anyhow::bail!(
                "it leaves very many schedules behind: leave out --server, and it starts a server of its own"
            );
        };
        ensure!(self.seconds > 0 && self.connections > 0, "there is nothing to measure");
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        let mut figures = Figures::default();
        figures.add("rss_anon_before_mib", mib(own.usage()?.rss_anon_bytes));

        let pad = "x".repeat(common.payload);
        let far = Template {
            prefix: "far",
            when: r#""cron":"H H H H *""#.into(),
            queue: queue_name("far"),
            pad: pad.clone(),
        };
        let rate = self.store(target.address(), &far, self.schedules, &mut figures, "store").await?;
        figures.add("rss_anon_stored_mib", mib(own.usage()?.rss_anon_bytes));

        self.all_at_once(target.address(), rate, &pad, &mut figures).await.context("could not fire all at once")?;
        self.stream(target.address(), &pad, &mut figures).await.context("could not measure the stream")?;
        Ok(figures)
    }

    /// Answers how many were stored a second.
    async fn store(
        &self,
        address: SocketAddr,
        template: &Template,
        count: usize,
        figures: &mut Figures,
        name: &str,
    ) -> anyhow::Result<f64> {
        let (next, bar) = (Arc::new(AtomicUsize::new(0)), bar(count, "storing"));
        let started = clock::instant();
        let mut storers = JoinSet::new();
        for _ in 0..self.connections {
            let (next, bar, template) = (next.clone(), bar.clone(), template.clone());
            let mut conn = Conn::open(address).await?;
            storers.spawn(async move {
                let mut latencies = Latencies::new();
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        return anyhow::Ok(latencies);
                    }
                    let sent_us = clock::unix_us();
                    conn.post("/v1/schedules", &template.body(index)).await?;
                    latencies.record(clock::unix_us().saturating_sub(sent_us));
                    bar.inc(1);
                }
            });
        }
        let mut latencies = Latencies::new();
        while let Some(stored) = storers.join_next().await {
            latencies.merge(&stored.context("a connection panicked")??);
        }
        bar.finish_and_clear();
        let rate = count as f64 / started.elapsed().as_secs_f64();
        figures.add(format!("{name}_schedules_per_second"), rate);
        latencies.put(figures, name);
        Ok(rate)
    }

    /// Schedules that are all due at one instant: how long it takes until every one has made its job.
    async fn all_at_once(
        &self,
        address: SocketAddr,
        rate: f64,
        pad: &str,
        figures: &mut Figures,
    ) -> anyhow::Result<()> {
        let storing_us = (self.due as f64 / rate * 1.5 * 1e6) as u64;
        let lead_us = self.lead.map_or(storing_us + MARGIN_US, |lead| lead.as_millis() * 1000);
        let due_us = (clock::unix_us() + lead_us).next_multiple_of(1_000_000);
        let queue = queue_name("due");
        let when = format!(r#""cron":"{}""#, cron_of(Timestamp(due_us / 1000)));
        let template = Template { prefix: "due", when, queue: queue.clone(), pad: pad.to_owned() };
        self.store(address, &template, self.due, figures, "store_due").await?;
        ensure!(clock::unix_us() < due_us, "storing took longer than the lead: give a longer --lead");
        clock::sleep_until_unix_us(due_us).await;
        let client = Client::new(&format!("http://{address}"))?;
        while made(&client, &queue).await? < self.due as u64 {
            ensure!(clock::unix_us() < due_us + FIRE_WAIT_US, "not all have fired in time");
            clock::sleep(LOOK_EVERY).await;
        }
        let took = clock::unix_us().saturating_sub(due_us) as f64 / 1e6;
        figures.add("all_fired_seconds", took);
        figures.add("fires_per_second", self.due as f64 / took);
        Ok(())
    }

    /// Schedules that fire every second, evenly spread over it, and claims that wait for what they make.
    async fn stream(&self, address: SocketAddr, pad: &str, figures: &mut Figures) -> anyhow::Result<()> {
        let client = Client::new(&format!("http://{address}"))?;
        let queue = queue_name("stream");
        let (delivered, mut late_us) = mpsc::unbounded_channel();
        let mut waiting = JoinSet::new();
        for _ in 0..self.connections {
            waiting.spawn(deliver(client.clone(), queue.clone(), delivered.clone()));
        }
        let rate = u64::from(self.rate);
        for index in 0..rate {
            let anchor = Timestamp(index * 1000 / rate);
            let when = format!(r#""every":{{"every":"1s","anchor":"{anchor}"}}"#);
            let template = Template { prefix: "stream", when, queue: queue.clone(), pad: pad.to_owned() };
            let schedule = serde_json::from_slice(&template.body(index as usize))?;
            client.create_schedule(&schedule).await?;
        }
        // What came while they were stored does not count: the stream was not whole.
        while late_us.try_recv().is_ok() {}
        let mut latencies = Latencies::new();
        for received in 0..rate * self.seconds {
            let next = tokio::time::timeout(MISSING_WAIT, late_us.recv()).await;
            let late = next.with_context(|| format!("only {received} of {} fires came", rate * self.seconds))?;
            latencies.record(late.context("the claims gave up")?);
        }
        latencies.put(figures, "due_to_delivered");
        waiting.abort_all();
        self.ledger(&client).await?.put(figures, "fire_late");
        Ok(())
    }

    /// How late the server itself says that it was.
    async fn ledger(&self, client: &Client) -> anyhow::Result<Latencies> {
        let mut latencies = Latencies::new();
        let rows = LEDGER_ROWS.min(u32::try_from(self.seconds).unwrap_or(LEDGER_ROWS));
        for index in 0..usize::from(self.rate) {
            let page = client.ledger(&name("stream", index), &LedgerQuery { limit: Some(rows), cursor: None }).await?;
            let fired = page.rows.iter().filter(|row| row.what == LedgerWhat::Fired);
            fired.filter_map(|row| row.late_ms).for_each(|ms| latencies.record(ms * 1000));
        }
        Ok(latencies)
    }
}

async fn made(client: &Client, queue: &str) -> anyhow::Result<u64> {
    match client.queue(queue).await {
        Ok(queue) => Ok(queue.scheduled + queue.pending + queue.running + queue.completed),
        Err(error) if error.is_not_found() => Ok(0),
        Err(error) => Err(error.into()),
    }
}

/// Claims what comes, says how late it was, and settles it.
async fn deliver(client: Client, queue: String, delivered: mpsc::UnboundedSender<u64>) -> anyhow::Result<()> {
    let worker_id = client.register(&Register::default()).await?.worker_id;
    loop {
        let ask = ClaimRequest {
            worker_id,
            queues: vec![queue.clone()],
            max: 64,
            wait: Some(CLAIM_WAIT),
            tenants: Tenants::Own,
            settlements: vec![],
        };
        let jobs = client.claim(&ask).await?.jobs;
        let now_us = clock::unix_us();
        for job in &jobs {
            // The receiver is gone only when the bench is over.
            let _ = delivered.send(now_us.saturating_sub(job.run_at.as_millis() * 1000));
        }
        let settle = |job: &mainspring_wire::ClaimedJob| Settlement::new(job.job_id, job.fence, Outcome::Success);
        let settlements: Vec<Settlement> = jobs.iter().map(settle).collect();
        if !settlements.is_empty() {
            client.settle(&SettleRequest { settlements }).await?;
        }
    }
}

/// The body of a schedule, but for its name.
#[derive(Clone, Debug)]
struct Template {
    prefix: &'static str,
    when: String,
    queue: String,
    pad: String,
}

impl Template {
    fn body(&self, index: usize) -> Bytes {
        let Template { prefix, when, queue, pad } = self;
        let name = name(prefix, index);
        format!(r#"{{"schedule_id":"{name}",{when},"job":{{"type":"bench","queue":"{queue}","data":"{pad}"}}}}"#).into()
    }
}

fn name(prefix: &str, index: usize) -> String {
    format!("bench.{prefix}.{index}")
}

/// The expression that names one second, in UTC.
fn cron_of(at: Timestamp) -> String {
    let text = at.to_string();
    let (year, month, day) = (&text[..4], &text[5..7], &text[8..10]);
    let (hour, minute, second) = (&text[11..13], &text[14..16], &text[17..19]);
    format!("{second} {minute} {hour} {day} {month} * {year}")
}

#[cfg(test)]
mod tests {
    use mainspring_wire::NewSchedule;

    use super::*;

    #[test]
    fn a_body_is_a_schedule_with_its_own_name() {
        let template =
            Template { prefix: "far", when: r#""cron":"H H H H *""#.into(), queue: "q".into(), pad: "x".repeat(9) };
        let schedule: NewSchedule = serde_json::from_slice(&template.body(7)).expect("a schedule");
        assert_eq!(
            (schedule.schedule_id.as_deref(), schedule.cron.as_deref()),
            (Some("bench.far.7"), Some("H H H H *"))
        );
        assert_eq!(schedule.job.data.expect("it has data").get().len(), 11);
    }

    #[test]
    fn an_instant_is_one_second_of_one_year() {
        let at: Timestamp = "2026-12-01T09:08:07Z".parse().expect("a time");
        assert_eq!(cron_of(at), "07 08 09 01 12 * 2026");
    }

    #[test]
    fn no_more_than_the_bound_are_stored() {
        assert_eq!(schedules("1000000"), Ok(SCHEDULES_MAX));
        assert!(schedules("1000001").is_err() && schedules("0").is_err());
    }
}
