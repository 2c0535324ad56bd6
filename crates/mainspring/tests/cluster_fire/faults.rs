//! What goes wrong, and when: a plan from a seed, carried out one fault after the other, with the time that it took others to take over.

use std::time::{Duration, Instant};

use mainspring_store::postgres::testing::{self, Stop};
use mainspring_wire::Cluster;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rustix::process::Signal;

use crate::Form;
use crate::book::Book;
use crate::nodes::{NODES, Nodes};
use crate::watch;

/// How often the cluster is looked at while a seat changes hands.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Longer than this no takeover takes, or it does not come at all.
const TAKEOVER_WAIT_MAX: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Kill(Whom),
    /// SIGSTOP for longer than a term, and SIGCONT.
    Freeze(Whom),
    /// SIGTERM.
    Drain(Whom),
    Database(Stop),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whom {
    Leader,
    Node(usize),
}

/// A fault that happened.
#[derive(Clone, Debug)]
pub struct Happened {
    pub fault: Fault,
    pub from: Instant,
    pub until: Instant,
    /// How long it took until others had all seats; for the database: until a claim came through is seen elsewhere.
    pub takeover: Option<Duration>,
}

/// What is spread over the time of the fire: nodes at random, and the database twice, once in order and once by a crash.
pub fn plan(form: Form) -> Vec<Fault> {
    let mut random = StdRng::seed_from_u64(form.seed);
    // Each of them lasts for a term or two, and some quiet belongs between them.
    let count = (form.fire.as_secs() / (2 * form.term.as_secs())).max(5) as usize;
    let mut faults: Vec<Fault> = (0..count)
        .map(|_| {
            let whom = if random.random_bool(0.4) { Whom::Leader } else { Whom::Node(random.random_range(0..NODES)) };
            match random.random_range(0..3) {
                0 => Fault::Kill(whom),
                1 => Fault::Freeze(whom),
                _ => Fault::Drain(whom),
            }
        })
        .collect();
    // One of each sort in any case.
    faults[0] = Fault::Kill(Whom::Leader);
    faults[1] = Fault::Freeze(Whom::Leader);
    faults[count / 3 + 1] = Fault::Database(Stop::Fast);
    faults[count / 3 + 2] = Fault::Drain(Whom::Node(random.random_range(0..NODES)));
    faults[count * 2 / 3 + 1] = Fault::Database(Stop::Immediate);
    faults
}

pub async fn carry_out(nodes: &mut Nodes, database: &testing::Server, book: &Book, form: Form) -> Vec<Happened> {
    let faults = plan(form);
    let mut happened = Vec::new();
    for (number, fault) in faults.iter().enumerate() {
        // The last one is over some time before the end.
        let at = form.fire.mul_f64((number as f64 + 0.6) / (faults.len() as f64 + 0.6));
        watch::pause((book.began + at).saturating_duration_since(watch::now())).await;
        let from = watch::now();
        println!("{:>6.1} s  {fault:?}", book.began.elapsed().as_secs_f64());
        let takeover = match *fault {
            Fault::Kill(whom) => Some(kill(nodes, whom, form).await),
            Fault::Freeze(whom) => Some(freeze(nodes, whom, form).await),
            Fault::Drain(whom) => Some(drain(nodes, whom, form).await),
            Fault::Database(stop) => {
                tokio::task::block_in_place(|| database.restart(stop));
                None
            }
        };
        println!("          {:.1} s, taken over after {takeover:.2?}", from.elapsed().as_secs_f64());
        happened.push(Happened { fault: *fault, from, until: watch::now(), takeover });
    }
    watch::pause((book.began + form.fire).saturating_duration_since(watch::now())).await;
    happened
}

async fn kill(nodes: &mut Nodes, whom: Whom, form: Form) -> Duration {
    let node = find(nodes, whom, form).await;
    nodes.signal(node, Signal::KILL);
    let took = takeover(nodes, node, form).await;
    tokio::task::block_in_place(|| nodes.replace(node));
    took
}

async fn freeze(nodes: &mut Nodes, whom: Whom, form: Form) -> Duration {
    let node = find(nodes, whom, form).await;
    nodes.signal(node, Signal::STOP);
    let took = takeover(nodes, node, form).await;
    // It sleeps on for a while: what it wakes up with is surely old.
    watch::pause((form.term + form.term / 2).saturating_sub(took)).await;
    nodes.signal(node, Signal::CONT);
    took
}

async fn drain(nodes: &mut Nodes, whom: Whom, form: Form) -> Duration {
    let node = find(nodes, whom, form).await;
    nodes.signal(node, Signal::TERM);
    let took = takeover(nodes, node, form).await;
    tokio::task::block_in_place(|| {
        nodes.drained(node);
        nodes.again(node);
    });
    took
}

async fn find(nodes: &Nodes, whom: Whom, form: Form) -> usize {
    let Whom::Node(node) = whom else {
        let cluster = look(nodes, None, form).await;
        let leader = cluster.nodes.iter().find(|node| Some(node.node_id) == cluster.leader);
        let address = leader.and_then(|leader| leader.address.clone()).unwrap_or_default();
        return (0..NODES).find(|&node| nodes.address(node) == address).unwrap_or(0);
    };
    node
}

/// What some node, and not this one, sees of the cluster.
async fn look(nodes: &Nodes, except: Option<usize>, form: Form) -> Cluster {
    loop {
        for node in (0..NODES).filter(|node| Some(*node) != except) {
            if let Ok(cluster) = nodes.client_of(node, form.timeout).cluster().await {
                return cluster;
            }
        }
        watch::pause(LOOK_EVERY).await;
    }
}

/// Waits until others hold every seat that this one held.
async fn takeover(nodes: &Nodes, gone: usize, form: Form) -> Duration {
    let from = watch::now();
    let others_hold_all = async {
        loop {
            let cluster = look(nodes, Some(gone), form).await;
            let is_gone = |id| {
                let node = cluster.nodes.iter().find(|node| Some(node.node_id) == id);
                node.is_none_or(|node| node.address.as_deref() == Some(nodes.address(gone)))
            };
            if !is_gone(cluster.leader) && !cluster.segments.iter().any(|segment| is_gone(segment.node_id)) {
                return;
            }
            watch::pause(LOOK_EVERY).await;
        }
    };
    tokio::time::timeout(TAKEOVER_WAIT_MAX, others_hold_all).await.expect("others take over");
    from.elapsed()
}
