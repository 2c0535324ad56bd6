//! One history: the storm, the calm after it, and what is left. Says what was found; repairs nothing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mainspring_core::id::JobId;
use mainspring_core::job::JobView;
use mainspring_core::name::TenantName;
use mainspring_core::schedule::{LedgerRow, ScheduleView};
use mainspring_core::seats::{Seat, Seats};
use mainspring_core::store::{Filter, LedgerQuery, Query, ScheduleQuery, Views};
use mainspring_core::time::Time;
use mainspring_store::memory::Memory;

use super::{Chance, Plan, World, sleep};
use crate::checkers::{Finding, Last};
use crate::faults::Nemesis;
use crate::hop::{Hop, at_once};
use crate::witness::Keep;
use crate::workload::{self, TENANTS};

/// The calm lasts no longer: what is not done by then is stuck.
const CALM_MAX: Duration = Duration::from_secs(300);
const LOOK_EVERY: Duration = Duration::from_millis(500);
const PAGE: usize = 1_000;

/// What came out of a world.
#[derive(Clone, Debug)]
pub struct History {
    pub findings: Vec<Finding>,
    /// Calls at the store.
    pub deeds: u64,
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
    for node in &world.nodes {
        node.start(&world);
    }
    let schedules_end_at = tokio::select! {
        biased;
        end_at = storm_and_calm(&world, &chance) => end_at,
        // What follows a broken promise shows nothing new.
        () = found(&world) => world.now(),
    };
    world.end();
    let last = look(&world, schedules_end_at);
    let findings = world.witness.with_bench(|bench| {
        // What was broken on the way says it better than what is left of it.
        if !bench.has_found() {
            bench.end(&last);
        }
        bench.findings()
    });
    History {
        findings,
        deeds: world.witness.deeds(),
        jobs: last.jobs.len(),
        lasted: last.at.since(super::START),
        digest: world.witness.digest(),
        lines: world.witness.lines(),
    }
}

/// Answers the instant up to which every schedule must have come.
async fn storm_and_calm(world: &Arc<World>, chance: &Chance) -> Time {
    let outside = workload::begin(world, chance);
    Nemesis::new(world.clone(), chance.fork()).rage(world.plan.storm).await;

    world.say(|| "the storm is over".into());
    world.weather.clear_up();
    for node in &world.nodes {
        node.heal(world);
    }
    let Ok(schedules_end_at) = tokio::time::timeout(CALM_MAX, outside.calm_down(world)).await else {
        let what = "the storm is over, and nobody can be reached".into();
        world.witness.with_bench(|bench| bench.broken(world.now(), "no state without an exit", what));
        return world.now();
    };
    let calm_until = world.now().after(CALM_MAX);
    while world.now() < calm_until && !is_done(world) {
        sleep(LOOK_EVERY).await;
    }
    schedules_end_at
}

/// Returns soon after a promise was broken.
async fn found(world: &World) {
    while !world.witness.with_bench(|bench| bench.has_found()) {
        sleep(LOOK_EVERY).await;
    }
}

/// Whether all that is served has ended, and every seat is where it is to be.
fn is_done(world: &World) -> bool {
    let ground = world.court.ground();
    let queues = at_once(ground.queues(None)).unwrap_or_default();
    let served = queues.iter().filter(|view| !workload::unserved().contains(&view.queue.queue));
    let at_rest = served.map(|view| view.counts).all(|it| it.depth() + it.running == 0);
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
    live == world.nodes.len() && roll.terms.iter().filter(held).count() + 1 == Seat::COUNT
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
        nodes: world.nodes.len(),
        unserved: workload::unserved(),
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
