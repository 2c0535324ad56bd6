//! What a store promises about the ledger of a schedule.

use mainspring_core::schedule::{LedgerRow, Reason, What};
use mainspring_core::store::*;

use super::stage::*;

pub async fn rows_come_latest_occurrence_first_and_pages_miss_none(stage: Stage) {
    let of = |occurrence_ms, count| LedgerRow { count, ..row(occurrence_ms) };
    let first = Turn { rows: vec![of(300, 1), of(100, 2), of(300, 3)], ..put("a", None) };
    let version = done(&stage.turn(at(0), vec![first, Turn { rows: vec![of(999, 9)], ..put("b", None) }]).await[0]);
    let second = Turn { rows: vec![of(200, 4), of(300, 5)], ..put("a", Some(version)) };
    done(&stage.turn(at(1), vec![second]).await[0]);
    let stage = stage.reopen().await;
    let expected = [of(300, 5), of(300, 3), of(300, 1), of(200, 4), of(100, 2)];
    for limit in [1, 2, 3, 5, 6] {
        assert_eq!(stage.ledger("a", limit).await, expected, "limit {limit}");
    }
    assert_eq!(stage.ledger("nowhere", 10).await, []);
}

pub async fn nothing_accepted_is_lost_every_sort_of_row_is_there_after_a_reopen(stage: Stage) {
    let job = id(3);
    let fates = [
        What::Fired { job, late_ms: 12 },
        What::Skipped(Reason::Overlap),
        What::Skipped(Reason::Paused),
        What::Skipped(Reason::Dst),
        What::Skipped(Reason::QueueFull),
        What::Missed,
        What::Backfilled { job },
        What::Triggered { job },
    ];
    let of = |(ms, what)| LedgerRow { through: at(ms + 5), count: 6, what, ..row(ms) };
    let rows: Vec<LedgerRow> = (1..).zip(fates).map(of).collect();
    stage.turn(at(0), vec![Turn { rows: rows.clone(), ..put("a", None) }]).await;
    let stage = stage.reopen().await;
    assert_eq!(stage.ledger("a", 3).await, rows.into_iter().rev().collect::<Vec<_>>());
}

pub async fn a_failure_stays_where_it_is_names_that_begin_alike_are_kept_apart(stage: Stage) {
    let with = |name: &str, ms| Turn { rows: vec![row(ms)], ..put(name, None) };
    stage.turn(at(0), vec![with("a", 1), with("a.b", 2), with("a/b", 3), with("ab", 4)]).await;
    for (name, ms) in [("a", 1), ("a.b", 2), ("a/b", 3), ("ab", 4)] {
        assert_eq!(stage.ledger(name, 10).await, [row(ms)]);
    }
}

pub async fn rows_are_forgotten_by_when_they_were_written(stage: Stage) {
    let written = |occurrence_ms, at_ms| LedgerRow { at: at(at_ms), ..row(occurrence_ms) };
    let rows = vec![written(100, 900), written(200, 500), written(300, 499), written(400, 100)];
    stage.turn(at(0), vec![Turn { rows, ..put("a", None) }]).await;
    assert_eq!(stage.prune(at(1000), at(1000), at(1000)).await, Pruned::default());
    let ask = Prune { ledger_before: at(500), ..nothing() };
    let pruned = stage.store.prune(at(1000), ask).await.expect("prune");
    assert_eq!(pruned, Pruned { rows: 2, ..Pruned::default() });
    let stage = stage.reopen().await;
    assert_eq!(stage.ledger("a", 10).await, [written(200, 500), written(100, 900)]);
    assert!(stage.schedule("a").await.is_some());
}

pub async fn limits_are_named_rows_are_part_of_what_one_call_forgets(stage: Stage) {
    stage.accept(at(0), (1..=3).map(job).collect()).await;
    for number in 1..=3 {
        stage.command(at(1), id(number), cancel()).await;
    }
    stage.turn(at(0), vec![Turn { rows: (1..=7).map(row).collect(), ..put("a", None) }]).await;
    let ask = Prune { ended_before: at(10), ledger_before: at(10), limit: 2, ..nothing() };
    let (mut jobs, mut rows) = (0, 0);
    for _ in 0..100 {
        let pruned = stage.store.prune(at(10), ask).await.expect("prune");
        assert!(pruned.jobs + pruned.keys + pruned.rows <= 2, "{pruned:?}");
        jobs += pruned.jobs;
        rows += pruned.rows;
        if !pruned.more {
            assert_eq!((jobs, rows), (3, 7));
            return;
        }
    }
    panic!("prune says that there is more for ever");
}
