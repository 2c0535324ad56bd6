//! The names of what is measured, and the handles to it. Depth and age of queues are read by the door when asked.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, RwLock};

use mainspring_core::gate::BreakerChange;
use mainspring_core::job::ExecutionOutcome;
use mainspring_core::name::QueueName;
use mainspring_core::schedule::Reason;
use mainspring_core::store;
use metrics::{
    Counter, Gauge, Histogram, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};

use crate::clock::Stopwatch;
use crate::schedule::word_of;

/// Labels: `queue`.
pub const SUBMITTED_TOTAL: &str = "mainspring_submitted_total";
/// Labels: `queue`.
pub const CLAIMED_TOTAL: &str = "mainspring_claimed_total";
/// Labels: `queue`, `outcome`.
pub const SETTLED_TOTAL: &str = "mainspring_settled_total";
pub const STALE_TOTAL: &str = "mainspring_stale_total";
/// Labels: `cause`.
pub const LEASES_EXPIRED_TOTAL: &str = "mainspring_leases_expired_total";
pub const JOBS_EXPIRED_TOTAL: &str = "mainspring_jobs_expired_total";
pub const PRUNED_TOTAL: &str = "mainspring_pruned_total";
/// Labels: `reason`.
pub const REJECTED_TOTAL: &str = "mainspring_rejected_total";
pub const FIRE_LATENESS_SECONDS: &str = "mainspring_fire_lateness_seconds";
pub const CLAIM_LATENCY_SECONDS: &str = "mainspring_claim_latency_seconds";
/// Labels: `call`.
pub const STORE_CALL_SECONDS: &str = "mainspring_store_call_seconds";
/// Labels: `call`.
pub const GATHER_JOBS: &str = "mainspring_gather_jobs";
pub const SEATS_HELD: &str = "mainspring_seats_held";
pub const LEADER: &str = "mainspring_leader";
pub const FAILOVERS_TOTAL: &str = "mainspring_failovers_total";
pub const DEPOSED_TOTAL: &str = "mainspring_deposed_total";
pub const CLOCK_SKEW_SECONDS: &str = "mainspring_clock_skew_seconds";
/// Labels: `how`.
pub const SCHEDULE_FIRES_TOTAL: &str = "mainspring_schedule_fires_total";
/// Labels: `reason`.
pub const SCHEDULE_SKIPPED_TOTAL: &str = "mainspring_schedule_skipped_total";
pub const SCHEDULE_MISSED_TOTAL: &str = "mainspring_schedule_missed_total";
pub const SCHEDULE_LATENESS_SECONDS: &str = "mainspring_schedule_lateness_seconds";
/// Labels: `to`.
pub const BREAKER_CHANGES_TOTAL: &str = "mainspring_breaker_changes_total";
pub const KEYS_CLOSED_TOTAL: &str = "mainspring_keys_closed_total";

/// Tells the recorder what each of them means. Call it once, after the recorder is installed.
pub fn describe() {
    describe_counter!(SUBMITTED_TOTAL, "Jobs accepted, by queue");
    describe_counter!(CLAIMED_TOTAL, "Jobs handed to workers, by queue");
    describe_counter!(SETTLED_TOTAL, "Attempts that ended, by queue and outcome");
    describe_counter!(STALE_TOTAL, "Settlements and reports that came after their lease was over");
    describe_counter!(LEASES_EXPIRED_TOTAL, "Leases taken back, by cause");
    describe_counter!(JOBS_EXPIRED_TOTAL, "Jobs cancelled because they did not start in time");
    describe_counter!(PRUNED_TOTAL, "Jobs forgotten after their retention");
    describe_counter!(REJECTED_TOTAL, "Requests and jobs turned away, by reason");
    describe_histogram!(
        FIRE_LATENESS_SECONDS,
        Unit::Seconds,
        "From due to ready, for the most overdue of each promote"
    );
    describe_histogram!(CLAIM_LATENCY_SECONDS, Unit::Seconds, "From due to handed out, for first attempts");
    describe_histogram!(STORE_CALL_SECONDS, Unit::Seconds, "How long the store took, by call");
    describe_histogram!(GATHER_JOBS, Unit::Count, "Jobs in one gathered store call, by call");
    describe_counter!(SCHEDULE_FIRES_TOTAL, "Jobs made by schedules: on occurrences, triggered or back-filled");
    describe_counter!(SCHEDULE_SKIPPED_TOTAL, "Occurrences that made no job, by reason");
    describe_counter!(SCHEDULE_MISSED_TOTAL, "Occurrences that passed while nobody looked and were not caught up");
    describe_histogram!(SCHEDULE_LATENESS_SECONDS, Unit::Seconds, "From an occurrence to its job being stored");
    describe_counter!(BREAKER_CHANGES_TOTAL, "Breakers that opened or closed, by what they became");
    describe_counter!(KEYS_CLOSED_TOTAL, "Keys closed because a worker was told to come back later");
    describe_gauge!(SEATS_HELD, "Seats this node holds");
    describe_gauge!(LEADER, "Whether this node leads");
    describe_counter!(FAILOVERS_TOTAL, "Seats this node took because their holder's term ran out");
    describe_counter!(DEPOSED_TOTAL, "Writes that the store refused because the seat was another's by then");
    describe_gauge!(CLOCK_SKEW_SECONDS, Unit::Seconds, "How far this node's clock is ahead of the store's");
}

