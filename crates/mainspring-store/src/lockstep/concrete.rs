//! Turns the words of a script into what a store is asked. Draws nothing and keeps nothing.

use std::time::Duration;

use mainspring_core::id::JobId;
use mainspring_core::job::{Dependency, Failure, Idempotency, Job, Json, Membership, Origin, Progress, Role};
use mainspring_core::name::StepName;
use mainspring_core::placement::Placement;
use mainspring_core::rank::{Aging, Priority};
use mainspring_core::retry::RetryPolicy;
use mainspring_core::schedule::{
    Catchup, LedgerRow, Overlap, Reason, Schedule, ScheduleRef, Spec, Standing, Template, What, When, segment_of,
};
use mainspring_core::seats::Seat;
use mainspring_core::store::*;
use mainspring_core::time::Time;
use mainspring_core::verdict::{Cause, Verdict};

use super::limits::Place;
use super::past::Past;
use super::script::*;
use super::words::*;

/// The jobs of one submit.
pub fn jobs(lots: &[Lot], now: Time, past: &Past) -> Vec<Job> {
    let mut jobs: Vec<Job> = Vec::new();
    let mut workflows = past.workflows.len();
    for lot in lots {
        match lot {
            Lot::Job(new) => jobs.push(job(new, &jobs, now, past)),
            Lot::Again(which) => jobs.extend(which.recent(past).into_iter().flat_map(|(_, jobs)| jobs.clone())),
            Lot::Workflow { steps, callback } => {
                let workflow = F::nth(workflows);
                workflows += 1;
                let members = steps.iter().map(|step| (step, Role::Step));
                for (new, role) in members.chain(callback.iter().map(|callback| (callback, Role::Callback))) {
                    let new = NewJob { tenant: steps[0].tenant, ..new.clone() };
                    let step = StepName::parse(&format!("{:?}", new.id)).expect("a letter and a number is a name");
                    let workflow = Some(Box::new(Membership { workflow, step, role }));
                    jobs.push(Job { workflow, ..job(&new, &jobs, now, past) });
                }
            }
        }
    }
    jobs
}

/// A job behind those that come before it in the same call.
fn job(new: &NewJob, before: &[Job], now: Time, past: &Past) -> Job {
    let mut depends_on: Vec<Dependency> = Vec::new();
    for &(parent, on_failure) in &new.after {
        let parent = match parent {
            Parent::Who(who) => Some(who.id(past)),
            Parent::Beside(back) => before.iter().rev().nth(back).map(|job| job.id),
        };
        let is_new = |parent: &JobId| depends_on.iter().all(|dependency| dependency.parent != *parent);
        let parent = parent.filter(is_new);
        depends_on.extend(parent.map(|parent| Dependency { parent, on_failure }));
    }
    Job {
        id: new.id.id(),
        tenant: new.tenant.name(),
        queue: new.queue.name(),
        kind: new.kind.kind(),
        data: Json(format!("{{\"of\":\"{:?}\"}}", new.id).into()),
        priority: priority(new.priority),
        submitted_at: now,
        run_at: new.run.from(now),
        deadline: new.deadline.map(|span| span.from(now)),
        expires_at: new.expires.map(|span| span.from(now)),
        retry: RetryPolicy::default(),
        max_attempts: Job::MAX_ATTEMPTS_DEFAULT,
        max_crashes: Job::MAX_CRASHES_DEFAULT,
        timeout: new.timeout.map(Span::length),
        tags: new.tag.iter().map(|tag| tag.tag()).collect(),
        idempotency: new.key.as_ref().map(|said| Idempotency {
            key: said.key(),
            fingerprint: [said.words; 16],
            until: said.keep.from(now),
        }),
        depends_on,
        workflow: None,
        origin: None,
        keys: new.shared.keys(),
    }
}

pub fn claim(ask: &Ask) -> Claim {
    let queues = ask.queues.iter().map(|queue| queue.name()).collect();
    Claim { worker: ask.worker.id(), tenant: ask.tenant.name(), whose: ask.whose, queues, max: ask.max }
}

pub fn beat(said: &Said, now: Time, past: &Past) -> Beat {
    let kind = match &said.what {
        Beating::Register { name, lease } => BeatKind::Register { info: info(*name), lease: lease.length() },
        Beating::Alive => BeatKind::Alive,
        Beating::Holding { leases, claimed_before } => BeatKind::Holding {
            leases: leases.iter().map(|which| which.lease(past)).collect(),
            claimed_before: claimed_before.from(now),
        },
        Beating::Leave => BeatKind::Leave,
    };
    Beat { worker: said.worker.id(), tenant: said.tenant.name(), kind }
}

fn info(name: u8) -> WorkerInfo {
    WorkerInfo {
        name: Some(format!("worker {name}")),
        host: Some("here".into()).filter(|_| name > 0),
        pid: Some(u32::from(name)).filter(|_| name > 0),
        version: None,
        queues: (0..name).map(|queue| Q(queue).name()).collect(),
        concurrency: u32::from(name),
    }
}

pub fn report(which: Which, words: &Words, past: &Past) -> Report {
    let kind = match words {
        Words::Started => ReportKind::Started,
        Words::Checkpoint { data, percent } => ReportKind::Checkpoint {
            data: data.map(number),
            progress: percent
                .map(|percent| Progress { percent: Some(f32::from(percent)), note: Some(format!("at {percent}")) }),
        },
    };
    Report { lease: which.lease(past), kind }
}

