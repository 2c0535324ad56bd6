//! What every promise is played on: a store in its home, and the short words to ask it with. Promises nothing itself.

mod gates;
mod nodes;
mod schedules;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mainspring_core::id::{JobId, LeaseId, WorkerId, WorkflowId};
use mainspring_core::job::{
    Claimed, Dependency, Execution, Failure, Idempotency, Job, JobView, Json, Keys, Membership, OnFailure, Role,
};
use mainspring_core::lifecycle::State;
use mainspring_core::name::{IdempotencyKey, QueueName, QueueRef, StepName, TenantName, TypeName};
use mainspring_core::placement::Placement;
use mainspring_core::rank::Priority;
use mainspring_core::retry::RetryPolicy;
use mainspring_core::schedule::segment_of;
use mainspring_core::seats::{Seats, Warrants};
use mainspring_core::segment::{Segment, Segments};
use mainspring_core::store::*;
use mainspring_core::time::Time;
use mainspring_core::verdict::{Cause, Verdict};

use crate::home::Home;
pub use gates::*;
pub use nodes::*;
pub use schedules::*;

/// One store, and the home it can be opened in again.
pub struct Stage {
    home: Box<dyn Home>,
    pub store: Arc<dyn Store>,
}

impl fmt::Debug for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stage").field("store", &self.store).finish_non_exhaustive()
    }
}

/// How long workers of a stage live from beat to beat.
pub const LEASE: Duration = Duration::from_secs(30);

/// So many milliseconds after the beginning.
pub fn at(ms: u64) -> Time {
    Time::from_millis(1_700_000_000_000 + ms)
}

/// How many databases a set may have to be held to the suite as one store is.
const SETS: [usize; 2] = [2, 3];

/// A tenant that begins with this name. All tenants of a stage live in one database, however many there are: what is promised
/// between tenants is promised between neighbours.
pub fn tenant(name: &str) -> TenantName {
    let sets = SETS.map(|shards| Placement::new(shards).expect("in range"));
    let is_neighbour =
        |tenant: &TenantName| sets.iter().all(|set| set.home(tenant) == set.home(&TenantName::default_tenant()));
    let names = std::iter::once(name.to_owned()).chain((1..).map(|number| format!("{name}-{number}")));
    let mut tenants = names.map(|name| TenantName::parse(&name).expect("a name"));
    tenants.find(is_neighbour).expect("one in six is")
}

pub fn queue(name: &str) -> QueueName {
    QueueName::parse(name).expect("a name")
}

pub fn queue_ref(name: &str) -> QueueRef {
    QueueRef { tenant: TenantName::default_tenant(), queue: queue(name) }
}

pub fn json(text: &str) -> Json {
    Json(text.into())
}

pub fn priority(points: i64) -> Priority {
    Priority::new(points).expect("in range")
}

/// Ids rise with the number. They lie in segments of the database that the stage's tenants live in.
pub fn id(number: u32) -> JobId {
    let placement = Placement::new(SETS.iter().product()).expect("in range");
    let segment = placement.segment_for(&TenantName::default_tenant(), u64::from(number));
    JobId::mint(at(0), number, segment, 0)
}

pub fn worker(number: u32) -> WorkerId {
    WorkerId(JobId::mint(at(0), number, Segment::wrap(0), 1).uuid())
}

/// A plain job that is due at the beginning, in the queue `mail`.
pub fn job(number: u32) -> Job {
    Job {
        id: id(number),
        tenant: TenantName::default_tenant(),
        queue: queue("mail"),
        kind: TypeName::parse("send").expect("a name"),
        data: json("{\"to\":\"somebody\"}"),
        priority: Priority::DEFAULT,
        submitted_at: at(0),
        run_at: at(0),
        deadline: None,
        expires_at: None,
        retry: RetryPolicy::default(),
        max_attempts: Job::MAX_ATTEMPTS_DEFAULT,
        max_crashes: Job::MAX_CRASHES_DEFAULT,
        timeout: None,
        tags: Vec::new(),
        idempotency: None,
        depends_on: vec![],
        workflow: None,
        origin: None,
        keys: Keys::default(),
    }
}

/// A job that waits for others, and is cancelled with them.
pub fn child(number: u32, parents: &[u32]) -> Job {
    bound(number, parents, OnFailure::Cancel)
}

pub fn bound(number: u32, parents: &[u32], on_failure: OnFailure) -> Job {
    let depends_on = parents.iter().map(|&parent| Dependency { parent: id(parent), on_failure }).collect();
    Job { depends_on, ..job(number) }
}