/// Queues with a label of their own; the rest are counted as `other`, so that metrics stay bounded.
pub const QUEUE_LABELS_MAX: usize = 1_000;

/// The calls to the store that are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Submit,
    Promote,
    Claim,
    Heartbeat,
    Report,
    Settle,
    Reclaim,
    Command,
    Turn,
    Prune,
}

impl Call {
    const ALL: [Call; 10] = [
        Call::Submit,
        Call::Promote,
        Call::Claim,
        Call::Heartbeat,
        Call::Report,
        Call::Settle,
        Call::Reclaim,
        Call::Command,
        Call::Turn,
        Call::Prune,
    ];

    fn as_str(self) -> &'static str {
        match self {
            Call::Submit => "submit",
            Call::Promote => "promote",
            Call::Claim => "claim",
            Call::Heartbeat => "heartbeat",
            Call::Report => "report",
            Call::Settle => "settle",
            Call::Reclaim => "reclaim",
            Call::Command => "command",
            Call::Turn => "turn",
            Call::Prune => "prune",
        }
    }
}

/// The handles, looked up once: a lookup for each job would cost more than the count.
pub(crate) struct Meters {
    seconds: [Histogram; Call::ALL.len()],
    gathered: [Histogram; Call::ALL.len()],
    queues: RwLock<HashMap<QueueName, Arc<QueueMeters>>>,
    others: Arc<QueueMeters>,
    pub(crate) stale: Counter,
    pub(crate) expired_by_crash: Counter,
    pub(crate) expired_by_timeout: Counter,
    pub(crate) jobs_expired: Counter,
    pub(crate) pruned: Counter,
    pub(crate) rejected_busy: Counter,
    pub(crate) rejected_queue_full: Counter,
    rejected_store_full: Counter,
    pub(crate) fire_lateness: Histogram,
    pub(crate) claim_latency: Histogram,
    pub(crate) seats_held: Gauge,
    breakers_opened: Counter,
    breakers_probing: Counter,
    breakers_closed: Counter,
    pub(crate) keys_closed: Counter,
    pub(crate) leads: Gauge,
    pub(crate) failovers: Counter,
    pub(crate) deposed: Counter,
    pub(crate) clock_skew: Gauge,
    pub(crate) schedules: ScheduleMeters,
}

/// The counters of all schedules together: there may be a million.
pub(crate) struct ScheduleMeters {
    pub(crate) fires: Counter,
    pub(crate) triggered: Counter,
    pub(crate) backfilled: Counter,
    pub(crate) missed: Counter,
    skipped: [Counter; REASONS.len()],
    pub(crate) lateness: Histogram,
}

const REASONS: [Reason; 4] = [Reason::Overlap, Reason::Paused, Reason::Dst, Reason::QueueFull];

impl ScheduleMeters {
    fn new() -> ScheduleMeters {
        let made = |how: &'static str| counter!(SCHEDULE_FIRES_TOTAL, "how" => how);
        ScheduleMeters {
            fires: made("occurrence"),
            triggered: made("trigger"),
            backfilled: made("backfill"),
            missed: counter!(SCHEDULE_MISSED_TOTAL),
            skipped: REASONS.map(|reason| counter!(SCHEDULE_SKIPPED_TOTAL, "reason" => word_of(reason))),
            lateness: histogram!(SCHEDULE_LATENESS_SECONDS),
        }
    }

    pub(crate) fn skipped(&self, reason: Reason) -> &Counter {
        let at = REASONS.iter().position(|&known| known == reason);
        &self.skipped[at.expect("every reason is in the table")]
    }
}

/// The counters of one queue.
pub(crate) struct QueueMeters {
    pub(crate) submitted: Counter,
    pub(crate) claimed: Counter,
    settled: [Counter; OUTCOMES.len()],
}

const OUTCOMES: [(ExecutionOutcome, &str); 8] = [
    (ExecutionOutcome::Succeeded, "succeeded"),
    (ExecutionOutcome::Failed, "failed"),
    (ExecutionOutcome::TimedOut, "timed_out"),
    (ExecutionOutcome::Crashed, "crashed"),
    (ExecutionOutcome::Snoozed, "snoozed"),
    (ExecutionOutcome::RateLimited, "rate_limited"),
    (ExecutionOutcome::Released, "released"),
    (ExecutionOutcome::Cancelled, "cancelled"),
];

