//! The promises of a gate over random lives, each recounted from the history by a model that shares no code with it.

use proptest::prelude::*;

use super::super::bucket::tests::{exceeds, rates};
use super::*;
use crate::gate::rule::BreakerRule;
use crate::gate::{Phase, Rate};

const START: Time = Time::from_millis(1 << 40);

/// One who was let in and has not left.
#[derive(Clone, Copy, Debug)]
struct Holder {
    weight: u16,
    part: Part,
    claimed_at: Time,
}

#[derive(Clone, Debug)]
enum Step {
    Ask { weight: u16, part: Part },
    Leave { who: usize, ending: Ending },
    Move { ms: i64 },
    Close { wait_ms: u64 },
}

fn parts() -> impl Strategy<Value = Part> {
    prop_oneof![3 => Just(Part::Both), 1 => Just(Part::Concurrency), 1 => Just(Part::Rate)]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let ending = prop_oneof![Just(Ending::Succeeded), Just(Ending::Failed), Just(Ending::Uncounted)];
    let step = prop_oneof![
        6 => (prop_oneof![Just(1u16), 1u16..8], parts()).prop_map(|(weight, part)| Step::Ask { weight, part }),
        4 => (any::<usize>(), ending).prop_map(|(who, ending)| Step::Leave { who, ending }),
        3 => prop_oneof![0i64..2000, -5000i64..60_000].prop_map(|ms| Step::Move { ms }),
        1 => (0u64..5000).prop_map(|wait_ms| Step::Close { wait_ms }),
    ];
    prop::collection::vec(step, 1..80)
}

fn rules() -> impl Strategy<Value = Rule> {
    let breaker =
        (1u32..6, 1u32..=1000, 1u32..3, 1u32..4).prop_map(|(min_attempts, per_mille, probes, closes_after)| {
            BreakerRule { min_attempts, failures_per_mille: per_mille, probes, closes_after, ..BreakerRule::default() }
        });
    (prop::option::of(0u32..6), prop::option::of(rates()), prop::option::of(breaker))
        .prop_map(|(concurrency, rate, breaker)| Rule { concurrency, rate, breaker, weight: None })
}

/// A gate and what is known of its life.
struct Life {
    rule: Rule,
    gate: GateState,
    now: Time,
    held: Vec<Holder>,
    taken: Vec<(Time, u16)>,
}

impl Life {
    fn new(rule: Rule) -> Life {
        Life { rule, gate: GateState::default(), now: START, held: Vec::new(), taken: Vec::new() }
    }

    fn ask(&self, weight: u16, part: Part) -> Ask {
        Ask { now: self.now, weight, part }
    }

    fn take(&mut self, step: &Step) {
        match *step {
            Step::Ask { weight, part } => {
                let ask = self.ask(weight, part);
                if self.gate.entry(&self.rule, ask) == Entry::Open {
                    self.gate.enter(&self.rule, ask);
                    self.held.push(Holder { weight, part, claimed_at: self.now });
                    if part != Part::Concurrency {
                        self.taken.push((self.now, weight));
                    }
                }
            }
            Step::Leave { who, ending } if !self.held.is_empty() => {
                let holder = self.held.remove(who % self.held.len());
                self.leave(holder, ending);
            }
            Step::Leave { .. } => {}
            Step::Move { ms } => self.now = Time::from_millis(self.now.as_millis().saturating_add_signed(ms)),
            Step::Close { wait_ms } => self.gate.close(self.now, Duration::from_millis(wait_ms)),
        }
    }

    fn leave(&mut self, holder: Holder, ending: Ending) {
        let Holder { weight, part, claimed_at } = holder;
        self.gate.leave(&self.rule, Leave { now: self.now, weight, part, claimed_at, ending });
    }

    fn slots(&self) -> impl Iterator<Item = u64> {
        self.held.iter().filter(|holder| holder.part != Part::Rate).map(|holder| u64::from(holder.weight))
    }
}

