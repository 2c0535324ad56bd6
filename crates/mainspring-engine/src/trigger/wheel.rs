//! Says which instants have come. Knows no jobs, reads no clock, never sleeps.
//!
//! The wheel holds instants, not job ids: a million jobs due at one instant are one entry here,
//! and the store knows which jobs they are.
//!
//! # How it turns
//!
//! Time is read as digits of six bits. An instant lies on the level of the highest digit in which
//! it differs from the time the wheel was last turned to, in the slot of that digit:
//!
//! ```text
//! level 0: 64 slots of 1 ms      level 3: 64 slots of 4.4 min
//! level 1: 64 slots of 64 ms     level 4: 64 slots of 4.7 h
//! level 2: 64 slots of 4.1 s     level 5: 64 slots of 12.4 days, together 2.2 years
//! ```
//!
//! So every instant of a level comes before every instant of the level above it, occupied slots
//! are always ahead of the wheel, and the earliest slot is the lowest set bit of the lowest level
//! that has one: nothing rotates. Turning over a digit of one level empties the levels below it,
//! whatever the distance, so a jump costs what it fires and what it moves, never the ticks skipped.
//!
//! Beside the levels are two ordered sets: `behind` for instants that the wheel has already
//! passed, and `overflow` for those past the top level.

use std::collections::BTreeSet;
use std::mem;

use mainspring_core::time::Time;

/// How many different instants a wheel holds. Four minutes of one instant in every millisecond,
/// which is far more than the look-ahead of a few seconds asks for; a few megabytes when full.
pub const INSTANTS_MAX: usize = 262_144;

const DIGIT_BITS: u32 = 6;
const SLOTS: usize = 1 << DIGIT_BITS;
const LEVELS: usize = 6;

/// A hierarchical timing wheel of instants.
#[derive(Debug)]
pub struct Wheel {
    /// The latest time the wheel was advanced to. Never goes back.
    turned_to: Time,
    /// Instants at or before `turned_to`: inserted late, or while the clock was set back.
    behind: BTreeSet<Time>,
    /// Instants after `turned_to`, by the highest digit in which they differ from it.
    levels: [Level; LEVELS],
    /// Instants after `turned_to` that differ from it above the top level.
    overflow: BTreeSet<Time>,
    len: usize,
}

/// What became of an instant that was offered to the wheel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a full wheel does not remember the instant"]
pub enum Insert {
    /// The wheel holds it now.
    Added,
    /// The wheel held it before.
    Held,
    /// The wheel holds [`INSTANTS_MAX`] others and does not remember this one: look into the
    /// store again before it is due.
    Full,
}

impl Wheel {
    pub fn new(now: Time) -> Self {
        Self {
            turned_to: now,
            behind: BTreeSet::new(),
            levels: std::array::from_fn(|_| Level::new()),
            overflow: BTreeSet::new(),
            len: 0,
        }
    }

    /// How many different instants are held.
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The earliest instant held, exact to the millisecond. It may lie in the past.
    pub fn next_at(&self) -> Option<Time> {
        let in_levels = || self.levels.iter().find_map(Level::first);
        self.behind.first().copied().or_else(in_levels).or_else(|| self.overflow.first().copied())
    }

    /// Remembers an instant. One that has already come fires at the next advance to it or past it.
    pub fn insert(&mut self, at: Time) -> Insert {
        if self.len == INSTANTS_MAX {
            return if self.contains(at) { Insert::Held } else { Insert::Full };
        }
        if self.place(at) {
            self.len += 1;
            Insert::Added
        } else {
            Insert::Held
        }
    }

    /// Takes out every instant at or before `now`, earliest first.
    ///
    /// A clock that was set back makes nothing due that was not, and what is held stays held:
    /// each instant fires once, when `now` reaches it.
    pub fn advance(&mut self, now: Time) -> Vec<Time> {
        let mut fired = Vec::new();
        take_until(&mut self.behind, now, &mut fired);
        if now > self.turned_to {
            self.turn(now, &mut fired);
        }
        self.len -= fired.len();
        fired
    }

    fn turn(&mut self, now: Time, fired: &mut Vec<Time>) {
        let turned_level = level_of(self.turned_to, now);
        self.turned_to = now;

        let passed_levels = turned_level.min(LEVELS);
        for level in &mut self.levels[..passed_levels] {
            level.take_below(SLOTS, fired);
        }

        // What shared a slot with the new time is part due, part to be spread over finer levels.
        let mut entered = Vec::new();
        if turned_level < LEVELS {
            let slot = slot_of(now, turned_level);
            self.levels[turned_level].take_below(slot, fired);
            entered.extend(self.levels[turned_level].take(slot));
        } else {
            take_until(&mut self.overflow, last_within_levels(now), &mut entered);
        }
        for at in entered {
            if at <= now {
                fired.push(at);
            } else {
                self.place(at);
            }
        }
    }

