//! Seeds whose worlds once broke a promise. They are lived through again in every run of the tests: a bug that was found stays found.
//! A seed means the same history for as long as the simulator draws the same: who changes what is drawn looks for new ones.

use crate::checkers::Finding;

const KEPT: &str = include_str!("../seeds.txt");

/// Those that are kept.
pub fn kept() -> Vec<u64> {
    parse(KEPT).expect("seeds.txt has one number a line")
}

/// One a line; what stands behind `#` is for people.
pub fn parse(text: &str) -> Result<Vec<u64>, String> {
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.split('#').next().unwrap_or("").trim()));
    let seeds = lines.filter(|(_, line)| !line.is_empty());
    seeds
        .map(|(at, line)| line.parse().map_err(|_| format!("line {at}: {line:?} is no seed; write one number a line")))
        .collect()
}

/// How a seed is written down that broke these promises.
pub fn line(seed: u64, findings: &[Finding]) -> String {
    let why = findings.first().map_or(String::new(), |finding| format!(" # {}: {}", finding.promise, finding.what));
    format!("{seed}{}", why.replace(['\n', '\r'], " "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainspring_core::time::Time;

    #[test]
    fn a_seed_that_is_written_down_is_read_again() {
        let finding = |what: &str| Finding { at: Time::ZERO, promise: "order is fair", what: what.into() };
        let text = [line(42, &[finding("job 7 #1\nwas passed over")]), "# for people".into(), line(7, &[])].join("\n");
        assert_eq!(parse(&text), Ok(vec![42, 7]));
    }

    #[test]
    fn what_is_no_seed_is_named_with_its_line() {
        assert_eq!(parse("1\n\nx # y"), Err("line 3: \"x\" is no seed; write one number a line".into()));
    }
}
