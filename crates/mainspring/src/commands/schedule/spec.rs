//! Flags to a schedule. Judges nothing but the shape of what it reads; the server does the rest.

use anyhow::Result;
use clap::Args;
use mainspring_wire::{
    Catchup, CatchupMode, ClockTimes, DstGap, DstOverlap, Exclusion, Monthly, NewSchedule, Overlap, RetryPolicy,
    ScheduledJob, Span, Timestamp, Timing, Weekly,
};

use crate::commands::retry_spec::parse as parse_retry;
use crate::commands::submit::Payload;
use crate::exit::Usage;

/// When it fires.
#[derive(Args, Clone, Debug, Default)]
#[group(id = "timing", multiple = true)]
pub struct TimingArgs {
    /// A cron expression such as "0 3 * * *"; each of these may be given several times, and fires when any says so
    #[arg(long, value_name = "EXPRESSION")]
    cron: Vec<String>,
    /// A length of real time, such as 90s
    #[arg(long, value_name = "DURATION")]
    every: Vec<Span>,
    /// Times of day, such as 09:00 or 09:00,17:00
    #[arg(long, value_name = "TIMES", value_parser = daily)]
    daily: Vec<ClockTimes>,
    /// Weekdays and times, such as MON,FRI@09:00
    #[arg(long, value_name = "DAYS@TIMES", value_parser = weekly)]
    weekly: Vec<Weekly>,
    /// Days of the month and times, such as 1,-1@00:00; -1 is the last
    #[arg(long, value_name = "DAYS@TIMES", value_parser = monthly, allow_hyphen_values = true)]
    monthly: Vec<Monthly>,
    /// An RFC 5545 rule such as FREQ=MONTHLY;BYDAY=-1FR
    #[arg(long, value_name = "RULE")]
    rrule: Vec<String>,
    /// An IANA time zone such as Europe/Berlin [default: UTC]
    #[arg(long, alias = "timezone", value_name = "ZONE")]
    tz: Option<String>,
    /// What becomes of a time of day that the clocks jump over: shift or skip [default: shift]
    #[arg(long, value_name = "POLICY")]
    dst_gap: Option<DstGap>,
    /// Which one fires when a time of day comes twice: first, last or both [default: first]
    #[arg(long, value_name = "POLICY")]
    dst_overlap: Option<DstOverlap>,
    /// When it does not fire: a date, 2026-12-24..2027-01-01, or JSON such as {"weekdays": ["SAT"]}; may be given several times
    #[arg(long, value_name = "EXCLUSION", value_parser = exclusion)]
    exclude: Vec<Exclusion>,
    /// Nothing fires before
    #[arg(long, value_name = "TIME")]
    start_at: Option<Timestamp>,
    /// Nothing fires after
    #[arg(long, value_name = "TIME")]
    end_at: Option<Timestamp>,
}

/// All of it.
#[derive(Args, Debug)]
pub struct SpecArgs {
    /// The whole document as JSON, instead of flags; - for stdin
    #[arg(long, value_name = "FILE.json", conflicts_with_all = ["timing", "kind"])]
    file: Option<String>,
    #[command(flatten)]
    timing: TimingArgs,
    /// Over after this many runs
    #[arg(long)]
    max_runs: Option<u64>,
    /// Each occurrence is put off by up to this long
    #[arg(long, value_name = "DURATION")]
    jitter: Option<Span>,
    /// Which occurrences that passed while the server was down still fire: none, latest or all [default: latest]
    #[arg(long, value_name = "MODE")]
    catchup: Option<CatchupMode>,
    /// … and none that are older than this [default: 1d]
    #[arg(long, value_name = "DURATION", requires = "catchup")]
    catchup_window: Option<Span>,
    /// … and at most this many [default: 100]
    #[arg(long, requires = "catchup")]
    catchup_max: Option<u32>,
    /// When the job before has not ended: allow, skip, queue_one or cancel_previous [default: allow]
    #[arg(long, value_name = "POLICY")]
    overlap: Option<Overlap>,
    /// Pause when one of its jobs has failed for good
    #[arg(long)]
    pause_on_failure: bool,
    /// Why it exists
    #[arg(long)]
    note: Option<String>,
    #[command(flatten)]
    job: JobArgs,
}