    /// Puts an instant where it belongs; false if it is there already.
    fn place(&mut self, at: Time) -> bool {
        if at <= self.turned_to {
            return self.behind.insert(at);
        }
        let level = level_of(self.turned_to, at);
        if level < LEVELS { self.levels[level].insert(slot_of(at, level), at) } else { self.overflow.insert(at) }
    }

    fn contains(&self, at: Time) -> bool {
        if at <= self.turned_to {
            return self.behind.contains(&at);
        }
        let level = level_of(self.turned_to, at);
        if level < LEVELS {
            self.levels[level].slots[slot_of(at, level)].contains(&at)
        } else {
            self.overflow.contains(&at)
        }
    }
}

/// One digit of time: a set of instants for each of its values, and which of them are not empty.
#[derive(Debug)]
struct Level {
    occupied: u64,
    slots: Box<[BTreeSet<Time>; SLOTS]>,
}

impl Level {
    fn new() -> Self {
        Self { occupied: 0, slots: Box::new(std::array::from_fn(|_| BTreeSet::new())) }
    }

    fn first(&self) -> Option<Time> {
        let slot = self.first_slot()?;
        self.slots[slot].first().copied()
    }

    fn first_slot(&self) -> Option<usize> {
        (self.occupied != 0).then(|| self.occupied.trailing_zeros() as usize)
    }

    fn insert(&mut self, slot: usize, at: Time) -> bool {
        self.occupied |= 1 << slot;
        self.slots[slot].insert(at)
    }

    fn take(&mut self, slot: usize) -> BTreeSet<Time> {
        self.occupied &= !(1 << slot);
        mem::take(&mut self.slots[slot])
    }

    /// Empties the slots before `end`, in order.
    fn take_below(&mut self, end: usize, taken: &mut Vec<Time>) {
        while let Some(slot) = self.first_slot().filter(|slot| *slot < end) {
            taken.extend(self.take(slot));
        }
    }
}

/// The level of the highest digit in which two different times differ; `LEVELS` or more when
/// that is above the top level.
fn level_of(from: Time, at: Time) -> usize {
    let differing = from.as_millis() ^ at.as_millis();
    (differing.ilog2() / DIGIT_BITS) as usize
}

fn slot_of(at: Time, level: usize) -> usize {
    (at.as_millis() >> (level as u32 * DIGIT_BITS)) as usize % SLOTS
}

/// The last instant that the levels can hold once the wheel is turned to `now`.
fn last_within_levels(now: Time) -> Time {
    Time::from_millis(now.as_millis() | ((1 << (LEVELS as u32 * DIGIT_BITS)) - 1))
}

