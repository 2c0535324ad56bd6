//! The two ends of the pipeline: a submitter that sends, and a hand that claims and settles, apart or in one request. Answers
//! are read with borrowed types that hold ids and fences only.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, ensure};
use mainspring_wire::{Problem, Span, Timestamp};
use serde::Deserialize;

use crate::bench::body::Template;
use crate::bench::conn::Conn;
use crate::clock;

/// A bench worker sends no heartbeats, so that it costs nothing but its work: it asks for the longest lease there is.
const LEASE: &str = "1h";

const CLAIMS: &str = "/v1/claims";

/// Sends jobs.
#[derive(Debug)]
pub struct Submitter {
    conn: Conn,
    path: &'static str,
    template: Template,
    single: bool,
}

impl Submitter {
    pub async fn batches(address: SocketAddr, template: Template) -> anyhow::Result<Submitter> {
        let path = "/v1/jobs/batch";
        Ok(Submitter { conn: Conn::open(address).await?, path, template, single: false })
    }

    pub async fn singles(address: SocketAddr, template: Template) -> anyhow::Result<Submitter> {
        ensure!(template.jobs() == 1, "a single submit has one job");
        let path = "/v1/jobs";
        Ok(Submitter { conn: Conn::open(address).await?, path, template, single: true })
    }

    pub fn jobs(&self) -> usize {
        self.template.jobs()
    }

    /// One request. Answers when all its jobs are durable, and how long that took in microseconds.
    pub async fn submit(&mut self, due: impl FnMut() -> Timestamp) -> anyhow::Result<u64> {
        let sent_us = clock::unix_us();
        let body = self.template.fill(sent_us, due);
        let answer = self.conn.post(self.path, &body).await?;
        let took_us = clock::unix_us().saturating_sub(sent_us);
        if !self.single {
            let Accepted { accepted } = serde_json::from_slice(answer).context("a batch answer was not readable")?;
            ensure!(accepted == self.template.jobs(), "only {accepted} jobs of {} were accepted", self.template.jobs());
        }
        Ok(took_us)
    }
}

#[derive(Deserialize)]
struct Accepted {
    accepted: usize,
}

/// Claims and settles, as one registered worker.
#[derive(Debug)]
pub struct Hand {
    conn: Conn,
    claim: String,
    settlements: String,
}

/// What a hand asks for.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    pub queue: &'a str,
    pub max: usize,
    pub wait: Duration,
}

/// One job in a hand.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Held<'a> {
    #[serde(borrow)]
    job_id: &'a str,
    fence: u64,
    pub run_at: Timestamp,
    data: Sent,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct Sent {
    at: u64,
}

impl Held<'_> {
    /// When its submit was sent.
    pub fn sent_us(&self) -> u64 {
        self.data.at
    }
}

/// What a round of claim and settle came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    pub jobs: usize,
    pub claim_us: u64,
    pub settle_us: u64,
}

#[derive(Deserialize)]
struct Registered<'a> {
    worker_id: &'a str,
}

#[derive(Deserialize)]
struct Claimed<'a> {
    #[serde(borrow)]
    jobs: Vec<Held<'a>>,
    /// Only if settlements were sent.
    #[serde(borrow, default)]
    settled: Vec<Settled<'a>>,
    problem: Option<Problem>,
}

#[derive(Deserialize)]
struct SettleAnswer<'a> {
    #[serde(borrow)]
    results: Vec<Settled<'a>>,
}

#[derive(Deserialize)]
struct Settled<'a> {
    state: &'a str,
}