proptest! {
    #[test]
    fn a_limit_is_not_exceeded_at_any_instant(rule in rules(), steps in steps()) {
        let mut life = Life::new(rule);
        for step in &steps {
            life.take(step);
            let running: u64 = life.slots().sum();
            prop_assert_eq!(life.gate.running, running);
            if let Some(max) = rule.concurrency {
                let is_alone = life.slots().count() == 1 && max > 0;
                prop_assert!(running <= u64::from(max) || is_alone, "{} of {} run", running, max);
            }
        }
        if let Some(rate) = &rule.rate {
            prop_assert_eq!(exceeds(rate, &life.taken), None);
        }
    }

    #[test]
    fn what_opens_by_time_alone_opens_then_and_stays_open(
        rule in rules(), steps in steps(), weight in 1u16..10, part in parts(), later in 0u64..100_000,
    ) {
        let mut life = Life::new(rule);
        for step in &steps {
            life.take(step);
            let ask = life.ask(weight, part);
            let Some(at) = life.gate.opens_at(&rule, ask) else { continue };
            let entry = |now| life.gate.entry(&rule, Ask { now, ..ask });
            prop_assert_eq!(entry(at), Entry::Open);
            prop_assert_eq!(entry(at.after(Duration::from_millis(later))), Entry::Open);
            prop_assert_eq!(at == life.now, entry(life.now) == Entry::Open);
            if at > life.now {
                prop_assert_ne!(entry(at.before(Duration::from_millis(1))), Entry::Open, "open before {:?}", at);
            }
        }
    }

    #[test]
    fn what_needs_somebody_to_leave_opens_once_all_have_left(
        rule in rules(), steps in steps(), weight in 1u16..10, part in parts(),
    ) {
        let mut life = Life::new(rule);
        steps.iter().for_each(|step| life.take(step));
        let ask = life.ask(weight, part);
        if life.gate.opens_at(&rule, ask).is_none() {
            let needs_leave = |reason| matches!(reason, Entry::Full { .. } | Entry::Probing);
            prop_assert!(life.gate.reasons(&rule, ask).any(needs_leave));
        }
        for holder in std::mem::take(&mut life.held) {
            life.leave(holder, Ending::Uncounted);
        }
        let is_shut_by_a_person = rule.concurrency == Some(0) && part != Part::Rate;
        prop_assert_eq!(life.gate.opens_at(&rule, ask).is_none(), is_shut_by_a_person);
    }

    #[test]
    fn who_is_lighter_gets_in_wherever_a_heavier_one_fits(rule in rules(), steps in steps(), weight in 2u16..10) {
        let mut life = Life::new(rule);
        for step in &steps {
            life.take(step);
            let opens_at = |weight| life.gate.opens_at(&rule, life.ask(weight, Part::Both));
            if let Some(heavier) = opens_at(weight) {
                prop_assert!(opens_at(weight - 1).is_some_and(|lighter| lighter <= heavier));
            }
        }
    }

    #[test]
    fn a_changed_rule_holds_from_the_next_one_on(from in rules(), to in rules(), before in steps(), after in steps()) {
        let mut life = Life::new(from);
        before.iter().for_each(|step| life.take(step));
        life.gate.retune(life.now, &from, &to);
        life.rule = to;
        life.taken.clear();
        for step in &after {
            let running: u64 = life.slots().sum();
            life.take(step);
            let runs_now: u64 = life.slots().sum();
            if let (Some(max), true) = (to.concurrency, runs_now > running) {
                prop_assert!(runs_now <= u64::from(max) || running == 0);
            }
        }
        if let Some(rate) = &to.rate {
            prop_assert_eq!(exceeds(rate, &life.taken), None);
        }
    }
}

fn limited_to(max: u32) -> Rule {
    Rule { concurrency: Some(max), ..Rule::default() }
}

fn ask(weight: u16) -> Ask {
    Ask { now: START, weight, part: Part::Both }
}

fn left(weight: u16) -> Leave {
    Leave { now: START, weight, part: Part::Both, claimed_at: START, ending: Ending::Succeeded }
}

