//! The embedded store against the reference, and what only a store with a disk can break.

use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use mainspring_core::id::{JobId, WorkflowId};
use mainspring_core::job::{Dependency, Job, Json, Keys, Membership, OnFailure, Role};
use mainspring_core::name::{QueueName, ScheduleName, StepName, TenantName, TypeName};
use mainspring_core::rank::Priority;
use mainspring_core::retry::RetryPolicy;
use mainspring_core::schedule::{self, Catchup, LedgerRow, Overlap, Schedule, Template, What, When};
use mainspring_core::seats::Seats;
use mainspring_core::segment::Segment;
use mainspring_core::store::{Error, LedgerQuery, Prune, Store, To, Turn, Turned, Views};
use mainspring_core::time::Time;
use tempfile::TempDir;

use super::{Embedded, FORMAT, OpenError, Options};
use crate::home::Home;

/// A directory of its own, in memory if the machine has such a place: the suites make thousands of commits, and that
/// they reach a disk is shown by the tests that kill the server.
pub struct EmbeddedHome(TempDir, Weak<Embedded>);

impl EmbeddedHome {
    pub fn new() -> EmbeddedHome {
        let home = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        EmbeddedHome(home.expect("a directory for the test"), Weak::new())
    }
}

#[async_trait]
impl Home for EmbeddedHome {
    async fn open(&mut self) -> Arc<dyn Store> {
        // Whoever answered last may hold the directory for an instant longer.
        let store = loop {
            match Embedded::open(Options { reserve_bytes: 0, ..Options::new(self.0.path()) }) {
                Err(OpenError::InUse { .. }) => tokio::task::yield_now().await,
                opened => break Arc::new(opened.expect("the directory is ours alone")),
            }
        };
        self.1 = Arc::downgrade(&store);
        store
    }

    fn seats(&self) -> Option<Arc<dyn Seats>> {
        self.1.upgrade().map(|store| store as Arc<dyn Seats>)
    }
}

crate::lockstep!(embedded, EmbeddedHome::new);
crate::conformance!(EmbeddedHome::new);

const NOW: Time = Time::from_millis(1_700_000_000_000);

fn job(order: u32, data_bytes: usize) -> Job {
    Job {
        id: JobId::mint(NOW, order, Segment::wrap(order as u8), 0),
        tenant: TenantName::default_tenant(),
        queue: QueueName::default_queue(),
        kind: TypeName::parse("mail").expect("a name"),
        data: Json(format!("\"{}\"", "x".repeat(data_bytes)).into()),
        priority: Priority::DEFAULT,
        submitted_at: NOW,
        run_at: NOW,
        deadline: None,
        expires_at: None,
        retry: RetryPolicy::default(),
        max_attempts: 3,
        max_crashes: 5,
        timeout: None,
        tags: Vec::new(),
        idempotency: None,
        depends_on: vec![],
        workflow: None,
        origin: None,
        keys: Keys::default(),
    }
}

#[test]
fn a_second_opener_is_told_who_holds_the_directory() {
    let home = EmbeddedHome::new();
    let first = Embedded::open(Options::new(home.0.path())).expect("nobody has it");
    let refused = Embedded::open(Options::new(home.0.path())).expect_err("the first one has it");
    let said = refused.to_string();
    assert!(matches!(refused, OpenError::InUse { .. }), "{said}");
    assert!(said.contains(&format!("in use by process {}", std::process::id())), "{said}");
    drop(first);
    Embedded::open(Options::new(home.0.path())).expect("it was given back");
}

#[test]
fn a_newer_format_is_refused_and_left_alone() {
    let home = EmbeddedHome::new();
    let store = Embedded::open(Options::new(home.0.path())).expect("nobody has it");
    let disk = store.reader.disk();
    let mut txn = disk.env.write_txn().expect("a transaction");
    disk.tables.meta.put(&mut txn, b"format", &(FORMAT + 1).to_be_bytes()).expect("room");
    txn.commit().expect("a commit");
    drop(store);
    for _ in 0..2 {
        let refused = Embedded::open(Options::new(home.0.path())).expect_err("it is newer");
        assert!(matches!(refused, OpenError::Newer { found, .. } if found == FORMAT + 1), "{refused}");
        assert!(refused.to_string().contains("upgrade this program"), "{refused}");
    }
}

#[test]
fn a_directory_from_before_the_first_release_is_refused_and_left_alone() {
    let home = EmbeddedHome::new();
    let store = Embedded::open(Options::new(home.0.path())).expect("nobody has it");
    let disk = store.reader.disk();
    let mut txn = disk.env.write_txn().expect("a transaction");
    disk.tables.meta.put(&mut txn, b"format", &(FORMAT - 1).to_be_bytes()).expect("room");
    txn.commit().expect("a commit");
    drop(store);
    for _ in 0..2 {
        let refused = Embedded::open(Options::new(home.0.path())).expect_err("it is older");
        assert!(matches!(refused, OpenError::Older { found, .. } if found == FORMAT - 1), "{refused}");
        assert!(refused.to_string().contains("start with an empty directory"), "{refused}");
    }
}

