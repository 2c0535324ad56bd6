//! `mainspring forecast`: what will fire in the days ahead, as a picture: a bar an hour, its fullest minute beside it, and the
//! herds by name.

use anyhow::Result;
use clap::Args;
use mainspring_wire::{Forecast, ForecastMinute, ForecastQuery, Span, Timestamp};
use mainspring_worker::Client;

use crate::output::{Format, print_json, print_text};

const HOUR_MS: u64 = 3_600_000;
const BAR_WIDTH: usize = 40;
/// The eighths of a letter.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

#[derive(Args, Debug)]
pub struct ForecastArgs {
    /// How far ahead, from 1 to 7 [default: 7]
    #[arg(long)]
    days: Option<u32>,
    /// Also show what it would be if every schedule had this jitter, such as 5m
    #[arg(long, value_name = "DURATION")]
    jitter: Option<Span>,
}

impl ForecastArgs {
    pub async fn run(self, client: &Client, format: Format) -> Result<()> {
        let forecast = client.forecast(&ForecastQuery { days: self.days, jitter: self.jitter }).await?;
        match format {
            Format::Json => print_json(&forecast),
            Format::Table => print_text(&picture(&forecast, self.jitter)),
        }
    }
}

/// What happens in one hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Hour {
    start_ms: u64,
    total: u64,
    /// Of its fullest minute.
    peak: u64,
}

fn hours(minutes: &[ForecastMinute]) -> Vec<Hour> {
    let mut hours: Vec<Hour> = Vec::new();
    for minute in minutes {
        let start_ms = minute.at.0 / HOUR_MS * HOUR_MS;
        if hours.last().is_none_or(|hour| hour.start_ms != start_ms) {
            hours.push(Hour { start_ms, ..Hour::default() });
        }
        let hour = hours.last_mut().expect("one was just put there");
        let fires = minute.schedules + minute.jobs;
        hour.total += fires;
        hour.peak = hour.peak.max(fires);
    }
    hours
}

fn picture(forecast: &Forecast, jitter: Option<Span>) -> String {
    let now = hours(&forecast.minutes);
    let then = forecast.with_jitter.as_deref().map(hours);
    let most = now.iter().map(|hour| hour.total).max().unwrap_or(0);
    let mut lines = vec![
        format!("from {} until {} (UTC)", forecast.from, forecast.until),
        format!("{} fires of schedules, {} waiting jobs fall due", forecast.schedules, forecast.jobs),
        String::new(),
    ];
    let with = if then.is_some() { "  with jitter" } else { "" };
    lines.push(format!("{:<13}  {:<BAR_WIDTH$}  {:>8}  {:>11}{with}", "hour", "", "fires", "a minute ≤"));
    let mut next_ms = forecast.from.0 / HOUR_MS * HOUR_MS;
    for hour in &now {
        lines.extend(quiet(next_ms, hour.start_ms));
        next_ms = hour.start_ms + HOUR_MS;
        // An hour that jitter empties is not in the other list.
        let spread = then.as_ref().map(|then| {
            let peak = then.iter().find(|other| other.start_ms == hour.start_ms).map_or(0, |other| other.peak);
            format!("  {peak:>11}")
        });
        let bar = bar(hour.total, most);
        let start = hour_name(hour.start_ms);
        lines.push(format!(
            "{start}  {bar:<BAR_WIDTH$}  {:>8}  {:>11}{}",
            hour.total,
            hour.peak,
            spread.unwrap_or_default()
        ));
    }
    lines.extend(quiet(next_ms, forecast.until.0));
    lines.push(String::new());
    lines.extend(peaks(forecast, jitter));
    lines.extend(herds(forecast));
    if forecast.partial {
        lines.push("there is more than could be counted: what is further ahead shows too little".to_owned());
    }
    lines.join("\n")
}

/// Hours without a fire are one line.
fn quiet(from_ms: u64, until_ms: u64) -> Option<String> {
    match until_ms.saturating_sub(from_ms) / HOUR_MS {
        0 => None,
        1 => Some(format!("{}  ·", hour_name(from_ms))),
        hours => Some(format!("{}  · nothing for {hours} hours", hour_name(from_ms))),
    }
}

