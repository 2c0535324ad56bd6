//! Three real nodes on a real PostgreSQL under fire: nodes are killed, frozen past their term and drained, the database is restarted
//! and crashed, workers vanish and come back late, answers get lost; and then everything that clients and workers were told is
//! compared with what the store has. Asserts no timing, but for the long form:
//!
//! `MAINSPRING_FIRE_SECONDS=300 cargo test -p mainspring --test cluster_fire -- --ignored --nocapture`
//!
//! - `nodes`: the processes. `faults`: the plan, and carrying it out. `watch`: the one clock of the test.
//! - `produce`, `work`, `sdk`: who submits, who works word by word, who works with the SDK. `book`: what they were told.
//! - `snapshots`: what the store holds at one instant, looked at all the time. `check`: whether all of it fits together. `summary`: what a person wants to know.

#[path = "../harness/mod.rs"]
mod harness;

mod book;
mod check;
mod faults;
mod nodes;
mod produce;
mod sdk;
mod snapshots;
mod summary;
mod watch;
mod work;

use std::sync::Arc;
use std::time::Duration;

use book::Book;
use mainspring_store::postgres::testing;
use nodes::Nodes;
use tokio_util::sync::CancellationToken;

/// Workers that say every word themselves, so that they know what was acknowledged …
const RAW_WORKERS: u64 = 10;
/// … and workers of the SDK.
const SDK_WORKERS: u64 = 10;
const PRODUCERS: u64 = 4;
/// When nothing comes any more, everything has ended within this time, even on a busy machine.
const END_WAIT_MAX: Duration = Duration::from_secs(180);

/// How long, and with which patience.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    pub fire: Duration,
    pub term: Duration,
    pub lease: Duration,
    /// What a client waits for an answer.
    pub timeout: Duration,
    pub seed: u64,
    /// Whether pauses are judged, and not only told.
    pub judges_pauses: bool,
}

#[test]
fn nothing_is_lost_or_doubled_while_nodes_die_freeze_and_leave_and_the_database_crashes() {
    burn(Form {
        fire: Duration::from_secs(22),
        term: Duration::from_secs(2),
        lease: Duration::from_secs(3),
        timeout: Duration::from_secs(2),
        seed: 7,
        judges_pauses: false,
    });
}

#[test]
#[ignore = "takes minutes: MAINSPRING_FIRE_SECONDS, MAINSPRING_FIRE_SEED"]
fn the_same_for_minutes_and_dispatch_pauses_for_a_term_and_a_second_at_most() {
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is no number")))
    };
    burn(Form {
        fire: Duration::from_secs(number("MAINSPRING_FIRE_SECONDS", 300)),
        term: Duration::from_secs(10),
        lease: Duration::from_secs(10),
        timeout: Duration::from_secs(5),
        seed: number("MAINSPRING_FIRE_SEED", 1),
        judges_pauses: true,
    });
}

fn burn(form: Form) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let database = Arc::new(testing::Server::start());
        let mut nodes = Nodes::start(&database, form);
        let book = Arc::new(Book::new());
        let client = nodes.client(form.timeout);
        produce::set_limits(&client).await;
        let schedules = produce::schedule(&client, form.fire).await;

        let (no_more_jobs, no_more_work) = (CancellationToken::new(), CancellationToken::new());
        let producers: Vec<_> = (0..PRODUCERS)
            .map(|number| {
                let seed = form.seed * 1_000 + number;
                tokio::spawn(produce::produce(nodes.client(form.timeout), book.clone(), seed, no_more_jobs.clone()))
            })
            .collect();
        let raw = (0..RAW_WORKERS).map(|number| {
            let worker = work::Worker::new(nodes.client(form.timeout), book.clone(), form, number);
            tokio::spawn(worker.work(no_more_work.clone()))
        });
        let sdk = (0..SDK_WORKERS).map(|number| {
            tokio::spawn(sdk::work(nodes.client(form.timeout), book.clone(), form, number, no_more_work.clone()))
        });
        let workers: Vec<_> = raw.chain(sdk).collect();

        let looking = tokio::spawn(snapshots::look(database.clone(), book.clone(), no_more_work.clone()));

        let faults = faults::carry_out(&mut nodes, &database, &book, form).await;
        no_more_jobs.cancel();
        for producer in producers {
            producer.await.expect("a producer found something wrong");
        }
        let everything_ended = check::wait_for_the_end(&client, &schedules);
        if tokio::time::timeout(END_WAIT_MAX, everything_ended).await.is_err() {
            panic!("not everything came to its end:\n{}", check::unfinished(&client).await);
        }
        no_more_work.cancel();
        for worker in workers {
            worker.await.expect("a worker found something wrong");
        }
        looking.await.expect("a snapshot shows something wrong");
        snapshots::nothing_is_held(&database).await;
        let seen = check::check(&client, &book, &schedules).await;
        summary::tell(form, &book, &faults, &seen, &mut nodes);
    });
}
