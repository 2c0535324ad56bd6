//! Finds the herds: steps in which far more schedules fire than in others. Moves none of them.

use mainspring_core::time::Time;

use super::Herd;
use super::count::{Count, Step};

/// Fewer than this are no herd …
pub const HERD_MIN: u64 = 10;
/// … and neither is what is less than so many times the usual.
const HERD_TIMES: u64 = 5;

/// The largest first, and of equals the earliest.
pub(super) fn find(count: &Count, max: usize) -> Vec<Herd> {
    let Some(usual) = median(count.steps().values().map(|step| step.fires).collect()) else { return vec![] };
    let is_herd = |step: &Step| step.fires >= HERD_MIN && step.fires >= usual * HERD_TIMES;
    let herd = |(&at, step): (&Time, &Step)| Herd {
        at,
        count: step.fires,
        names: step.names.iter().map(|(_, name)| name.clone()).collect(),
    };
    let mut herds: Vec<Herd> = count.steps().iter().filter(|(_, step)| is_herd(step)).map(herd).collect();
    herds.sort_by_key(|herd| std::cmp::Reverse(herd.count));
    herds.truncate(max);
    herds
}

/// Of the steps in which something fires; the lower one of two.
fn median(mut fires: Vec<u64>) -> Option<u64> {
    fires.sort_unstable();
    fires.get(fires.len().saturating_sub(1) / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_usual() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![7]), Some(7));
        assert_eq!(median(vec![100, 1, 3, 2]), Some(2));
        assert_eq!(median(vec![100, 1, 3]), Some(3));
    }
}
