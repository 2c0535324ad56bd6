//! The store seam: who remembers jobs. Batch in, one answer per item out, in order.
//!
//! [`Store`] is what changes, [`Views`] what is read; `work`, `orders` and `views` hold what is asked and answered.
//!
//! What every store owes:
//! - **Durable first.** An answer means that what it says survives a `kill -9` and a power cut.
//! - **A lost race is an answer**, not an error. An error means that nothing of the call happened, or that it may be
//!   repeated: repeating a call whose reply was lost is safe.
//! - **`now` is a parameter.** Stores read no clock. A `now` that steps back loses nothing: what is Ready stays
//!   Ready, what is Waiting waits for its own time.
//! - **No write in a seat's name without its epoch.** Where a call carries a [`crate::seats::Warrant`], the store that keeps the
//!   terms checks it in the same write. Two nodes that both believe they hold a seat waste work and break nothing.
//! - **No policy.** Verdicts are decided by [`crate::verdict`]; a store applies them if the fence still matches.
//!
//! `memory` is the reference; the conformance suite and lockstep hold every other store to its answers.

mod ailments;
mod orders;
mod views;
mod work;

use async_trait::async_trait;

use crate::id::{JobId, WorkflowId};
use crate::job::{Execution, Job, JobView};
use crate::name::TenantName;
use crate::schedule::{ScheduleRef, ScheduleView};
use crate::time::Time;

pub use ailments::{Ailment, Severity};
pub use orders::*;
pub use views::*;
pub use work::*;

pub type Result<T> = std::result::Result<T, Error>;

/// What [`Store::settle_and_claim`] came to.
pub type SettledAndClaimed = (Result<Vec<Settled>>, Result<Vec<ClaimAnswer>>);

/// Sorted by what the caller can do.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// Try later.
    #[error("the store cannot answer now: {0}")]
    Unavailable(String),
    /// Try later, or give it room: reads go on, nothing accepted is lost.
    #[error("the store has no room: {0}")]
    Full(String),
    /// Fix the input.
    #[error("the store refuses this: {0}")]
    Invalid(String),
    /// Call a person.
    #[error("the store is damaged: {0}")]
    Damaged(String),
}

/// Where jobs are remembered: everything that changes something.
#[async_trait]
pub trait Store: Views {
    /// Takes jobs in. Blocked while a parent is unfinished; else Ready if `run_at` is not after `now`, else Waiting. All or
    /// nothing durable at once. An id seen before is answered as `Accepted` again and changes nothing. The jobs of one
    /// workflow come together in one call and are all taken in, or none is: the first that is refused gives its answer
    /// to all of them.
    async fn submit(&self, now: Time, jobs: Vec<Job>) -> Result<Vec<Submitted>>;

    /// The one place where time becomes readiness, and the end of a parent the start of its children. First the children of
    /// parents that ended, by parent and child; then due jobs to Ready, in order of (ready_at, id); of both together at
    /// most `limit`. Schedules whose time has come are listed, not changed: [`Store::turn`] them. Call again while the
    /// answer says `more`.
    async fn promote(&self, now: Time, ask: Promote) -> Result<Promoted>;

    /// Hands out the best ready jobs of the asked queues under new fences, in order of rank over all of them.
    /// Earlier requests of the batch are served first. A job is given only if all its gates let it in, and enters them; if
    /// one does not, that gate is shut for the rest of the request, so that nobody overtakes there. With [`Whose::All`],
    /// each queue name offers the best job of the tenant whose turn it is among those that have one that could go. A paused queue gives nothing; a job past its expiry is not
    /// given (it stays for [`Store::reclaim`]). A worker that was silent and is not written off yet shows by its
    /// claim that it lives.
    async fn claim(&self, now: Time, claims: Vec<Claim>) -> Result<Vec<ClaimAnswer>>;

    /// Registers workers, keeps them alive, and tells them what to stop. Silence alone ends no worker: until a reclaim
    /// has written it off, its next beat is as good as the one it missed.
    async fn heartbeat(&self, now: Time, beats: Vec<Beat>) -> Result<Vec<Pulse>>;

    /// What running attempts say of themselves: started, checkpoint, progress.
    async fn report(&self, now: Time, reports: Vec<Report>) -> Result<Vec<Hold>>;

    /// Applies verdicts to leases that still hold. Whichever way a lease ends, here or in another verb, its job leaves
    /// its gates with it.
    async fn settle(&self, now: Time, settlements: Vec<Settlement>) -> Result<Vec<Settled>>;

