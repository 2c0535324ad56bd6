//! What is asked of a schedule that exists: a pause, a back-fill.

use mainspring_core::limits::{BACKFILL_MAX, NOTE_BYTES_MAX, SPAN_MAX};
use mainspring_core::time::Time;
use mainspring_engine::BackfillAsk;
use mainspring_wire::{Backfill, SchedulePause};

use crate::ask::FieldError;
use crate::convert::time;

/// The note, and until when.
pub(crate) fn pause(said: SchedulePause, now: Time) -> Result<(String, Option<Time>), FieldError> {
    let note = said.note.unwrap_or_default();
    if note.len() > NOTE_BYTES_MAX {
        return Err(FieldError::too_large("note", note.len(), "note_bytes_max", NOTE_BYTES_MAX));
    }
    let (field, until) = match (said.until, said.span) {
        (Some(_), Some(_)) => {
            return Err(FieldError::invalid("for", "until and for both say how long: give one of them"));
        }
        (Some(until), None) => ("until", time(until)),
        (None, Some(span)) => ("for", now.after(span.into())),
        (None, None) => return Ok((note, None)),
    };
    if until <= now {
        return Err(FieldError::invalid(field, "the pause would be over already: give a time that lies ahead"));
    }
    if until > now.after(SPAN_MAX) {
        return Err(FieldError::invalid(field, "lies more than 100 years ahead: leave it out to pause for good"));
    }
    Ok((note, Some(until)))
}

pub(crate) fn backfill(said: Backfill) -> Result<BackfillAsk, FieldError> {
    if said.to < said.from {
        return Err(FieldError::invalid("to", "is before from: the range is empty"));
    }
    let max = said.max.map_or(BACKFILL_MAX, |max| usize::try_from(max).unwrap_or(usize::MAX));
    if !(1..=BACKFILL_MAX).contains(&max) {
        let error = FieldError::invalid("max", format!("{max} is not from 1 to {BACKFILL_MAX}"));
        return Err(error.limited("backfill_max", BACKFILL_MAX as u64));
    }
    Ok(BackfillAsk { from: time(said.from), to: time(said.to), max, dry_run: said.dry_run })
}
