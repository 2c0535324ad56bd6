//! The store of a cluster: PostgreSQL 15 or later, shared by as many nodes as there are.
//!
//! - `options`, `tls`, `pool`, `error`: how the database is reached, and what its errors mean. `open`, `migrate`, `charter`:
//!   what it must be before anything is done. `migrations/` holds the tables; what they mean is written there.
//! - `numbers`, `record`, `extras`, `slip`, `columns`, `packed`: rows, both directions. `bulk`: many rows into a table.
//!   `pipeline`: many statements in one round trip, or one that is a transaction. `moves`: all that is written about jobs that
//!   move. `queue_ids`: which number a queue has.
//! - One file per verb, with its statements in `sql/`. `plan` decides for submit, `offers` and `lend` serve claim, `held` and
//!   `succeed` whatever ends a lease; `limits/` is what gates keep.
//! - `seats`, `wakeups`: what nodes need of each other. `upkeep`, `renew`: small tables stay small. `load/`: moving house into this
//!   store.

mod agenda;
mod ahead;
mod ailments;
mod buckets;
mod bulk;
mod charter;
mod claim;
mod columns;
mod command;
mod error;
mod executions;
mod extras;
mod find;
mod forget;
mod get;
mod heartbeat;
mod held;
mod hold;
mod leaving;
mod ledger;
mod lend;
mod line;
mod limits;
mod load;
mod migrate;
mod moves;
mod numbers;
mod offers;
mod open;
mod options;
mod packed;
mod pipeline;
mod plan;
mod pool;
mod promote;
mod prune;
mod queue_ids;
mod queues;
mod reclaim;
mod record;
mod release;
mod renew;
mod report;
mod schedules;
mod seats;
mod settle;
mod settle_and_claim;
mod slip;
mod submit;
mod succeed;
mod tls;
mod turn;
mod upkeep;
mod view;
mod wakeups;
mod warrant;
mod workers;
mod workflow;

#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod charter_tests;
#[cfg(test)]
mod open_tests;
#[cfg(test)]
mod seats_tests;
#[cfg(test)]
mod submit_sql_tests;
#[cfg(test)]
mod schema_tests;
#[cfg(test)]
mod held_snapshot_tests;
#[cfg(test)]
mod races_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod walk_tests;

use async_trait::async_trait;
use mainspring_core::id::{JobId, WorkflowId};
use mainspring_core::job::{Execution, Job, JobView};
use mainspring_core::name::TenantName;
use mainspring_core::placement::Placement;
use mainspring_core::schedule::{ScheduleRef, ScheduleView};
use mainspring_core::store::*;
use mainspring_core::time::Time;

pub use load::{LoadError, Loader, Progress};
pub use migrate::{MIGRATIONS, MigrateError, Migration, Status};
pub use open::{OpenError, Opened, OpenedSet, migrate_up, migration_status};
pub use options::{BadAddress, Options, without_password};
pub use seats::PostgresSeats;
pub use tls::BadRoots;
pub use wakeups::PostgresWakeups;

use limits::Limits;
use line::Line;
use pool::Pool;
use queue_ids::QueueIds;
use upkeep::Upkeep;

/// One renews while the other shows the cluster to somebody.
const SEATS_CONNECTIONS_MAX: usize = 2;

/// A store in a PostgreSQL database.
#[derive(Debug)]
pub struct Postgres {
    pool: Pool,
    /// Connections of their own for seats: when jobs wait in line for a lock, they take up all the others.
    seats_pool: Pool,
    /// For submits, and for claims and settlements, that are one statement.
    submit_line: Line,
    turn_line: Line,
    queues: QueueIds,
    limits: Limits,
    upkeep: Upkeep,
    queues_max: usize,
    has_buckets: bool,
    /// Which segments the schedules of a tenant have.
    placement: Placement,
}

impl Postgres {
    /// `connect` makes a pool of so many connections.
    fn new(connect: impl Fn(usize) -> Pool, options: &Options, placement: Placement) -> Postgres {
        let has_buckets = options.has_buckets;
        Postgres {
            pool: connect(options.connections_max.max(Options::CONNECTIONS_MIN)),
            seats_pool: connect(SEATS_CONNECTIONS_MAX),
            submit_line: Line::new(connect(Line::CONNECTIONS)),
            turn_line: Line::new(connect(Line::CONNECTIONS)),
            queues: QueueIds::default(),
            limits: Limits::default(),
            upkeep: Upkeep::default(),
            queues_max: mainspring_core::limits::QUEUES_MAX,
            has_buckets,
            placement,
        }
    }

