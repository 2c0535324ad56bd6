//! What a person wants to know of a run, and in the long form whether the pauses were short enough.

use std::time::{Duration, Instant};

use crate::Form;
use crate::book::Book;
use crate::check::Seen;
use crate::faults::{Fault, Happened};
use crate::nodes::Nodes;

/// What the pause in dispatch may be above a term.
const ABOVE_TERM_MAX: Duration = Duration::from_secs(1);
/// How long after the restart of the database a pause is still put down to it.
const RECOVERY: Duration = Duration::from_secs(3);

pub fn tell(form: Form, book: &Book, faults: &[Happened], seen: &Seen, nodes: &mut Nodes) {
    let pages = book.pages();
    let jobs: usize = seen.by_status.values().sum();
    let outages: Vec<&Happened> = faults.iter().filter(|fault| matches!(fault.fault, Fault::Database(_))).collect();
    let of_an_outage = |from: Instant, until: Instant| {
        outages.iter().any(|outage| from < outage.until + RECOVERY && until > outage.from)
    };
    let (mut quiet, mut outage) = (Duration::ZERO, Duration::ZERO);
    let mut deliveries = pages.deliveries.clone();
    deliveries.sort_unstable();
    for pair in deliveries.windows(2).filter(|pair| pair[0] < book.began + form.fire) {
        let longest = if of_an_outage(pair[0], pair[1]) { &mut outage } else { &mut quiet };
        *longest = (*longest).max(pair[1] - pair[0]);
    }
    let mut late: Vec<u64> = seen.late_ms.iter().map(|(_, late)| *late).collect();
    late.sort_unstable();
    let latest = Duration::from_millis(late.last().copied().unwrap_or_default());

    println!("fire: {:?}, term {:?}, lease {:?}, seed {}", form.fire, form.term, form.lease, form.seed);
    println!("jobs: {jobs} ({:.1}/s) {:?}", jobs as f64 / form.fire.as_secs_f64(), seen.by_status);
    println!("attempts: {}, of them {} crashed; vanished workers: {}", seen.attempts, seen.crashes, pages.vanished);
    println!(
        "acknowledged ends: {}, in doubt: {}, stale: {}, late and stale: {}",
        pages.ended.len(),
        pages.unsure.len(),
        pages.stale,
        pages.late
    );
    println!("submits repeated: {}, again on purpose: {}", pages.repeated, pages.again);
    println!("occurrences: {}, late p50 {} ms, latest {latest:?}", seen.occurrences, late[late.len() / 2]);
    println!("most at once by key: {:?}; snapshots: {}", seen.peaks, pages.snapshots);
    let back_ms = seen.back_ms.iter().max().copied().unwrap_or_default();
    println!("recorded times out of order: {}, by {back_ms} ms at most", seen.back_ms.len());
    for Happened { fault, from, until, takeover } in faults {
        let took = takeover.map_or_else(|| "—".to_owned(), |took| format!("{:.2} s", took.as_secs_f64()));
        let (at, lasted) = (*from - book.began, *until - *from);
        println!("{:>6.1} s  {fault:?}: lasted {lasted:.1?}, taken over after {took}", at.as_secs_f64());
    }
    println!("longest pause in dispatch: {quiet:.2?}; around restarts of the database: {outage:.2?}");
    let logs = nodes.logs();
    let errors: Vec<&str> = logs.lines().filter(|line| line.contains("ERROR")).collect();
    println!("errors in the logs of nodes: {}", errors.len());
    errors.iter().take(10).for_each(|line| println!("  {line}"));
    assert!(errors.is_empty(), "a fault is no error of a node's own");

    if form.judges_pauses {
        let most = form.term + ABOVE_TERM_MAX;
        assert!(quiet <= most, "dispatch paused for {quiet:?}");
        let slowest = faults.iter().filter_map(|fault| fault.takeover).max().unwrap_or_default();
        assert!(slowest <= most, "a takeover took {slowest:?}");
    }
}
