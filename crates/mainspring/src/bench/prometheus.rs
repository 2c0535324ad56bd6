//! One histogram out of the Prometheus text format: its buckets, what was added between two scrapes, and a quantile of that.

use std::collections::BTreeMap;

/// How many samples are at most this large, by bound. The bounds are kept as bits, which order like the (positive) numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Buckets(BTreeMap<u64, u64>);

impl Buckets {
    /// The buckets of a histogram, summed over its other labels. Empty if it is not there.
    pub fn read(text: &str, name: &str) -> Buckets {
        let prefix = format!("{name}_bucket{{");
        let mut buckets = Buckets::default();
        for line in text.lines() {
            if let Some((bound, count)) = line.strip_prefix(&prefix).and_then(bucket) {
                *buckets.0.entry(bound.to_bits()).or_default() += count;
            }
        }
        buckets
    }

    pub fn since(&self, before: &Buckets) -> Buckets {
        let added = |(bound, count): (&u64, &u64)| {
            let before = before.0.get(bound).copied().unwrap_or(0);
            (*bound, count.saturating_sub(before))
        };
        Buckets(self.0.iter().map(added).collect())
    }

    /// The bound of the bucket it falls into: it is at most that. `None` without samples.
    pub fn quantile(&self, quantile: f64) -> Option<f64> {
        let total = self.0.values().copied().max().filter(|total| *total > 0)?;
        let wanted = (total as f64 * quantile).ceil() as u64;
        self.0.iter().find(|(_, count)| **count >= wanted).map(|(bound, _)| f64::from_bits(*bound))
    }
}

fn bucket(rest: &str) -> Option<(f64, u64)> {
    let (labels, count) = rest.rsplit_once('}')?;
    let bound = labels.split(',').find_map(|label| label.trim().strip_prefix("le=\"")?.strip_suffix('"'))?;
    let bound: f64 = if bound == "+Inf" { f64::INFINITY } else { bound.parse().ok()? };
    Some((bound, count.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# TYPE late histogram\n\
        late_bucket{le=\"0.001\"} 50\nlate_bucket{le=\"0.005\"} 98\nlate_bucket{le=\"0.01\"} 100\nlate_bucket{le=\"+Inf\"} 100\n\
        late_sum 1\nlate_count 100\nother_bucket{le=\"0.001\"} 7\n";

    #[test]
    fn a_quantile_is_the_bound_of_its_bucket() {
        let buckets = Buckets::read(TEXT, "late");
        assert_eq!(buckets.quantile(0.5), Some(0.001));
        assert_eq!(buckets.quantile(0.51), Some(0.005));
        assert_eq!(buckets.quantile(0.99), Some(0.01));
        assert_eq!(Buckets::read(TEXT, "missing").quantile(0.5), None);
    }

    #[test]
    fn only_what_was_added_between_two_scrapes_counts() {
        let before = Buckets::read("late_bucket{le=\"0.001\"} 50\nlate_bucket{le=\"+Inf\"} 50\n", "late");
        let added = Buckets::read(TEXT, "late").since(&before);
        assert_eq!(added.quantile(0.5), Some(0.005));
        assert_eq!(before.since(&before).quantile(0.5), None);
    }

    #[test]
    fn labels_beside_the_bound_are_summed_up() {
        let text = "late_bucket{queue=\"a\",le=\"1\"} 2\nlate_bucket{queue=\"b\",le=\"1\"} 3\n";
        let buckets = Buckets::read(text, "late");
        assert_eq!(buckets, Buckets(BTreeMap::from([(1.0_f64.to_bits(), 5)])));
    }
}
