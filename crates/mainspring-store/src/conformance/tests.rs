//! Holds the suite itself to account: a promise that nobody plays is no promise.

use mainspring_core::placement::Placement;

use super::stage::{id, tenant};

#[test]
fn every_promise_is_listed() {
    let list = include_str!("list.rs");
    let files = [
        include_str!("agenda.rs"),
        include_str!("breaker.rs"),
        include_str!("claim.rs"),
        include_str!("close.rs"),
        include_str!("command.rs"),
        include_str!("depend.rs"),
        include_str!("find.rs"),
        include_str!("heartbeat.rs"),
        include_str!("hurdle.rs"),
        include_str!("ledger.rs"),
        include_str!("limit.rs"),
        include_str!("promote.rs"),
        include_str!("prune.rs"),
        include_str!("rate.rs"),
        include_str!("reclaim.rs"),
        include_str!("release.rs"),
        include_str!("report.rs"),
        include_str!("rule.rs"),
        include_str!("seats.rs"),
        include_str!("settle.rs"),
        include_str!("share.rs"),
        include_str!("submit.rs"),
        include_str!("turn.rs"),
        include_str!("warrant.rs"),
        include_str!("workflow.rs"),
    ];
    let promises = files.iter().flat_map(|file| file.lines()).filter_map(|line| line.strip_prefix("pub async fn "));
    let mut count = 0;
    for promise in promises {
        let name = promise.split('(').next().expect("a function has a name");
        assert!(list.lines().any(|line| line.trim() == name), "{name} is not in list.rs");
        count += 1;
    }
    assert!(count > 280, "only {count} promises were found: does this test still read them right?");
}

#[test]
fn an_id_of_the_stage_fits_the_sets_that_suites_are_played_on() {
    for shards in [2, 3] {
        let placement = Placement::new(shards).expect("in range");
        let home = placement.home(&tenant("default"));
        assert!((0..500).all(|number| placement.shard_of(id(number).segment()) == home));
        assert!(["other", "a", "b", "c"].iter().all(|name| placement.home(&tenant(name)) == home));
    }
}
