//! The breaker's table of moves, its window against a recount, and its way out of every phase.

use proptest::prelude::*;

use super::*;

const RULE: BreakerRule = BreakerRule {
    window: Duration::from_secs(8),
    min_attempts: 4,
    failures_per_mille: 500,
    cooldown: Duration::from_secs(10),
    probes: 2,
    closes_after: 3,
};

fn at(ms: u64) -> Time {
    Time::from_millis(ms)
}

fn in_phase(phase: Phase) -> Breaker {
    Breaker { phase, ..Breaker::default() }
}

#[test]
fn every_phase_answers_every_event_as_the_table_says() {
    use Ending::*;
    let open = Phase::Open { until: at(20_000) };
    let half = |probing, succeeded| Phase::HalfOpen { since: at(20_000), probing, succeeded };
    let opened = Some(BreakerChange::Opened { until: at(40_000) });
    let reopened = Phase::Open { until: at(40_000) };
    // Before, what an attempt claimed then came to at 30 s, after, and what is told.
    let table = [
        (Phase::Closed, 0, Failed, Phase::Closed, None),
        (Phase::Closed, 0, Succeeded, Phase::Closed, None),
        (open, 0, Failed, open, None),
        (open, 0, Succeeded, open, None),
        (open, 0, Uncounted, open, None),
        (half(2, 1), 20_000, Failed, reopened, opened),
        (half(2, 1), 25_000, Succeeded, half(1, 2), None),
        (half(2, 2), 25_000, Succeeded, Phase::Closed, Some(BreakerChange::Closed)),
        (half(2, 1), 25_000, Uncounted, half(1, 1), None),
        (half(2, 1), 19_999, Failed, half(2, 1), None),
        (half(2, 2), 19_999, Succeeded, half(2, 2), None),
    ];
    for (before, claimed_ms, ending, after, change) in table {
        let mut breaker = in_phase(before);
        assert_eq!(breaker.record(&RULE, at(30_000), at(claimed_ms), ending), change, "{before:?} {ending:?}");
        assert_eq!(breaker.phase, after, "{before:?} {ending:?}");
    }
}

#[test]
fn every_phase_lets_in_as_many_as_the_table_says() {
    let half = |probing| Phase::HalfOpen { since: at(20_000), probing, succeeded: 0 };
    let table = [
        (Phase::Closed, 0, Entry::Open),
        (Phase::Open { until: at(20_000) }, 19_999, Entry::BreakerOpen { probe_at: at(20_000) }),
        (Phase::Open { until: at(20_000) }, 20_000, Entry::Open),
        (half(0), 20_000, Entry::Open),
        (half(1), 20_000, Entry::Open),
        (half(2), 20_000, Entry::Probing),
    ];
    for (phase, now, expected) in table {
        assert_eq!(in_phase(phase).entry(&RULE, at(now)), expected, "{phase:?} at {now}");
    }
}

#[test]
fn a_breaker_opens_probes_and_closes() {
    let mut breaker = Breaker::default();
    for ending in [Ending::Succeeded, Ending::Succeeded, Ending::Failed] {
        assert_eq!(breaker.record(&RULE, at(1000), at(900), ending), None);
    }
    assert_eq!(
        breaker.record(&RULE, at(1000), at(900), Ending::Failed),
        Some(BreakerChange::Opened { until: at(11_000) }),
    );
    assert_eq!(breaker.enter(at(11_000)), Some(BreakerChange::HalfOpen));
    assert_eq!(breaker.enter(at(11_500)), None);
    assert_eq!(breaker.entry(&RULE, at(11_500)), Entry::Probing);
    assert_eq!(breaker.record(&RULE, at(12_000), at(11_000), Ending::Succeeded), None);
    assert_eq!(breaker.record(&RULE, at(12_000), at(11_500), Ending::Succeeded), None);
    assert_eq!(breaker.enter(at(12_000)), None);
    assert_eq!(breaker.record(&RULE, at(12_001), at(12_000), Ending::Succeeded), Some(BreakerChange::Closed));
    assert_eq!(breaker, Breaker::default());
}

#[test]
fn too_few_attempts_never_open_it() {
    let mut breaker = Breaker::default();
    for _ in 1..RULE.min_attempts {
        assert_eq!(breaker.record(&RULE, at(1000), at(900), Ending::Failed), None);
    }
    for _ in 0..100 {
        assert_eq!(breaker.record(&RULE, at(1000), at(900), Ending::Uncounted), None);
    }
    assert!(breaker.record(&RULE, at(1000), at(900), Ending::Failed).is_some());
}