/// The job that every occurrence makes.
#[derive(Args, Debug)]
struct JobArgs {
    /// What the worker runs
    #[arg(long = "type", value_name = "TYPE", required_unless_present = "file")]
    kind: Option<String>,
    /// The job's data: JSON, @FILE, or - for stdin
    #[arg(long, value_name = "JSON", allow_negative_numbers = true)]
    data: Option<Payload>,
    /// Where it waits [default: default]
    #[arg(long)]
    queue: Option<String>,
    /// From -1000 to 1000, higher first [default: 5]
    #[arg(long, allow_negative_numbers = true)]
    priority: Option<i32>,
    /// Should be done this long after its run time
    #[arg(long, value_name = "DURATION")]
    deadline: Option<Span>,
    /// Cancelled if it has not started this long after its run time
    #[arg(long, value_name = "DURATION")]
    expires_in: Option<Span>,
    /// Dead after this many failed attempts [default: 3]
    #[arg(long)]
    max_attempts: Option<u32>,
    /// Dead when more than this many workers were lost over it [default: 5]
    #[arg(long)]
    max_crashes: Option<u32>,
    /// When a failed attempt is tried again; see `job submit --help`
    #[arg(long, value_name = "POLICY", value_parser = parse_retry)]
    retry: Option<RetryPolicy>,
    /// How long one attempt may take
    #[arg(long, value_name = "DURATION")]
    timeout: Option<Span>,
    /// A word to find its jobs by; may be given several times
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Jobs with the same key share a limit on how many run at once
    #[arg(long, value_name = "KEY")]
    concurrency_key: Option<String>,
    /// Jobs with the same key share a limit on how many start in a span of time
    #[arg(long, value_name = "KEY")]
    rate_key: Option<String>,
    /// How much of a limit it takes [default: 1]
    #[arg(long)]
    weight: Option<u32>,
}

impl SpecArgs {
    pub fn document(self) -> Result<NewSchedule> {
        if let Some(file) = &self.file {
            let payload = if file == "-" { Payload::Stdin } else { Payload::File(file.into()) };
            let json = payload.read()?;
            return serde_json::from_str(json.get())
                .map_err(|error| Usage(format!("{file} is no schedule: {error}")).into());
        }
        let mut schedule = NewSchedule {
            max_runs: self.max_runs,
            jitter: self.jitter,
            catchup: self.catchup.map(|mode| Catchup { mode, window: self.catchup_window, max: self.catchup_max }),
            overlap: self.overlap,
            pause_on_failure: self.pause_on_failure,
            note: self.note,
            job: self.job.job()?,
            ..NewSchedule::default()
        };
        self.timing.put(&mut schedule)?;
        Ok(schedule)
    }
}

impl TimingArgs {
    /// One rule has its own field; several are a list.
    pub fn put(self, schedule: &mut NewSchedule) -> Result<()> {
        let mut rules: Vec<Timing> = Vec::new();
        rules.extend(self.cron.into_iter().map(Timing::Cron));
        rules.extend(self.every.into_iter().map(|every| Timing::Every(every.into())));
        rules.extend(self.daily.into_iter().map(Timing::Daily));
        rules.extend(self.weekly.into_iter().map(Timing::Weekly));
        rules.extend(self.monthly.into_iter().map(Timing::Monthly));
        rules.extend(self.rrule.into_iter().map(Timing::Rrule));
        match rules.len() {
            0 => return Err(Usage("when? give --cron, --every, --daily, --weekly, --monthly or --rrule".into()).into()),
            1 => match rules.remove(0) {
                Timing::Cron(text) => schedule.cron = Some(text),
                Timing::Every(every) => schedule.every = Some(every),
                Timing::Daily(times) => schedule.daily = Some(times),
                Timing::Weekly(weekly) => schedule.weekly = Some(weekly),
                Timing::Monthly(monthly) => schedule.monthly = Some(monthly),
                Timing::Rrule(text) => schedule.rrule = Some(text),
            },
            _ => schedule.when = rules,
        }
        schedule.timezone = self.tz;
        schedule.dst_gap = self.dst_gap;
        schedule.dst_overlap = self.dst_overlap;
        schedule.exclude = self.exclude;
        schedule.start_at = self.start_at;
        schedule.end_at = self.end_at;
        Ok(())
    }
}