#[test]
fn a_job_heavier_than_the_limit_runs_alone() {
    let (rule, mut gate) = (limited_to(3), GateState::default());
    gate.enter(&rule, ask(1));
    assert_eq!(gate.entry(&rule, ask(5)), Entry::Full { running: 1, max: 3 });
    gate.leave(&rule, left(1));
    assert_eq!(gate.entry(&rule, ask(5)), Entry::Open);
    gate.enter(&rule, ask(5));
    assert_eq!(gate.entry(&rule, ask(1)), Entry::Full { running: 5, max: 3 });
}

#[test]
fn a_limit_of_zero_lets_nothing_start() {
    let gate = GateState::default();
    assert_eq!(gate.entry(&limited_to(0), ask(1)), Entry::Full { running: 0, max: 0 });
    assert_eq!(gate.opens_at(&limited_to(0), ask(1)), None);
}

#[test]
fn who_named_the_key_for_one_part_is_not_held_by_the_other() {
    let rate = Some(Rate { permits: 1, per: Duration::from_secs(60), burst: 1 });
    let (rule, mut gate) = (Rule { rate, ..limited_to(1) }, GateState::default());
    gate.enter(&rule, Ask { part: Part::Rate, ..ask(1) });
    assert_eq!(gate.running, 0);
    assert_eq!(gate.entry(&rule, Ask { part: Part::Concurrency, ..ask(1) }), Entry::Open);
    assert!(matches!(gate.entry(&rule, Ask { part: Part::Rate, ..ask(1) }), Entry::NoToken { .. }));
    gate.enter(&rule, Ask { part: Part::Concurrency, ..ask(1) });
    assert_eq!(gate.reasons(&rule, ask(1)).count(), 2);
    gate.leave(&rule, Leave { part: Part::Rate, ..left(1) });
    assert_eq!(gate.running, 1);
}

#[test]
fn what_a_worker_was_told_closes_the_gate_for_a_bounded_time() {
    let (rule, mut gate) = (Rule::default(), GateState::default());
    gate.close(START, Duration::from_secs(60));
    gate.close(START, Duration::from_secs(5));
    let until = START.after(Duration::from_secs(60));
    assert_eq!(gate.entry(&rule, ask(1)), Entry::ClosedUntil(until));
    assert_eq!(gate.entry(&rule, Ask { now: until, ..ask(1) }), Entry::Open);
    gate.close(START, Duration::MAX);
    assert_eq!(gate.opens_at(&rule, ask(1)), Some(START.after(limits::GATE_CLOSED_MAX)));
    gate.reopen();
    assert_eq!(gate.entry(&rule, ask(1)), Entry::Open);
}

#[test]
fn every_reason_is_told_and_the_last_of_them_decides_when() {
    let rule = Rule {
        rate: Some(Rate { permits: 1, per: Duration::from_secs(60), burst: 1 }),
        breaker: Some(BreakerRule { min_attempts: 1, ..BreakerRule::default() }),
        ..limited_to(1)
    };
    let mut gate = GateState::default();
    gate.enter(&rule, ask(1));
    let ending = Ending::Failed;
    let change = gate.leave(&rule, Leave { ending, ..left(1) });
    let probe_at = START.after(Duration::from_secs(30));
    assert_eq!(change, Some(BreakerChange::Opened { until: probe_at }));
    gate.close(START, Duration::from_secs(10));
    let next_at = START.after(Duration::from_secs(60));
    let reasons: Vec<Entry> = gate.reasons(&rule, ask(1)).collect();
    let closed = Entry::ClosedUntil(START.after(Duration::from_secs(10)));
    assert_eq!(reasons, [closed, Entry::BreakerOpen { probe_at }, Entry::NoToken { next_at }]);
    assert_eq!(gate.opens_at(&rule, ask(1)), Some(next_at));
    assert_eq!(gate.enter(&rule, Ask { now: next_at, ..ask(1) }), Some(BreakerChange::HalfOpen));
    assert_eq!(gate.opens_at(&rule, Ask { now: next_at, ..ask(1) }), None);
}