#[test]
fn failures_of_long_ago_do_not_open_it() {
    let mut breaker = Breaker::default();
    for _ in 1..RULE.min_attempts {
        breaker.record(&RULE, at(1000), at(900), Ending::Failed);
    }
    assert_eq!(breaker.record(&RULE, at(9000), at(8900), Ending::Failed), None);
    assert_eq!(breaker.window.sum(), (1, 1));
}

#[test]
fn a_probe_frees_its_place_though_the_clock_stepped_back() {
    let mut breaker = in_phase(Phase::HalfOpen { since: at(20_000), probing: 1, succeeded: 0 });
    breaker.enter(at(5000));
    assert_eq!(breaker.entry(&RULE, at(5000)), Entry::Probing);
    breaker.record(&RULE, at(5001), at(5000), Ending::Uncounted);
    assert_eq!(breaker.entry(&RULE, at(5001)), Entry::Open);
}

#[test]
fn a_shorter_cooldown_holds_at_once_and_a_longer_one_from_the_next_time() {
    let mut breaker = in_phase(Phase::Open { until: at(20_000) });
    breaker.retune(at(15_000), &BreakerRule { cooldown: Duration::from_secs(60), ..RULE });
    assert_eq!(breaker.phase, Phase::Open { until: at(20_000) });
    breaker.retune(at(15_000), &BreakerRule { cooldown: Duration::from_secs(1), ..RULE });
    assert_eq!(breaker.phase, Phase::Open { until: at(16_000) });
}

#[test]
fn only_what_was_tried_to_its_end_counts() {
    use ExecutionOutcome::*;
    assert_eq!(Ending::from(Succeeded), Ending::Succeeded);
    for lost in [Failed, TimedOut, Crashed] {
        assert_eq!(Ending::from(lost), Ending::Failed, "{lost:?}");
    }
    for other in [Snoozed, Released, Cancelled] {
        assert_eq!(Ending::from(other), Ending::Uncounted, "{other:?}");
    }
}

fn endings() -> impl Strategy<Value = Ending> {
    prop_oneof![Just(Ending::Succeeded), Just(Ending::Failed), Just(Ending::Uncounted)]
}

proptest! {
    #[test]
    fn the_window_counts_all_of_seven_eighths_and_nothing_older(
        ends in prop::collection::vec((0u64..4000, endings()), 1..60),
    ) {
        let (mut window, mut now, mut history) = (Window::default(), 50_000, Vec::new());
        for (step, ending) in ends {
            now += step;
            window.count(&RULE, at(now), ending);
            if ending != Ending::Uncounted {
                history.push((now, ending == Ending::Failed));
            }
            let since = |span: u64| {
                let within = history.iter().filter(|&&(ended, _)| now - ended < span);
                within.fold((0u64, 0u64), |(all, failed), &(_, is_failed)| (all + 1, failed + u64::from(is_failed)))
            };
            let (least, counted, most) = (since(7000), window.sum(), since(8000));
            prop_assert!(least.0 <= counted.0 && counted.0 <= most.0, "{:?} {:?} {:?}", least, counted, most);
            prop_assert!(least.1 <= counted.1 && counted.1 <= most.1, "{:?} {:?} {:?}", least, counted, most);
        }
    }

    #[test]
    fn no_more_than_the_probes_are_in_at_a_time_and_there_is_always_a_way_out(
        steps in prop::collection::vec((-3000i64..12_000, any::<bool>(), endings()), 1..200),
    ) {
        let mut breaker = Breaker::default();
        let mut now = at(1 << 40);
        let mut held: Vec<(Time, bool)> = Vec::new();
        for (step, enters, ending) in steps {
            now = at(now.as_millis().saturating_add_signed(step));
            if enters && breaker.entry(&RULE, now) == Entry::Open {
                breaker.enter(now);
                held.push((now, matches!(breaker.phase, Phase::HalfOpen { .. })));
            } else if !held.is_empty() {
                let (claimed_at, _) = held.remove(0);
                if breaker.record(&RULE, now, claimed_at, ending).is_some() {
                    held.iter_mut().for_each(|(_, probes)| *probes = false);
                }
            }
            // Those that entered in this half-open phase, recounted; a stepping clock may only make it ask for more.
            if let Phase::HalfOpen { probing, .. } = breaker.phase {
                let probes = held.iter().filter(|&&(_, probes)| probes).count();
                prop_assert!(probing as usize <= probes && probing <= RULE.probes);
            }
        }
        for (claimed_at, _) in held {
            breaker.record(&RULE, now, claimed_at, Ending::Uncounted);
        }
        let later = now.after(RULE.cooldown).after(Duration::from_secs(200 * 12));
        prop_assert_eq!(breaker.entry(&RULE, later), Entry::Open);
    }
}
