//! One span per call, for any store. Measures no time: stores read no clock, whoever calls them does.

use std::sync::Arc;

use async_trait::async_trait;
use mainspring_core::id::{JobId, WorkflowId};
use mainspring_core::job::{Execution, Job, JobView};
use mainspring_core::name::TenantName;
use mainspring_core::schedule::{ScheduleRef, ScheduleView};
use mainspring_core::store::*;
use mainspring_core::time::Time;
use tracing::{Instrument, debug_span};

/// A store that is seen at work.
#[derive(Clone, Debug)]
pub struct Traced(pub Arc<dyn Store>);

#[async_trait]
impl Store for Traced {
    async fn submit(&self, now: Time, jobs: Vec<Job>) -> Result<Vec<Submitted>> {
        let span = debug_span!("store.submit", jobs = jobs.len());
        self.0.submit(now, jobs).instrument(span).await
    }

    async fn promote(&self, now: Time, ask: Promote) -> Result<Promoted> {
        let span = debug_span!("store.promote", limit = ask.limit);
        self.0.promote(now, ask).instrument(span).await
    }

    async fn claim(&self, now: Time, claims: Vec<Claim>) -> Result<Vec<ClaimAnswer>> {
        let span = debug_span!("store.claim", claims = claims.len());
        self.0.claim(now, claims).instrument(span).await
    }

    async fn heartbeat(&self, now: Time, beats: Vec<Beat>) -> Result<Vec<Pulse>> {
        let span = debug_span!("store.heartbeat", beats = beats.len());
        self.0.heartbeat(now, beats).instrument(span).await
    }

    async fn report(&self, now: Time, reports: Vec<Report>) -> Result<Vec<Hold>> {
        let span = debug_span!("store.report", reports = reports.len());
        self.0.report(now, reports).instrument(span).await
    }

    async fn settle(&self, now: Time, settlements: Vec<Settlement>) -> Result<Vec<Settled>> {
        let span = debug_span!("store.settle", settlements = settlements.len());
        self.0.settle(now, settlements).instrument(span).await
    }

    async fn settle_and_claim(&self, now: Time, settlements: Vec<Settlement>, claims: Vec<Claim>) -> SettledAndClaimed {
        let span = debug_span!("store.settle_and_claim", settlements = settlements.len(), claims = claims.len());
        self.0.settle_and_claim(now, settlements, claims).instrument(span).await
    }

    async fn reclaim(&self, now: Time, ask: Reclaim) -> Result<Reclaimed> {
        let span = debug_span!("store.reclaim", limit = ask.limit);
        self.0.reclaim(now, ask).instrument(span).await
    }

    async fn command(&self, now: Time, commands: Vec<Command>) -> Result<Vec<Commanded>> {
        let span = debug_span!("store.command", commands = commands.len());
        self.0.command(now, commands).instrument(span).await
    }

    async fn turn(&self, now: Time, turns: Vec<Turn>) -> Result<Vec<Turned>> {
        let span = debug_span!("store.turn", turns = turns.len());
        self.0.turn(now, turns).instrument(span).await
    }

    async fn prune(&self, now: Time, ask: Prune) -> Result<Pruned> {
        let span = debug_span!("store.prune", limit = ask.limit);
        self.0.prune(now, ask).instrument(span).await
    }
}

#[async_trait]
impl Views for Traced {
    fn describe(&self) -> String {
        self.0.describe()
    }

    async fn get(&self, tenant: &TenantName, ids: Vec<JobId>) -> Result<Vec<Option<JobView>>> {
        let span = debug_span!("store.get", %tenant, ids = ids.len());
        self.0.get(tenant, ids).instrument(span).await
    }

    async fn find(&self, query: Query) -> Result<Page> {
        let span = debug_span!("store.find", tenant = %query.tenant, limit = query.limit);
        self.0.find(query).instrument(span).await
    }

    async fn executions(&self, tenant: &TenantName, id: JobId) -> Result<Vec<Execution>> {
        let span = debug_span!("store.executions", %tenant, %id);
        self.0.executions(tenant, id).instrument(span).await
    }

    async fn ahead(&self, tenant: &TenantName, id: JobId, limit: u64) -> Result<Option<u64>> {
        let span = debug_span!("store.ahead", %tenant, %id, limit);
        self.0.ahead(tenant, id, limit).instrument(span).await
    }

    async fn queues(&self, tenant: Option<&TenantName>) -> Result<Vec<QueueView>> {
        self.0.queues(tenant).instrument(debug_span!("store.queues")).await
    }

    async fn workers(&self) -> Result<Vec<WorkerView>> {
        self.0.workers().instrument(debug_span!("store.workers")).await
    }

    async fn schedule(&self, schedule: &ScheduleRef) -> Result<Option<ScheduleView>> {
        let span = debug_span!("store.schedule", tenant = %schedule.tenant, name = %schedule.name);
        self.0.schedule(schedule).instrument(span).await
    }

