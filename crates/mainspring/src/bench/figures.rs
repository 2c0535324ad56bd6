//! What a run measured: named numbers, quantiles, and the median of several runs. Prints nothing.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

/// Named numbers in the order they were added. The unit is the end of the name: `claim_p99_ms`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures(Vec<(String, f64)>);

impl Figures {
    pub fn add(&mut self, name: impl Into<String>, value: f64) {
        self.0.push((name.into(), value));
    }

    pub fn extend(&mut self, prefix: &str, others: Figures) {
        self.0.extend(others.0.into_iter().map(|(name, value)| (format!("{prefix}{name}"), value)));
    }

    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(given, _)| given == name).map(|(_, value)| *value)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// The median of each figure, in the order of the first run. Of an even number, the lower of the middle two: a figure
    /// that was really measured.
    pub fn median(runs: &[Figures]) -> Figures {
        let mut values: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        runs.iter().flat_map(Figures::iter).for_each(|(name, value)| values.entry(name).or_default().push(value));
        values.values_mut().for_each(|values| values.sort_by(f64::total_cmp));
        let middle = |name: &str| values.get(name).map_or(0.0, |values| values[(values.len() - 1) / 2]);
        let names = runs.first().into_iter().flat_map(Figures::iter);
        Figures(names.map(|(name, _)| (name.to_owned(), middle(name))).collect())
    }
}

impl serde::Serialize for Figures {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// What took longer than an hour is counted as an hour.
const LATENCY_US_MAX: u64 = 3_600_000_000;

/// How long something took, many times, in microseconds.
#[derive(Clone, Debug)]
pub struct Latencies(Histogram<u64>);

impl Latencies {
    pub fn new() -> Latencies {
        Latencies(Histogram::new_with_bounds(1, LATENCY_US_MAX, 3).expect("the bounds are in order"))
    }

    pub fn record(&mut self, us: u64) {
        self.0.saturating_record(us);
    }

    pub fn merge(&mut self, other: &Latencies) {
        self.0.add(&other.0).expect("both have the same bounds");
    }

    pub fn quantile_ms(&self, quantile: f64) -> f64 {
        self.0.value_at_quantile(quantile) as f64 / 1000.0
    }

    /// Adds `<name>_p50_ms` and `<name>_p99_ms`.
    pub fn put(&self, figures: &mut Figures, name: &str) {
        figures.add(format!("{name}_p50_ms"), self.quantile_ms(0.50));
        figures.add(format!("{name}_p99_ms"), self.quantile_ms(0.99));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(pairs: &[(&str, f64)]) -> Figures {
        Figures(pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect())
    }

    #[test]
    fn the_median_is_taken_figure_by_figure() {
        let runs = [
            figures(&[("rate", 3.0), ("p99", 10.0)]),
            figures(&[("rate", 1.0), ("p99", 30.0)]),
            figures(&[("rate", 2.0), ("p99", 20.0)]),
        ];
        assert_eq!(Figures::median(&runs), figures(&[("rate", 2.0), ("p99", 20.0)]));
        assert_eq!(Figures::median(&runs[..2]), figures(&[("rate", 1.0), ("p99", 10.0)]));
        assert_eq!(Figures::median(&[]), figures(&[]));
    }

    #[test]
    fn figures_print_in_their_order() {
        let json = serde_json::to_string(&figures(&[("b", 1.5), ("a", 2.0)])).expect("figures print");
        assert_eq!(json, r#"{"b":1.5,"a":2.0}"#);
    }

    #[test]
    fn quantiles_are_in_milliseconds() {
        let mut latencies = Latencies::new();
        (1..=100).for_each(|ms| latencies.record(ms * 1000));
        let near = |quantile: f64, ms: f64| (latencies.quantile_ms(quantile) / ms - 1.0).abs() < 0.001;
        assert!(near(0.5, 50.0), "{}", latencies.quantile_ms(0.5));
        assert!(near(0.99, 99.0), "{}", latencies.quantile_ms(0.99));
    }
}
