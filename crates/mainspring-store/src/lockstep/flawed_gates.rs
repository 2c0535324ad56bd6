//! How stores break what they promise about limits, to show that lockstep can fail. For tests alone.

use std::collections::BTreeMap;

use mainspring_core::gate::{Breaker, Bucket, GateRef, GateState, gates_of};
use mainspring_core::job::{Job, Keys};
use mainspring_core::name::QueueName;
use mainspring_core::store::*;
use mainspring_core::time::Time;
use mainspring_core::verdict::{Cause, Verdict};

use super::flawed::{Flaw, Flawed};
use super::words::L;

type States = BTreeMap<GateRef, GateState>;

impl Flawed {
    /// Whether the flaw is in what jobs share limits by.
    pub fn bend_keys(&self, keys: &mut Keys) -> bool {
        let one = || Some(L(0).key());
        let or = |key: &Option<_>, other: &Option<_>| key.clone().or(other.clone());
        *keys = match () {
            () if self.has(Flaw::IgnoresWeights) => Keys { weight: 1, ..keys.clone() },
            () if self.has(Flaw::IgnoresParts) => {
                let (concurrency, rate) = (or(&keys.concurrency, &keys.rate), or(&keys.rate, &keys.concurrency));
                Keys { concurrency, rate, weight: keys.weight }
            }
            () if self.has(Flaw::SharesPatterns) => Keys {
                concurrency: keys.concurrency.as_ref().and_then(|_| one()),
                rate: keys.rate.as_ref().and_then(|_| one()),
                weight: keys.weight,
            },
            () => return false,
        };
        true
    }

    /// Forgets on reopening what it should not.
    pub fn reopen_gates(&self) {
        self.store.forget_turns();
        self.store.tamper(|states| {
            for state in states.values_mut() {
                if self.has(Flaw::ForgetsPermitsOnReopen) {
                    state.bucket = Bucket::default();
                }
                if self.has(Flaw::ForgetsBreakersOnReopen) {
                    state.breaker = Breaker::default();
                }
                if self.has(Flaw::ForgetsClosuresOnReopen) {
                    state.closed_until = None;
                }
            }
        });
    }

    pub async fn claim_through_gates(&self, now: Time, claims: Vec<Claim>) -> Result<Vec<ClaimAnswer>> {
        let mut answers = Vec::new();
        for claim in claims {
            let takes_turns = claim.whose == Whose::All;
            let given = match () {
                () if self.has(Flaw::GivesAwayOthers) => {
                    self.claim_once(now, &Claim { whose: Whose::All, ..claim }).await?
                }
                () if self.has(Flaw::ChargesNoTurns) && takes_turns => self.claim_one_by_one(now, &claim).await?,
                () if self.has(Flaw::LetsOvertake) => {
                    let first = self.claim_once(now, &claim).await?;
                    let past = self.claim_past(now, &claim, first.count()).await?;
                    first.and(past)
                }
                () if self.has(Flaw::ClosesOneQueue) => {
                    let first = self.claim_once(now, &claim).await?;
                    let elsewhere = self.claim_elsewhere(now, &claim, first.count()).await?;
                    first.and(elsewhere)
                }
                () => self.claim_once(now, &claim).await?,
            };
            answers.push(given.0);
        }
        Ok(answers)
    }

    /// Each as if it were the first.
    async fn claim_one_by_one(&self, now: Time, claim: &Claim) -> Result<Given> {
        let mut given = self.claim_once(now, &Claim { max: 0, ..claim.clone() }).await?;
        for _ in 0..claim.max {
            self.store.forget_turns();
            given = given.and(self.claim_once(now, &Claim { max: 1, ..claim.clone() }).await?);
        }
        Ok(given)
    }

    async fn claim_once(&self, now: Time, claim: &Claim) -> Result<Given> {
        Ok(Given(self.store.claim(now, vec![claim.clone()]).await?.remove(0)))
    }

    /// Claims what could go if nobody stood before it: those who cannot are put out of the way.
    async fn claim_past(&self, now: Time, claim: &Claim, taken: usize) -> Result<Given> {
        let (tenant, filter) = (claim.tenant.clone(), Filter::default());
        let page = self.store.find(Query { tenant: tenant.clone(), filter, below: None, limit: 100 }).await?;
        let mut held_back = Vec::new();
        for id in page.jobs.iter().map(|view| view.job.id) {
            let hurdles = self.store.hurdles(&tenant, id, now).await?;
            held_back.extend(hurdles.filter(|hurdles| !hurdles.is_empty()).map(|_| id));
        }
        let all = |what: JobCommand| {
            let command = |&id| Command::Job { tenant: tenant.clone(), id, what: what.clone() };
            held_back.iter().map(command).collect::<Vec<_>>()
        };
        self.store.command(now, all(JobCommand::Pause)).await?;
        let given = self.claim_once(now, &Claim { max: claim.max - taken, ..claim.clone() }).await;
        self.store.command(now, all(JobCommand::Resume)).await?;
        given
    }

