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

/// Jobs in one submit, claim or settle.
pub const BATCH_JOBS_MAX: usize = 10_000;
pub const CLAIM_JOBS_MAX: usize = 1_000;
pub const CLAIM_QUEUES_MAX: usize = 64;
pub const PAGE_JOBS_MAX: usize = 1_000;
/// A store keeps settings and counters of each queue in memory.
pub const QUEUES_MAX: usize = 100_000;
/// How far ahead a store tells what will fall due; it may keep what is later in a coarser order.
pub const LOOK_AHEAD_MAX: Duration = Duration::from_secs(3600);
