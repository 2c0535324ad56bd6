//! A memory store that can be cut off, to see who waits for it. Only for tests.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use mainspring_core::id::{JobId, NodeId, WorkflowId};
use mainspring_core::job::{Execution, Job, JobView};
use mainspring_core::name::TenantName;
use mainspring_core::placement::Placement;
use mainspring_core::schedule::{ScheduleRef, ScheduleView};
use mainspring_core::seats::{Assign, Assigned, NodeInfo, Roll, Seat, Seats, Term};
use mainspring_core::store::*;
use mainspring_core::time::Time;

use crate::memory::Memory;

/// Counts how often it is asked while it is cut off.
#[derive(Debug)]
pub(super) struct Cut {
    memory: Memory,
    pub is_down: AtomicBool,
    /// Answers nothing at all.
    pub is_stuck: AtomicBool,
    pub asked: AtomicUsize,
}

impl Cut {
    pub fn new(placement: Placement) -> Cut {
        Cut {
            memory: Memory::placed(placement),
            is_down: AtomicBool::new(false),
            is_stuck: AtomicBool::new(false),
            asked: AtomicUsize::new(0),
        }
    }

    async fn way(&self) -> Result<&Memory> {
        if self.is_stuck.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        match self.is_down.load(Ordering::SeqCst) {
            false => Ok(&self.memory),
            true => {
                self.asked.fetch_add(1, Ordering::SeqCst);
                Err(Error::Unavailable("it was cut off".into()))
            }
        }
    }
}

macro_rules! passes {
    ($seam:ident $(described by $described:ident)?: $($verb:ident($($name:ident: $kind:ty),*) -> $answer:ty;)*) => {
        #[async_trait]
        impl $seam for Cut {
            $(fn describe(&self) -> String {
                self.$described.describe()
            })?

            $(async fn $verb(&self, $($name: $kind),*) -> Result<$answer> { self.way().await?.$verb($($name),*).await })*
        }
    };
}

passes! { Store:
    submit(now: Time, jobs: Vec<Job>) -> Vec<Submitted>;
    promote(now: Time, ask: Promote) -> Promoted;
    claim(now: Time, claims: Vec<Claim>) -> Vec<ClaimAnswer>;
    heartbeat(now: Time, beats: Vec<Beat>) -> Vec<Pulse>;
    report(now: Time, reports: Vec<Report>) -> Vec<Hold>;
    settle(now: Time, settlements: Vec<Settlement>) -> Vec<Settled>;
    reclaim(now: Time, ask: Reclaim) -> Reclaimed;
    command(now: Time, commands: Vec<Command>) -> Vec<Commanded>;
    turn(now: Time, turns: Vec<Turn>) -> Vec<Turned>;
    prune(now: Time, ask: Prune) -> Pruned;
}

passes! { Views described by memory:
    get(tenant: &TenantName, ids: Vec<JobId>) -> Vec<Option<JobView>>;
    find(query: Query) -> Page;
    executions(tenant: &TenantName, id: JobId) -> Vec<Execution>;
    ahead(tenant: &TenantName, id: JobId, limit: u64) -> Option<u64>;
    queues(tenant: Option<&TenantName>) -> Vec<QueueView>;
    workers() -> Vec<WorkerView>;
    schedule(schedule: &ScheduleRef) -> Option<ScheduleView>;
    schedules(query: ScheduleQuery) -> SchedulePage;
    ledger(query: LedgerQuery) -> LedgerPage;
    workflow(tenant: &TenantName, id: WorkflowId) -> Option<WorkflowView>;
    gates(tenant: &TenantName, now: Time) -> Vec<GateView>;
    hurdles(tenant: &TenantName, id: JobId, now: Time) -> Option<Vec<Hurdle>>;
    agenda(ask: AgendaAsk) -> Agenda;
    ailments(now: Time) -> Vec<Ailment>;
}

passes! { Seats:
    renew(now: Time, node: NodeInfo, until: Time) -> Roll;
    take(now: Time, node: NodeId, seats: Vec<Seat>, until: Time) -> Vec<Term>;
    give_up(now: Time, node: NodeId, seats: Vec<Seat>) -> ();
    assign(now: Time, assign: Assign) -> Assigned;
    leave(now: Time, node: NodeId) -> ();
    roll() -> Roll;
    clock() -> Option<Time>;
}