    /// Claims behind closed keys, from queues that did not close them.
    async fn claim_elsewhere(&self, now: Time, claim: &Claim, taken: usize) -> Result<Given> {
        let closers = self.closers.lock().expect("nobody panics with it").clone();
        let closed_by =
            |name: &QueueName| closers.values().any(|closer| closer.tenant == claim.tenant && closer.queue == *name);
        let queues = claim.queues.iter().filter(|name| !closed_by(name)).cloned().collect();
        let mut before = States::new();
        self.store.tamper(|states| {
            before = states.clone();
            states.values_mut().for_each(|state| state.closed_until = None);
        });
        let given = self.claim_once(now, &Claim { max: claim.max - taken, queues, ..claim.clone() }).await;
        self.store.tamper(|states| {
            for (gate, state) in states {
                state.closed_until = before.get(gate).and_then(|state| state.closed_until);
            }
        });
        given
    }

    pub async fn settle_through_gates(&self, now: Time, settlements: Vec<Settlement>) -> Result<Vec<Settled>> {
        let mut answers = Vec::new();
        for settlement in settlements {
            let verdict = settlement.verdict.clone();
            let mut before = States::new();
            self.store.tamper(|states| before = states.clone());
            let mut answer = self.store.settle(now, vec![settlement]).await?.remove(0);
            if let Settled::Applied { queue, gates, .. } = &mut answer {
                let closed = gates.as_ref().and_then(|news| news.closed.clone());
                let mut closers = self.closers.lock().expect("nobody panics with it");
                closers.extend(closed.map(|(gate, _)| (gate, queue.clone())));
                let is_crash = verdict.outcome() == mainspring_core::job::ExecutionOutcome::Crashed;
                if let (true, true, Some(news)) = (self.has(Flaw::IgnoresCrashes), is_crash, gates.as_mut()) {
                    news.breakers.clear();
                }
                if gates.as_deref() == Some(&GateNews::default()) {
                    *gates = None;
                }
                self.store.tamper(|states| self.undo(&verdict, &before, states));
            }
            answers.push(answer);
        }
        Ok(answers)
    }

    /// Takes back what the end of a lease should have done.
    fn undo(&self, verdict: &Verdict, before: &States, states: &mut States) {
        let is_crash =
            matches!(verdict, Verdict::Bury { cause: Cause::Crash, .. } | Verdict::Retry { cause: Cause::Crash, .. });
        for (gate, state) in states {
            let before = before.get(gate).copied().unwrap_or_default();
            match verdict {
                Verdict::Release if self.has(Flaw::KeepsSlots) => state.running = before.running,
                Verdict::Close { .. } if self.has(Flaw::ClosesNothing) => state.closed_until = before.closed_until,
                _ if is_crash && self.has(Flaw::IgnoresCrashes) => state.breaker = before.breaker,
                _ => {}
            }
        }
    }

    pub fn free_early(&self, reclaimed: &Reclaimed) {
        for taken in reclaimed.leases.iter().filter(|_| self.has(Flaw::FreesSlotsEarly)) {
            let Job { tenant, queue, kind, keys, .. } = &taken.claimed.job;
            let passes = gates_of(queue, kind, keys).filter(|pass| pass.part.has_concurrency());
            let gates: Vec<GateRef> = passes.map(|pass| GateRef { tenant: tenant.clone(), gate: pass.gate }).collect();
            self.store.tamper(|states| {
                for gate in gates {
                    let state = states.entry(gate).or_default();
                    state.running = state.running.saturating_sub(u64::from(keys.weight));
                }
            });
        }
    }

    pub async fn command_gates(&self, now: Time, commands: Vec<Command>) -> Result<Vec<Commanded>> {
        let mut answers = Vec::new();
        for command in commands {
            let is_set = matches!(command, Command::Gate { what: GateCommand::Set(_), .. });
            let mut before = States::new();
            self.store.tamper(|states| before = states.clone());
            answers.extend(self.store.command(now, vec![command]).await?);
            self.store.tamper(|states| {
                for (gate, state) in states.iter_mut().filter(|_| is_set) {
                    let before = before.get(gate).copied().unwrap_or_default();
                    if self.has(Flaw::CountsFromTheLimitOn) {
                        state.running = 0;
                    }
                    if self.has(Flaw::NeverRetunes) {
                        (state.bucket, state.breaker) = (before.bucket, before.breaker);
                    }
                }
            });
        }
        Ok(answers)
    }
}

/// What one request was given, over several calls.
struct Given(ClaimAnswer);

impl Given {
    fn count(&self) -> usize {
        if let ClaimAnswer::Jobs(jobs) = &self.0 { jobs.len() } else { 0 }
    }

    fn and(self, next: Given) -> Given {
        Given(match (self.0, next.0) {
            (ClaimAnswer::Jobs(before), ClaimAnswer::Jobs(next)) => ClaimAnswer::Jobs([before, next].concat()),
            (_, other) => other,
        })
    }
}
