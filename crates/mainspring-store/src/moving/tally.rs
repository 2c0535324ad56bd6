//! How many items of each kind were seen, and a sum over them that does not depend on their order. Two tallies that are equal
//! saw the same items, but for one chance in 2^128.

use serde::{Deserialize, Serialize};

use mainspring_core::id::JobId;
use mainspring_core::job::{Execution, JobView};
use mainspring_core::schedule::ScheduleView;
use mainspring_core::store::WorkerView;

use super::{
    EdgeItem, GateItem, Items, JobItem, KeyItem, LedgerItem, Numbers, QueueItem, ReleaseItem, RuleItem, Taken,
    WorkflowItem, canon,
};

/// What is counted by itself. Attempts and leases travel with their jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Queues,
    Rules,
    Gates,
    Workers,
    Jobs,
    Attempts,
    Leases,
    Keys,
    Edges,
    Releases,
    Workflows,
    Schedules,
    Ledger,
    Numbers,
}

impl Kind {
    pub const ALL: [Kind; 14] = [
        Kind::Queues,
        Kind::Rules,
        Kind::Gates,
        Kind::Workers,
        Kind::Jobs,
        Kind::Attempts,
        Kind::Leases,
        Kind::Keys,
        Kind::Edges,
        Kind::Releases,
        Kind::Workflows,
        Kind::Schedules,
        Kind::Ledger,
        Kind::Numbers,
    ];

    /// For people, and for `-o json`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Queues => "queues",
            Kind::Rules => "limits",
            Kind::Gates => "gates",
            Kind::Workers => "workers",
            Kind::Jobs => "jobs",
            Kind::Attempts => "attempts",
            Kind::Leases => "leases",
            Kind::Keys => "idempotency_keys",
            Kind::Edges => "dependencies",
            Kind::Releases => "releases",
            Kind::Workflows => "workflows",
            Kind::Schedules => "schedules",
            Kind::Ledger => "ledger_rows",
            Kind::Numbers => "sequences",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sum {
    pub items: u64,
    pub sum: u128,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    sums: [Sum; Kind::ALL.len()],
}

impl Tally {
    pub fn of(&self, kind: Kind) -> Sum {
        self.sums[kind as usize]
    }

    /// The first kind in which two tallies differ.
    pub fn difference(&self, other: &Tally) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| self.of(*kind) != other.of(*kind))
    }

    pub fn page(&mut self, items: &Items) {
        match items {
            Items::Queues(items) => items.iter().for_each(|item| self.queue(item)),
            Items::Rules(items) => items.iter().for_each(|item| self.rule(item)),
            Items::Gates(items) => items.iter().for_each(|item| self.gate(item)),
            Items::Workers(items) => items.iter().for_each(|item| self.worker(item)),
            Items::Jobs(items) => items.iter().for_each(|item| self.job_item(item)),
            Items::Keys(items) => items.iter().for_each(|item| self.key(item)),
            Items::Edges(items) => items.iter().for_each(|item| self.edge(item)),
            Items::Releases(items) => items.iter().for_each(|item| self.release(item)),
            Items::Workflows(items) => items.iter().for_each(|item| self.workflow(item)),
            Items::Schedules(items) => items.iter().for_each(|item| self.schedule(item)),
            Items::Ledger(items) => items.iter().for_each(|item| self.ledger(item)),
            Items::Numbers(numbers) => self.numbers(*numbers),
        }
    }

    fn job_item(&mut self, item: &JobItem) {
        let JobItem { view, attempts, last, taken } = item;
        self.job(view);
        attempts.iter().for_each(|attempt| self.attempt(view.job.id, attempt, false));
        last.iter().for_each(|attempt| self.attempt(view.job.id, attempt, true));
        if view.standing.lease.is_some() {
            self.lease(view.job.id, *taken);
        }
    }

    pub fn queue(&mut self, item: &QueueItem) {
        self.add(Kind::Queues, canon::queue(item));
    }

    pub fn rule(&mut self, item: &RuleItem) {
        self.add(Kind::Rules, canon::rule(item));
    }

    pub fn gate(&mut self, item: &GateItem) {
        self.add(Kind::Gates, canon::gate(item));
    }

    pub fn worker(&mut self, item: &WorkerView) {
        self.add(Kind::Workers, canon::worker(item));
    }

    pub fn job(&mut self, view: &JobView) {
        self.add(Kind::Jobs, canon::job(view));
    }

    pub fn attempt(&mut self, job: JobId, execution: &Execution, is_last: bool) {
        self.add(Kind::Attempts, canon::attempt(job, execution, is_last));
    }

    /// What a lease has that its job's view does not show.
    pub fn lease(&mut self, job: JobId, taken: Option<Taken>) {
        self.add(Kind::Leases, canon::lease(job, taken));
    }

    pub fn key(&mut self, item: &KeyItem) {
        self.add(Kind::Keys, canon::key(item));
    }

    pub fn edge(&mut self, item: &EdgeItem) {
        self.add(Kind::Edges, canon::edge(item));
    }

    pub fn release(&mut self, item: &ReleaseItem) {
        self.add(Kind::Releases, canon::release(item));
    }

    pub fn workflow(&mut self, item: &WorkflowItem) {
        self.add(Kind::Workflows, canon::workflow(item));
    }

    pub fn schedule(&mut self, item: &ScheduleView) {
        self.add(Kind::Schedules, canon::schedule(item));
    }

    pub fn ledger(&mut self, item: &LedgerItem) {
        self.add(Kind::Ledger, canon::ledger(item));
    }

    pub fn numbers(&mut self, numbers: Numbers) {
        self.add(Kind::Numbers, canon::numbers(numbers));
    }

    fn add(&mut self, kind: Kind, hash: u128) {
        let sum = &mut self.sums[kind as usize];
        sum.items += 1;
        sum.sum = sum.sum.wrapping_add(hash);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_does_not_depend_on_the_order_and_shows_every_change() {
        let release = |parent: u8, state| ReleaseItem { parent: JobId::from_bytes([parent; 16]), state };
        let sum = |items: &[ReleaseItem]| {
            let mut tally = Tally::default();
            tally.page(&Items::Releases(items.to_vec()));
            tally
        };
        use mainspring_core::lifecycle::State::{Dead, Succeeded};
        let both = sum(&[release(1, Succeeded), release(2, Dead)]);
        assert_eq!(both, sum(&[release(2, Dead), release(1, Succeeded)]));
        assert_eq!(both.of(Kind::Releases).items, 2);
        for other in [
            sum(&[release(1, Dead), release(2, Succeeded)]),
            sum(&[release(1, Succeeded)]),
            sum(&[release(1, Succeeded), release(3, Dead)]),
        ] {
            assert_eq!(both.difference(&other), Some(Kind::Releases));
        }
        assert_eq!(both.difference(&both.clone()), None);
    }

    #[test]
    fn every_kind_has_a_place_and_a_name_of_its_own() {
        let names: std::collections::BTreeSet<_> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!(names.len(), Kind::ALL.len());
        Kind::ALL.iter().enumerate().for_each(|(at, kind)| assert_eq!(*kind as usize, at));
        super::super::Stage::ALL.iter().enumerate().for_each(|(at, stage)| assert_eq!(stage.number(), at as i16));
    }
}
