//! The embedded store against the reference, and what only a store with a disk can break.

use std::sync::Arc;

use async_trait::async_trait;
use mainspring_core::id::JobId;
use mainspring_core::job::{Job, Json, Keys};
use mainspring_core::name::{QueueName, TenantName, TypeName};
use mainspring_core::rank::Priority;
use mainspring_core::retry::RetryPolicy;
use mainspring_core::segment::Segment;
use mainspring_core::store::{Error, Prune, Store};
use mainspring_core::time::Time;
use tempfile::TempDir;

use super::{Embedded, FORMAT, OpenError, Options};
use crate::home::Home;

/// A directory of its own, in memory if the machine has such a place: the suites make thousands of commits, and that
/// they reach a disk is shown by the tests that kill the server.
pub struct EmbeddedHome(TempDir);

impl EmbeddedHome {
    pub fn new() -> EmbeddedHome {
        let home = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        EmbeddedHome(home.expect("a directory for the test"))
    }
}

#[async_trait]
impl Home for EmbeddedHome {
    async fn open(&mut self) -> Arc<dyn Store> {
        let options = Options { reserve_bytes: 0, ..Options::new(self.0.path()) };
        Arc::new(Embedded::open(options).expect("the directory is ours alone"))
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
    let ask = Prune { ended_before: Time::MAX, dead_before: Time::MAX, limit: 100 };
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
