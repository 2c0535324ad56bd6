//! A schedule as written becomes one that can be kept. What its expressions mean is the core's to judge; here its words are
//! put in order, and the core's findings get the names that the writer used.

mod exclude;
mod moves;
mod template;
mod when;

pub(crate) use moves::{backfill, pause};

use std::time::Duration;

use mainspring_core::name::{ScheduleName, TenantName};
use mainspring_core::schedule::{BadSchedule, Catchup, CatchupMode, DstGap, DstOverlap, Overlap, Schedule, When};
use mainspring_wire::{self as wire, NewSchedule};

use crate::accept::Findings;
use crate::ask::FieldError;
use crate::convert::time;

/// A path of ours has this name where a schedule's would be.
const NOT_A_NAME: &str = "preview";

/// A schedule, and how its writer wrote it down.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub schedule: Schedule,
    pub form: Form,
}

/// How the rules were written down: one by its own field, or all of them under `when`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Single(&'static str),
    Several,
}

impl Form {
    /// What the core found, at the field that the writer knows.
    pub(crate) fn wrong(self, bad: BadSchedule) -> FieldError {
        let place = bad.position.map(|at| format!(" (position {at})")).unwrap_or_default();
        let message = format!("{}{place}; {}", bad.problem, bad.advice);
        FieldError::invalid(self.field(&bad.field), message)
    }

    fn field(self, inside: &str) -> String {
        let Some(rest) = inside.strip_prefix("when") else { return inside.to_owned() };
        let rest = rest.strip_prefix('.').unwrap_or(rest);
        if rest == "zone" {
            return "timezone".to_owned();
        }
        if let Some(exclusion) = rest.strip_prefix("exclude") {
            // A range of dates has no name of its own in the document.
            return format!("exclude{}", exclusion.strip_suffix(".dates").unwrap_or(exclusion));
        }
        let spec = rest.strip_prefix("specs").unwrap_or(rest);
        match self {
            Form::Several if rest.is_empty() || rest.starts_with("specs") => format!("when{spec}"),
            // `[0].cron` is `cron`, and the schedule as a whole is the rule that it has.
            Form::Single(name) if rest.is_empty() || rest.starts_with("specs") => {
                let below = spec.strip_prefix("[0].").unwrap_or_default();
                if below.len() > name.len() { below.to_owned() } else { name.to_owned() }
            }
            _ => rest.to_owned(),
        }
    }
}

/// Whether a schedule may be called this.
pub(crate) fn schedule_name(text: &str) -> Result<ScheduleName, FieldError> {
    let name = ScheduleName::parse(text).map_err(|error| FieldError::invalid("schedule_id", error.to_string()))?;
    if name.as_str() == NOT_A_NAME {
        let message = format!("`{NOT_A_NAME}` is taken by the path /v1/schedules/{NOT_A_NAME}: choose another name");
        return Err(FieldError::invalid("schedule_id", message));
    }
    Ok(name)
}

pub(crate) fn schedule(said: NewSchedule, tenant: TenantName, name: ScheduleName) -> Result<Written, Vec<FieldError>> {
    let mut found = Findings::default();
    let timings = when::Timings::of(&said);
    let (specs, form) = timings.read(&mut found);
    let exclude = exclude::exclusions(&said.exclude, &mut found);
    let catchup = found.keep(catchup(said.catchup));
    let job = template::template(said.job, &mut found);
    let when = When {
        specs,
        zone: said.timezone.unwrap_or_else(|| When::ZONE_DEFAULT.to_owned()),
        dst_gap: dst_gap(said.dst_gap.unwrap_or_default()),
        dst_overlap: dst_overlap(said.dst_overlap.unwrap_or_default()),
        exclude,
        start_at: said.start_at.map(time),
        end_at: said.end_at.map(time),
    };
    let Some(job) = job else { return Err(found.0) };
    let schedule = Schedule {
        tenant,
        name,
        when,
        job,
        catchup: catchup.unwrap_or_default(),
        overlap: overlap(said.overlap.unwrap_or_default()),
        jitter: said.jitter.map(Duration::from).unwrap_or_default(),
        max_runs: said.max_runs,
        pause_on_failure: said.pause_on_failure,
        note: said.note,
    };
    found.into_result(Written { schedule, form })
}

fn catchup(said: Option<wire::Catchup>) -> Result<Option<Catchup>, FieldError> {
    let Some(said) = said else { return Ok(None) };
    let standard = Catchup::default();
    if said.mode == wire::CatchupMode::None && (said.window.is_some() || said.max.is_some()) {
        return Err(FieldError::invalid("catchup", "the mode none catches nothing up: leave out window and max"));
    }
    let mode = match said.mode {
        wire::CatchupMode::None => CatchupMode::None,
        wire::CatchupMode::Latest => CatchupMode::Latest,
        wire::CatchupMode::All => CatchupMode::All,
    };
    let window = said.window.map_or(standard.window, Duration::from);
    Ok(Some(Catchup { mode, window, max: said.max.unwrap_or(standard.max) }))
}

fn dst_gap(said: wire::DstGap) -> DstGap {
    match said {
        wire::DstGap::Shift => DstGap::Shift,
        wire::DstGap::Skip => DstGap::Skip,
    }
}

fn dst_overlap(said: wire::DstOverlap) -> DstOverlap {
    match said {
        wire::DstOverlap::First => DstOverlap::First,
        wire::DstOverlap::Last => DstOverlap::Last,
        wire::DstOverlap::Both => DstOverlap::Both,
    }
}

fn overlap(said: wire::Overlap) -> Overlap {
    match said {
        wire::Overlap::Allow => Overlap::Allow,
        wire::Overlap::Skip => Overlap::Skip,
        wire::Overlap::QueueOne => Overlap::QueueOne,
        wire::Overlap::CancelPrevious => Overlap::CancelPrevious,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_the_core_have_their_names_in_the_document() {
        let check = |form: Form, inside: &str, outside: &str| assert_eq!(form.field(inside), outside, "{inside}");
        for form in [Form::Single("cron"), Form::Several] {
            check(form, "when.zone", "timezone");
            check(form, "when.end_at", "end_at");
            check(form, "when.exclude[2].cron", "exclude[2].cron");
            check(form, "when.exclude[2].dates", "exclude[2]");
            check(form, "when.exclude", "exclude");
            check(form, "catchup.max", "catchup.max");
            check(form, "job.tags", "job.tags");
            check(form, "jitter", "jitter");
        }
        check(Form::Single("cron"), "when.specs[0].cron", "cron");
        check(Form::Single("cron"), "when.specs", "cron");
        check(Form::Single("every"), "when", "every");
        check(Form::Several, "when.specs[1].cron", "when[1].cron");
        check(Form::Several, "when.specs", "when");
        check(Form::Several, "when", "when");
    }
}
