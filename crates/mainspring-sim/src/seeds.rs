//! Seeds whose worlds once broke a promise. They are lived through again in every run of the tests: a bug that was found stays found.

const KEPT: &str = include_str!("../seeds.txt");

/// One a line; what stands behind `#` is for people.
pub fn kept() -> Vec<u64> {
    let numbers = KEPT.lines().map(|line| line.split('#').next().unwrap_or("").trim()).filter(|line| !line.is_empty());
    numbers.map(|number| number.parse().expect("seeds.txt has one number a line")).collect()
}