pub fn workflow(number: u32) -> WorkflowId {
    WorkflowId(JobId::mint(at(0), number, Segment::wrap(0), 2).uuid())
}

/// This job as a step of a workflow.
pub fn step(of: u32, job: Job) -> Job {
    member(of, Role::Step, job)
}

/// This job as what follows a workflow.
pub fn callback(of: u32, job: Job) -> Job {
    member(of, Role::Callback, job)
}

fn member(of: u32, role: Role, job: Job) -> Job {
    let name = StepName::parse(&job.id.to_string()).expect("an id is a name");
    Job { workflow: Some(Box::new(Membership { workflow: workflow(of), step: name, role })), ..job }
}

pub fn accepted(state: State, ready_ms: u64) -> Submitted {
    Submitted::Accepted { state, ready_at: at(ready_ms) }
}

pub fn keyed(key: &str, words: u8, until_ms: u64) -> Idempotency {
    let key = IdempotencyKey::parse(key).expect("printable");
    Idempotency { key, fingerprint: [words; 16], until: at(until_ms) }
}

pub fn claim_of(number: u32, queues: &[&str], max: usize) -> Claim {
    let queues = queues.iter().map(|name| queue(name)).collect();
    Claim { worker: worker(number), tenant: TenantName::default_tenant(), whose: Whose::Own, queues, max }
}

pub fn succeed() -> Verdict {
    Verdict::Succeed { result: None }
}

pub fn retry(at: Time) -> Verdict {
    Verdict::Retry { at, cause: Cause::Failure, error: Failure::new("boom") }
}

pub fn bury() -> Verdict {
    Verdict::Bury { cause: Cause::Failure, error: Failure::new("boom") }
}

pub fn cancel() -> JobCommand {
    JobCommand::Cancel { reason: "no longer wanted".into() }
}

impl Stage {
    pub fn seats(&self) -> Arc<dyn Seats> {
        self.home.seats().expect("a store of its own keeps seats")
    }

    /// The segment of one of the default tenant's schedules.
    pub fn segment_of(&self, name: &str) -> Segment {
        segment_of(&schedule(name), self.home.placement())
    }

    pub async fn set(mut home: Box<dyn Home>) -> Stage {
        let store = home.open().await;
        Stage { home, store }
    }

    /// Closes the store and opens it again.
    pub async fn reopen(self) -> Stage {
        let Stage { mut home, store } = self;
        let store = home.reopen(store).await;
        Stage { home, store }
    }

    pub async fn submit(&self, now: Time, jobs: Vec<Job>) -> Vec<Submitted> {
        self.store.submit(now, jobs).await.expect("submit")
    }

    /// Submits jobs that must all be accepted.
    pub async fn accept(&self, now: Time, jobs: Vec<Job>) {
        let answers = self.submit(now, jobs).await;
        assert!(answers.iter().all(|answer| matches!(answer, Submitted::Accepted { .. })), "{answers:?}");
    }

    /// Promotes all that is due; how many that were.
    pub async fn promote(&self, now: Time) -> u64 {
        let mut count = 0;
        loop {
            let promoted = self.store.promote(now, everything(1000)).await.expect("promote");
            count += promoted.ready.iter().map(|(_, count)| count).sum::<u64>();
            if !promoted.more {
                return count;
            }
        }
    }

    pub async fn beat(&self, now: Time, number: u32, kind: BeatKind) -> Pulse {
        let beat = Beat { worker: worker(number), tenant: TenantName::default_tenant(), kind };
        self.store.heartbeat(now, vec![beat]).await.expect("heartbeat").remove(0)
    }

    pub async fn register(&self, now: Time, number: u32) {
        let kind = BeatKind::Register { info: WorkerInfo::default(), lease: LEASE };
        assert!(matches!(self.beat(now, number, kind).await, Pulse::Alive { .. }));
    }

    pub async fn claim_from(&self, now: Time, number: u32, queues: &[&str], max: usize) -> ClaimAnswer {
        self.store.claim(now, vec![claim_of(number, queues, max)]).await.expect("claim").remove(0)
    }

    /// Runs a job of `mail` that is the next to be handed out, as worker 1, and ends it so.
    pub async fn run(&self, now: Time, number: u32, verdict: Verdict) -> Settled {
        self.register(now, 1).await;
        let claimed = self.claim_one(now, 1).await;
        assert_eq!(claimed.job.id, id(number));
        self.settle(now, claimed.lease_id(), verdict).await
    }

    /// Claims from `mail`.
    pub async fn claim(&self, now: Time, number: u32, max: usize) -> Vec<Claimed> {
        match self.claim_from(now, number, &["mail"], max).await {
            ClaimAnswer::Jobs(jobs) => jobs,
            other => panic!("worker {number} was answered {other:?}"),
        }
    }

