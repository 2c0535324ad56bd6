//! Occurrences: those to come, and what became of those that were.

use mainspring_core::schedule::{Dst, LedgerRow, Occurrence, Reason, What};
use mainspring_wire::{self as wire, LedgerWhat, PreviewOccurrence, SkipReason};

use crate::convert::stamp;

pub(crate) fn occurrence(occurrence: &Occurrence) -> PreviewOccurrence {
    let dst = occurrence.dst.map(|dst| match dst {
        Dst::Shifted => wire::Dst::Shifted,
        Dst::First => wire::Dst::First,
        Dst::Last => wire::Dst::Last,
    });
    let note = dst.map(|dst| match dst {
        wire::Dst::Shifted => "the clocks jump over its time of day: it fires as much later as they jump",
        wire::Dst::First => "the clocks show its time of day twice: this is the first",
        wire::Dst::Last => "the clocks show its time of day twice: this is the last",
    });
    PreviewOccurrence {
        at: stamp(occurrence.at),
        local: occurrence.civil.to_string(),
        utc_offset: offset(occurrence.offset_seconds),
        dst,
        note: note.map(str::to_owned),
    }
}

/// `+01:00`; with seconds only where a zone of long ago had them.
fn offset(seconds: i32) -> String {
    let sign = if seconds < 0 { '-' } else { '+' };
    let (hours, minutes, rest) = (seconds.abs() / 3600, seconds.abs() / 60 % 60, seconds.abs() % 60);
    match rest {
        0 => format!("{sign}{hours:02}:{minutes:02}"),
        rest => format!("{sign}{hours:02}:{minutes:02}:{rest:02}"),
    }
}

pub(crate) fn ledger_row(row: &LedgerRow) -> wire::LedgerRow {
    let (what, reason, job, late_ms) = match row.what {
        What::Fired { job, late_ms } => (LedgerWhat::Fired, None, Some(job), Some(late_ms)),
        What::Skipped(reason) => (LedgerWhat::Skipped, Some(skip_reason(reason)), None, None),
        What::Missed => (LedgerWhat::Missed, None, None, None),
        What::Backfilled { job } => (LedgerWhat::Backfilled, None, Some(job), None),
        What::Triggered { job } => (LedgerWhat::Triggered, None, Some(job), None),
    };
    wire::LedgerRow {
        occurrence: stamp(row.occurrence),
        through: stamp(row.through),
        count: row.count,
        what,
        reason,
        job_id: job.map(|job| job.uuid()),
        late_ms,
        at: stamp(row.at),
    }
}

fn skip_reason(reason: Reason) -> SkipReason {
    match reason {
        Reason::Overlap => SkipReason::Overlap,
        Reason::Paused => SkipReason::Paused,
        Reason::Dst => SkipReason::Dst,
        Reason::QueueFull => SkipReason::QueueFull,
    }
}

#[cfg(test)]
mod tests {
    use super::offset;

    #[test]
    fn an_offset_has_a_sign_and_two_digits() {
        assert_eq!(offset(0), "+00:00");
        assert_eq!(offset(3_600), "+01:00");
        assert_eq!(offset(-12_600), "-03:30");
        assert_eq!(offset(20_700), "+05:45");
        assert_eq!(offset(-2_670), "-00:44:30");
    }
}