#[test]
fn a_breaker_that_is_taken_away_holds_nobody() {
    let breaker = Some(BreakerRule { min_attempts: 1, ..BreakerRule::default() });
    let (rule, mut gate) = (Rule { breaker, ..Rule::default() }, GateState::default());
    gate.leave(&rule, Leave { ending: Ending::Failed, ..left(1) });
    assert!(matches!(gate.entry(&rule, ask(1)), Entry::BreakerOpen { .. }));
    gate.retune(START, &rule, &Rule::default());
    assert_eq!(gate.breaker.phase, Phase::Closed);
    assert_eq!(gate.entry(&rule, ask(1)), Entry::Open);
}

#[test]
fn a_rate_that_was_taken_away_and_set_again_starts_full() {
    let rate = Some(Rate { permits: 1, per: Duration::from_secs(60), burst: 1 });
    let (limited, free) = (Rule { rate, ..Rule::default() }, Rule::default());
    let mut gate = GateState::default();
    gate.enter(&limited, ask(1));
    gate.retune(START, &limited, &free);
    gate.retune(START, &free, &limited);
    assert_eq!(gate.entry(&limited, ask(1)), Entry::Open);
}

#[test]
fn a_slower_rate_that_is_raised_does_not_hold_back_by_the_old_one() {
    let rate = |permits| Rate { permits, per: Duration::from_secs(86_400), burst: 1 };
    let rule = |permits| Rule { rate: Some(rate(permits)), ..Rule::default() };
    let mut gate = GateState::default();
    gate.enter(&rule(1), ask(1));
    assert_eq!(gate.opens_at(&rule(1), ask(1)), Some(START.after(Duration::from_secs(86_400))));
    gate.retune(START, &rule(1), &rule(86_400));
    assert_eq!(gate.opens_at(&rule(86_400), ask(1)), Some(START.after(Duration::from_secs(1))));
}

proptest! {
    /// Whoever forgets a gate at rest answers as if it had kept it, from then on.
    #[test]
    fn a_gate_answers_the_same_without_what_no_longer_matters(
        rule in rules(), steps in steps(), later_ms in 0u64..200_000, weight in 1u16..8, part in parts(),
    ) {
        let mut life = Life::new(rule);
        steps.iter().for_each(|step| life.take(step));
        let now = life.now;
        let (kept, cut) = (life.gate, life.gate.as_of(&life.rule, now));
        let ask = Ask { now: now.after(Duration::from_millis(later_ms)), weight, part };
        prop_assert_eq!(kept.entry(&life.rule, ask), cut.entry(&life.rule, ask));
        prop_assert_eq!(kept.opens_at(&life.rule, ask), cut.opens_at(&life.rule, ask));
        prop_assert_eq!(cut.as_of(&life.rule, now), cut);
    }
}

#[test]
fn a_gate_is_at_rest_when_all_have_left_and_all_permits_are_back() {
    let second = Duration::from_secs(1);
    let rule = Rule {
        concurrency: Some(1),
        rate: Some(Rate { permits: 1, per: second, burst: 1 }),
        breaker: Some(BreakerRule::default()),
        weight: None,
    };
    let mut gate = GateState::default();
    assert!(gate.is_at_rest(&rule, START));
    gate.enter(&rule, Ask { now: START, weight: 1, part: Part::Both });
    assert!(!gate.is_at_rest(&rule, START.after(second * 100)), "it is held");
    let end = Leave { now: START, weight: 1, part: Part::Both, claimed_at: START, ending: Ending::Succeeded };
    gate.leave(&rule, end);
    assert!(!gate.is_at_rest(&rule, START), "its permit is not back");
    assert!(!gate.is_at_rest(&rule, START.after(second)), "its breaker remembers");
    assert!(gate.is_at_rest(&rule, START.after(second * 100)));
    gate.close(START, second * 200);
    assert!(!gate.is_at_rest(&rule, START.after(second * 100)), "it is closed");
}
