//! Why a job is where it is: every state, every hindrance.

use super::*;
use mainspring_core::id::Fence;
use mainspring_core::job::{Ended, Job, Json, Keys, Lease, Tally};
use mainspring_core::name::{QueueName, QueueRef, TypeName};
use mainspring_core::rank::{Aging, Priority};
use mainspring_core::retry::RetryPolicy;
use mainspring_core::store::{Counts, WorkerInfo};
use std::time::Duration;

const NOW: Time = Time::from_millis(1_000_000);
const LATER: Time = Time::from_millis(2_000_000);

fn view(state: State) -> JobView {
    let job = Job {
        id: JobId::MIN,
        tenant: TenantName::default_tenant(),
        queue: QueueName::default_queue(),
        kind: TypeName::parse("mail").unwrap(),
        data: Json::null(),
        priority: Priority::DEFAULT,
        submitted_at: NOW,
        run_at: NOW,
        deadline: None,
        expires_at: None,
        retry: RetryPolicy::default(),
        max_attempts: 3,
        max_crashes: 2,
        timeout: None,
        tags: vec![],
        idempotency: None,
        depends_on: vec![],
        workflow: None,
        origin: None,
        keys: Keys::default(),
    };
    let standing = Standing {
        state,
        paused: false,
        ready_at: LATER,
        tally: Tally::default(),
        lease: None,
        checkpoint: None,
        progress: None,
        last_error: None,
        ended: None,
    };
    JobView { job, standing }
}

fn held(timeout_at: Option<Time>, cancel_asked: bool) -> JobView {
    let lease = Lease {
        fence: Fence(1),
        worker: worker().id,
        claimed_at: NOW,
        started_at: None,
        timeout_at,
        cancel_asked: cancel_asked.then(|| "stop".into()),
    };
    let running = view(State::Running);
    JobView { standing: Standing { lease: Some(lease), ..running.standing }, ..running }
}

fn dead(failures: u32, crashes: u32) -> JobView {
    let dead = view(State::Dead);
    let tally = Tally { attempts: failures + crashes, failures, crashes };
    JobView { standing: Standing { tally, ..dead.standing }, ..dead }
}

fn paused(view: JobView) -> JobView {
    JobView { standing: Standing { paused: true, ..view.standing }, ..view }
}

fn worker() -> WorkerView {
    WorkerView {
        id: WorkerId(uuid::Uuid::from_u128(1)),
        tenant: TenantName::default_tenant(),
        info: WorkerInfo { queues: vec![QueueName::default_queue()], ..WorkerInfo::default() },
        lease: Duration::from_secs(30),
        registered_at: NOW,
        last_seen_at: NOW,
        expires_at: NOW.after(Duration::from_secs(30)),
        order: Order::Work,
        held: 0,
    }
}

fn queue(paused: bool) -> QueueView {
    QueueView {
        queue: QueueRef { tenant: TenantName::default_tenant(), queue: QueueName::default_queue() },
        paused,
        aging: Aging::DEFAULT,
        max_depth: None,
        counts: Counts::default(),
        oldest_ready_at: None,
    }
}

#[test]
fn every_state_has_its_reasons() {
    let free = Around {
        now: NOW,
        queue: None,
        workers: &[worker()],
        served: false,
        ahead: Some(0),
        hurdles: &[],
        bonds: &Bonds::default(),
    };
    let check = |view: JobView, expected: &[Reason]| assert_eq!(reasons(&view, free), expected, "{view:?}");
    check(view(State::Waiting), &[Reason::WaitsUntil(LATER)]);
    check(paused(view(State::Waiting)), &[Reason::JobPaused, Reason::WaitsUntil(LATER)]);
    check(view(State::Ready), &[Reason::NextUp]);
    check(paused(view(State::Ready)), &[Reason::JobPaused]);
    check(view(State::Succeeded), &[Reason::Finished]);
    check(dead(3, 1), &[Reason::AttemptsUsedUp { attempts: 3, max: 3 }]);
    check(dead(1, 3), &[Reason::CrashesUsedUp { crashes: 3, max: 2 }]);
    check(dead(1, 0), &[Reason::FailedForGood]);
    let cancelled = view(State::Cancelled);
    let ended = Some(Ended { at: NOW, result: None, reason: Some("enough".into()) });
    let cancelled = JobView { standing: Standing { ended, ..cancelled.standing }, ..cancelled };
    check(cancelled, &[Reason::Cancelled { reason: Some("enough".into()) }]);
}

#[test]
fn a_ready_job_waits_for_its_queue_a_worker_and_those_ahead() {
    let check = |around: Around<'_>, expected: &[Reason]| {
        assert_eq!(reasons(&view(State::Ready), around), expected, "{around:?}");
    };
    let other = WorkerInfo { queues: vec![QueueName::parse("other").unwrap()], ..WorkerInfo::default() };
    let useless = [
        WorkerView { info: other, ..worker() },
        WorkerView { order: Order::Quiet, ..worker() },
        WorkerView { expires_at: NOW, ..worker() },
        WorkerView { tenant: TenantName::parse("other").unwrap(), ..worker() },
    ];
    let any = [WorkerView { info: WorkerInfo::default(), ..worker() }];
    let around = Around {
        now: NOW,
        queue: None,
        workers: &[worker()],
        served: false,
        ahead: Some(0),
        hurdles: &[],
        bonds: &Bonds::default(),
    };
    check(Around { workers: &useless, ..around }, &[Reason::NoWorker { elsewhere: 1 }]);
    check(Around { workers: &any, ..around }, &[Reason::NextUp]);
    check(Around { queue: Some(&queue(false)), ..around }, &[Reason::NextUp]);
    check(Around { queue: Some(&queue(true)), ..around }, &[Reason::QueuePaused]);
    check(Around { ahead: Some(7), ..around }, &[Reason::Behind { ahead: 7, at_least: false }]);
    check(Around { ahead: Some(AHEAD_MAX), ..around }, &[Reason::Behind { ahead: AHEAD_MAX, at_least: true }]);
}

#[test]
fn a_running_job_is_held_until_the_first_of_its_ends() {
    let silent_at = NOW.after(Duration::from_secs(30));
    let check = |view: JobView, workers: &[WorkerView], until: Time| {
        let around = Around {
            now: NOW,
            queue: None,
            workers,
            served: false,
            ahead: None,
            hurdles: &[],
            bonds: &Bonds::default(),
        };
        let held = Reason::HeldBy { worker: worker().id, until };
        assert_eq!(reasons(&view, around)[0], held);
    };
    check(held(None, false), &[worker()], silent_at);
    check(held(Some(LATER), false), &[worker()], silent_at);
    check(held(Some(NOW), false), &[worker()], NOW);
    check(held(None, false), &[], NOW);
    let around = Around {
        now: NOW,
        queue: None,
        workers: &[worker()],
        served: false,
        ahead: None,
        hurdles: &[],
        bonds: &Bonds::default(),
    };
    assert_eq!(reasons(&held(None, true), around)[1], Reason::CancelAsked);
}
