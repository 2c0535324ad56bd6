//! Draws scripts. Small alphabets, so that calls meet: few jobs, queues, workers and instants.

use mainspring_core::job::OnFailure;
use mainspring_core::lifecycle::Status;
use mainspring_core::store::{Order, Whose};
use proptest::collection::vec;
use proptest::option::{of, weighted};
use proptest::prelude::*;

use super::script::*;
use super::words::*;
use super::{limits, scene, seats};

const PART_CALLS_MAX: usize = 34;

const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

pub fn scripts() -> impl Strategy<Value = Script> {
    // Three parts, so that few scripts are short and each can still shrink to nothing.
    let step = || prop_oneof![60 => call().prop_map(|call| vec![call]), 1 => scene::breaker()];
    let part = || vec(step(), 0..PART_CALLS_MAX).prop_map(|steps| steps.concat());
    (weighted(0.9, beginning()), part(), part(), part())
        .prop_map(|(begun, one, two, three)| Script([begun.unwrap_or_default(), one, two, three].concat()))
}

/// A worker, some jobs and mostly a limit, before or behind them. Without them, half of all scripts would never claim
/// anything, or hold anything back.
fn beginning() -> impl Strategy<Value = Vec<Call>> {
    let limits = || vec(set_limit().prop_map(|wish| Call::Command(vec![wish])), 0..2);
    (limits(), vec(lot(), 2..5), limits()).prop_map(|(before, jobs, behind)| {
        let what = Beating::Register { name: 0, lease: Span(HOUR) };
        let registered = Call::Heartbeat(vec![Said { worker: W(0), tenant: T(0), what }]);
        [vec![registered], before, vec![Call::Submit(jobs)], behind].concat()
    })
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        14 => clock().prop_map(Call::Clock),
        2 => Just(Call::Reopen),
        18 => vec(lot(), 1..4).prop_map(Call::Submit),
        12 => promote(),
        20 => vec(ask(), 1..3).prop_map(Call::Claim),
        11 => vec(said(), 1..3).prop_map(Call::Heartbeat),
        5 => vec((which(), words()), 1..3).prop_map(Call::Report),
        16 => vec((which(), end()), 1..4).prop_map(Call::Settle),
        7 => (prop_oneof![vec((which(), end()), 0..3), vec((which(), success()), 1..4)], vec(ask(), 1..3))
            .prop_map(|(ends, asks)| Call::SettleAndClaim(ends, asks)),
        15 => (limit(), span(), weighted(0.3, Just(())).prop_map(|spare| spare.is_some()), seats::paper())
            .prop_map(|(limit, hold, spare_silent, paper)| Call::Reclaim { limit, hold, spare_silent, paper }),
        16 => vec(wish(), 1..4).prop_map(Call::Command),
        8 => vec(new_turn(), 1..3).prop_map(Call::Turn),
        2 => (offset(), offset(), offset(), limit(), seats::paper())
            .prop_map(|(ended, dead, ledger, limit, paper)| Call::Prune { ended, dead, ledger, limit, paper }),
        6 => seats::call(),
        20 => look(),
    ]
}

fn look() -> impl Strategy<Value = Call> {
    prop_oneof![
        1 => (tenant(), vec(who(), 1..4)).prop_map(|(tenant, jobs)| Call::Get(tenant, jobs)),
        1 => find(),
        1 => (tenant(), who()).prop_map(|(tenant, job)| Call::Executions(tenant, job)),
        3 => (tenant(), who(), 0..4u64).prop_map(|(tenant, job, limit)| Call::Ahead(tenant, job, limit)),
        1 => of(tenant()).prop_map(Call::Queues),
        1 => Just(Call::Workers),
        1 => (tenant(), schedule()).prop_map(|(tenant, schedule)| Call::Schedule(tenant, schedule)),
        1 => (tenant(), 1..3usize).prop_map(|(tenant, limit)| Call::Schedules { tenant, limit }),
        1 => (tenant(), schedule(), 1..3usize).prop_map(|(tenant, schedule, limit)| Call::Ledger {
            tenant,
            schedule,
            limit
        }),
        4 => (tenant(), workflow()).prop_map(|(tenant, workflow)| Call::Workflow(tenant, workflow)),
        4 => tenant().prop_map(Call::Gates),
        5 => (tenant(), who()).prop_map(|(tenant, job)| Call::Hurdles(tenant, job)),
        1 => agenda(),
    ]
}

