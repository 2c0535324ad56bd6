//! Schedules, their ledger and their future as tables. Times to come are shown as a clock on the wall shows them, with what the
//! change of the clocks does to them.

use comfy_table::Table;
use mainspring_wire::{
    BackfillAnswer, Dst, LedgerPage, NewSchedule, Preview, PreviewOccurrence, SchedulePage, ScheduleView, Timing,
};

use crate::output::{Format, facts, or_dash, table};

pub fn schedule(view: &ScheduleView) -> Table {
    let said = &view.schedule;
    let word = |word: Option<String>| word;
    facts([
        ("schedule_id", said.schedule_id.clone()),
        ("status", Some(view.status.to_string())),
        ("when", Some(when(said))),
        ("timezone", said.timezone.clone()),
        ("dst_gap", word(said.dst_gap.map(|policy| policy.to_string()))),
        ("dst_overlap", word(said.dst_overlap.map(|policy| policy.to_string()))),
        ("exclude", lines(said.exclude.iter().map(json))),
        ("start_at", said.start_at.map(|at| at.to_string())),
        ("end_at", said.end_at.map(|at| at.to_string())),
        ("max_runs", said.max_runs.map(|runs| runs.to_string())),
        ("jitter", said.jitter.map(|jitter| jitter.to_string())),
        ("catchup", said.catchup.as_ref().map(|catchup| json(catchup).trim_matches('"').to_owned())),
        ("overlap", said.overlap.map(|overlap| overlap.to_string())),
        ("pause_on_failure", said.pause_on_failure.then(|| "yes".to_owned())),
        ("note", said.note.clone()),
        ("type", Some(said.job.kind.clone())),
        ("queue", said.job.queue.clone()),
        ("data", said.job.data.as_ref().map(|data| data.to_string())),
        ("tags", Some(said.job.tags.join(", ")).filter(|tags| !tags.is_empty())),
        ("paused", paused(view)),
        ("next_fire_time", view.next_fire_time.map(|at| at.to_string())),
        ("last_fire_time", view.last_fire_time.map(|at| at.to_string())),
        ("runs", Some(view.runs.to_string())),
        ("last_job_id", view.last_job_id.map(|id| id.to_string())),
        ("revision", Some(view.revision.to_string())),
        ("updated_at", Some(view.updated_at.to_string())),
    ])
}

pub fn schedules(page: &SchedulePage) -> Table {
    let mut rows = table(["SCHEDULE", "STATUS", "WHEN", "ZONE", "TYPE", "NEXT", "LAST", "RUNS"]);
    for view in &page.schedules {
        rows.add_row([
            or_dash(view.schedule.schedule_id.as_ref()),
            view.status.to_string(),
            when(&view.schedule),
            or_dash(view.schedule.timezone.as_ref()),
            view.schedule.job.kind.clone(),
            or_dash(view.next_fire_time),
            or_dash(view.last_fire_time),
            view.runs.to_string(),
        ]);
    }
    rows
}

pub fn ledger(page: &LedgerPage) -> Table {
    let mut rows = table(["OCCURRENCE", "WHAT", "WHY", "COUNT", "THROUGH", "LATE", "JOB", "WRITTEN"]);
    for row in &page.rows {
        rows.add_row([
            row.occurrence.to_string(),
            row.what.to_string(),
            or_dash(row.reason),
            row.count.to_string(),
            or_dash(Some(row.through).filter(|through| *through != row.occurrence)),
            or_dash(row.late_ms.map(|ms| format!("{ms} ms"))),
            or_dash(row.job_id),
            row.at.to_string(),
        ]);
    }
    rows
}

pub fn backfill(answer: &BackfillAnswer) -> Table {
    let mut rows = table(["OCCURRENCE", "RESULT", "JOB"]);
    for made in &answer.occurrences {
        rows.add_row([made.occurrence.to_string(), made.result.to_string(), made.job_id.to_string()]);
    }
    rows
}

pub fn preview(preview: &Preview) -> String {
    let mut rows = table(["LOCAL TIME", "OFFSET", "UTC", ""]);
    for occurrence in &preview.occurrences {
        rows.add_row([
            occurrence.local.replace('T', " "),
            occurrence.utc_offset.clone(),
            occurrence.at.to_string(),
            note(occurrence),
        ]);
    }
    let zone = if preview.timezone.is_empty() { "UTC" } else { &preview.timezone };
    let end = if preview.ends { "\nnothing after that" } else { "" };
    format!("{zone}\n{rows}{end}")
}

