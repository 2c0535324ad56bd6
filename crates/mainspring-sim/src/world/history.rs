//! One history: the storm, the calm after it, and what is left. Says what was found; repairs nothing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mainspring_core::id::JobId;
use mainspring_core::job::JobView;
use mainspring_core::lifecycle::State;
use mainspring_core::name::TenantName;
use mainspring_core::schedule::{LedgerRow, ScheduleView};
use mainspring_core::seats::{Seat, Seats};
use mainspring_core::store::{Filter, LedgerQuery, Query, ScheduleQuery, Views};
use mainspring_core::time::Time;
use mainspring_store::memory::Memory;

use super::{Chance, NodeSlot, Plan, World, sleep};
use crate::checkers::{Finding, Last};
use crate::faults::Nemesis;
use crate::hop::{Hop, at_once};
use crate::witness::Keep;
use crate::workload::{self, TENANTS};

/// The calm lasts no longer: what is not done by then is stuck.
const CALM_MAX: Duration = Duration::from_secs(600);
/// Whatever does not fail by itself has ended when everything was let go for so long.
const WELL_AFTER: Duration = Duration::from_secs(120);
const LOOK_EVERY: Duration = Duration::from_millis(500);
const PAGE: usize = 1_000;

/// What came out of a world.
#[derive(Clone, Debug)]
pub struct History {
    pub findings: Vec<Finding>,
    /// Calls at the store.
    pub deeds: u64,
    /// Jobs that were taken in.
    pub jobs: usize,
    /// How long it took, by the world's clock.
    pub lasted: Duration,
    pub digest: u64,
    pub lines: Vec<String>,
}

/// Lives through the world of a seed.
pub async fn live(seed: u64, store: Arc<dyn Hop>, keep: Keep) -> History {
    let chance = Chance::new(seed);
    let plan = Plan::draw(&chance);
    let world = Arc::new(World::new(plan, &chance, store, keep));
    world.say(|| format!("seed {seed}: {:?} {:?}", world.plan, world.weather));
    let on_time = world.nodes.len() - world.plan.late_nodes;
    for node in &world.nodes[..on_time] {
        node.start(&world);
    }
    for node in &world.nodes[on_time..] {
        tokio::spawn(join(world.clone(), node.clone(), chance.ms(1_000, world.plan.storm.as_millis() as u64)));
    }
    let schedules_end_at = tokio::select! {
        biased;
        end_at = storm_and_calm(&world, &chance) => end_at,
        // What follows a broken promise shows nothing new.
        () = found(&world) => world.now(),
    };
    world.end();
    let last = look(&world, schedules_end_at);
    let (findings, jobs) = world.witness.with_bench(|bench| {
        // What was broken on the way says it better than what is left of it.
        if !bench.has_found() {
            bench.end(&last);
        }
        (bench.findings(), bench.past().jobs.len())
    });
    History {
        findings,
        deeds: world.witness.deeds(),
        jobs,
        lasted: last.at.since(super::START),
        digest: world.witness.digest(),
        lines: world.witness.lines(),
    }
}

/// A machine that is added while the cluster works.
async fn join(world: Arc<World>, node: Arc<NodeSlot>, after: Duration) {
    sleep(after).await;
    node.start(&world);
}

/// Answers the instant up to which every schedule must have come.
async fn storm_and_calm(world: &Arc<World>, chance: &Chance) -> Time {
    let outside = workload::begin(world, chance);
    Nemesis::new(world.clone(), chance.fork()).rage(world.plan.storm).await;

    world.say(|| "the storm is over".into());
    world.weather.clear_up();
    for node in world.nodes.iter().filter(|node| !node.is_retired()) {
        node.heal(world);
    }
    let Ok(schedules_end_at) = tokio::time::timeout(CALM_MAX, outside.calm_down(world)).await else {
        let what = "the storm is over, and nobody can be reached".into();
        world.witness.with_bench(|bench| bench.broken(world.now(), "no state without an exit", what));
        return world.now();
    };
    let (well_at, calm_until) = (world.now().after(WELL_AFTER), world.now().after(CALM_MAX));
    let mut was_looked_at = false;
    while world.now() < calm_until && !is_done(world) {
        sleep(LOOK_EVERY).await;
        if world.now() >= well_at && !std::mem::replace(&mut was_looked_at, true) {
            let last = look(world, schedules_end_at);
            world.witness.with_bench(|bench| bench.midway(&last));
        }
    }
    schedules_end_at
}

/// Returns soon after a promise was broken.
async fn found(world: &World) {
    while !world.witness.with_bench(|bench| bench.has_found()) {
        sleep(LOOK_EVERY).await;
    }
}

/// Whether all that is served has ended, what is not waits at its place, and every seat is where it is to be.
fn is_done(world: &World) -> bool {
    let (ground, unserved) = (world.court.ground(), workload::unserved());
    let mut at_rest = true;
    ground.each_job(|job, standing| {
        at_rest &= standing.state.is_final() || standing.state == State::Ready && unserved.contains(&job.queue);
    });
    at_rest && is_settled(world, ground)
}

fn is_settled(world: &World, ground: &Memory) -> bool {
    let Ok(roll) = at_once(ground.roll()) else { return false };
    let now = world.now();
    let live = roll.nodes.iter().filter(|view| view.is_live(now)).count();
    let held = |term: &&mainspring_core::seats::Term| {
        let Some(segment) = term.seat.segment() else { return false };
        term.until > now && roll.assigned.contains(&(segment, term.holder))
    };
    live == world.nodes_expected() && roll.terms.iter().filter(held).count() + 1 == Seat::COUNT
}

fn look(world: &World, schedules_end_at: Time) -> Last {
    let ground = world.court.ground();
    let tenants = TENANTS.map(|name| TenantName::parse(name).expect("a name"));
    Last {
        at: world.now(),
        jobs: tenants.iter().flat_map(|tenant| jobs(ground, tenant)).collect(),
        schedules: tenants.iter().flat_map(|tenant| schedules(ground, tenant)).collect(),
        schedules_end_at,
        roll: at_once(ground.roll()).unwrap_or_default(),
        nodes: world.nodes_expected(),
        unserved: workload::unserved(),
        poisoned: world.plan.poisoned.clone(),
        acks: world.acks().clone(),
    }
}

fn jobs(ground: &Memory, tenant: &TenantName) -> BTreeMap<JobId, JobView> {
    let (mut found, mut below) = (BTreeMap::new(), None);
    loop {
        let query = Query { tenant: tenant.clone(), filter: Filter::default(), below, limit: PAGE };
        let page = at_once(ground.find(query)).expect("the reference store always answers");
        found.extend(page.jobs.into_iter().map(|view| (view.job.id, view)));
        below = page.next;
        if below.is_none() {
            return found;
        }
    }
}

fn schedules(ground: &Memory, tenant: &TenantName) -> Vec<(ScheduleView, Vec<LedgerRow>)> {
    let query = ScheduleQuery { tenant: tenant.clone(), above: None, limit: PAGE };
    let page = at_once(ground.schedules(query)).expect("the reference store always answers");
    let with_ledger = |view: ScheduleView| {
        let query = LedgerQuery { schedule: view.schedule.reference(), below: None, limit: PAGE };
        let rows = at_once(ground.ledger(query)).expect("the reference store always answers").rows;
        (view, rows)
    };
    page.schedules.into_iter().map(with_ledger).collect()
}