fn find() -> impl Strategy<Value = Call> {
    let statuses = vec(prop::sample::select(Status::ALL.as_slice()), 0..3);
    let words = (weighted(0.3, word()), weighted(0.3, word()));
    let bonds = (weighted(0.2, schedule()), weighted(0.2, workflow()));
    (tenant(), statuses, of(queue()), words, bonds, limit()).prop_map(
        |(tenant, statuses, queue, (kind, tag), (schedule, workflow), limit)| Call::Find {
            tenant,
            statuses,
            queue,
            kind,
            tag,
            schedule,
            workflow,
            limit,
        },
    )
}

fn agenda() -> impl Strategy<Value = Call> {
    let step = prop::sample::select(vec![1, 2, SECOND, DAY]).prop_map(Span);
    let jobs_max = prop_oneof![Just(100u64), 0..3u64];
    (of(tenant()), offset(), offset(), step, jobs_max).prop_map(|(tenant, from, until, step, jobs_max)| Call::Agenda {
        tenant,
        from,
        until,
        step,
        jobs_max,
    })
}

fn promote() -> impl Strategy<Value = Call> {
    let segments = prop_oneof![4 => Just((true, true)), 1 => Just((true, false)), 1 => Just((false, true))];
    let ahead = (span(), 0..4usize);
    let due_limit = prop_oneof![1 => Just(100usize), 2 => 0..3usize];
    (segments, limit(), ahead, due_limit, seats::paper()).prop_map(
        |((odd_segments, even_segments), limit, (look_ahead, look_ahead_limit), due_limit, paper)| Call::Promote {
            odd_segments,
            even_segments,
            limit,
            look_ahead,
            look_ahead_limit,
            due_limit,
            paper,
        },
    )
}

fn lot() -> impl Strategy<Value = Lot> {
    let workflow = (vec(new_job(), 1..4), of(new_job())).prop_map(|(steps, callback)| {
        // A callback has no parents: it waits for the steps.
        Lot::Workflow { steps, callback: callback.map(|callback| NewJob { after: Vec::new(), ..callback }) }
    });
    prop_oneof![12 => new_job().prop_map(Lot::Job), 3 => workflow, 1 => workflow_again()]
}

fn workflow_again() -> impl Strategy<Value = Lot> {
    workflow().prop_map(Lot::Again)
}

pub fn new_job() -> impl Strategy<Value = NewJob> {
    let run = prop_oneof![5 => Just(Span(0)), 4 => offset()];
    let key = (0..2u8, 0..2u8, span()).prop_map(|(key, words, keep)| Key { key, words, keep });
    let when = (run, weighted(0.2, span()), weighted(0.15, offset()), weighted(0.4, span()));
    let words = (weighted(0.3, word()), weighted(0.2, key));
    // More of the other tenant than elsewhere: two must have work for there to be turns.
    let tenant = prop_oneof![6 => Just(T(0)), 1 => Just(T(1))];
    let bonds = (after(), limits::shared());
    ((job(), tenant, queue(), word()), priority(), when, words, bonds).prop_map(
        |((id, tenant, queue, kind), priority, (run, deadline, expires, timeout), (tag, key), (after, shared))| {
            NewJob { id, tenant, queue, kind, priority, run, deadline, expires, timeout, tag, key, after, shared }
        },
    )
}

/// Mostly one that is there: a job that names a parent at random would hardly ever be taken in.
fn after() -> impl Strategy<Value = Vec<(Parent, OnFailure)>> {
    let parent = prop_oneof![
        10 => (0..2usize).prop_map(Parent::Beside),
        8 => (0..4usize).prop_map(|back| Parent::Who(Who::Recent(back))),
        1 => job().prop_map(|job| Parent::Who(Who::Any(job))),
    ];
    let on_failure = prop_oneof![4 => Just(OnFailure::Cancel), 1 => Just(OnFailure::Run), 1 => Just(OnFailure::Hold)];
    prop_oneof![1 => Just(Vec::new()), 1 => vec((parent, on_failure), 1..3)]
}