pub fn settlement(which: Which, end: &End, now: Time, past: &Past) -> Settlement {
    let error =
        |of: u8| Failure { kind: Some("odd".into()).filter(|_| of % 2 == 1), ..Failure::new(format!("error {of}")) };
    let verdict = match *end {
        End::Succeed(result) => Verdict::Succeed { result: result.map(number) },
        End::Retry { at, cause: of, error: what } => {
            Verdict::Retry { at: at.from(now), cause: cause(of), error: error(what) }
        }
        End::Snooze { at } => Verdict::Snooze { at: at.from(now) },
        End::Release => Verdict::Release,
        End::Close { wait } => Verdict::Close { wait: wait.length() },
        End::Bury { cause: of, error: what } => Verdict::Bury { cause: cause(of), error: error(what) },
        End::Cancel => Verdict::Cancel { reason: "told to".into() },
    };
    Settlement { lease: which.lease(past), verdict }
}

pub fn command(wish: &Wish, now: Time, past: &Past) -> Command {
    let job = |tenant: T, who: Who, what| Command::Job { tenant: tenant.name(), id: who.id(past), what };
    let queue = |tenant: T, queue: Q, what| Command::Queue { queue: queue.of(tenant), what };
    let gate = |tenant: T, place: Place, what| Command::Gate { tenant: tenant.name(), reach: place.reach(), what };
    match *wish {
        Wish::RunNow(tenant, id) => job(tenant, id, JobCommand::RunNow),
        Wish::Pause(tenant, id) => job(tenant, id, JobCommand::Pause),
        Wish::Resume(tenant, id) => job(tenant, id, JobCommand::Resume),
        Wish::Cancel(tenant, id) => job(tenant, id, JobCommand::Cancel { reason: "no longer wanted".into() }),
        Wish::Revive(tenant, id, data) => job(tenant, id, JobCommand::Revive { data: data.map(number) }),
        Wish::Delete(tenant, id) => job(tenant, id, JobCommand::Delete),
        Wish::Update { tenant, id, data, priority: points, run } => {
            let (data, run_at) = (data.map(number), run.map(|span| span.from(now)));
            job(tenant, id, JobCommand::Update { data, priority: points.map(priority), run_at })
        }
        Wish::PauseQueue(tenant, name) => queue(tenant, name, QueueCommand::Pause),
        Wish::ResumeQueue(tenant, name) => queue(tenant, name, QueueCommand::Resume),
        Wish::SetAging(tenant, name, point_ms) => {
            queue(tenant, name, QueueCommand::SetAging(Aging::from_point_ms(point_ms)))
        }
        Wish::SetMaxDepth(tenant, name, max) => queue(tenant, name, QueueCommand::SetMaxDepth(max)),
        Wish::Order(worker, order) => Command::Worker { id: worker.id(), order },
        Wish::SetLimit(tenant, place, rule) => gate(tenant, place, GateCommand::Set(rule)),
        Wish::ClearLimit(tenant, place) => gate(tenant, place, GateCommand::Clear),
        Wish::ReopenGates(tenant, place) => gate(tenant, place, GateCommand::Reopen),
    }
}

pub fn turn(new: &NewTurn, now: Time, past: &Past) -> Turn {
    let schedule = new.schedule.of(new.tenant);
    let version = past.versions.get(&schedule).copied();
    let expect = match new.expect {
        Expect::Right => version,
        Expect::Missing => None,
        Expect::Never(number) => Some(number),
    };
    let standing = |runs: u8, wake: Option<Span>| Standing {
        revision: 1,
        created_at: now,
        updated_at: now,
        pause: None,
        last: now,
        next: None,
        wake_at: wake.map(|span| span.from(now)),
        runs: u64::from(runs),
        last_job: None,
        last_fired: None,
    };
    let to = match new.to {
        Becoming::Put { runs, wake } => {
            To::Put { schedule: Box::new(rule(&schedule, runs)), standing: standing(runs, wake) }
        }
        Becoming::Move { runs, wake } => To::Move(standing(runs, wake)),
        Becoming::Gone => To::Gone,
    };
    let mut jobs = Vec::new();
    for made in &new.jobs {
        let made = NewJob { tenant: new.tenant, ..made.clone() };
        let origin = Origin { schedule: new.schedule.name(), occurrence: now };
        jobs.push(Job { origin: Some(Box::new(origin)), ..job(&made, &jobs, now, past) });
    }
    let warrant = new.paper.warrant(Seat::Segment(segment_of(&schedule, Placement::ONE)), past);
    Turn { schedule, expect, to, jobs, rows: new.rows.iter().map(|new| row(new, now)).collect(), warrant }
}

fn rule(schedule: &ScheduleRef, runs: u8) -> Schedule {
    let ScheduleRef { tenant, name } = schedule.clone();
    Schedule {
        tenant,
        name,
        when: When::new(vec![Spec::Every { every: Duration::from_secs(1), anchor: None }]),
        job: Template::new(K(0).kind()),
        catchup: Catchup::default(),
        overlap: Overlap::default(),
        jitter: Duration::ZERO,
        max_runs: Some(u64::from(runs)),
        pause_on_failure: false,
        note: None,
    }
}

fn row(new: &NewRow, now: Time) -> LedgerRow {
    let job = J(new.fate).id();
    let what = match new.fate {
        0 => What::Missed,
        1 => What::Skipped(Reason::Paused),
        fate => What::Fired { job, late_ms: u64::from(fate) },
    };
    LedgerRow { count: u64::from(new.fate), ..LedgerRow::one(new.occurrence.from(now), new.at.from(now), what) }
}

fn priority(points: i64) -> Priority {
    Priority::new(points).expect("only priorities in range are drawn")
}

fn number(of: u8) -> Json {
    Json(of.to_string().into())
}

fn cause(of: u8) -> Cause {
    [Cause::Failure, Cause::Timeout, Cause::Crash][usize::from(of) % 3]
}
