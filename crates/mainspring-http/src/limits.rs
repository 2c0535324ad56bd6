//! The bounds of the door itself, with their names. Those of jobs are in the core.

use std::time::Duration;

/// One request's body. A larger one is answered 413 and not read.
pub const BODY_BYTES_MAX: usize = 32 * 1024 * 1024;
/// How long a body may take to arrive.
pub const BODY_WAIT_MAX: Duration = Duration::from_secs(60);
/// Wrong fields that one problem names.
pub const FIELD_ERRORS_MAX: usize = 20;
/// A problem's text is cut here: a megabyte of nonsense must not come back as one.
pub const DETAIL_CHARS_MAX: usize = 500;
/// Jobs on a page, if the request names no number.
pub const PAGE_JOBS_DEFAULT: usize = 50;
/// Dead letters in one step of a replay or purge.
pub const DEAD_STEP_JOBS_MAX: u64 = 10_000;
/// What a worker says of itself, each text.
pub const WORKER_TEXT_BYTES_MAX: usize = 255;
/// Jobs that one worker runs at once.
pub const CONCURRENCY_MAX: u32 = 100_000;
/// Queues that `/metrics` names; the deepest are named, the rest are summed up.
pub const METRICS_QUEUES_MAX: usize = 1_000;
/// How long open requests may go on when the server stops.
pub const SHUTDOWN_WAIT_MAX: Duration = Duration::from_secs(10);
/// A silent event stream says a comment this often, so that nobody in between closes it.
pub const EVENTS_KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How much of a limit one job may take.
pub const JOB_WEIGHT_MAX: u32 = u16::MAX as u32;
/// Schedules on a page, and rows of a ledger, if the request names no number.
pub const PAGE_ROWS_DEFAULT: usize = 50;
pub const PAGE_ROWS_MAX: usize = 1_000;
/// Occurrences of a preview, if the request names no number.
pub const PREVIEW_DEFAULT: usize = 10;
/// How often a patch is tried when others change the same schedule at the same time.
pub const PATCH_TRIES_MAX: usize = 8;
/// A patch is read once for each of its levels, so it has a bound of its own: more than any document needs.
pub const PATCH_BYTES_MAX: usize = 2 * 1024 * 1024;
/// How deep a patch may nest.
pub const PATCH_DEPTH_MAX: usize = 64;
/// Results and errors of parents in one answer; a page ends with the parent that passes it.
pub const PARENTS_BYTES_MAX: usize = 8 * 1024 * 1024;
/// How far ahead a forecast may look.
pub const FORECAST_DAYS_MAX: u32 = 7;
/// Herds that a forecast names.
pub const HERDS_MAX: usize = 20;
/// How far one request may advance a virtual clock.
pub const ADVANCE_MAX: Duration = Duration::from_secs(400 * 24 * 3600);
