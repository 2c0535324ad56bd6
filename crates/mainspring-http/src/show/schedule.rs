//! A schedule as its owner would write it down, with everything that was left to the server, and what has happened since.

use mainspring_core::job::Json;
use mainspring_core::schedule::{
    Catchup, CatchupMode, ClockTimes, DstGap, DstOverlap, Exclusion, Overlap, Pause, PausedBy, Schedule, ScheduleView,
    Spec, Template, Weekdays,
};
use mainspring_wire::{self as wire, NewSchedule, PauseView, ScheduleStatus, ScheduledJob, Span, Timing};

use super::job::{retry, weight};
use crate::convert::{raw, stamp};

pub(crate) fn schedule(view: &ScheduleView) -> wire::ScheduleView {
    let standing = &view.standing;
    let status = match (&standing.pause, standing.next) {
        (_, None) => ScheduleStatus::Ended,
        (Some(_), Some(_)) => ScheduleStatus::Paused,
        (None, Some(_)) => ScheduleStatus::Active,
    };
    wire::ScheduleView {
        schedule: document(&view.schedule),
        revision: standing.revision,
        status,
        paused: standing.pause.as_ref().map(pause),
        next_fire_time: standing.next.map(stamp),
        last_fire_time: standing.last_fired.map(stamp),
        runs: standing.runs,
        last_job_id: standing.last_job.map(|job| job.uuid()),
        created_at: stamp(standing.created_at),
        updated_at: stamp(standing.updated_at),
    }
}

fn pause(pause: &Pause) -> PauseView {
    let (by, job_id) = match pause.by {
        PausedBy::Person => (wire::PausedBy::Person, None),
        PausedBy::Failure(job) => (wire::PausedBy::Failure, Some(job.uuid())),
    };
    PauseView { note: pause.note.clone(), since: stamp(pause.since), until: pause.until.map(stamp), by, job_id }
}

/// The document: one rule by its own field, several under `when`.
pub(crate) fn document(schedule: &Schedule) -> NewSchedule {
    let when = &schedule.when;
    let mut document = NewSchedule {
        schedule_id: Some(schedule.name.to_string()),
        timezone: Some(when.zone.clone()),
        dst_gap: Some(dst_gap(when.dst_gap)),
        dst_overlap: Some(dst_overlap(when.dst_overlap)),
        exclude: when.exclude.iter().map(exclusion).collect(),
        start_at: when.start_at.map(stamp),
        end_at: when.end_at.map(stamp),
        max_runs: schedule.max_runs,
        jitter: (!schedule.jitter.is_zero()).then(|| Span::from(schedule.jitter)),
        catchup: Some(catchup(schedule.catchup)),
        overlap: Some(overlap(schedule.overlap)),
        pause_on_failure: schedule.pause_on_failure,
        note: schedule.note.clone(),
        job: job(&schedule.job),
        ..NewSchedule::default()
    };
    match when.specs.as_slice() {
        [one] => match timing(one) {
            Timing::Cron(text) => document.cron = Some(text),
            Timing::Every(every) => document.every = Some(every),
            Timing::Daily(times) => document.daily = Some(times),
            Timing::Weekly(weekly) => document.weekly = Some(weekly),
            Timing::Monthly(monthly) => document.monthly = Some(monthly),
            Timing::Rrule(text) => document.rrule = Some(text),
        },
        all => document.when = all.iter().map(timing).collect(),
    }
    document
}

fn timing(spec: &Spec) -> Timing {
    match spec {
        Spec::Cron(text) => Timing::Cron(text.clone()),
        Spec::Every { every, anchor } => {
            Timing::Every(wire::Every { every: Span::from(*every), anchor: anchor.map(stamp) })
        }
        Spec::Daily { at } => Timing::Daily(clock_times(at)),
        Spec::Weekly { days, at } => Timing::Weekly(wire::Weekly { days: weekdays(*days), at: clock_times(at) }),
        Spec::Monthly { days, at } => Timing::Monthly(wire::Monthly {
            days: days.as_slice().iter().copied().map(i32::from).collect(),
            at: clock_times(at),
        }),
        Spec::Rrule(text) => Timing::Rrule(text.clone()),
    }
}

