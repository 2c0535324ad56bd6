//! A store that moved house answers as it did before, whatever was done to it and wherever the move was cut off.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mainspring_core::id::{JobId, WorkerId};
use mainspring_core::job::{Job, Json, Keys};
use mainspring_core::name::{QueueName, TenantName, TypeName};
use mainspring_core::rank::Priority;
use mainspring_core::retry::RetryPolicy;
use mainspring_core::segment::Segment;
use mainspring_core::store::{Beat, BeatKind, Claim, ClaimAnswer, Settled, Settlement, Store, Whose, WorkerInfo};
use mainspring_core::time::Time;
use mainspring_core::verdict::Verdict;
use proptest::test_runner::{Config, FileFailurePersistence};
use tempfile::TempDir;
use uuid::Uuid;

use super::{Kind, Move, MoveError, Moved, Step};
use crate::embedded::{Dump, Embedded, OpenError, Options};
use crate::home::Home;
use crate::postgres::testing::Database;
use crate::postgres::{self, LoadError, Postgres};

const NOW: Time = Time::from_millis(1_700_000_000_000);

/// A store that is moved when it is closed for the first time, some pages of few items a run: every run but the last is cut off.
struct MovingHome {
    dir: TempDir,
    database: Database,
    has_moved: Option<bool>,
}

impl MovingHome {
    fn new() -> MovingHome {
        MovingHome { dir: directory(), database: Database::new(), has_moved: None }
    }
}

#[async_trait]
impl Home for MovingHome {
    async fn open(&mut self) -> Arc<dyn Store> {
        match self.has_moved {
            None => {
                self.has_moved = Some(false);
                Arc::new(open(self.dir.path()))
            }
            Some(has_moved) => {
                if !has_moved {
                    move_in_pieces(self.dir.path(), &self.database, 3).await.expect("it moves");
                    self.has_moved = Some(true);
                }
                Arc::new(Postgres::open(&self.database.options()).await.expect("the move is finished"))
            }
        }
    }
}

/// Each script has a database of its own, and two halves.
const CASES_DEFAULT: u32 = 25;

#[test]
fn a_store_that_moved_answers_as_it_did_before_and_goes_on_alike() {
    let cases = match std::env::var("MAINSPRING_LOCKSTEP_CASES") {
        Ok(text) => text.parse().expect("MAINSPRING_LOCKSTEP_CASES must be a number"),
        Err(_) => CASES_DEFAULT,
    };
    let failures = concat!(env!("CARGO_MANIFEST_DIR"), "/proptest-regressions/lockstep-moving.txt");
    let persistence = FileFailurePersistence::Direct(failures);
    let config = Config { cases, failure_persistence: Some(Box::new(persistence)), ..Config::default() };
    if let Err(found) = crate::lockstep::check_halves(config, MovingHome::new) {
        panic!("{}\nthe script:{:?}\n", found.difference, found.script);
    }
}

fn directory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a directory for the test")
}

fn open(dir: &Path) -> Embedded {
    Embedded::open(Options { reserve_bytes: 0, ..Options::new(dir) }).expect("the directory is ours alone")
}

async fn begin(dir: &Path, database: &Database, page_items: usize) -> Result<Move, MoveError> {
    let dump = Dump::open(dir)?.with_page_items(page_items);
    Move::open(dump, dir, &database.options(), NOW).await
}

/// Copies one page, and is gone.
async fn move_a_piece(dir: &Path, database: &Database, page_items: usize) -> Result<Step, MoveError> {
    let mut moving = begin(dir, database, page_items).await?;
    let step = moving.step().await;
    moving.close().await;
    step
}

/// Copies some pages and is gone, again and again.
async fn move_in_pieces(dir: &Path, database: &Database, page_items: usize) -> Result<Moved, MoveError> {
    const PIECES: usize = 5;
    loop {
        let mut moving = begin(dir, database, page_items).await?;
        for _ in 0..PIECES {
            if moving.step().await? == Step::AllCopied {
                return moving.verify(&mut |_| {}).await;
            }
        }
        moving.close().await;
    }
}

async fn move_at_once(dir: &Path, database: &Database) -> Result<Moved, MoveError> {
    let mut moving = begin(dir, database, super::PAGE_ITEMS_MAX).await?;
    while moving.step().await? != Step::AllCopied {}
    moving.verify(&mut |_| {}).await
}