#[test]
fn a_file_in_place_of_the_directory_is_a_clear_error() {
    let home = EmbeddedHome::new();
    let path = home.0.path().join("taken");
    std::fs::write(&path, "a file").expect("a file");
    let refused = Embedded::open(Options::new(&path)).expect_err("it is a file");
    assert!(refused.to_string().contains("could not use"), "{refused}");
}

#[tokio::test]
async fn limits_are_named_a_full_store_refuses_jobs_loses_none_and_takes_them_again_once_there_is_room() {
    let home = EmbeddedHome::new();
    let options = Options { max_bytes: 2 << 20, reserve_bytes: 0, ..Options::new(home.0.path()) };
    let store = Embedded::open(options).expect("nobody has it");
    let mut accepted = Vec::new();
    let refused = loop {
        let batch: Vec<Job> = (0..50).map(|n| job(accepted.len() as u32 + n, 1000)).collect();
        let ids: Vec<JobId> = batch.iter().map(|job| job.id).collect();
        match store.submit(NOW, batch).await {
            Ok(_) => accepted.extend(ids),
            Err(error) => break error,
        }
        assert!(accepted.len() < 10_000, "it must be full some time");
    };
    assert!(matches!(refused, Error::Full(_)), "{refused}");
    assert!(refused.to_string().contains("store.max_size"), "{refused}");

    let tenant = TenantName::default_tenant();
    let views = store.get(&tenant, accepted.clone()).await.expect("reads go on");
    assert!(views.iter().all(Option::is_some), "nothing accepted is lost");

    let cancel = |&id: &JobId| mainspring_core::store::Command::Job {
        tenant: tenant.clone(),
        id,
        what: mainspring_core::store::JobCommand::Cancel { reason: "to make room".into() },
    };
    store.command(NOW, accepted.iter().map(cancel).collect()).await.expect("ending jobs goes on");
    let ask =
        Prune { ended_before: Time::MAX, dead_before: Time::MAX, ledger_before: Time::MAX, limit: 100, warrant: None };
    while store.prune(NOW, ask).await.expect("retention goes on").more {}
    store.submit(NOW, vec![job(900_000, 1000)]).await.expect("there is room again");
}

#[tokio::test]
async fn limits_are_named_a_disk_with_little_left_takes_no_jobs() {
    let home = EmbeddedHome::new();
    let options = Options { reserve_bytes: u64::MAX, ..Options::new(home.0.path()) };
    let store = Embedded::open(options).expect("nobody has it");
    let refused = store.submit(NOW, vec![job(1, 10)]).await.expect_err("no disk is that large");
    assert!(matches!(&refused, Error::Full(why) if why.contains("store.reserve")), "{refused}");
    assert!(store.queues(None).await.expect("reads go on").is_empty());
}

#[tokio::test]
async fn limits_are_named_one_queue_too_many_is_refused_whole() {
    let home = EmbeddedHome::new();
    let options = Options { queues_max: 2, reserve_bytes: 0, ..Options::new(home.0.path()) };
    let store = Embedded::open(options).expect("nobody has it");
    let of = |order: u32| Job { queue: QueueName::parse(&format!("q{order}")).expect("a name"), ..job(order, 1) };
    let refused = store.submit(NOW, vec![of(1), of(2), of(3)]).await.expect_err("one too many");
    assert!(matches!(&refused, Error::Invalid(why) if why.contains("queues_max")), "{refused}");
    assert!(store.queues(None).await.expect("reads go on").is_empty(), "nothing of it happened");
    store.submit(NOW, vec![of(1), of(2), of(1)]).await.expect("two fit");
}

fn schedule(name: &str) -> Schedule {
    Schedule {
        tenant: TenantName::default_tenant(),
        name: ScheduleName::parse(name).expect("a name"),
        when: When::new(Vec::new()),
        job: Template::new(TypeName::parse("mail").expect("a name")),
        catchup: Catchup::default(),
        overlap: Overlap::default(),
        jitter: Duration::ZERO,
        max_runs: None,
        pause_on_failure: false,
        note: None,
    }
}

/// Puts a schedule, with these jobs and a ledger row.
fn put(schedule: &Schedule, expect: Option<u64>, jobs: Vec<Job>) -> Turn {
    let standing = schedule::Standing {
        revision: 1,
        created_at: NOW,
        updated_at: NOW,
        pause: None,
        last: NOW,
        next: Some(NOW),
        wake_at: Some(NOW),
        runs: 0,
        last_job: None,
        last_fired: None,
    };
    let rows = vec![LedgerRow::one(NOW, NOW, What::Missed)];
    Turn {
        schedule: schedule.reference(),
        expect,
        to: To::Put { schedule: Box::new(schedule.clone()), standing },
        jobs,
        rows,
        warrant: None,
    }
}