impl JobArgs {
    fn job(self) -> Result<ScheduledJob> {
        Ok(ScheduledJob {
            kind: self.kind.unwrap_or_default(),
            queue: self.queue,
            data: self.data.map(Payload::read).transpose()?,
            priority: self.priority,
            deadline: self.deadline,
            expires_in: self.expires_in,
            retry: self.retry,
            max_attempts: self.max_attempts,
            max_crashes: self.max_crashes,
            timeout: self.timeout,
            tags: self.tags,
            concurrency_key: self.concurrency_key,
            rate_key: self.rate_key,
            weight: self.weight,
        })
    }
}

fn list(text: &str) -> Vec<String> {
    text.split(',').map(|item| item.trim().to_owned()).collect()
}

fn daily(text: &str) -> Result<ClockTimes, String> {
    Ok(ClockTimes(list(text)))
}

fn days_and_times(text: &str) -> Result<(Vec<String>, ClockTimes), String> {
    let (days, times) = text.split_once('@').ok_or("expected days@times, such as MON,FRI@09:00 or 1,-1@00:00")?;
    Ok((list(days), ClockTimes(list(times))))
}

fn weekly(text: &str) -> Result<Weekly, String> {
    let (days, at) = days_and_times(text)?;
    Ok(Weekly { days, at })
}

fn monthly(text: &str) -> Result<Monthly, String> {
    let (days, at) = days_and_times(text)?;
    let day = |day: &String| day.parse().map_err(|_| format!("{day:?} is not a day of the month"));
    Ok(Monthly { days: days.iter().map(day).collect::<Result<_, _>>()?, at })
}

fn exclusion(text: &str) -> Result<Exclusion, String> {
    if text.starts_with('{') {
        return serde_json::from_str(text).map_err(|error| error.to_string());
    }
    Ok(match text.split_once("..") {
        Some((from, through)) => Exclusion::Dates { from: from.to_owned(), through: through.to_owned() },
        None => Exclusion::Date(text.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use serde_json::{Value, json};

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        spec: SpecArgs,
    }

    fn document(words: &[&str]) -> Result<Value> {
        let line = Line::try_parse_from(["x"].iter().chain(words))?;
        Ok(serde_json::to_value(line.spec.document()?)?)
    }

    #[test]
    fn flags_become_the_document_of_the_api() {
        let check =
            |words: &[&str], expected: Value| assert_eq!(document(words).expect("it is read"), expected, "{words:?}");
        check(
            &["--cron", "0 3 * * *", "--tz", "Europe/Berlin", "--type", "t", "--data", "{}"],
            json!({"cron": "0 3 * * *", "timezone": "Europe/Berlin", "job": {"type": "t", "data": {}}}),
        );
        check(
            &["--weekly", "MON, FRI@09:00,17:00", "--type", "t", "--catchup", "all", "--catchup-max", "3"],
            json!({
                "weekly": {"days": ["MON", "FRI"], "at": ["09:00", "17:00"]}, "catchup": {"mode": "all", "max": 3}, "job": {"type": "t"}
            }),
        );
        check(
            &["--monthly", "-1@00:00", "--every", "90s", "--type", "t"],
            json!({"when": [{"every": "90s"}, {"monthly": {"days": [-1], "at": "00:00"}}], "job": {"type": "t"}}),
        );
        check(
            &[
                "--daily",
                "9:00",
                "--type",
                "t",
                "--exclude",
                "2026-12-25",
                "--exclude",
                "2026-12-24..2027-01-01",
                "--exclude",
                r#"{"weekdays":["SAT"]}"#,
            ],
            json!({
                "daily": "9:00", "job": {"type": "t"},
                "exclude": ["2026-12-25", {"from": "2026-12-24", "through": "2027-01-01"}, {"weekdays": ["SAT"]}]
            }),
        );
    }

    #[test]
    fn what_is_missing_or_misshapen_is_refused() {
        let refused = |words: &[&str], expected: &str| {
            let error = document(words).expect_err("is refused").to_string();
            assert!(error.contains(expected), "{words:?}: {error:?} does not say {expected:?}");
        };
        refused(&["--type", "t"], "when? give --cron");
        refused(&["--cron", "0 3 * * *"], "--type");
        refused(&["--monthly", "first@00:00", "--type", "t"], "is not a day of the month");
        refused(&["--weekly", "MON", "--type", "t"], "expected days@times");
        refused(&["--daily", "9:00", "--type", "t", "--exclude", "{\"day\":1}"], "unknown field `day`");
        refused(&["--file", "x.json", "--cron", "0 3 * * *"], "cannot be used with");
        refused(&["--file", "/no/such.json"], "/no/such.json");
    }
}
