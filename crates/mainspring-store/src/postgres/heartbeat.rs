//! Registers workers, keeps them alive, tells them what to stop. Writes nobody off: reclaim does.
//!
//! Isolation. Read committed. Workers that beat are locked, in order of ids, and so are the leases of those that list what they
//! hold or leave; beats of one batch follow each other in memory and are written at its end.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::Duration;

use mainspring_core::id::{JobId, LeaseId, WorkerId};
use mainspring_core::name::{QueueRef, TenantName};
use mainspring_core::store::{Beat, BeatKind, GateNews, Order, Pulse, WorkerInfo, WorkerView};
use mainspring_core::time::Time;
use mainspring_core::verdict::{Verdict, given_back as given_back_verdict};
use uuid::Uuid;

use super::Postgres;
use super::error::{Fault, Result};
use super::held::Held;
use super::leaving::Gatekeeper;
use super::limits;
use super::moves::Moves;
use super::numbers::{self, ms, text, time};
use super::pipeline::{Step, pipeline};
use super::pool::{Transaction, transact};
use super::submit::tenant;

pub(super) async fn heartbeat(store: &Postgres, now: Time, beats: Vec<Beat>) -> Result<Vec<Pulse>> {
    let pulses = transact!(store.pool, |txn| {
        let mut ward = Ward::read(store, &txn, now, &beats).await?;
        let pulses: Vec<Pulse> = beats.iter().map(|beat| ward.beat(now, beat)).collect();
        ward.write(&txn, now, pulses).await?
    });
    Ok(pulses)
}

/// The workers that beat, and what they hold.
#[derive(Default)]
struct Ward<'a> {
    workers: HashMap<WorkerId, Known>,
    held: HashMap<WorkerId, u64>,
    cancel: HashMap<WorkerId, Vec<LeaseId>>,
    /// All leases, of those that list theirs or leave.
    leases: HashMap<WorkerId, Vec<Held>>,
    names: HashMap<i32, QueueRef>,
    registered: BTreeMap<WorkerId, (&'a TenantName, &'a WorkerInfo)>,
    seen: BTreeSet<WorkerId>,
    moves: Moves,
    keeper: Option<Gatekeeper>,
    /// For each beat that gave something back, in order: what it gave.
    given: Vec<(WorkerId, Vec<JobId>)>,
}

struct Known {
    tenant: TenantName,
    lease: Duration,
    last_seen_at: Time,
    expires_at: Time,
    order: Order,
}

/// What came of giving leases back: the queues they went to, and what it did to the gates.
#[derive(Default)]
struct GivenBack {
    queues: BTreeSet<QueueRef>,
    news: GateNews,
    jobs: Vec<JobId>,
}

