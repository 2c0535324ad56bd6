//! Takes woken claims to the store, and those who are left with nothing back to where they wait. Wakes nobody by itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use mainspring_core::name::QueueRef;
use mainspring_core::placement::Shard;
use mainspring_core::store::ClaimAnswer;

use super::handful::Handful;
use super::parking::{Line, Parked, Waiter, Woken};
use crate::calm::Errand;
use crate::error::Error;
use crate::gather;
use crate::lanes::Homed;
use crate::node::Node;

/// How a wake knows its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wake {
    /// So many jobs are ready.
    Counted,
    /// Nobody knows: while something is found, look for twice as much.
    Probe,
    /// A probe of what has opened, as the trigger or another node has just seen.
    Opened,
}

/// Claims on their way to the store behind a submit.
#[derive(Debug, Default)]
pub(crate) struct Along(pub(super) Vec<Woken>);

impl Along {
    /// Asks the store at once, without gathering. Whoever gets nothing waits on. How many jobs of these queues have found a taker or need
    /// nobody else to be woken: a store that does not join calls may have looked before the jobs were there.
    pub(crate) async fn ask(self, node: &Arc<Node>) -> Vec<(QueueRef, u64)> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let Served { again, spent } = serve_once(node, self.0, Wake::Counted, Way::Direct).await;
        serve_all(node, again, Wake::Counted);
        let of_queue = |(line, count)| if let Line::Queue(queue) = line { Some((queue, count)) } else { None };
        spent.into_iter().filter_map(of_queue).collect()
    }
}

/// How woken claims reach the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Gathered,
    Direct,
}

/// Takes woken claims to the store, in requests that fit one call each.
pub(super) fn serve_all(node: &Arc<Node>, woken: Vec<Woken>, wake: Wake) {
    // Those of one database never wait for another.
    let home = |woken: &Woken| woken.waiter.claim.home(node.settings.placement);
    let mut apart: BTreeMap<Option<Shard>, Vec<Woken>> = BTreeMap::new();
    woken.into_iter().for_each(|woken| apart.entry(home(&woken)).or_default().push(woken));
    apart.into_values().for_each(|woken| serve_some(node, woken, wake));
}

fn serve_some(node: &Arc<Node>, woken: Vec<Woken>, wake: Wake) {
    let mut rest = woken;
    while !rest.is_empty() {
        let mut weight = 0;
        let fits = rest.iter().take_while(|woken| {
            weight += gather::Item::weight(&woken.waiter.claim);
            weight <= node.settings.gather_jobs_max
        });
        let later = rest.split_off(fits.count().max(1));
        let (serving, errand) = (serve(node.clone(), rest, wake), Errand::begin(node));
        tokio::spawn(async move {
            serving.await;
            drop(errand);
        });
        rest = later;
    }
}

async fn serve(node: Arc<Node>, mut woken: Vec<Woken>, wake: Wake) {
    while !woken.is_empty() {
        woken = serve_once(&node, woken, wake, Way::Gathered).await.again;
    }
}

/// What came of asking for some once.
#[derive(Debug, Default)]
struct Served {
    /// These must ask again, because something was woken meanwhile.
    again: Vec<Woken>,
    /// How many of the jobs that they were woken for were taken, or passed on to the next in line.
    spent: Vec<(Line, u64)>,
}

async fn serve_once(node: &Arc<Node>, woken: Vec<Woken>, wake: Wake, way: Way) -> Served {
    let parking = &node.poll.parking;
    let generations: Vec<u64> = woken.iter().map(|woken| parking.generation(&woken.waiter.claim)).collect();
    let claims = woken.iter().map(|woken| woken.waiter.claim.clone()).collect();
    let asked = match way {
        Way::Gathered => node.claims.ask_patiently(claims).await,
        Way::Direct => node.apply_claims(claims).await.map_err(Error::Store),
    };
    let answers = match asked {
        Ok(answers) => answers,
        Err(Error::Closed) => {
            woken.into_iter().for_each(|woken| send_away(woken.waiter));
            return Served::default();
        }
        Err(error) => {
            for woken in woken {
                let _ = woken.waiter.reply.send(Err(error.clone()));
            }
            return Served::default();
        }
    };
    let mut served = Served::default();
    let mut unspent = Vec::new();
    let (mut took, mut waits_on) = (false, false);
    for ((Woken { waiter, by }, generation), handful) in woken.into_iter().zip(generations).zip(answers) {
        let found = by.as_ref().map_or(0, |(line, _)| handful.count_of(line) as u64);
        if let Some((line, share)) = by {
            // Filled up from elsewhere, or not one to give jobs to: the next in line is served.
            let left = match handful.jobs() {
                Some(jobs) if jobs.len() < waiter.claim.max => 0,
                Some(_) | None => share.saturating_sub(found),
            };
            let pass_on = match wake {
                Wake::Counted => left,
                Wake::Probe | Wake::Opened => left.max(found * 2),
            };
            served.spent.push((line.clone(), found + left));
            unspent.push((line, pass_on));
        }
        if !handful.is_empty() {
            took = true;
            // A receiver that is gone drops the handful, and that gives its jobs back.
            let _ = waiter.reply.send(Ok(handful));
            continue;
        }
        match parking.park(waiter, generation) {
            Parked::Waiting { .. } => waits_on = true,
            Parked::Changed(waiter) => served.again.push(Woken { waiter, by: None }),
            Parked::Over(waiter) => send_away(waiter),
        }
    }
    match wake {
        Wake::Opened => node.looked_at_gates(took, waits_on),
        Wake::Counted | Wake::Probe if waits_on => node.look_at_gates(),
        Wake::Counted | Wake::Probe => {}
    }
    unspent.retain(|&(_, count)| count > 0);
    if !unspent.is_empty() {
        // What follows on a find is a look of its own.
        let wake = if wake == Wake::Opened { Wake::Probe } else { wake };
        serve_all(node, parking.wake_lines(&unspent), wake);
    }
    served
}

pub(super) fn send_away(waiter: Waiter) {
    let (nothing, _) = tokio::sync::mpsc::unbounded_channel();
    let _ = waiter.reply.send(Ok(Handful::new(ClaimAnswer::Jobs(vec![]), nothing)));
}