    async fn schedules(&self, query: ScheduleQuery) -> Result<SchedulePage> {
        let span = debug_span!("store.schedules", tenant = %query.tenant, limit = query.limit);
        self.0.schedules(query).instrument(span).await
    }

    async fn ledger(&self, query: LedgerQuery) -> Result<LedgerPage> {
        let schedule = &query.schedule;
        let span = debug_span!("store.ledger", tenant = %schedule.tenant, name = %schedule.name, limit = query.limit);
        self.0.ledger(query).instrument(span).await
    }

    async fn workflow(&self, tenant: &TenantName, id: WorkflowId) -> Result<Option<WorkflowView>> {
        let span = debug_span!("store.workflow", %tenant, id = %id.0);
        self.0.workflow(tenant, id).instrument(span).await
    }

    async fn gates(&self, tenant: &TenantName, now: Time) -> Result<Vec<GateView>> {
        self.0.gates(tenant, now).instrument(debug_span!("store.gates", %tenant)).await
    }

    async fn hurdles(&self, tenant: &TenantName, id: JobId, now: Time) -> Result<Option<Vec<Hurdle>>> {
        self.0.hurdles(tenant, id, now).instrument(debug_span!("store.hurdles", %tenant, %id)).await
    }

    async fn ailments(&self, now: Time) -> Result<Vec<Ailment>> {
        self.0.ailments(now).instrument(debug_span!("store.ailments")).await
    }

    async fn agenda(&self, ask: AgendaAsk) -> Result<Agenda> {
        let span = debug_span!("store.agenda", jobs_max = ask.jobs_max);
        self.0.agenda(ask).instrument(span).await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU64, Ordering};

    use mainspring_core::seats::Seats;
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    use super::*;
    use crate::conformance::stage::*;
    use crate::home::Home;
    use crate::memory::Memory;

    struct TracedHome(Arc<Memory>);

    impl TracedHome {
        fn new() -> TracedHome {
            TracedHome(Arc::new(Memory::new()))
        }
    }

    #[async_trait]
    impl Home for TracedHome {
        async fn open(&mut self) -> Arc<dyn Store> {
            Arc::new(Traced(self.0.clone()))
        }

        fn seats(&self) -> Option<Arc<dyn Seats>> {
            Some(self.0.clone())
        }

        async fn reopen(&mut self, _: Arc<dyn Store>) -> Arc<dyn Store> {
            self.0.forget_turns();
            self.open().await
        }
    }

    crate::lockstep!(traced, TracedHome::new);

    /// Writes down the spans it sees.
    #[derive(Clone, Default)]
    struct Seen(Arc<(Mutex<Vec<&'static str>>, AtomicU64)>);

    impl Subscriber for Seen {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, span: &Attributes<'_>) -> Id {
            self.0.0.lock().unwrap().push(span.metadata().name());
            Id::from_u64(1 + self.0.1.fetch_add(1, Ordering::Relaxed))
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn event(&self, _: &Event<'_>) {}
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn every_call_is_one_span_of_its_name() {
        let seen = Seen::default();
        let calls = async {
            let stage = Stage::set(Box::new(TracedHome::new())).await;
            let claimed = stage.running(job(1)).await;
            stage.report(at(1), claimed.lease_id(), ReportKind::Started).await;
            stage.end(at(2), claimed.lease_id(), succeed()).await;
            stage.promote(at(3)).await;
            stage.reclaim(at(3)).await;
            stage.command(at(4), id(1), JobCommand::Pause).await;
            stage.prune(at(4), at(0), at(0)).await;
            stage.look(id(1)).await;
            stage.find(Filter::default(), 10).await;
            stage.executions(id(1)).await;
            stage.store.ahead(&tenant("default"), id(1), 1).await.expect("ahead");
            stage.queue("mail").await;
            stage.store.workers().await.expect("workers");
            stage.turn(at(5), vec![put("hourly", None)]).await;
            stage.schedule("hourly").await;
            stage.names(10).await;
            stage.ledger("hourly", 10).await;
            stage.store.workflow(&tenant("default"), workflow(1)).await.expect("workflow");
            stage.store.gates(&tenant("default"), at(5)).await.expect("gates");
            stage.store.hurdles(&tenant("default"), id(1), at(5)).await.expect("hurdles");
            let step = std::time::Duration::from_secs(1);
            let ask = AgendaAsk { tenant: None, from: at(0), until: at(9), step, jobs_max: 1 };
            stage.store.agenda(ask).await.expect("agenda");
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        tracing::subscriber::with_default(seen.clone(), || runtime.block_on(calls));
        let names = seen.0.0.lock().unwrap().clone();
        let verbs =
            "submit heartbeat claim report settle promote reclaim command prune get find executions ahead queues
            workers turn schedule schedules ledger workflow gates hurdles agenda";
        let expected: Vec<String> = verbs.split_whitespace().map(|verb| format!("store.{verb}")).collect();
        assert_eq!(names, expected);
    }
}
