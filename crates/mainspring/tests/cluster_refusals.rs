//! Nodes that do not fit refuse to work together and say why: real processes beside rows that pose as nodes of another kind.

mod harness;

use harness::{Ran, Server, mainspring};
use mainspring_store::postgres::testing::Database;
use mainspring_wire::{Readiness, Ready};
use mainspring_worker::Client;

fn serve(database: &Database, flags: &[&str]) -> Server {
    let dir = tempfile::tempdir().expect("a directory");
    let store = database.url();
    Server::start_with(dir.path(), &[&["--store", &store, "--term", "1s"], flags].concat())
}

/// One that must not come up.
fn refused(database: &Database, flags: &[&str]) -> Ran {
    let store = database.url();
    let mut command = mainspring();
    command.args(["serve", "--listen", "127.0.0.1:0", "--store", &store]).args(flags);
    Ran::from(command.output().expect("the program runs"))
}

/// A row of a node that lives for ever. `started_at` decides who came later: 0 is before everybody.
#[derive(Clone, Copy)]
struct Posing {
    version: &'static str,
    protocol: i32,
    segments: i16,
    shards: i64,
    started_at: i64,
}

/// As the program under test is.
const ALIKE: Posing = Posing {
    version: "0.0.9",
    protocol: mainspring_core::seats::PROTOCOL as i32,
    segments: 100,
    shards: 0,
    started_at: 0,
};

impl Posing {
    async fn stand(self, database: &Database) {
        let Posing { version, protocol, segments, shards, started_at } = self;
        let never = i64::MAX / 2;
        let insert = format!(
            "INSERT INTO mainspring.nodes \
                 (id, address, roles, version, protocol, segments, shards, started_at, skew_ms, willing, seen_at, until) \
             VALUES (gen_random_uuid(), '10.9.8.7:7710', 7, '{version}', {protocol}, {segments}, {shards}, {started_at}, 0, \
                 false, {never}, {never})"
        );
        database.connect().await.batch_execute(&insert).await.expect("a row");
    }
}