fn clock_times(times: &ClockTimes) -> wire::ClockTimes {
    wire::ClockTimes(times.as_slice().iter().map(|time| clock(time.to_string())).collect())
}

/// `09:00:00` is `09:00`.
fn clock(text: String) -> String {
    text.strip_suffix(":00").filter(|short| short.len() == "09:00".len()).map(str::to_owned).unwrap_or(text)
}

fn weekdays(days: Weekdays) -> Vec<String> {
    days.to_string().split(',').map(str::to_uppercase).collect()
}

fn exclusion(exclusion: &Exclusion) -> wire::Exclusion {
    match exclusion {
        Exclusion::Date(date) => wire::Exclusion::Date(date.to_string()),
        Exclusion::Dates { from, through } => {
            wire::Exclusion::Dates { from: from.to_string(), through: through.to_string() }
        }
        Exclusion::Times { from, to } => {
            wire::Exclusion::Times(wire::TimesOfDay { from: clock(from.to_string()), to: clock(to.to_string()) })
        }
        Exclusion::Weekdays(days) => wire::Exclusion::Weekdays(weekdays(*days)),
        Exclusion::Cron(text) => wire::Exclusion::Cron(text.clone()),
        Exclusion::Rrule(text) => wire::Exclusion::Rrule(text.clone()),
    }
}

fn dst_gap(gap: DstGap) -> wire::DstGap {
    match gap {
        DstGap::Shift => wire::DstGap::Shift,
        DstGap::Skip => wire::DstGap::Skip,
    }
}

fn dst_overlap(overlap: DstOverlap) -> wire::DstOverlap {
    match overlap {
        DstOverlap::First => wire::DstOverlap::First,
        DstOverlap::Last => wire::DstOverlap::Last,
        DstOverlap::Both => wire::DstOverlap::Both,
    }
}

/// Of the mode none, how far back and how many says nothing.
fn catchup(catchup: Catchup) -> wire::Catchup {
    let mode = match catchup.mode {
        CatchupMode::None => return wire::Catchup::from(wire::CatchupMode::None),
        CatchupMode::Latest => wire::CatchupMode::Latest,
        CatchupMode::All => wire::CatchupMode::All,
    };
    wire::Catchup { mode, window: Some(Span::from(catchup.window)), max: Some(catchup.max) }
}

fn overlap(overlap: Overlap) -> wire::Overlap {
    match overlap {
        Overlap::Allow => wire::Overlap::Allow,
        Overlap::Skip => wire::Overlap::Skip,
        Overlap::QueueOne => wire::Overlap::QueueOne,
        Overlap::CancelPrevious => wire::Overlap::CancelPrevious,
    }
}

fn job(template: &Template) -> ScheduledJob {
    ScheduledJob {
        kind: template.kind.to_string(),
        queue: Some(template.queue.to_string()),
        data: (template.data != Json::null()).then(|| raw(&template.data)),
        priority: Some(template.priority.value().into()),
        deadline: template.deadline.map(Span::from),
        expires_in: template.expires_in.map(Span::from),
        retry: Some(retry(&template.retry)),
        max_attempts: Some(template.max_attempts),
        max_crashes: Some(template.max_crashes),
        timeout: template.timeout.map(Span::from),
        tags: template.tags.iter().map(ToString::to_string).collect(),
        concurrency_key: template.keys.concurrency.as_ref().map(ToString::to_string),
        rate_key: template.keys.rate.as_ref().map(ToString::to_string),
        weight: weight(template.keys.weight),
    }
}

#[cfg(test)]
mod tests {
    use super::clock;

    #[test]
    fn a_time_of_day_is_as_short_as_it_can_be() {
        let check = |text: &str, shown: &str| assert_eq!(clock(text.to_owned()), shown);
        check("09:00:00", "09:00");
        check("00:00:00", "00:00");
        check("09:00:30", "09:00:30");
        check("09:30:00", "09:30");
    }
}
