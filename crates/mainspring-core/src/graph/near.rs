//! Guesses which name was meant. Only for error messages: nothing is ever run by a guess.

use crate::name::StepName;

/// With more letters to change than this, nobody meant it.
const EDITS_MAX: usize = 3;

/// The name that takes the fewest letters to change, if it is near enough to have been meant; ties to the first.
pub fn nearest<'a>(wanted: &StepName, names: impl Iterator<Item = &'a StepName>) -> Option<StepName> {
    let wanted = wanted.as_str().as_bytes();
    let mut limit = (wanted.len() / 3).clamp(1, EDITS_MAX) + 1;
    let mut best = None;
    for name in names {
        if let Some(distance) = distance(wanted, name.as_str().as_bytes(), limit) {
            limit = distance;
            best = Some(name);
        }
    }
    best.cloned()
}

/// How many letters have to be put in, taken out, replaced or swapped with the next, if that is below `limit`
/// (optimal string alignment). Only cells nearer than `limit` to the diagonal are looked at: a workflow of 10,000 names
/// of 128 letters took 3 s without that.
fn distance(from: &[u8], to: &[u8], limit: usize) -> Option<usize> {
    if from.len().abs_diff(to.len()) >= limit {
        return None;
    }
    let same = |a: u8, b: u8| a.eq_ignore_ascii_case(&b);
    let mut before_last = vec![limit; to.len() + 2];
    let mut last: Vec<usize> = (0..to.len() + 2).collect();
    let mut row = vec![limit; to.len() + 2];
    for i in 1..=from.len() {
        let (first, end) = (i.saturating_sub(limit - 1).max(1), (i + limit - 1).min(to.len()));
        row[first - 1] = if first == 1 { i } else { limit };
        for j in first..=end {
            let replaced = last[j - 1] + usize::from(!same(from[i - 1], to[j - 1]));
            let mut least = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && same(from[i - 1], to[j - 2]) && same(from[i - 2], to[j - 1]) {
                least = least.min(before_last[j - 2] + 1);
            }
            row[j] = least;
        }
        row[end + 1] = limit;
        (before_last, last, row) = (last, row, before_last);
    }
    Some(last[to.len()]).filter(|&distance| distance < limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_nearest_name_is_guessed_and_a_far_one_is_not() {
        let names = ["extract", "transform", "load-eu", "load-us"].map(|text| StepName::parse(text).expect("a name"));
        let check = |wanted: &str, expected: Option<&str>| {
            let wanted = StepName::parse(wanted).expect("a name");
            let guess = nearest(&wanted, names.iter());
            assert_eq!(guess.as_ref().map(StepName::as_str), expected, "{wanted}");
        };
        check("extrct", Some("extract"));
        check("Transform", Some("transform"));
        check("transfrom", Some("transform"));
        check("load-u", Some("load-eu"));
        check("load_us", Some("load-us"));
        check("notify", None);
        check("x", None);
    }

    #[test]
    fn the_distance_counts_letters_below_its_limit() {
        let check = |from: &str, to: &str, expected: usize| {
            for limit in 1..8 {
                let expected = (expected < limit).then_some(expected);
                assert_eq!(distance(from.as_bytes(), to.as_bytes(), limit), expected, "{from} {to} below {limit}");
                assert_eq!(distance(to.as_bytes(), from.as_bytes(), limit), expected, "{to} {from} below {limit}");
            }
        };
        check("", "", 0);
        check("", "abc", 3);
        check("kitten", "sitting", 3);
        check("abc", "ABC", 0);
        check("abcd", "acd", 1);
        check("laod", "load", 1);
        check("abcd", "badc", 2);
        check("abcdefgh", "xabcdefg", 2);
        check("extract", "transform", 7);
    }

    proptest! {
        #[test]
        fn the_band_changes_no_answer(from in "[abc]{0,9}", to in "[abc]{0,9}", limit in 1usize..12) {
            let whole = distance(from.as_bytes(), to.as_bytes(), 100).expect("any two are nearer");
            let near = (whole < limit).then_some(whole);
            prop_assert_eq!(distance(from.as_bytes(), to.as_bytes(), limit), near);
        }
    }
}