/// Moves what is at or before `now` from the set to `taken`, in order.
fn take_until(instants: &mut BTreeSet<Time>, now: Time, taken: &mut Vec<Time>) {
    while let Some(at) = instants.first().copied().filter(|at| *at <= now) {
        instants.remove(&at);
        taken.push(at);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    const NOW: Time = Time::from_millis(1_790_000_000_000);
    const NONE: [Time; 0] = [];

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    fn wheel(instants: &[Time]) -> Wheel {
        let mut wheel = Wheel::new(NOW);
        for at in instants {
            assert_eq!(wheel.insert(*at), Insert::Added);
        }
        wheel
    }

    #[test]
    fn an_instant_fires_on_its_millisecond_and_not_before() {
        // The edges of every level, days and years, and past the top level.
        let edges = (0..47).flat_map(|bits| [(1 << bits) - 1, 1 << bits, (1 << bits) + 1]).map(ms);
        let spans = [DAY, 400 * DAY, 730 * DAY, 5_000 * DAY, Time::MAX.since(NOW)];
        for span in edges.chain(spans).filter(|span| !span.is_zero()) {
            let at = NOW.after(span);
            let mut wheel = wheel(&[at]);
            assert_eq!(wheel.next_at(), Some(at), "{span:?} ahead");
            assert_eq!(wheel.advance(at.before(ms(1))), NONE, "{span:?} ahead, 1 ms early");
            assert_eq!(wheel.next_at(), Some(at), "{span:?} ahead, after a turn");
            assert_eq!(wheel.advance(at), [at], "{span:?} ahead, on time");
            assert!(wheel.is_empty());
        }
    }

    #[test]
    fn two_years_fit_under_the_overflow() {
        let mut wheel = Wheel::new(Time::ZERO);
        assert_eq!(wheel.insert(Time::ZERO.after(2 * 366 * DAY)), Insert::Added);
        assert!(wheel.overflow.is_empty());
    }

    #[test]
    fn one_instant_is_held_once() {
        let instants = [NOW.before(ms(5)), NOW, NOW.after(ms(5)), NOW.after(DAY), NOW.after(5_000 * DAY)];
        let mut wheel = wheel(&instants);
        for at in instants {
            assert_eq!(wheel.insert(at), Insert::Held);
        }
        assert_eq!(wheel.len(), instants.len());
    }

    #[test]
    fn an_instant_already_past_fires_at_the_next_advance_even_to_the_same_time() {
        let mut wheel = wheel(&[NOW, NOW.before(DAY)]);
        assert_eq!(wheel.next_at(), Some(NOW.before(DAY)));
        assert_eq!(wheel.advance(NOW), [NOW.before(DAY), NOW]);
        assert_eq!(wheel.advance(NOW), NONE);
    }

    #[test]
    fn a_clock_set_back_fires_nothing_early_and_loses_nothing() {
        let yesterday = NOW.before(DAY);
        let mut wheel = wheel(&[NOW.after(ms(10))]);
        assert_eq!(wheel.advance(yesterday), NONE);
        assert_eq!(wheel.insert(yesterday.after(ms(5))), Insert::Added);
        assert_eq!(wheel.advance(yesterday.after(ms(4))), NONE);
        assert_eq!(wheel.advance(yesterday.after(ms(5))), [yesterday.after(ms(5))]);
        assert_eq!(wheel.advance(NOW.after(ms(10))), [NOW.after(ms(10))]);
    }

    #[test]
    fn a_jump_to_the_end_of_time_fires_everything_in_order() {
        let instants =
            [NOW.before(ms(1)), NOW.after(ms(1)), NOW.after(ms(70)), NOW.after(DAY), NOW.after(5_000 * DAY), Time::MAX];
        let mut wheel = wheel(&instants);
        assert_eq!(wheel.advance(Time::MAX), instants);
        assert_eq!(wheel.insert(Time::MAX), Insert::Added);
        assert_eq!(wheel.advance(Time::MAX), [Time::MAX]);
    }

    #[test]
    fn a_full_wheel_says_so_and_keeps_what_it_holds() {
        let mut wheel = Wheel::new(NOW);
        for distance in 0..INSTANTS_MAX as u64 {
            assert_eq!(wheel.insert(NOW.after(ms(distance))), Insert::Added);
        }
        let beyond = NOW.after(ms(INSTANTS_MAX as u64));
        for refused in [NOW.before(ms(1)), beyond, NOW.after(5_000 * DAY)] {
            assert_eq!(wheel.insert(refused), Insert::Full);
        }
        assert_eq!(wheel.insert(NOW), Insert::Held);
        assert_eq!(wheel.insert(beyond.before(ms(1))), Insert::Held);
        assert_eq!(wheel.len(), INSTANTS_MAX);

        assert_eq!(wheel.advance(NOW), [NOW]);
        assert_eq!(wheel.insert(beyond), Insert::Added);
        assert_eq!(wheel.advance(beyond).len(), INSTANTS_MAX);
        assert!(wheel.is_empty());
    }

    #[derive(Clone, Debug)]
    enum Step {
        InsertAhead(Duration),
        InsertBehind(Duration),
        Forward(Duration),
        Backward(Duration),
        /// Moves the clock exactly to the next instant, as a node does.
        ToNext,
    }

    /// Spans spread evenly over the levels, not over the milliseconds.
    fn span() -> impl Strategy<Value = Duration> {
        (0u32..44, any::<u64>()).prop_map(|(bits, random)| ms(random & ((1 << bits) - 1)))
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            6 => span().prop_map(Step::InsertAhead),
            1 => span().prop_map(Step::InsertBehind),
            3 => span().prop_map(Step::Forward),
            1 => span().prop_map(Step::Backward),
            3 => Just(Step::ToNext),
        ]
    }

    /// Starting times just before a digit turns, at every level, and close to the end of time.
    fn start() -> impl Strategy<Value = Time> {
        let before_a_turn = |(bits, before)| Time::from_millis(1u64 << bits).before(ms(before));
        prop_oneof![
            Just(NOW),
            (0u32..48, 0u64..4).prop_map(before_a_turn),
            span().prop_map(|span| Time::MAX.before(span)),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn the_wheel_answers_like_an_ordered_set(
            start in start(),
            steps in prop::collection::vec(step(), 1..80),
        ) {
            let mut now = start;
            let mut wheel = Wheel::new(now);
            let mut model = BTreeSet::new();
            for step in steps {
                let mut inserted = None;
                match step {
                    Step::InsertAhead(span) => inserted = Some(now.after(span)),
                    Step::InsertBehind(span) => inserted = Some(now.before(span)),
                    Step::Forward(span) => now = now.after(span),
                    Step::Backward(span) => now = now.before(span),
                    Step::ToNext => now = model.first().copied().unwrap_or(now),
                }
                if let Some(at) = inserted {
                    let expected = if model.insert(at) { Insert::Added } else { Insert::Held };
                    prop_assert_eq!(wheel.insert(at), expected);
                } else {
                    let due: Vec<Time> = model.range(..=now).copied().collect();
                    model.retain(|at| *at > now);
                    prop_assert_eq!(wheel.advance(now), due);
                }
                prop_assert_eq!(wheel.next_at(), model.first().copied());
                prop_assert_eq!(wheel.len(), model.len());
                prop_assert_eq!(wheel.is_empty(), model.is_empty());
            }
        }
    }
}