    /// Settles and claims, for workers that go on: as [`Store::settle`] and then [`Store::claim`], in one commit where the store can.
    /// Jobs may have been handed out although the settlements came to an error: give them back.
    async fn settle_and_claim(&self, now: Time, settlements: Vec<Settlement>, claims: Vec<Claim>) -> SettledAndClaimed {
        settle_then_claim(self, now, settlements, claims).await
    }

    /// Takes back what ran out: leases whose worker is silent or whose timeout passed get a new fence that the caller
    /// settles before `hold_until` (else they run out again), and jobs past their expiry are cancelled.
    async fn reclaim(&self, now: Time, ask: Reclaim) -> Result<Reclaimed>;

    /// What people ask of jobs, queues and workers.
    async fn command(&self, now: Time, commands: Vec<Command>) -> Result<Vec<Commanded>>;

    /// Moves schedules on, each only if it is still as it was read, together with the jobs and the ledger rows of that
    /// step: all of a turn happens or nothing of it.
    async fn turn(&self, now: Time, turns: Vec<Turn>) -> Result<Vec<Turned>>;

    /// Forgets what is past its retention, at most `limit` items a call, and gates that are at rest.
    async fn prune(&self, now: Time, ask: Prune) -> Result<Pruned>;
}

/// [`Store::settle_and_claim`] one after the other.
pub async fn settle_then_claim(
    store: &(impl Store + ?Sized),
    now: Time,
    settlements: Vec<Settlement>,
    claims: Vec<Claim>,
) -> SettledAndClaimed {
    match store.settle(now, settlements).await {
        Ok(settled) => (Ok(settled), store.claim(now, claims).await),
        Err(error) => (Err(error.clone()), Err(error)),
    }
}

/// What can be seen of a store. Changes nothing, and never stands in a writer's way.
#[async_trait]
pub trait Views: Send + Sync + std::fmt::Debug {
    /// Which engine this is and what its answers survive, for people: `embedded (LMDB), fsync before each answer`.
    fn describe(&self) -> String;

    /// Jobs of one tenant by id, in the order asked; `None` where there is none.
    async fn get(&self, tenant: &TenantName, ids: Vec<JobId>) -> Result<Vec<Option<JobView>>>;

    /// A page of jobs of one tenant, newest id first.
    async fn find(&self, query: Query) -> Result<Page>;

    /// The attempts of a job that are over, oldest first. Empty if there is no such job.
    async fn executions(&self, tenant: &TenantName, id: JobId) -> Result<Vec<Execution>>;

    /// How many ready jobs go before this one, counted up to `limit`; `None` unless it is Ready and not paused.
    async fn ahead(&self, tenant: &TenantName, id: JobId, limit: u64) -> Result<Option<u64>>;

    /// Every queue that has settings or ever had a job, by name; of one tenant, or of all.
    async fn queues(&self, tenant: Option<&TenantName>) -> Result<Vec<QueueView>>;

    /// Every worker that is registered, by id.
    async fn workers(&self) -> Result<Vec<WorkerView>>;

    async fn schedule(&self, schedule: &ScheduleRef) -> Result<Option<ScheduleView>>;

    /// A page of the schedules of one tenant, by name.
    async fn schedules(&self, query: ScheduleQuery) -> Result<SchedulePage>;

    /// A page of what became of a schedule's occurrences, latest first. Outlives the schedule until it is pruned.
    async fn ledger(&self, query: LedgerQuery) -> Result<LedgerPage>;

    /// Where the jobs of a workflow are; `None` if there is none.
    async fn workflow(&self, tenant: &TenantName, id: WorkflowId) -> Result<Option<WorkflowView>>;

    /// Every rule of a tenant, and every gate of it that is not at rest and has no rule of its own but one with a
    /// pattern, or is closed without any: as of `now`, by reach.
    async fn gates(&self, tenant: &TenantName, now: Time) -> Result<Vec<GateView>>;

    /// The gates that do not let a job in at `now`, in the order of [`crate::gate::gates_of`]; none if it could go.
    /// `None` unless it is Ready and not paused.
    async fn hurdles(&self, tenant: &TenantName, id: JobId, now: Time) -> Result<Option<Vec<Hurdle>>>;

    /// How many waiting jobs fall due when.
    async fn agenda(&self, ask: AgendaAsk) -> Result<Agenda>;

    /// What it finds wrong with itself and with what it lives in; also what it looked at and found well. Empty where there is nothing to
    /// look at.
    async fn ailments(&self, now: Time) -> Result<Vec<Ailment>>;
}