fn job(order: u32) -> Job {
    Job {
        id: JobId::mint(NOW, order, Segment::wrap(order as u8), 0),
        tenant: TenantName::default_tenant(),
        queue: QueueName::default_queue(),
        kind: TypeName::parse("mail").expect("a name"),
        data: Json("{}".into()),
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

const WORKER: WorkerId = WorkerId(Uuid::from_u128(7));

async fn claim(store: &dyn Store, max: usize) -> Vec<mainspring_core::job::Claimed> {
    let tenant = TenantName::default_tenant();
    let queues = vec![QueueName::default_queue()];
    let ask = Claim { worker: WORKER, tenant, whose: Whose::Own, queues, max };
    match store.claim(NOW, vec![ask]).await.expect("claims").remove(0) {
        ClaimAnswer::Jobs(jobs) => jobs,
        other => panic!("{other:?}"),
    }
}

/// Ten jobs of one worker: three done, two held, five on offer. Answers what it holds.
async fn ten_jobs(dir: &Path) -> Vec<mainspring_core::job::Claimed> {
    let store = open(dir);
    let tenant = TenantName::default_tenant();
    let kind = BeatKind::Register { info: WorkerInfo::default(), lease: Duration::from_secs(60) };
    store.heartbeat(NOW, vec![Beat { worker: WORKER, tenant, kind }]).await.expect("registers");
    store.submit(NOW, (0..10).map(job).collect()).await.expect("takes them in");
    let mut held = claim(&store, 5).await;
    let settle = |claimed: mainspring_core::job::Claimed| Settlement {
        lease: claimed.lease_id(),
        verdict: Verdict::Succeed { result: Some(Json("1".into())) },
    };
    let settled = store.settle(NOW, held.drain(..3).map(settle).collect()).await.expect("settles");
    assert!(settled.iter().all(|settled| matches!(settled, Settled::Applied { .. })));
    held
}

#[tokio::test]
async fn a_lease_is_settled_where_it_moved_to_and_fences_go_on_above_it() {
    let (dir, database) = (directory(), Database::new());
    let held = ten_jobs(dir.path()).await;
    let moved = move_at_once(dir.path(), &database).await.expect("it moves");
    let counted = |kind| moved.tally.of(kind).items;
    assert_eq!([Kind::Jobs, Kind::Attempts, Kind::Leases, Kind::Workers].map(counted), [10, 3, 2, 1]);

    let store = Postgres::open(&database.options()).await.expect("the move is finished");
    let verdict = Verdict::Succeed { result: None };
    let lease = held[0].lease_id();
    let settled = store.settle(NOW, vec![Settlement { lease, verdict }]).await.expect("settles");
    assert!(matches!(settled[0], Settled::Applied { .. }), "{settled:?}");
    let next = claim(&store, 1).await;
    assert!(next[0].lease.fence > held[1].lease.fence, "{next:?} {held:?}");
}

#[tokio::test]
async fn nothing_in_the_directory_is_changed() {
    let (dir, database) = (directory(), Database::new());
    ten_jobs(dir.path()).await;
    let bytes = || std::fs::read(dir.path().join("data.mdb")).expect("is there");
    let before = bytes();
    move_at_once(dir.path(), &database).await.expect("it moves");
    assert!(before == bytes());
    // And the store is as good as it was.
    assert_eq!(claim(&open(dir.path()), 10).await.len(), 5);
}

#[tokio::test]
async fn a_server_does_not_start_in_the_middle_of_a_move_and_says_what_to_do() {
    let (dir, database) = (directory(), Database::new());
    ten_jobs(dir.path()).await;
    move_a_piece(dir.path(), &database, 2).await.expect("copies");
    let error = Postgres::open(&database.options()).await.expect_err("is in the middle of a move").to_string();
    let told = format!("mainspring migrate-store --from {}", dir.path().display());
    assert!(error.contains(&told), "{error}");
    move_at_once(dir.path(), &database).await.expect("goes on and ends");
    Postgres::open(&database.options()).await.expect("the move is finished");
    let again = move_at_once(dir.path(), &database).await.expect("has nothing to do");
    assert!(again.was_done);
}

#[tokio::test]
async fn a_database_that_anything_is_in_is_refused() {
    let (dir, database) = (directory(), Database::new());
    ten_jobs(dir.path()).await;
    let store = Postgres::open(&database.options()).await.expect("is there");
    store.submit(NOW, vec![job(99)]).await.expect("takes it in");
    let error = move_at_once(dir.path(), &database).await.expect_err("holds a job");
    assert!(matches!(&error, MoveError::Target(LoadError::NotEmpty { what: "jobs", .. })), "{error}");
    // Nothing of ours is left there either.
    Postgres::open(&database.options()).await.expect("is as it was");
}

#[tokio::test]
async fn a_database_that_a_node_works_on_is_refused() {
    let (dir, database) = (directory(), Database::new());
    ten_jobs(dir.path()).await;
    let client = database.connect().await;
    let node = Uuid::from_u128(3);
    let sql = "INSERT INTO mainspring.nodes (id, roles, version, protocol, segments, shards, started_at, willing, seen_at, until)
               VALUES ($1, 1, '0', 1, 100, 0, 0, true, 0, $2)";
    client.execute(sql, &[&node, &(NOW.as_millis() as i64 + 1)]).await.expect("is written");
    let error = move_at_once(dir.path(), &database).await.expect_err("somebody works there");
    assert!(matches!(&error, MoveError::Target(LoadError::InUse { node: found, .. }) if *found == node), "{error}");
    client.execute("UPDATE mainspring.nodes SET until = 0", &[]).await.expect("is gone");
    move_at_once(dir.path(), &database).await.expect("nobody works there any more");
}

#[tokio::test]
async fn a_source_that_was_written_to_in_between_is_another_one() {
    let (dir, database) = (directory(), Database::new());
    ten_jobs(dir.path()).await;
    move_a_piece(dir.path(), &database, 2).await.expect("copies");
    open(dir.path()).submit(NOW, vec![job(99)]).await.expect("takes it in");
    let error = move_a_piece(dir.path(), &database, 2).await.expect_err("is another one");
    assert!(matches!(&error, MoveError::Target(LoadError::AnotherSource { .. })), "{error}");
}

#[tokio::test]
async fn a_directory_in_use_or_without_a_store_is_refused() {
    let (dir, database) = (directory(), Database::new());
    let error = move_at_once(dir.path(), &database).await.expect_err("holds no store");
    assert!(matches!(error, MoveError::Source(OpenError::Missing { .. })), "{error}");
    assert_eq!(std::fs::read_dir(dir.path()).expect("is there").count(), 0, "nothing is made in it");
    let _server = open(dir.path());
    let error = move_at_once(dir.path(), &database).await.expect_err("is in use");
    assert!(matches!(error, MoveError::Source(OpenError::InUse { .. })), "{error}");
}

#[tokio::test]
async fn two_at_once_do_not_move_into_one_database() {
    let (dir, other, database) = (directory(), directory(), Database::new());
    ten_jobs(dir.path()).await;
    drop(open(other.path()));
    let _first = begin(dir.path(), &database, 1).await.expect("nobody else moves");
    let error = begin(other.path(), &database, 1).await.expect_err("somebody moves");
    assert!(matches!(error, MoveError::Target(LoadError::Busy { .. })), "{error}");
}

/// Every way in which what arrived can differ is found out, named, and keeps servers away.
#[tokio::test]
async fn a_damaged_row_is_found_out_and_named() {
    let damages = [
        ("UPDATE jobs SET data = '{} ' WHERE id = (SELECT min(id::text)::uuid FROM jobs)", Kind::Jobs),
        ("UPDATE ready SET ready_at = ready_at + 1 WHERE id = (SELECT min(id::text)::uuid FROM ready)", Kind::Jobs),
        ("UPDATE leases SET fence = fence + 1 WHERE id = (SELECT min(id::text)::uuid FROM leases)", Kind::Jobs),
        (
            "UPDATE ended SET worker = gen_random_uuid() WHERE id = (SELECT min(id::text)::uuid FROM ended)",
            Kind::Attempts,
        ),
        ("UPDATE leases SET taken_cause = 1, taken_fence = 1 WHERE fence = 4", Kind::Leases),
        ("UPDATE queues SET paused = true", Kind::Queues),
        ("UPDATE counts SET ready = ready + 1", Kind::Queues),
        ("UPDATE workers SET expires_at = 0", Kind::Workers),
        ("SELECT setval('fences', 4)", Kind::Numbers),
        ("INSERT INTO releases VALUES (gen_random_uuid(), 4)", Kind::Releases),
    ];
    let dir = directory();
    ten_jobs(dir.path()).await;
    for (sql, kind) in damages {
        let database = Database::new();
        while move_a_piece(dir.path(), &database, 100).await.expect("copies") != Step::AllCopied {}
        let client = database.connect().await;
        client.batch_execute(&format!("SET search_path = mainspring; {sql}")).await.expect("is well formed");
        let error = move_at_once(dir.path(), &database).await.expect_err("is damaged");
        assert!(matches!(&error, MoveError::Differs { kind: found, .. } if *found == kind), "{sql}: {error}");
        assert!(error.to_string().starts_with(kind.name()), "{error}");
        let refused = Postgres::open(&database.options()).await;
        assert!(matches!(refused, Err(postgres::OpenError::Moving { .. })), "{sql}: {refused:?}");
    }
}