fn new_turn() -> impl Strategy<Value = NewTurn> {
    let expect = prop_oneof![
        8 => Just(Expect::Right),
        1 => Just(Expect::Missing),
        1 => (0..6u64).prop_map(Expect::Never),
    ];
    let wake = || weighted(0.8, prop_oneof![1 => Just(Span(0)), 1 => offset()]);
    let to = prop_oneof![
        5 => (0..9u8, wake()).prop_map(|(runs, wake)| Becoming::Put { runs, wake }),
        4 => (0..9u8, wake()).prop_map(|(runs, wake)| Becoming::Move { runs, wake }),
        1 => Just(Becoming::Gone),
    ];
    let row = (offset(), offset(), 0..4u8).prop_map(|(occurrence, at, fate)| NewRow { occurrence, at, fate });
    (tenant(), schedule(), (expect, seats::paper()), to, vec(new_job(), 0..3), vec(row, 0..3)).prop_map(
        |(tenant, schedule, (expect, paper), to, jobs, rows)| NewTurn {
            tenant,
            schedule,
            expect,
            paper,
            to,
            jobs,
            rows,
        },
    )
}

fn ask() -> impl Strategy<Value = Ask> {
    let queues = prop_oneof![2 => Just(vec![Q(0), Q(1), Q(2)]), 1 => vec((0..4u8).prop_map(Q), 1..4)];
    let whose = prop_oneof![3 => Just(Whose::Own), 1 => Just(Whose::All)];
    (worker(), tenant(), whose, queues, prop_oneof![2 => 1..4usize, 1 => 0..2usize])
        .prop_map(|(worker, tenant, whose, queues, max)| Ask { worker, tenant, whose, queues, max })
}

fn said() -> impl Strategy<Value = Said> {
    let lease = prop_oneof![2 => Just(SECOND), 1 => Just(30 * SECOND), 6 => Just(HOUR)].prop_map(Span);
    let what = prop_oneof![
        6 => (0..3u8, lease).prop_map(|(name, lease)| Beating::Register { name, lease }),
        3 => Just(Beating::Alive),
        3 => (vec(which(), 0..3), prop_oneof![Just(Span(0)), offset()])
            .prop_map(|(leases, claimed_before)| Beating::Holding { leases, claimed_before }),
        1 => Just(Beating::Leave),
    ];
    (worker(), tenant(), what).prop_map(|(worker, tenant, what)| Said { worker, tenant, what })
}

fn words() -> impl Strategy<Value = Words> {
    prop_oneof![
        Just(Words::Started),
        (of(0..9u8), of(0..100u8)).prop_map(|(data, percent)| Words::Checkpoint { data, percent }),
    ]
}

fn success() -> impl Strategy<Value = End> {
    of(0..9u8).prop_map(End::Succeed)
}

pub fn end() -> impl Strategy<Value = End> {
    prop_oneof![
        3 => success(),
        3 => (offset(), 0..3u8, 0..9u8).prop_map(|(at, cause, error)| End::Retry { at, cause, error }),
        1 => offset().prop_map(|at| End::Snooze { at }),
        1 => Just(End::Release),
        2 => prop_oneof![span(), Just(Span(10 * SECOND))].prop_map(|wait| End::Close { wait }),
        3 => (0..3u8, 0..9u8).prop_map(|(cause, error)| End::Bury { cause, error }),
        1 => Just(End::Cancel),
    ]
}