impl QueueMeters {
    fn new(queue: &str) -> QueueMeters {
        let label = || queue.to_owned();
        QueueMeters {
            submitted: counter!(SUBMITTED_TOTAL, "queue" => label()),
            claimed: counter!(CLAIMED_TOTAL, "queue" => label()),
            settled: OUTCOMES.map(|(_, outcome)| counter!(SETTLED_TOTAL, "queue" => label(), "outcome" => outcome)),
        }
    }

    pub(crate) fn settled(&self, outcome: ExecutionOutcome) -> &Counter {
        let at = OUTCOMES.iter().position(|&(known, _)| known == outcome);
        &self.settled[at.expect("every outcome is in the table")]
    }
}

impl Meters {
    pub(crate) fn new() -> Meters {
        Meters {
            seconds: Call::ALL.map(|call| histogram!(STORE_CALL_SECONDS, "call" => call.as_str())),
            gathered: Call::ALL.map(|call| histogram!(GATHER_JOBS, "call" => call.as_str())),
            queues: RwLock::default(),
            others: Arc::new(QueueMeters::new("other")),
            stale: counter!(STALE_TOTAL),
            expired_by_crash: counter!(LEASES_EXPIRED_TOTAL, "cause" => "crash"),
            expired_by_timeout: counter!(LEASES_EXPIRED_TOTAL, "cause" => "timeout"),
            jobs_expired: counter!(JOBS_EXPIRED_TOTAL),
            pruned: counter!(PRUNED_TOTAL),
            rejected_busy: counter!(REJECTED_TOTAL, "reason" => "busy"),
            rejected_queue_full: counter!(REJECTED_TOTAL, "reason" => "queue_full"),
            rejected_store_full: counter!(REJECTED_TOTAL, "reason" => "store_full"),
            fire_lateness: histogram!(FIRE_LATENESS_SECONDS),
            claim_latency: histogram!(CLAIM_LATENCY_SECONDS),
            seats_held: gauge!(SEATS_HELD),
            breakers_opened: counter!(BREAKER_CHANGES_TOTAL, "to" => "open"),
            breakers_probing: counter!(BREAKER_CHANGES_TOTAL, "to" => "probing"),
            breakers_closed: counter!(BREAKER_CHANGES_TOTAL, "to" => "closed"),
            keys_closed: counter!(KEYS_CLOSED_TOTAL),
            leads: gauge!(LEADER),
            failovers: counter!(FAILOVERS_TOTAL),
            deposed: counter!(DEPOSED_TOTAL),
            clock_skew: gauge!(CLOCK_SKEW_SECONDS),
            schedules: ScheduleMeters::new(),
        }
    }

    pub(crate) fn breaker(&self, change: BreakerChange) -> &Counter {
        match change {
            BreakerChange::Opened { .. } => &self.breakers_opened,
            BreakerChange::HalfOpen => &self.breakers_probing,
            BreakerChange::Closed => &self.breakers_closed,
        }
    }

    /// Times a call to the store.
    pub(crate) async fn time<T>(&self, call: Call, answer: impl Future<Output = T>) -> T {
        let watch = Stopwatch::start();
        let answer = answer.await;
        self.seconds[call as usize].record(watch.elapsed());
        answer
    }

    /// Times a call that was gathered from several requests, and counts the jobs that a full store turned away.
    pub(crate) async fn time_gathered<T>(
        &self,
        call: Call,
        items: usize,
        answer: impl Future<Output = store::Result<T>>,
    ) -> store::Result<T> {
        self.gathered[call as usize].record(items as f64);
        let answer = self.time(call, answer).await;
        if call == Call::Submit && matches!(answer, Err(store::Error::Full(_))) {
            self.rejected_store_full.increment(items as u64);
        }
        answer
    }

    /// The same of one that settles and claims: it counts as both.
    pub(crate) async fn time_turns<T>(&self, settlements: usize, claims: usize, answer: impl Future<Output = T>) -> T {
        self.gathered[Call::Settle as usize].record(settlements as f64);
        self.gathered[Call::Claim as usize].record(claims as f64);
        self.time(Call::Settle, self.time(Call::Claim, answer)).await
    }

    pub(crate) fn queue(&self, queue: &QueueName) -> Arc<QueueMeters> {
        let known = |queues: &HashMap<QueueName, Arc<QueueMeters>>| match queues.get(queue) {
            Some(meters) => Some(meters.clone()),
            None if queues.len() >= QUEUE_LABELS_MAX => Some(self.others.clone()),
            None => None,
        };
        if let Some(meters) = known(&self.queues.read().expect("nobody panics while counting")) {
            return meters;
        }
        let mut queues = self.queues.write().expect("nobody panics while counting");
        // Another task may have been faster.
        known(&queues).unwrap_or_else(|| {
            queues.entry(queue.clone()).or_insert_with(|| Arc::new(QueueMeters::new(queue.as_str()))).clone()
        })
    }
}

impl fmt::Debug for Meters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meters").finish_non_exhaustive()
    }
}
