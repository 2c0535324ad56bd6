//! What a bench prints: on what it was measured, each run, and the median. Measures nothing.

use mainspring_wire::Ready;
use serde::Serialize;

use crate::bench::figures::Figures;
use crate::output::{Format, print_json, print_text, table};

#[derive(Clone, Debug, Serialize)]
pub struct Report {
    scenario: &'static str,
    /// The engine and its durability, as `/readyz` says.
    store: String,
    version: String,
    payload_bytes: usize,
    cores: usize,
    runs: Vec<Figures>,
}

#[derive(Serialize)]
struct Whole<'a> {
    #[serde(flatten)]
    report: &'a Report,
    median: Figures,
}

impl Report {
    pub fn new(scenario: &'static str, payload_bytes: usize) -> Report {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        Report { scenario, store: String::new(), version: String::new(), payload_bytes, cores, runs: Vec::new() }
    }

    pub fn measured_on(&mut self, ready: &Ready) {
        self.store.clone_from(&ready.store);
        self.version.clone_from(&ready.version);
    }

    pub fn add(&mut self, figures: Figures) {
        self.runs.push(figures);
    }

    pub fn print(&self, format: Format) -> anyhow::Result<()> {
        let median = Figures::median(&self.runs);
        match format {
            Format::Json => print_json(&Whole { report: self, median }),
            Format::Table => print_text(&self.text(&median)),
        }
    }

    fn text(&self, median: &Figures) -> String {
        let mut header = vec![self.scenario.to_owned()];
        header.extend((1..=self.runs.len()).map(|run| format!("run {run}")));
        header.push("median".into());
        let mut rows = table(header);
        for (name, median) in median.iter() {
            let mut row = vec![name.to_owned()];
            row.extend(self.runs.iter().map(|run| run.get(name).map_or_else(String::new, number)));
            row.push(number(median));
            rows.add_row(row);
        }
        let Report { store, version, payload_bytes, cores, .. } = self;
        format!("store: {store}\nmainspring {version}, payload {payload_bytes} bytes, {cores} cores\n\n{rows}")
    }
}

/// Large numbers without decimals, small ones with as many as are worth reading.
fn number(value: f64) -> String {
    match value.abs() {
        1000.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let mut report = Report::new("lifecycle", 400);
        report.store = "memory".into();
        for rate in [61_234.5, 70_000.0, 65_000.0] {
            let mut figures = Figures::default();
            figures.add("jobs_per_second", rate);
            figures.add("claim_p99_ms", rate / 100_000.0);
            report.add(figures);
        }
        report
    }

    #[test]
    fn every_run_and_the_median_are_shown() {
        let report = report();
        let text = report.text(&Figures::median(&report.runs));
        let row = text.lines().find(|line| line.contains("jobs_per_second")).expect("the row is there");
        assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["jobs_per_second", "61234", "70000", "65000", "65000"]);
        assert!(text.starts_with("store: memory\n"));
        assert!(text.contains("payload 400 bytes"));
    }

    #[test]
    fn the_json_has_the_runs_and_the_median() {
        let report = report();
        let median = Figures::median(&report.runs);
        let json = serde_json::to_value(Whole { report: &report, median }).expect("a report prints");
        assert_eq!(json["median"]["jobs_per_second"], 65_000.0);
        assert_eq!(json["runs"].as_array().map(Vec::len), Some(3));
        assert_eq!(json["payload_bytes"], 400);
    }
}