/// Waits until the node says what `wanted` is looking for. It looks at the others with every renewal.
async fn readiness(server: &Server, wanted: impl Fn(&Ready) -> bool) -> Ready {
    let client = Client::new(&server.url).expect("an address");
    loop {
        let ready = client.ready().await.expect("an answer");
        if wanted(&ready) {
            return ready;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_node_that_speaks_another_protocol_or_has_another_map_does_not_come_up_beside_one_that_was_there() {
    for (posing, words) in [
        (Posing { protocol: 77, ..ALIKE }, "protocol is 1, that of node"),
        (Posing { segments: 64, ..ALIKE }, "number of segments is 100, that of node"),
        (Posing { shards: 5, ..ALIKE }, "shard map is 0, that of node"),
    ] {
        let database = Database::new();
        posing.stand(&database).await;
        let ran = refused(&database, &[]).failed_with(1, words);
        for word in ["0.0.9, at 10.9.8.7:7710", "stop the other nodes first"] {
            assert!(ran.stderr.contains(word), "{word:?} is not in {}", ran.stderr);
        }
        let left: i64 = database
            .connect()
            .await
            .query_one("SELECT count(*) FROM mainspring.nodes", &[])
            .await
            .expect("a count")
            .get(0);
        assert_eq!(left, 1, "it left no trace");
    }
}

#[tokio::test]
async fn another_version_that_speaks_the_same_protocol_is_welcome() {
    let database = Database::new();
    ALIKE.stand(&database).await;
    let server = serve(&database, &[]);
    let client = Client::new(&server.url).expect("an address");
    let cluster = client.cluster().await.expect("the cluster");
    let mut versions: Vec<&str> = cluster.nodes.iter().map(|node| node.version.as_str()).collect();
    versions.sort_unstable();
    assert_eq!(versions, ["0.0.9", env!("CARGO_PKG_VERSION")]);
    assert!(cluster.nodes.iter().all(|node| node.unfit.is_none()), "{cluster:?}");
    readiness(&server, |ready| ready.status == Readiness::Ready).await;
}

#[tokio::test]
async fn a_node_that_finds_one_that_was_there_before_it_stops_working_and_says_why_until_that_one_is_gone() {
    let database = Database::new();
    let server = serve(&database, &[]);
    let client = Client::new(&server.url).expect("an address");
    let sql = database.connect().await;
    Posing { protocol: 77, ..ALIKE }.stand(&database).await;
    let ready = readiness(&server, |ready| ready.status == Readiness::Unavailable).await;
    let why = ready.detail.expect("the reason");
    assert!(why.contains("its protocol is 1") && why.contains("10.9.8.7:7710"), "{why}");
    let cluster = client.cluster().await.expect("the cluster");
    assert_eq!((cluster.vacant, cluster.leader), (100, None), "it acts for nothing");

    sql.batch_execute("DELETE FROM mainspring.nodes").await.expect("the other one goes");
    readiness(&server, |ready| ready.status == Readiness::Ready).await;
    assert_eq!(client.cluster().await.expect("the cluster").vacant, 0);
}

#[tokio::test]
async fn a_node_that_does_not_fit_and_came_later_disturbs_nobody_and_is_shown() {
    let database = Database::new();
    let server = serve(&database, &[]);
    Posing { protocol: 77, started_at: i64::MAX / 2, ..ALIKE }.stand(&database).await;
    let client = Client::new(&server.url).expect("an address");
    let cluster = client.cluster().await.expect("the cluster");
    let unfit: Vec<&str> = cluster.nodes.iter().filter_map(|node| node.unfit.as_deref()).collect();
    assert_eq!(unfit, ["its protocol is 77, that of the node that answers is 1"]);
    server.run(&["cluster"]).succeeded().shows(&["10.9.8.7:7710", "does not fit"]);
    // It has looked at the others again, and goes on.
    let seen_at = |cluster: &mainspring_wire::Cluster| {
        cluster.nodes.iter().find(|node| node.node_id == cluster.node_id).map(|node| node.last_seen_at)
    };
    let first = seen_at(&cluster);
    let later = loop {
        let later = client.cluster().await.expect("the cluster");
        if seen_at(&later) != first {
            break later;
        }
    };
    assert_eq!((later.vacant, later.leader), (0, Some(later.node_id)));
    assert_eq!(client.ready().await.expect("an answer").status, Readiness::Ready);
}

#[tokio::test]
async fn a_database_of_another_number_of_segments_is_refused_before_anything_is_written() {
    let database = Database::new();
    let sql = database.connect().await;
    sql.batch_execute("UPDATE mainspring.charter SET segments = 64").await.expect("a row");
    refused(&database, &[]).failed_with(1, "was made with 64 segments, this program has 100");
}

#[tokio::test]
async fn a_node_with_a_virtual_clock_does_not_come_up_beside_others_whatever_it_takes_the_time_for() {
    let database = Database::new();
    let real = serve(&database, &[]);
    for clock in ["--virtual-clock", "--virtual-clock=2020-01-01T00:00:00Z", "--virtual-clock=2090-01-01T00:00:00Z"] {
        let ran = refused(&database, &[clock]).failed_with(1, "goes by a virtual clock");
        assert!(ran.stderr.contains("start this one without --virtual-clock"), "{}", ran.stderr);
    }
    let cluster = Client::new(&real.url).expect("an address").cluster().await.expect("the cluster");
    assert_eq!((cluster.nodes.len(), cluster.vacant, cluster.leader_epoch), (1, 0, Some(1)), "it was not disturbed");
}

#[tokio::test]
async fn a_node_with_a_virtual_clock_works_alone_and_stops_when_another_comes() {
    let database = Database::new();
    let moved = serve(&database, &["--virtual-clock=2020-01-01T00:00:00Z"]);
    moved.run(&["clock", "advance", "10s"]).succeeded();
    let _real = serve(&database, &[]);
    let ready = readiness(&moved, |ready| ready.status == Readiness::Unavailable).await;
    assert!(ready.detail.as_deref().is_some_and(|why| why.contains("goes by a virtual clock")), "{ready:?}");
    moved.run(&["clock", "advance", "10s"]).failed_with(3, "goes by a virtual clock");
}

#[tokio::test]
async fn nobody_comes_up_beside_a_virtual_clock_that_is_ahead() {
    let database = Database::new();
    let _moved = serve(&database, &["--virtual-clock=2090-01-01T00:00:00Z"]);
    refused(&database, &[])
        .failed_with(1, "and goes by a virtual clock, which other nodes cannot see; stop one of the two");
}
