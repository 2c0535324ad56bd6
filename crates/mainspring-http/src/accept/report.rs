//! What a running attempt says of itself.

use mainspring_core::id::{Fence, JobId, LeaseId};
use mainspring_core::job::Progress;
use mainspring_core::limits::{CHECKPOINT_BYTES_MAX, NOTE_BYTES_MAX};
use mainspring_core::store::{Report, ReportKind};
use mainspring_wire::{self as wire, Checkpoint};

use crate::accept::{Findings, json};
use crate::ask::FieldError;

pub(crate) fn checkpoint(job: JobId, said: Checkpoint) -> Result<Report, Vec<FieldError>> {
    let mut found = Findings::default();
    if said.data.is_none() && said.progress.is_none() {
        found.add(FieldError::invalid("data", "there is nothing to save: give data, progress or both"));
    }
    let data = said.data.map(|raw| json("data", raw, "checkpoint_bytes_max", CHECKPOINT_BYTES_MAX));
    let data = found.keep(data.transpose());
    let progress = found.keep(said.progress.map(progress).transpose());
    let lease = LeaseId { job, fence: Fence(said.fence) };
    found.into_result(Report { lease, kind: ReportKind::Checkpoint { data, progress } })
}

fn progress(said: wire::Progress) -> Result<Progress, FieldError> {
    if let Some(percent) = said.percent.filter(|percent| !(0.0..=100.0).contains(percent)) {
        return Err(FieldError::invalid("progress.percent", format!("{percent} is not from 0 to 100")));
    }
    let bytes = said.note.as_ref().map_or(0, String::len);
    if bytes > NOTE_BYTES_MAX {
        return Err(FieldError::too_large("progress.note", bytes, "note_bytes_max", NOTE_BYTES_MAX));
    }
    Ok(Progress { percent: said.percent, note: said.note })
}