    /// Claims from `mail` what must be there.
    pub async fn claim_one(&self, now: Time, number: u32) -> Claimed {
        self.claim(now, number, 1).await.pop().expect("a job must be ready")
    }

    /// One job that worker 1 runs since the beginning.
    pub async fn running(&self, job: Job) -> Claimed {
        self.accept(at(0), vec![job]).await;
        self.register(at(0), 1).await;
        self.claim_one(at(0), 1).await
    }

    pub async fn settle(&self, now: Time, lease: LeaseId, verdict: Verdict) -> Settled {
        self.store.settle(now, vec![Settlement { lease, verdict }]).await.expect("settle").remove(0)
    }

    /// Settles a lease that must hold.
    pub async fn end(&self, now: Time, lease: LeaseId, verdict: Verdict) {
        let settled = self.settle(now, lease, verdict).await;
        assert!(matches!(settled, Settled::Applied { .. }), "{settled:?}");
    }

    pub async fn report(&self, now: Time, lease: LeaseId, kind: ReportKind) -> Hold {
        self.store.report(now, vec![Report { lease, kind }]).await.expect("report").remove(0)
    }

    /// Takes back all that ran out, to be settled within ten seconds.
    pub async fn reclaim(&self, now: Time) -> Reclaimed {
        self.store.reclaim(now, sweep(now)).await.expect("reclaim")
    }

    pub async fn command(&self, now: Time, id: JobId, what: JobCommand) -> Commanded {
        let command = Command::Job { tenant: TenantName::default_tenant(), id, what };
        self.store.command(now, vec![command]).await.expect("command").remove(0)
    }

    pub async fn command_queue(&self, now: Time, name: &str, what: QueueCommand) {
        let command = Command::Queue { queue: queue_ref(name), what };
        assert_eq!(self.store.command(now, vec![command]).await.expect("command"), [Commanded::Done]);
    }

    pub async fn prune(&self, now: Time, ended_before: Time, dead_before: Time) -> Pruned {
        self.store.prune(now, Prune { ended_before, dead_before, ..nothing() }).await.expect("prune")
    }

    pub async fn look(&self, id: JobId) -> Option<JobView> {
        self.store.get(&TenantName::default_tenant(), vec![id]).await.expect("get").remove(0)
    }

    pub async fn view(&self, id: JobId) -> JobView {
        self.look(id).await.expect("the job must be there")
    }

    pub async fn state(&self, id: JobId) -> State {
        self.view(id).await.standing.state
    }

    pub async fn executions(&self, id: JobId) -> Vec<Execution> {
        self.store.executions(&TenantName::default_tenant(), id).await.expect("executions")
    }

    pub async fn states(&self, numbers: impl IntoIterator<Item = u32>) -> Vec<State> {
        let mut states = Vec::new();
        for number in numbers {
            states.push(self.state(id(number)).await);
        }
        states
    }

    pub async fn queue(&self, name: &str) -> QueueView {
        let queues = self.store.queues(Some(&TenantName::default_tenant())).await.expect("queues");
        queues.into_iter().find(|view| view.queue == queue_ref(name)).expect("the queue must be there")
    }

    /// Every job of the tenant, newest id first, over as many pages as it takes.
    pub async fn find(&self, filter: Filter, limit: usize) -> Vec<JobId> {
        let mut query = Query { tenant: TenantName::default_tenant(), filter, below: None, limit };
        let mut found = Vec::new();
        loop {
            let page = self.store.find(query.clone()).await.expect("find");
            assert!(page.jobs.len() <= limit);
            found.extend(page.jobs.into_iter().map(|view| view.job.id));
            query.below = page.next;
            if page.next.is_none() {
                return found;
            }
        }
    }
}

/// Promote all segments, look at nothing ahead.
pub fn everything(limit: usize) -> Promote {
    Promote {
        segments: Segments::ALL,
        warrants: Warrants::NONE,
        limit,
        look_ahead_until: Time::ZERO,
        look_ahead_limit: 0,
        due_limit: 0,
    }
}

/// Prune what has no retention: keys.
pub fn nothing() -> Prune {
    Prune { ended_before: Time::ZERO, dead_before: Time::ZERO, ledger_before: Time::ZERO, limit: 1000, warrant: None }
}

/// Reclaim all that ran out.
pub fn sweep(now: Time) -> Reclaim {
    Reclaim { limit: 1000, hold_until: now.after(Duration::from_secs(10)), spare_silent: false, warrant: None }
}
