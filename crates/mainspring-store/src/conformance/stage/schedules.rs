//! The short words to ask a store of schedules with. Promises nothing itself.

use std::time::Duration;

use mainspring_core::job::{Job, Origin};
use mainspring_core::name::{ScheduleName, TenantName, TypeName};
use mainspring_core::schedule::{
    Catchup, LedgerRow, Overlap, Schedule, ScheduleRef, ScheduleView, Spec, Standing, Template, What, When,
};
use mainspring_core::store::*;
use mainspring_core::time::Time;

use super::{Stage, at, everything, job, queue};

pub fn schedule(name: &str) -> ScheduleRef {
    ScheduleRef { tenant: TenantName::default_tenant(), name: ScheduleName::parse(name).expect("a name") }
}

/// A rule that makes jobs for `mail`. A store looks at nothing in it but its name.
pub fn rule(name: &str) -> Schedule {
    let ScheduleRef { tenant, name } = schedule(name);
    Schedule {
        tenant,
        name,
        when: When::new(vec![Spec::Every { every: Duration::from_secs(1), anchor: None }]),
        job: Template { queue: queue("mail"), ..Template::new(TypeName::parse("send").expect("a name")) },
        catchup: Catchup::default(),
        overlap: Overlap::default(),
        jitter: Duration::ZERO,
        max_runs: None,
        pause_on_failure: false,
        note: None,
    }
}

/// Where a schedule is that wakes then.
pub fn standing(wake_ms: u64) -> Standing {
    Standing {
        revision: 1,
        created_at: at(0),
        updated_at: at(0),
        pause: None,
        last: at(0),
        next: Some(at(wake_ms)),
        wake_at: Some(at(wake_ms)),
        runs: 0,
        last_job: None,
        last_fired: None,
    }
}

/// A turn that puts a schedule that wakes after a second.
pub fn put(name: &str, expect: Option<u64>) -> Turn {
    let to = To::Put { schedule: Box::new(rule(name)), standing: standing(1000) };
    Turn { schedule: schedule(name), expect, to, jobs: Vec::new(), rows: Vec::new(), warrant: None }
}

/// A job that a schedule made for this occurrence.
pub fn fired(name: &str, number: u32, occurrence_ms: u64) -> Job {
    let origin = Origin { schedule: schedule(name).name, occurrence: at(occurrence_ms) };
    Job { origin: Some(Box::new(origin)), ..job(number) }
}

/// A ledger row of this occurrence, written at the beginning.
pub fn row(occurrence_ms: u64) -> LedgerRow {
    LedgerRow::one(at(occurrence_ms), at(0), What::Missed)
}

/// The version that a turn gave its schedule.
pub fn done(turned: &Turned) -> u64 {
    match turned {
        Turned::Done { version, .. } => *version,
        other => panic!("was answered {other:?}"),
    }
}

/// Promote all, and list so many schedules.
pub fn listing(due_limit: usize) -> Promote {
    Promote { due_limit, ..everything(1000) }
}

/// What is asked of schedules.
impl Stage {
    pub async fn turn(&self, now: Time, turns: Vec<Turn>) -> Vec<Turned> {
        self.store.turn(now, turns).await.expect("turn")
    }

    pub async fn schedule(&self, name: &str) -> Option<ScheduleView> {
        self.store.schedule(&schedule(name)).await.expect("schedule")
    }

    /// The names of the schedules that are due, and whether there are more.
    pub async fn due(&self, now: Time, limit: usize) -> (Vec<String>, bool) {
        let promoted = self.store.promote(now, listing(limit)).await.expect("promote");
        (promoted.due.iter().map(|view| view.schedule.name.to_string()).collect(), promoted.more)
    }

    /// Every schedule of the tenant, over as many pages as it takes.
    pub async fn names(&self, limit: usize) -> Vec<String> {
        let mut query = ScheduleQuery { tenant: TenantName::default_tenant(), above: None, limit };
        let mut names = Vec::new();
        loop {
            let page = self.store.schedules(query.clone()).await.expect("schedules");
            assert!(page.schedules.len() <= limit);
            names.extend(page.schedules.iter().map(|view| view.schedule.name.to_string()));
            query.above = page.next;
            if query.above.is_none() {
                return names;
            }
        }
    }

    /// Every row of a schedule's ledger, over as many pages as it takes.
    pub async fn ledger(&self, name: &str, limit: usize) -> Vec<LedgerRow> {
        let mut query = LedgerQuery { schedule: schedule(name), below: None, limit };
        let mut rows = Vec::new();
        loop {
            let page = self.store.ledger(query.clone()).await.expect("ledger");
            assert!(page.rows.len() <= limit);
            rows.extend(page.rows);
            query.below = page.next;
            if query.below.is_none() {
                return rows;
            }
        }
    }
}