    /// Which database on which host, for people.
    pub fn place(&self) -> &str {
        &self.pool.place
    }

    /// The seats of the nodes that share this database.
    pub fn seats(&self) -> PostgresSeats {
        PostgresSeats::new(self.seats_pool.clone())
    }
}

#[async_trait]
impl Store for Postgres {
    async fn submit(&self, now: Time, jobs: Vec<Job>) -> Result<Vec<Submitted>> {
        submit::submit(self, now, jobs).await
    }

    async fn promote(&self, now: Time, ask: Promote) -> Result<Promoted> {
        promote::promote(self, now, ask).await
    }

    async fn claim(&self, now: Time, claims: Vec<Claim>) -> Result<Vec<ClaimAnswer>> {
        claim::claim(self, now, claims).await
    }

    async fn heartbeat(&self, now: Time, beats: Vec<Beat>) -> Result<Vec<Pulse>> {
        heartbeat::heartbeat(self, now, beats).await
    }

    async fn report(&self, now: Time, reports: Vec<Report>) -> Result<Vec<Hold>> {
        report::report(self, now, reports).await
    }

    async fn settle(&self, now: Time, settlements: Vec<Settlement>) -> Result<Vec<Settled>> {
        settle::settle(self, now, settlements).await
    }

    async fn settle_and_claim(&self, now: Time, settlements: Vec<Settlement>, claims: Vec<Claim>) -> SettledAndClaimed {
        settle_and_claim::settle_and_claim(self, now, settlements, claims).await
    }

    async fn reclaim(&self, now: Time, ask: Reclaim) -> Result<Reclaimed> {
        reclaim::reclaim(self, now, ask).await
    }

    async fn command(&self, now: Time, commands: Vec<Command>) -> Result<Vec<Commanded>> {
        command::command(self, now, commands).await
    }

    async fn turn(&self, now: Time, turns: Vec<Turn>) -> Result<Vec<Turned>> {
        turn::turn(self, now, turns).await
    }

    async fn prune(&self, now: Time, ask: Prune) -> Result<Pruned> {
        prune::prune(self, now, ask).await
    }
}

#[async_trait]
impl Views for Postgres {
    fn describe(&self) -> String {
        format!("PostgreSQL at {}, committed before each answer", self.pool.place)
    }

    async fn get(&self, tenant: &TenantName, ids: Vec<JobId>) -> Result<Vec<Option<JobView>>> {
        get::get(self, tenant, ids).await
    }

    async fn find(&self, query: Query) -> Result<Page> {
        find::find(self, query).await
    }

    async fn executions(&self, tenant: &TenantName, id: JobId) -> Result<Vec<Execution>> {
        executions::executions(self, tenant, id).await
    }

    async fn ahead(&self, tenant: &TenantName, id: JobId, limit: u64) -> Result<Option<u64>> {
        ahead::ahead(self, tenant, id, limit).await
    }

    async fn queues(&self, tenant: Option<&TenantName>) -> Result<Vec<QueueView>> {
        queues::queues(self, tenant).await
    }

    async fn workers(&self) -> Result<Vec<WorkerView>> {
        workers::workers(self).await
    }

    async fn schedule(&self, schedule: &ScheduleRef) -> Result<Option<ScheduleView>> {
        schedules::schedule(self, schedule).await
    }

    async fn schedules(&self, query: ScheduleQuery) -> Result<SchedulePage> {
        schedules::schedules(self, query).await
    }

    async fn ledger(&self, query: LedgerQuery) -> Result<LedgerPage> {
        ledger::ledger(self, query).await
    }

    async fn workflow(&self, tenant: &TenantName, id: WorkflowId) -> Result<Option<WorkflowView>> {
        workflow::workflow(self, tenant, id).await
    }

    async fn gates(&self, tenant: &TenantName, now: Time) -> Result<Vec<GateView>> {
        limits::gates(self, tenant, now).await
    }

    async fn hurdles(&self, tenant: &TenantName, id: JobId, now: Time) -> Result<Option<Vec<Hurdle>>> {
        limits::hurdles(self, tenant, id, now).await
    }

    async fn ailments(&self, _now: Time) -> Result<Vec<Ailment>> {
        ailments::ailments(self, ailments::LONG_TRANSACTION).await
    }

    async fn agenda(&self, ask: AgendaAsk) -> Result<Agenda> {
        agenda::agenda(self, &ask).await
    }
}