#[tokio::test]
async fn limits_are_named_a_full_store_takes_no_schedules_and_can_still_be_rid_of_them() {
    let home = EmbeddedHome::new();
    let store = Embedded::open(Options { reserve_bytes: 0, ..Options::new(home.0.path()) }).expect("nobody has it");
    let nightly = schedule("nightly");
    let done = store.turn(NOW, vec![put(&nightly, None, vec![])]).await.expect("there is room");
    assert_eq!(done, [Turned::Done { version: 1, jobs: vec![] }]);
    drop(store);

    let store =
        Embedded::open(Options { reserve_bytes: u64::MAX, ..Options::new(home.0.path()) }).expect("nobody has it");
    for turn in [put(&schedule("weekly"), None, vec![]), put(&nightly, Some(1), vec![job(1, 1)])] {
        let refused = store.turn(NOW, vec![turn]).await.expect_err("no disk is that large");
        assert!(matches!(&refused, Error::Full(why) if why.contains("store.reserve")), "{refused}");
    }
    let gone = Turn { to: To::Gone, ..put(&nightly, Some(1), vec![]) };
    assert!(matches!(store.turn(NOW, vec![gone]).await.expect("it makes room")[..], [Turned::Done { .. }]));
    assert_eq!(store.schedule(&nightly.reference()).await.expect("reads go on"), None);
}

/// The map of the smallest store holds 65 MB: this many of these do not fit, which shows only in the middle of writing.
const TOO_MANY: u32 = 600;
const LARGE_BYTES: usize = 200_000;

#[tokio::test]
async fn nothing_happens_by_halves_a_turn_that_fails_in_the_middle_leaves_nothing() {
    let home = EmbeddedHome::new();
    let options = Options { max_bytes: 1 << 20, reserve_bytes: 0, ..Options::new(home.0.path()) };
    let store = Embedded::open(options).expect("nobody has it");
    let nightly = schedule("nightly");
    let jobs = (0..TOO_MANY).map(|order| job(order, LARGE_BYTES)).collect();
    let turns = vec![put(&nightly, None, vec![job(TOO_MANY, 1)]), put(&schedule("weekly"), None, jobs)];
    let failed = store.turn(NOW, turns).await.expect_err("it does not fit");
    assert!(matches!(failed, Error::Full(_)), "{failed}");

    assert_eq!(store.schedule(&nightly.reference()).await.expect("reads go on"), None);
    let query = LedgerQuery { schedule: nightly.reference(), below: None, limit: 1 };
    assert_eq!(store.ledger(query).await.expect("reads go on").rows, []);
    assert!(store.queues(None).await.expect("reads go on").is_empty());
    let done = store.turn(NOW, vec![put(&nightly, None, vec![job(1, 1)])]).await.expect("this fits");
    assert!(matches!(&done[..], [Turned::Done { version: 1, jobs }] if jobs.len() == 1), "{done:?}");
}

#[tokio::test]
async fn nothing_happens_by_halves_a_workflow_that_fails_in_the_middle_leaves_nothing() {
    let home = EmbeddedHome::new();
    let options = Options { max_bytes: 1 << 20, reserve_bytes: 0, ..Options::new(home.0.path()) };
    let store = Embedded::open(options).expect("nobody has it");
    let workflow = WorkflowId(uuid::Uuid::from_u128(7));
    let step = |order: u32, data_bytes: usize| {
        let step = StepName::parse(&format!("s{order}")).expect("a name");
        let parent = |order: u32| Dependency { parent: job(order, 1).id, on_failure: OnFailure::Cancel };
        Job {
            depends_on: order.checked_sub(1).map(parent).into_iter().collect(),
            workflow: Some(Box::new(Membership { workflow, step, role: Role::Step })),
            ..job(order, data_bytes)
        }
    };
    let failed = store.submit(NOW, (0..TOO_MANY).map(|order| step(order, LARGE_BYTES)).collect()).await;
    let failed = failed.expect_err("it does not fit");
    assert!(matches!(failed, Error::Full(_)), "{failed}");

    let tenant = TenantName::default_tenant();
    assert_eq!(store.workflow(&tenant, workflow).await.expect("reads go on"), None);
    assert!(store.queues(None).await.expect("reads go on").is_empty());
    store.submit(NOW, vec![step(0, 1), step(1, 1)]).await.expect("this fits");
    let counts = store.workflow(&tenant, workflow).await.expect("reads go on").expect("it is there").counts;
    assert_eq!((counts.ready, counts.blocked), (1, 1));
}
