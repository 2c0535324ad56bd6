//! The reference store: small and obviously right. Every other store is held to its answers. Survives nothing: it is
//! for tests and for trying things out.
//!
//! All there is lies in one [`Book`] under one lock; each verb is a file that reads and writes it.

mod agenda;
mod book;
mod claim;
mod command;
mod find;
mod gates;
mod heartbeat;
mod hurdles;
mod moved;
mod numbers;
mod opened;
mod promote;
mod prune;
mod reclaim;
mod release;
mod report;
mod schedules;
mod seats;
mod settle;
mod share;
mod submit;
#[cfg(test)]
mod tests;
mod turn;
mod walk;
mod wakeups;
mod workflow;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use mainspring_core::gate::{GateRef, GateState};
use mainspring_core::id::{JobId, WorkflowId};
use mainspring_core::job::{Execution, Job, JobView, Standing};
use mainspring_core::limits;
use mainspring_core::name::TenantName;
use mainspring_core::placement::Placement;
use mainspring_core::schedule::{ScheduleRef, ScheduleView};
use mainspring_core::store::*;
use mainspring_core::time::Time;

use book::Book;
use numbers::Numbers;
pub use wakeups::{Alone, Together};

/// Remembers until it is dropped.
#[derive(Debug)]
pub struct Memory {
    book: Mutex<Book>,
}

impl Memory {
    pub fn new() -> Memory {
        Memory::with_queues_max(limits::QUEUES_MAX)
    }

    /// A store that knows at most so many queues.
    pub fn with_queues_max(queues_max: usize) -> Memory {
        Memory { book: Mutex::new(Book::new(queues_max, Placement::ONE, Numbers::together())) }
    }

    /// A store for tenants and segments that are placed so: one of several, or one that has all of them.
    pub fn placed(placement: Placement) -> Memory {
        Memory { book: Mutex::new(Book::new(limits::QUEUES_MAX, placement, Numbers::together())) }
    }

    /// The same, with a count of its own for the fences of each job and the versions of each schedule: what several such stores
    /// hand out is what one does.
    pub fn counting_apart(placement: Placement) -> Memory {
        Memory { book: Mutex::new(Book::new(limits::QUEUES_MAX, placement, Numbers::apart())) }
    }

    /// Whose turn it is among tenants is all that a store may forget when it is opened again.
    pub fn forget_turns(&self) {
        self.book().lines.clear();
    }

    /// Shows every job where it lies, by id: for those who look often, and cannot copy all they see.
    pub fn each_job(&self, mut look: impl FnMut(&Job, &Standing)) {
        self.book().jobs.values().for_each(|entry| look(&entry.job, &entry.standing));
    }

    /// Lets a test, or the simulator's mutants, break what is known of gates.
    pub fn tamper(&self, change: impl FnOnce(&mut BTreeMap<GateRef, GateState>)) {
        change(&mut self.book().gates.states);
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().expect("no verb panics half way")
    }
}

impl Default for Memory {
    fn default() -> Memory {
        Memory::new()
    }
}

#[async_trait]
impl Store for Memory {
    async fn submit(&self, now: Time, jobs: Vec<Job>) -> Result<Vec<Submitted>> {
        self.book().submit(now, jobs)
    }

    async fn promote(&self, now: Time, ask: Promote) -> Result<Promoted> {
        Ok(self.book().promote(now, ask))
    }

    async fn claim(&self, now: Time, claims: Vec<Claim>) -> Result<Vec<ClaimAnswer>> {
        let mut book = self.book();
        Ok(claims.iter().map(|claim| book.claim(now, claim)).collect())
    }

    async fn heartbeat(&self, now: Time, beats: Vec<Beat>) -> Result<Vec<Pulse>> {
        let mut book = self.book();
        Ok(beats.into_iter().map(|beat| book.heartbeat(now, beat)).collect())
    }

    async fn report(&self, now: Time, reports: Vec<Report>) -> Result<Vec<Hold>> {
        let mut book = self.book();
        Ok(reports.into_iter().map(|report| book.report(now, report)).collect())
    }

    async fn settle(&self, now: Time, settlements: Vec<Settlement>) -> Result<Vec<Settled>> {
        let mut book = self.book();
        Ok(settlements.into_iter().map(|settlement| book.settle(now, settlement)).collect())
    }

    async fn reclaim(&self, now: Time, ask: Reclaim) -> Result<Reclaimed> {
        Ok(self.book().reclaim(now, ask))
    }

    async fn command(&self, now: Time, commands: Vec<Command>) -> Result<Vec<Commanded>> {
        self.book().command(now, commands)
    }

    async fn turn(&self, now: Time, turns: Vec<Turn>) -> Result<Vec<Turned>> {
        self.book().turn(now, turns)
    }

    async fn prune(&self, now: Time, ask: Prune) -> Result<Pruned> {
        Ok(self.book().prune(now, ask))
    }
}

#[async_trait]
impl Views for Memory {
    fn describe(&self) -> String {
        "memory, survives nothing".into()
    }

    async fn get(&self, tenant: &TenantName, ids: Vec<JobId>) -> Result<Vec<Option<JobView>>> {
        let book = self.book();
        Ok(ids.into_iter().map(|id| book.get(tenant, id)).collect())
    }

    async fn find(&self, query: Query) -> Result<Page> {
        Ok(self.book().find(&query))
    }

    async fn executions(&self, tenant: &TenantName, id: JobId) -> Result<Vec<Execution>> {
        Ok(self.book().executions(tenant, id))
    }

    async fn ahead(&self, tenant: &TenantName, id: JobId, limit: u64) -> Result<Option<u64>> {
        Ok(self.book().ahead(tenant, id, limit))
    }

    async fn queues(&self, tenant: Option<&TenantName>) -> Result<Vec<QueueView>> {
        Ok(self.book().queues(tenant))
    }

    async fn workers(&self) -> Result<Vec<WorkerView>> {
        Ok(self.book().workers())
    }

    async fn schedule(&self, schedule: &ScheduleRef) -> Result<Option<ScheduleView>> {
        Ok(self.book().schedule(schedule))
    }

    async fn schedules(&self, query: ScheduleQuery) -> Result<SchedulePage> {
        Ok(self.book().schedules(&query))
    }

    async fn ledger(&self, query: LedgerQuery) -> Result<LedgerPage> {
        Ok(self.book().ledger(&query))
    }

    async fn workflow(&self, tenant: &TenantName, id: WorkflowId) -> Result<Option<WorkflowView>> {
        Ok(self.book().workflow(tenant, id))
    }

    async fn gates(&self, tenant: &TenantName, now: Time) -> Result<Vec<GateView>> {
        Ok(self.book().gates(tenant, now))
    }

    async fn hurdles(&self, tenant: &TenantName, id: JobId, now: Time) -> Result<Option<Vec<Hurdle>>> {
        Ok(self.book().hurdles(tenant, id, now))
    }

    /// It lives in this process alone: there is nothing to look at.
    async fn ailments(&self, _now: Time) -> Result<Vec<Ailment>> {
        Ok(Vec::new())
    }

    async fn agenda(&self, ask: AgendaAsk) -> Result<Agenda> {
        Ok(self.book().agenda(&ask))
    }
}