impl<'a> Ward<'a> {
    async fn read(store: &Postgres, txn: &Transaction<'_>, now: Time, beats: &[Beat]) -> Result<Ward<'a>, Fault> {
        let ids: BTreeSet<Uuid> = beats.iter().map(|beat| beat.worker.0).collect();
        let ids: Vec<Uuid> = ids.into_iter().collect();
        let lists = |beat: &&Beat| matches!(beat.kind, BeatKind::Holding { .. } | BeatKind::Leave);
        let listing: Vec<Uuid> =
            beats.iter().filter(lists).map(|beat| beat.worker.0).collect::<BTreeSet<_>>().into_iter().collect();
        let mut steps = vec![
            Step::new(include_str!("sql/heartbeat_workers.sql"), vec![&ids]),
            Step::new(include_str!("sql/heartbeat_held.sql"), vec![&ids]),
            Step::new(include_str!("sql/heartbeat_cancel.sql"), vec![&ids]),
        ];
        if !listing.is_empty() {
            steps.push(limits::share_step());
            steps.push(limits::version_step());
            steps.push(Step::new(include_str!("sql/heartbeat_leases.sql"), vec![&listing]));
        }
        let answers = pipeline(txn, &steps).await?;
        let mut ward = Ward::default();
        for row in &answers[0] {
            let known = Known {
                tenant: tenant(row.get(1))?,
                lease: Duration::from_millis(row.get::<_, i64>(2).unsigned_abs()),
                last_seen_at: time(row.get(4)),
                expires_at: time(row.get(5)),
                order: numbers::order(row.get(6))?,
            };
            ward.workers.insert(WorkerId(row.get(0)), known);
        }
        for row in &answers[1] {
            ward.held.insert(WorkerId(row.get(0)), row.get::<_, i64>(1).unsigned_abs());
        }
        for row in &answers[2] {
            let fence = mainspring_core::id::Fence(row.get::<_, i64>(2) as u64);
            let lease = LeaseId { job: row.get::<_, Uuid>(1).into(), fence };
            ward.cancel.entry(WorkerId(row.get(0))).or_default().push(lease);
        }
        for held in answers.get(5).into_iter().flatten().map(Held::read) {
            ward.leases.entry(held.worker).or_default().push(held);
        }
        let queues: Vec<i32> = ward.leases.values().flatten().map(|held| held.slip.queue).collect();
        ward.names = store.queues.names(txn, queues).await?;
        let version: i64 = answers.get(4).map_or(0, |rows| rows[0].get(0));
        if version != 0 {
            let held = ward.leases.values().flatten();
            ward.keeper = Some(Gatekeeper::read(store, txn, now, version, held).await?);
        }
        Ok(ward)
    }

    fn beat(&mut self, now: Time, beat: &'a Beat) -> Pulse {
        let worker = beat.worker;
        if let BeatKind::Register { info, lease } = &beat.kind {
            return self.register(now, worker, &beat.tenant, info, *lease);
        }
        let Some(known) = self.workers.get_mut(&worker) else { return Pulse::Unknown };
        if known.tenant != beat.tenant || known.expires_at == WorkerView::LEFT {
            return Pulse::Unknown;
        }
        known.last_seen_at = now;
        known.expires_at = known.expires_at.max(now.after(known.lease));
        self.seen.insert(worker);
        match &beat.kind {
            BeatKind::Register { .. } | BeatKind::Alive => self.pulse(worker, Vec::new(), GivenBack::default()),
            BeatKind::Leave => {
                known.expires_at = WorkerView::LEFT;
                let given_back = self.give_back(now, worker, &[], Time::MAX);
                self.pulse(worker, Vec::new(), given_back)
            }
            BeatKind::Holding { leases, claimed_before } => {
                let held: HashSet<LeaseId> = self.leases.get(&worker).into_iter().flatten().map(Held::lease).collect();
                let given_back = self.give_back(now, worker, leases, *claimed_before);
                let lost = leases.iter().copied().filter(|lease| !held.contains(lease)).collect();
                self.pulse(worker, lost, given_back)
            }
        }
    }

    /// The same worker again is refreshed and keeps its leases and its order; another tenant's is not ours to touch.
    fn register(
        &mut self,
        now: Time,
        id: WorkerId,
        tenant: &'a TenantName,
        info: &'a WorkerInfo,
        lease: Duration,
    ) -> Pulse {
        let known = self.workers.entry(id).or_insert_with(|| Known {
            tenant: tenant.clone(),
            lease,
            last_seen_at: now,
            expires_at: now,
            order: Order::Work,
        });
        if known.tenant != *tenant {
            return Pulse::Unknown;
        }
        known.lease = lease;
        known.last_seen_at = now;
        known.expires_at = now.after(lease);
        self.registered.insert(id, (tenant, info));
        self.pulse(id, Vec::new(), GivenBack::default())
    }

    /// Releases what was claimed before that instant and never arrived.
    fn give_back(&mut self, now: Time, worker: WorkerId, listed: &[LeaseId], claimed_before: Time) -> GivenBack {
        let leases = self.leases.remove(&worker).unwrap_or_default();
        let listed: HashSet<LeaseId> = listed.iter().copied().collect();
        let is_missing = |held: &Held| held.claimed_at < claimed_before && !listed.contains(&held.lease());
        let (missing, kept): (Vec<Held>, Vec<Held>) = leases.into_iter().partition(is_missing);
        let mut given_back = GivenBack::default();
        for held in missing {
            let verdict = given_back_verdict(held.cancel_asked.as_deref());
            if verdict == Verdict::Release {
                given_back.queues.insert(self.names[&held.slip.queue].clone());
            }
            let (lot, news) = self.keeper.as_mut().map_or((0, None), |keeper| keeper.let_out(&held, &verdict));
            given_back.news.breakers.extend(news.into_iter().flat_map(|news| news.breakers));
            given_back.jobs.push(held.id());
            held.apply(now, verdict, lot, &mut self.moves);
        }
        let asked = kept.iter().filter(|held| held.cancel_asked.is_some()).map(Held::lease).collect();
        self.held.insert(worker, kept.len() as u64);
        self.cancel.insert(worker, asked);
        self.leases.insert(worker, kept);
        given_back
    }

    fn pulse(&mut self, worker: WorkerId, lost: Vec<LeaseId>, given_back: GivenBack) -> Pulse {
        let GivenBack { queues, news, jobs } = given_back;
        self.given.push((worker, jobs));
        Pulse::Alive {
            order: self.workers[&worker].order,
            held: self.held.get(&worker).copied().unwrap_or_default(),
            cancel: self.cancel.get(&worker).cloned().unwrap_or_default(),
            lost,
            released: queues.into_iter().collect(),
            gates: (news != GateNews::default()).then(|| Box::new(news)),
        }
    }

    /// Writes all of it; the pulses, with what can only be known then.
    async fn write(self, txn: &Transaction<'_>, now: Time, mut pulses: Vec<Pulse>) -> Result<Vec<Pulse>, Fault> {
        let registrations: Vec<Registration> = self
            .registered
            .iter()
            .map(|(id, (tenant, info))| Registration::of(*id, tenant, info, &self.workers[id]))
            .collect();
        let now = ms(now);
        let mut steps: Vec<Step<'_>> = registrations.iter().map(|registration| registration.step(&now)).collect();
        let ids: Vec<Uuid> = self.seen.iter().map(|worker| worker.0).collect();
        let last_seen: Vec<i64> = self.seen.iter().map(|worker| ms(self.workers[worker].last_seen_at)).collect();
        let expires: Vec<i64> = self.seen.iter().map(|worker| ms(self.workers[worker].expires_at)).collect();
        if !ids.is_empty() {
            steps.push(Step::new(include_str!("sql/heartbeat_seen.sql"), vec![&ids, &last_seen, &expires]));
        }
        let (answers, _) = self.moves.write(txn, steps).await?;
        if answers[..registrations.len()].iter().any(Vec::is_empty) {
            return Err(Fault::Raced("a worker was registered by two tenants at once"));
        }
        if let Some(keeper) = &self.keeper {
            let opened = keeper.write(txn).await?;
            let alive = pulses.iter_mut().filter_map(|pulse| match pulse {
                Pulse::Alive { gates, .. } => Some(gates),
                Pulse::Unknown => None,
            });
            for (gates, (worker, jobs)) in alive.zip(&self.given) {
                for job in jobs {
                    *gates = keeper.tell(*job, &self.workers[worker].tenant, gates.take(), &opened);
                }
            }
        }
        Ok(pulses)
    }
}

/// A worker that registers, as it is stored.
struct Registration {
    id: Uuid,
    tenant: String,
    lease_ms: i64,
    expires_at: i64,
    concurrency: i64,
    pid: Option<i64>,
    name: Option<String>,
    host: Option<String>,
    version: Option<String>,
    queues: Vec<String>,
}

impl Registration {
    fn of(id: WorkerId, tenant: &TenantName, info: &WorkerInfo, known: &Known) -> Registration {
        let said = |said: &Option<String>| said.as_deref().map(text);
        Registration {
            id: id.0,
            tenant: tenant.as_str().to_owned(),
            lease_ms: i64::try_from(known.lease.as_millis()).unwrap_or(i64::MAX),
            expires_at: ms(known.expires_at),
            concurrency: info.concurrency.into(),
            pid: info.pid.map(i64::from),
            name: said(&info.name),
            host: said(&info.host),
            version: said(&info.version),
            queues: info.queues.iter().map(|queue| queue.as_str().to_owned()).collect(),
        }
    }

    fn step<'a>(&'a self, now: &'a i64) -> Step<'a> {
        let Registration { id, tenant, lease_ms, expires_at, concurrency, pid, name, host, version, queues } = self;
        Step::new(
            include_str!("sql/heartbeat_register.sql"),
            vec![id, tenant, lease_ms, now, expires_at, concurrency, pid, name, host, version, queues],
        )
    }
}
