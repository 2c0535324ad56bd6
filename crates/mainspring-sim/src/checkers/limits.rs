//! Promise 8, for gates: limits hold at every instant, whoever claims where. Judged twice. From what is known of each gate: nobody enters
//! one that is full, spent, closed or broken. And from the starts alone, by the words of the promise: no more weight runs at once than a rule
//! allows, and over any span t at most `burst + permits · t / per` start.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use mainspring_core::gate::{GateRef, Rate};
use mainspring_core::job::Job;
use mainspring_core::store::{ClaimAnswer, Command};
use mainspring_core::time::Time;

use super::past::{Gates, passes};
use super::{Checker, Deed, Findings, Past};
use crate::hop::{Ask, Reply};

const PROMISE: &str = "limits hold at every instant";
/// Starts that are remembered of each gate: a span with more of them is past every burst that is drawn.
const STARTS_KEPT: usize = 40;

#[derive(Debug)]
pub struct Limits {
    starts: BTreeMap<GateRef, VecDeque<Start>>,
    /// Else spans cannot be measured.
    clocks_are_right: bool,
}

#[derive(Clone, Copy, Debug)]
struct Start {
    /// When it was asked for.
    now: Time,
    /// How long the call was under way.
    late: Duration,
    weight: u16,
}

/// Who is inside when somebody enters.
#[derive(Clone, Copy)]
struct Inside<'a> {
    past: &'a Past,
    /// In the same call.
    entered: &'a [&'a Job],
    gates: &'a Gates,
}

impl Limits {
    pub fn new(clocks_are_right: bool) -> Limits {
        Limits { starts: BTreeMap::new(), clocks_are_right }
    }

    fn start(&mut self, deed: &Deed<'_>, job: &Job, inside: Inside<'_>, findings: &mut Findings) {
        let (id, gates) = (job.id, inside.gates);
        for (gate, why) in gates.hurdles(deed.now, job) {
            findings.broken(deed.at, PROMISE, || format!("{id} entered {gate}, which is {why:?}"));
        }
        for (gate, part) in passes(job) {
            let rule = gates.rule(&gate);
            if let Some(max) = rule.concurrency.filter(|_| part.has_concurrency()) {
                self.fits(deed, job, (&gate, max), inside, findings);
            }
            if let Some(rate) = rule.rate.filter(|_| part.has_rate()) {
                self.keeps_pace(deed, job, gate, rate, findings);
            }
        }
    }

    /// A job that is heavier than the whole limit runs alone.
    fn fits(&self, deed: &Deed<'_>, job: &Job, at: (&GateRef, u32), inside: Inside<'_>, findings: &mut Findings) {
        let (gate, max) = at;
        let holds = |job: &&Job| {
            job.tenant == gate.tenant && passes(job).any(|(held, part)| held == *gate && part.has_concurrency())
        };
        let held = inside.past.jobs.values().filter(|known| known.held.is_some()).map(|known| &known.job);
        let others = held.chain(inside.entered.iter().copied()).filter(|other| other.id != job.id);
        let running: u32 = others.filter(holds).map(|other| u32::from(other.keys.weight)).sum();
        if running > 0 && running + u32::from(job.keys.weight) > max || max == 0 {
            let id = job.id;
            findings.broken(deed.at, PROMISE, || format!("{id} entered {gate}, where {running} of {max} run"));
        }
    }

    fn keeps_pace(&mut self, deed: &Deed<'_>, job: &Job, gate: GateRef, rate: Rate, findings: &mut Findings) {
        let weight = job.keys.weight;
        let starts = self.starts.entry(gate.clone()).or_default();
        starts.push_back(Start { now: deed.now, late: deed.at.since(deed.now), weight });
        if starts.len() > STARTS_KEPT {
            starts.pop_front();
        }
        if !self.clocks_are_right {
            return;
        }
        // A call that was under way is counted by when it was sent, and a gate may have been forgotten meanwhile.
        let late = starts.iter().map(|start| start.late).max().unwrap_or_default();
        let burst = f64::from(rate.burst.max(u32::from(weight)));
        let mut taken = 0.0;
        for start in starts.iter().rev() {
            taken += f64::from(start.weight);
            let span = deed.at.since(start.now) + late;
            let most = burst + f64::from(rate.permits) * span.as_secs_f64() / rate.per.as_secs_f64();
            if taken > most + f64::EPSILON {
                let what = || format!("{taken} permits of {gate} were taken within {span:?}, of {most}: {rate:?}");
                findings.broken(deed.at, PROMISE, what);
                return;
            }
        }
    }
}

impl Checker for Limits {
    fn see(&mut self, deed: &Deed<'_>, past: &Past, findings: &mut Findings) {
        match (deed.ask, deed.reply) {
            (Ask::Claim(_), Reply::Claim(answers)) if !past.gates.are_all_open() => {
                let (mut gates, mut entered) = (past.gates.clone(), Vec::new());
                for answer in answers {
                    let ClaimAnswer::Jobs(jobs) = answer else { continue };
                    for known in jobs.iter().filter_map(|claimed| past.get(claimed.job.id)) {
                        let inside = Inside { past, entered: &entered, gates: &gates };
                        self.start(deed, &known.job, inside, findings);
                        gates.enter(deed.now, &known.job);
                        entered.push(&known.job);
                    }
                }
            }
            // By another rule, other starts count.
            (Ask::Command(commands), _) if commands.iter().any(|it| matches!(it, Command::Gate { .. })) => {
                self.starts.clear();
            }
            _ => {}
        }
    }
}