/// A page that is not the last says so where it does not disturb the data.
pub fn say_more(next_cursor: Option<&str>, format: Format) {
    if let (Some(cursor), Format::Table) = (next_cursor, format) {
        eprintln!("there is more: --cursor {cursor}");
    }
}

fn note(occurrence: &PreviewOccurrence) -> String {
    let short = occurrence.dst.map(|dst| match dst {
        Dst::Shifted => "the clocks jump over its time: shifted",
        Dst::First => "its time comes twice: the first",
        Dst::Last => "its time comes twice: the last",
    });
    occurrence.note.clone().or_else(|| short.map(str::to_owned)).unwrap_or_default()
}

fn paused(view: &ScheduleView) -> Option<String> {
    let pause = view.paused.as_ref()?;
    let until = pause.until.map(|until| format!(", until {until}")).unwrap_or_default();
    let job = pause.job_id.map(|id| format!(" of job {id}")).unwrap_or_default();
    let note = if pause.note.is_empty() { String::new() } else { format!(": {}", pause.note) };
    Some(format!("since {} by {}{job}{until}{note}", pause.since, pause.by))
}

/// All rules in one cell, as they would be written.
fn when(schedule: &NewSchedule) -> String {
    let short = [
        schedule.cron.clone(),
        schedule.every.map(|every| rule(&Timing::Every(every))),
        schedule.daily.clone().map(|times| rule(&Timing::Daily(times))),
        schedule.weekly.clone().map(|weekly| rule(&Timing::Weekly(weekly))),
        schedule.monthly.clone().map(|monthly| rule(&Timing::Monthly(monthly))),
        schedule.rrule.clone(),
    ];
    let rules: Vec<String> = short.into_iter().flatten().chain(schedule.when.iter().map(rule)).collect();
    rules.join("; ")
}

fn rule(timing: &Timing) -> String {
    let list = |days: Vec<String>| days.join(",");
    match timing {
        Timing::Cron(text) | Timing::Rrule(text) => text.clone(),
        Timing::Every(every) => match every.anchor {
            None => format!("every {}", every.every),
            Some(anchor) => format!("every {} from {anchor}", every.every),
        },
        Timing::Daily(times) => format!("daily {}", times.0.join(",")),
        Timing::Weekly(weekly) => format!("{} {}", weekly.days.join(","), weekly.at.0.join(",")),
        Timing::Monthly(monthly) => {
            format!("day {} {}", list(monthly.days.iter().map(ToString::to_string).collect()), monthly.at.0.join(","))
        }
    }
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("wire types print")
}

fn lines(items: impl Iterator<Item = String>) -> Option<String> {
    Some(items.collect::<Vec<_>>().join("\n")).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_shown_as_it_is_said() {
        let check = |json: &str, expected: &str| {
            let json = format!("{{{json},\"job\":{{\"type\":\"t\"}}}}");
            assert_eq!(when(&serde_json::from_str(&json).expect("a schedule")), expected);
        };
        check(r#""cron":"0 3 * * *""#, "0 3 * * *");
        check(r#""every":"90s""#, "every 90s");
        check(r#""weekly":{"days":["MON","FRI"],"at":"09:00"}"#, "MON,FRI 09:00");
        check(
            r#""when":[{"monthly":{"days":[1,-1],"at":"00:00"}},{"daily":["9:00","17:00"]}]"#,
            "day 1,-1 00:00; daily 9:00,17:00",
        );
    }

    #[test]
    fn the_future_shows_the_wall_the_offset_and_what_the_clocks_do() {
        let json = r#"{"timezone":"Europe/Berlin","occurrences":[
            {"at":"2027-03-28T01:30:00Z","local":"2027-03-28T03:30:00","utc_offset":"+02:00","dst":"shifted"},
            {"at":"2027-03-29T00:30:00Z","local":"2027-03-29T02:30:00","utc_offset":"+02:00"}],"ends":true}"#;
        let shown = preview(&serde_json::from_str(json).expect("a preview"));
        let lines: Vec<String> =
            shown.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(lines[0], "Europe/Berlin");
        let shifted = "2027-03-28 03:30:00 +02:00 2027-03-28T01:30:00.000Z the clocks jump over its time: shifted";
        assert_eq!(lines[2], shifted);
        assert_eq!(lines[3], "2027-03-29 02:30:00 +02:00 2027-03-29T00:30:00.000Z");
        assert_eq!(lines.last().map(String::as_str), Some("nothing after that"));
    }
}
