//! Holds lockstep to its own promise: it finds what is wrong, and says it briefly.

use proptest::test_runner::{Config, RngSeed};

use super::flawed::{Flaw, FlawedHome};
use super::{CASES_DEFAULT, check};

/// As many scripts as an ordinary run plays, the same ones every time: how short a counter-example gets is luck, and a
/// test must not depend on it.
fn ordinary() -> Config {
    Config { cases: CASES_DEFAULT, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..Config::default() }
}

/// An ordinary run finds the flaw, in a script of at most `calls_max` calls.
fn finds(flaw: Flaw, calls_max: usize) {
    let found = check(ordinary(), || FlawedHome::new(flaw)).expect_err("a flawed store must be found out");
    let calls = found.script.0.len();
    assert!(calls <= calls_max, "{flaw:?} took {calls} calls:{:?}\n{}", found.script, found.difference);
    assert!(!found.difference.is_empty());
}

macro_rules! finds {
    ($($name:ident: $flaw:ident in $calls:literal;)*) => {
        $(#[test] fn $name() { finds(Flaw::$flaw, $calls); })*
    };
}

finds! {
    a_store_that_ignores_fences_is_found_out: IgnoresFences in 8;
    a_store_that_forgets_attempts_is_found_out: ForgetsAttempts in 3;
    a_store_that_reverses_the_order_is_found_out: ReversesOrder in 4;
    a_store_that_forgets_keys_is_found_out: ForgetsKeys in 3;
    a_store_that_loses_checkpoints_is_found_out: LosesCheckpoints in 4;
    a_store_that_loses_updates_is_found_out: LosesUpdates in 3;
    a_store_that_promotes_early_is_found_out: PromotesEarly in 6;
    a_store_that_shows_other_tenants_is_found_out: ShowsOtherTenants in 1;
    a_store_that_loses_all_on_reopen_is_found_out: LosesAllOnReopen in 2;
    a_store_that_spares_nobody_is_found_out: SparesNobody in 4;
    a_store_that_is_never_done_is_found_out: NeverDone in 1;
    a_store_that_releases_children_too_early_is_found_out: ForgetsParents in 8;
    a_store_that_ignores_failed_parents_is_found_out: IgnoresFailures in 8;
    a_store_that_runs_what_is_held_is_found_out: RunsWhatIsHeld in 8;
    a_store_that_cancels_backwards_is_found_out: CancelsBackwards in 10;
    a_store_that_forgets_to_say_awaited_is_found_out: ForgetsToSayAwaited in 8;
    a_store_that_runs_callbacks_early_is_found_out: RunsCallbacksEarly in 8;
    a_store_that_tears_workflows_apart_is_found_out: TearsWorkflowsApart in 8;
    a_store_that_ignores_versions_is_found_out: IgnoresVersions in 8;
    a_store_that_keeps_half_a_turn_is_found_out: KeepsHalfATurn in 8;
    a_store_that_loses_ledger_rows_is_found_out: LosesLedgerRows in 8;
    a_store_that_skips_a_due_schedule_is_found_out: SkipsADueSchedule in 8;
    a_store_that_keeps_slots_is_found_out: KeepsSlots in 8;
    a_store_that_frees_slots_early_is_found_out: FreesSlotsEarly in 8;
    a_store_that_counts_from_the_limit_on_is_found_out: CountsFromTheLimitOn in 8;
    a_store_that_ignores_weights_is_found_out: IgnoresWeights in 8;
    a_store_that_ignores_parts_is_found_out: IgnoresParts in 8;
    a_store_that_shares_patterns_is_found_out: SharesPatterns in 8;
    a_store_that_lets_overtake_is_found_out: LetsOvertake in 10;
    a_store_that_forgets_permits_on_reopen_is_found_out: ForgetsPermitsOnReopen in 8;
    a_store_that_forgets_breakers_on_reopen_is_found_out: ForgetsBreakersOnReopen in 8;
    a_store_that_forgets_closures_on_reopen_is_found_out: ForgetsClosuresOnReopen in 8;
    a_store_that_forgets_gates_in_use_is_found_out: ForgetsGatesInUse in 8;
    a_store_that_never_retunes_is_found_out: NeverRetunes in 8;
    a_store_that_ignores_crashes_is_found_out: IgnoresCrashes in 8;
    a_store_that_closes_nothing_is_found_out: ClosesNothing in 8;
    a_store_that_closes_one_queue_is_found_out: ClosesOneQueue in 8;
    a_store_that_charges_no_turns_is_found_out: ChargesNoTurns in 12;
    a_store_that_gives_away_others_is_found_out: GivesAwayOthers in 8;
    a_store_that_promotes_for_anybody_is_found_out: PromotesForAnybody in 4;
    a_store_that_reclaims_for_anybody_is_found_out: ReclaimsForAnybody in 4;
    a_store_that_prunes_for_anybody_is_found_out: PrunesForAnybody in 4;
    a_store_that_turns_for_anybody_is_found_out: TurnsForAnybody in 4;
    a_store_that_assigns_for_anybody_is_found_out: AssignsForAnybody in 4;
    a_store_that_keeps_what_is_given_up_is_found_out: KeepsWhatIsGivenUp in 4;
}

#[test]
fn a_difference_reads_as_a_list_of_calls_and_the_lines_that_differ() {
    let found =
        check(ordinary(), || FlawedHome::new(Flaw::ForgetsAttempts)).expect_err("a flawed store must be found out");
    let script = format!("{:?}", found.script);
    assert!(script.starts_with("\n   1. ") && script.contains("Claim"), "{script}");
    let differs = |who: &str, attempts: u32| {
        let is = |line: &str| line.trim().starts_with(who) && line.ends_with(&format!("attempts: {attempts},"));
        found.difference.lines().any(is)
    };
    assert!(differs("memory", 1) && differs("subject", 0), "{}", found.difference);
}