impl Hand {
    pub async fn register(address: SocketAddr, ask: Ask<'_>) -> anyhow::Result<Hand> {
        let mut conn = Conn::open(address).await?;
        let register = format!(r#"{{"name":"bench","queues":["{}"],"lease":"{LEASE}"}}"#, ask.queue);
        let answer = conn.post("/v1/workers", register.as_bytes()).await?;
        let Registered { worker_id } = serde_json::from_slice(answer).context("a registration was not readable")?;
        let claim = format!(
            r#"{{"worker_id":"{worker_id}","queues":["{}"],"max":{},"wait":"{}"}}"#,
            ask.queue,
            ask.max,
            Span::from(ask.wait),
        );
        Ok(Hand { conn, claim, settlements: String::new() })
    }

    /// Claims, and keeps what it holds until [`Hand::settle`]. Every job is shown once, at the moment it came.
    pub async fn claim(&mut self, mut each: impl FnMut(&Held<'_>)) -> anyhow::Result<Round> {
        let asked_us = clock::unix_us();
        let answer = self.conn.post(CLAIMS, self.claim.as_bytes()).await?;
        let claim_us = clock::unix_us().saturating_sub(asked_us);
        let Claimed { jobs, .. } = serde_json::from_slice(answer).context("a claim answer was not readable")?;
        jobs.iter().for_each(&mut each);
        write_settlements(&mut self.settlements, &jobs)?;
        Ok(Round { jobs: jobs.len(), claim_us, settle_us: 0 })
    }

    /// Settles what `held` brought and claims again, in one request. Answers what was held and what is held now.
    ///
    /// A hand that holds nothing only claims, and waits; with settlements the server does not wait.
    pub async fn settle_and_claim(
        &mut self,
        held: Round,
        mut each: impl FnMut(&Held<'_>),
    ) -> anyhow::Result<(Round, Round)> {
        if held.jobs == 0 {
            return Ok((held, self.claim(each).await?));
        }
        let asked_us = clock::unix_us();
        let body = joined(&self.claim, &self.settlements);
        let answer = self.conn.post(CLAIMS, body.as_bytes()).await?;
        let took_us = clock::unix_us().saturating_sub(asked_us);
        let Claimed { jobs, settled, problem } =
            serde_json::from_slice(answer).context("a claim answer was not readable")?;
        ensure_completed(&settled, held)?;
        if let Some(problem) = problem {
            return Err(problem).context("the settlements were taken, but the claim was refused");
        }
        jobs.iter().for_each(&mut each);
        write_settlements(&mut self.settlements, &jobs)?;
        Ok((Round { settle_us: took_us, ..held }, Round { jobs: jobs.len(), claim_us: took_us, settle_us: 0 }))
    }

    /// Settles what the last claim brought, all with success.
    pub async fn settle(&mut self, round: Round) -> anyhow::Result<Round> {
        if round.jobs == 0 {
            return Ok(round);
        }
        let asked_us = clock::unix_us();
        let answer = self.conn.post("/v1/settlements", self.settlements.as_bytes()).await?;
        let settle_us = clock::unix_us().saturating_sub(asked_us);
        let SettleAnswer { results } = serde_json::from_slice(answer).context("a settle answer was not readable")?;
        ensure_completed(&results, round)?;
        Ok(Round { settle_us, ..round })
    }
}

fn ensure_completed(results: &[Settled<'_>], round: Round) -> anyhow::Result<()> {
    let completed = results.iter().filter(|settled| settled.state == "completed").count();
    ensure!(completed == round.jobs, "only {completed} of {} settlements were taken", round.jobs);
    Ok(())
}

/// A whole body for `POST /v1/settlements`, all with success.
fn write_settlements(body: &mut String, jobs: &[Held<'_>]) -> std::fmt::Result {
    body.clear();
    body.push_str(r#"{"settlements":["#);
    for (index, Held { job_id, fence, .. }) in jobs.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        write!(body, r#"{comma}{{"job_id":"{job_id}","fence":{fence},"outcome":"success"}}"#)?;
    }
    body.push_str("]}");
    Ok(())
}

/// The fields of both objects in one.
fn joined(claim: &str, settlements: &str) -> String {
    let open = claim.strip_suffix('}').expect("a claim is an object");
    let rest = settlements.strip_prefix('{').expect("settlements are in an object");
    [open, ",", rest].concat()
}

#[cfg(test)]
mod tests {
    use mainspring_wire::ClaimRequest;

    use super::*;

    #[test]
    fn a_claim_and_settlements_join_into_one_body() {
        const ID: &str = "01980000-0000-7000-8000-000000000001";
        let jobs = [7, 8].map(|fence| Held { job_id: ID, fence, run_at: Timestamp::default(), data: Sent { at: 0 } });
        let mut settlements = String::from("what was held before");
        write_settlements(&mut settlements, &jobs).expect("a string takes all");
        let claim = format!(r#"{{"worker_id":"{ID}","queues":["a"],"max":2,"wait":"5s"}}"#);
        let body = joined(&claim, &settlements);
        let read: ClaimRequest = serde_json::from_str(&body).expect("the server reads it");
        let fences: Vec<u64> = read.settlements.iter().map(|settlement| settlement.fence).collect();
        assert_eq!((read.max, fences), (2, vec![7, 8]));
    }
}