fn wish() -> impl Strategy<Value = Wish> {
    let which = || (tenant(), who());
    let queue_of = || (tenant(), queue());
    let aging = prop::sample::select(vec![1, 1000, 10_000, 1 << 49]);
    prop_oneof![
        3 => which().prop_map(|(tenant, id)| Wish::RunNow(tenant, id)),
        3 => which().prop_map(|(tenant, id)| Wish::Pause(tenant, id)),
        3 => which().prop_map(|(tenant, id)| Wish::Resume(tenant, id)),
        4 => which().prop_map(|(tenant, id)| Wish::Cancel(tenant, id)),
        5 => (which(), of(0..9u8)).prop_map(|((tenant, id), data)| Wish::Revive(tenant, id, data)),
        2 => which().prop_map(|(tenant, id)| Wish::Delete(tenant, id)),
        4 => (which(), of(0..9u8), of(priority()), of(offset())).prop_map(|((tenant, id), data, priority, run)| {
            Wish::Update { tenant, id, data, priority, run }
        }),
        1 => queue_of().prop_map(|(tenant, queue)| Wish::PauseQueue(tenant, queue)),
        2 => queue_of().prop_map(|(tenant, queue)| Wish::ResumeQueue(tenant, queue)),
        1 => (queue_of(), aging).prop_map(|((tenant, queue), point)| Wish::SetAging(tenant, queue, point)),
        1 => (queue_of(), of(0..4u64)).prop_map(|((tenant, queue), max)| Wish::SetMaxDepth(tenant, queue, max)),
        1 => (worker(), prop::sample::select(vec![Order::Work, Order::Work, Order::Quiet, Order::Terminate]))
            .prop_map(|(worker, order)| Wish::Order(worker, order)),
        10 => set_limit(),
        3 => (tenant(), limits::place()).prop_map(|(tenant, place)| Wish::ClearLimit(tenant, place)),
        3 => (tenant(), limits::place()).prop_map(|(tenant, place)| Wish::ReopenGates(tenant, place)),
    ]
}

fn set_limit() -> impl Strategy<Value = Wish> {
    (tenant(), limits::limit()).prop_map(|(tenant, (place, rule))| Wish::SetLimit(tenant, place, rule))
}

/// Mostly one of the last leases, which is right about as often as it is late.
fn which() -> impl Strategy<Value = Which> {
    prop_oneof![
        8 => (0..2usize).prop_map(Which::Recent),
        8 => (0..6usize).prop_map(Which::Recent),
        1 => (job(), 0..30u64).prop_map(|(job, fence)| Which::Never(job, fence)),
    ]
}

/// Mostly one that was submitted.
fn who() -> impl Strategy<Value = Who> {
    prop_oneof![9 => (0..6usize).prop_map(Who::Recent), 1 => job().prop_map(Who::Any)]
}

fn job() -> impl Strategy<Value = J> {
    (0..J::COUNT).prop_map(J)
}

fn tenant() -> impl Strategy<Value = T> {
    prop_oneof![19 => Just(T(0)), 1 => Just(T(1))]
}

fn schedule() -> impl Strategy<Value = S> {
    prop_oneof![2 => Just(S(0)), 1 => Just(S(1)), 1 => Just(S(2))]
}

fn workflow() -> impl Strategy<Value = F> {
    (0..2usize).prop_map(F)
}

fn queue() -> impl Strategy<Value = Q> {
    (0..3u8).prop_map(Q)
}

fn worker() -> impl Strategy<Value = W> {
    prop_oneof![12 => Just(W(0)), 3 => Just(W(1)), 1 => Just(W(2))]
}

fn word() -> impl Strategy<Value = K> {
    (0..2u8).prop_map(K)
}

fn priority() -> impl Strategy<Value = i64> {
    prop::sample::select(vec![5, 6, -1000, 0, 1000])
}

/// Limits of calls that go on while there is more: small ones, so that there is.
fn limit() -> impl Strategy<Value = usize> {
    prop_oneof![Just(100usize), 1..4usize]
}

/// A length of time: a few milliseconds, so that calls meet on one; or seconds; or far beyond what is near.
fn span() -> impl Strategy<Value = Span> {
    prop_oneof![
        5 => 1..6i64,
        3 => prop::sample::select(vec![100, SECOND, 10 * SECOND, MINUTE]),
        2 => prop::sample::select(vec![HOUR, 6 * HOUR, DAY, 40 * DAY]),
    ]
    .prop_map(Span)
}

/// An instant: mostly ahead.
fn offset() -> impl Strategy<Value = Span> {
    prop_oneof![1 => Just(Span(0)), 5 => span(), 2 => span().prop_map(|Span(ms)| Span(-ms))]
}

/// The clock steps forwards, mostly so little that workers live through it, and back now and then.
fn clock() -> impl Strategy<Value = Span> {
    let little = || (1..6i64).prop_map(Span);
    // As long as most breakers stay open.
    let cooldown = Just(Span(100));
    prop_oneof![10 => little(), 3 => span(), 3 => cooldown, 1 => little().prop_map(|Span(ms)| Span(-ms)), 1 => span().prop_map(|Span(ms)| Span(-ms))]
}