fn peaks(forecast: &Forecast, jitter: Option<Span>) -> Vec<String> {
    let said = |peak: &ForecastMinute| format!("{} at {}", peak.schedules + peak.jobs, minute_name(peak.at));
    let now = forecast.peak.as_ref().map(|peak| format!("the fullest minute: {}", said(peak)));
    let then = forecast.peak_with_jitter.as_ref().zip(jitter);
    let then = then.map(|(peak, jitter)| format!("with {jitter} of jitter:  {}", said(peak)));
    [now, then].into_iter().flatten().collect()
}

fn herds(forecast: &Forecast) -> Vec<String> {
    let mut lines = Vec::new();
    if !forecast.herds.is_empty() {
        lines.push("herds, schedules that fire in the same minute:".to_owned());
    }
    for herd in &forecast.herds {
        let others = (herd.schedules.len() as u64) < herd.count;
        let more = if others { ", …" } else { "" };
        lines.push(format!("  {}  {:>8}  {}{more}", minute_name(herd.at), herd.count, herd.schedules.join(", ")));
    }
    lines
}

fn bar(value: u64, most: u64) -> String {
    if most == 0 {
        return String::new();
    }
    let eighths = (value as f64 / most as f64 * (BAR_WIDTH * 8) as f64).round() as usize;
    // What fires at all is seen.
    let eighths = if value > 0 { eighths.max(1) } else { 0 };
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

/// `2026-12-01 09h`.
fn hour_name(ms: u64) -> String {
    let text = Timestamp(ms).to_string();
    format!("{} {}h", &text[..10], &text[11..13]).replacen("20", "", 1)
}

/// `2026-12-01 09:30`.
fn minute_name(at: Timestamp) -> String {
    at.to_string()[..16].replace('T', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forecast() -> Forecast {
        let minute = |at: &str, schedules: u64| ForecastMinute { at: at.parse().expect("a time"), schedules, jobs: 0 };
        let json = serde_json::json!({
            "from": "2026-12-01T22:10:00Z", "until": "2026-12-02T22:10:00Z", "schedules": 112, "jobs": 0, "minutes": [],
            "herds": [{"at": "2026-12-02T00:00:00Z", "count": 100, "schedules": ["nightly", "backup"]}],
            "peak": minute("2026-12-02T00:00:00Z", 100), "peak_with_jitter": minute("2026-12-02T00:03:00Z", 21)
        });
        let mut forecast: Forecast = serde_json::from_value(json).expect("a forecast");
        let minutes = |herd: u64| {
            vec![
                minute("2026-12-01T23:00:00Z", 1),
                minute("2026-12-02T00:00:00Z", herd),
                minute("2026-12-02T00:30:00Z", 11),
            ]
        };
        (forecast.minutes, forecast.with_jitter) = (minutes(100), Some(minutes(21)));
        forecast
    }

    #[test]
    fn an_hour_is_a_bar_with_its_fullest_minute() {
        let shown = picture(&forecast(), Some(Span::from_secs(300)));
        let line = |word: &str| {
            shown.lines().find(|line| line.starts_with(word)).unwrap_or_else(|| panic!("{word} in\n{shown}"))
        };
        let words = |word: &str| line(word).split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let full = "█".repeat(BAR_WIDTH);
        assert_eq!(words("26-12-02 00h"), ["26-12-02", "00h", &full, "111", "100", "21"]);
        assert_eq!(words("26-12-01 23h"), ["26-12-01", "23h", "▍", "1", "1", "1"]);
        assert_eq!(words("26-12-01 22h"), ["26-12-01", "22h", "·"]);
        assert!(line("26-12-02 01h").contains("nothing for 21 hours"), "{shown}");
        assert!(shown.contains("the fullest minute: 100 at 2026-12-02 00:00"), "{shown}");
        assert!(shown.contains("with 5m of jitter:  21 at 2026-12-02 00:03"), "{shown}");
        assert!(shown.contains("100  nightly, backup, …"), "{shown}");
    }

    #[test]
    fn a_bar_is_as_long_as_its_part_of_the_most() {
        assert_eq!(bar(0, 10), "");
        assert_eq!(bar(5, 10), "█".repeat(BAR_WIDTH / 2));
        assert_eq!(bar(1, 1_000_000), "▏", "what fires at all is seen");
        assert_eq!(bar(0, 0), "");
    }
}
