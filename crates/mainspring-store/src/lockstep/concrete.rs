//! Turns the words of a script into what a store is asked. Draws nothing and keeps nothing.

use mainspring_core::job::{Failure, Idempotency, Job, Json, Keys, Progress};
use mainspring_core::rank::{Aging, Priority};
use mainspring_core::retry::RetryPolicy;
use mainspring_core::store::*;
use mainspring_core::time::Time;
use mainspring_core::verdict::{Cause, Verdict};

use super::script::*;
use super::words::*;

pub fn job(new: &NewJob, now: Time) -> Job {
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
        depends_on: vec![],
        workflow: None,
        origin: None,
        keys: Keys::default(),
    }
}

pub fn claim(ask: &Ask) -> Claim {
    let queues = ask.queues.iter().map(|queue| queue.name()).collect();
    Claim { worker: ask.worker.id(), tenant: ask.tenant.name(), queues, max: ask.max }
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
        End::Bury { cause: of, error: what } => Verdict::Bury { cause: cause(of), error: error(what) },
        End::Cancel => Verdict::Cancel { reason: "told to".into() },
    };
    Settlement { lease: which.lease(past), verdict }
}

pub fn command(wish: &Wish, now: Time, past: &Past) -> Command {
    let job = |tenant: T, who: Who, what| Command::Job { tenant: tenant.name(), id: who.id(past), what };
    let queue = |tenant: T, queue: Q, what| Command::Queue { queue: queue.of(tenant), what };
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
    }
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
