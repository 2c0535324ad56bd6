//! Every bound of the core, with its name. Holds no policy: what is past a bound is refused by whoever reads it.

use std::time::Duration;

/// Tenants, queues and types.
pub const NAME_BYTES_MAX: usize = 128;
pub const TAG_BYTES_MAX: usize = 128;
pub const TAGS_MAX: usize = 20;
pub const IDEMPOTENCY_KEY_BYTES_MAX: usize = 255;
/// A job's `concurrency_key` and `rate_key`.
pub const LIMIT_KEY_BYTES_MAX: usize = 255;

/// The job's `data`.
pub const DATA_BYTES_MAX: usize = 256 * 1024;
pub const RESULT_BYTES_MAX: usize = 64 * 1024;
pub const CHECKPOINT_BYTES_MAX: usize = 64 * 1024;
/// A longer error message or detail is cut here, not refused: the failure itself must get through.
pub const ERROR_BYTES_MAX: usize = 8 * 1024;
pub const NOTE_BYTES_MAX: usize = 1024;

pub const PRIORITY_MIN: i16 = -1000;
pub const PRIORITY_MAX: i16 = 1000;

pub const ATTEMPTS_MAX: u32 = 1000;
pub const CRASHES_MAX: u32 = 1000;
pub const RETRY_DELAYS_MAX: usize = 100;

/// How far ahead a job may be set, how long anything may last.
pub const SPAN_MAX: Duration = Duration::from_secs(100 * 366 * 24 * 3600);
pub const TIMEOUT_MIN: Duration = Duration::from_millis(100);
pub const TIMEOUT_MAX: Duration = Duration::from_secs(30 * 24 * 3600);

pub const LEASE_MIN: Duration = Duration::from_secs(1);
pub const LEASE_MAX: Duration = Duration::from_secs(3600);

/// How long a node may hold a seat without renewing. Shorter, and a slow commit would cost it; longer, and a dead one would be
/// waited for.
pub const TERM_MIN: Duration = Duration::from_secs(1);
pub const TERM_MAX: Duration = Duration::from_secs(300);
/// Databases that one cluster is spread over.
pub const SHARDS_MAX: u8 = 16;
/// Nodes of one cluster, those that are gone and not yet forgotten included.
pub const NODES_MAX: usize = 1_000;
/// Jobs in one submit, claim or settle.
pub const BATCH_JOBS_MAX: usize = 10_000;
pub const CLAIM_JOBS_MAX: usize = 1_000;
pub const CLAIM_QUEUES_MAX: usize = 64;
pub const PAGE_JOBS_MAX: usize = 1_000;
/// A store keeps settings and counters of each queue in memory.
pub const QUEUES_MAX: usize = 100_000;
/// How far ahead a store tells what will fall due; it may keep what is later in a coarser order.
pub const LOOK_AHEAD_MAX: Duration = Duration::from_secs(3600);

/// Weights that one limit lets run at once.
pub const CONCURRENCY_MAX: u32 = 1_000_000;
pub const RATE_PERMITS_MAX: u32 = 1_000_000;
pub const RATE_BURST_MAX: u32 = 1_000_000;
/// The span that a rate's permits are counted over.
pub const RATE_PER_MIN: Duration = Duration::from_secs(1);
pub const RATE_PER_MAX: Duration = Duration::from_secs(366 * 24 * 3600);
/// How long an empty bucket may take to fill.
pub const RATE_FILL_MAX: Duration = SPAN_MAX;
/// A worker's `retry_after` is cut here, not refused: whatever is closed opens again.
pub const GATE_CLOSED_MAX: Duration = Duration::from_secs(7 * 24 * 3600);
pub const BREAKER_WINDOW_MIN: Duration = Duration::from_secs(1);
pub const BREAKER_WINDOW_MAX: Duration = Duration::from_secs(24 * 3600);
/// The most that `min_attempts` can ask for.
pub const BREAKER_ATTEMPTS_MAX: u32 = 1_000_000;
pub const BREAKER_COOLDOWN_MIN: Duration = Duration::from_millis(100);
pub const BREAKER_COOLDOWN_MAX: Duration = Duration::from_secs(24 * 3600);
pub const BREAKER_PROBES_MAX: u32 = 1_000;
pub const BREAKER_CLOSES_AFTER_MAX: u32 = 1_000;
/// A tenant's share in fair sharing.
pub const SHARE_WEIGHT_MAX: u32 = 1_000;

/// Rules of all tenants of a store together.
pub const RULES_MAX: usize = 10_000;
/// Holders of a full gate that are named.
pub const HOLDERS_SHOWN_MAX: usize = 10;
/// Jobs of one workflow. Also the longest chain in it.
pub const WORKFLOW_JOBS_MAX: usize = 10_000;
/// Dependencies of one workflow, all jobs together.
pub const WORKFLOW_EDGES_MAX: usize = 100_000;
/// Parents of one job.
pub const DEPENDENCIES_MAX: usize = 1_000;

/// What one schedule may say.
pub const SPECS_MAX: usize = 16;
pub const EXCLUSIONS_MAX: usize = 1_000;
/// Of these, crons and recurrence rules: each is asked about each occurrence.
pub const EXCLUSION_RULES_MAX: usize = 8;
/// A cron expression or a recurrence rule.
pub const EXPRESSION_BYTES_MAX: usize = 1024;
/// Times of day in one spec.
pub const CLOCK_TIMES_MAX: usize = 100;
/// 1 to 31, and -1 to -31.
pub const MONTH_DAYS_MAX: usize = 62;
pub const EVERY_MIN: Duration = Duration::from_secs(1);
pub const EVERY_MAX: Duration = Duration::from_secs(10 * 366 * 24 * 3600);
/// `COUNT` of a recurrence rule: these are walked from its start, 0.4 µs each. `max_runs` has no such bound.
pub const RRULE_COUNT_MAX: u32 = 1_000;
/// Times in one period of a recurrence rule, if every day of it matched: a whole period is written out at a time.
pub const RRULE_PERIOD_MAX: usize = 3_660;
pub const RRULE_INTERVAL_MAX: u16 = 10_000;
pub const JITTER_MAX: Duration = Duration::from_secs(24 * 3600);
/// How far back `catchup` may reach, and how many occurrences it may bring back.
pub const CATCHUP_WINDOW_MAX: Duration = Duration::from_secs(366 * 24 * 3600);
pub const CATCHUP_RUNS_MAX: u32 = 10_000;
/// Occurrences are looked for in these years. What never happens in them never happens.
pub const SCHEDULE_YEAR_MIN: i16 = 1970;
pub const SCHEDULE_YEAR_MAX: i16 = 2199;
/// How many excluded occurrences in a row are stepped over before a schedule counts as over. Excluded days, and hours and
/// minutes that are excluded as a whole, are one step.
pub const SEARCH_STEPS_MAX: usize = 20_000;
pub const PREVIEW_MAX: usize = 1_000;
pub const BACKFILL_MAX: usize = 10_000;
