//! Every transition of every IANA zone for ten years against a model that walks minute by minute: no occurrence is lost or
//! doubled, whatever the policy.
//!
//! The model asks jiff what each minute and each wall time is (ambiguous, in a gap); the calendar under test never does.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::Duration;

use jiff::civil::DateTime;
use jiff::tz::AmbiguousOffset;
use jiff::{Timestamp, ToSpan};

use super::super::when::Spec;
use super::super::words::ClockTimes;
use super::super::zones;
use super::*;
use crate::name::{ScheduleName, TenantName};

const MINUTE: i64 = 60;
/// Around each transition; longer than any gap or overlap of these years.
const BEFORE: i64 = 20 * 3600;
const AFTER: i64 = 28 * 3600;

/// One spec, and what it says about a minute on the wall.
struct Case {
    spec: Spec,
    matches: fn(DateTime) -> bool,
    always_both: bool,
}

fn cases() -> Vec<Case> {
    let case = |spec, matches, always_both| Case { spec, matches, always_both };
    let named: fn(DateTime) -> bool = |wall| wall.minute() % 15 == 0 && [0, 1, 2, 3, 22, 23].contains(&wall.hour());
    vec![
        case(
            Spec::Daily { at: ClockTimes::parse("00:00,00:30,01:59,02:30,03:00,23:30").unwrap() },
            |wall| [(0, 0), (0, 30), (1, 59), (2, 30), (3, 0), (23, 30)].contains(&(wall.hour(), wall.minute())),
            false,
        ),
        case(Spec::Cron("*/15 0-3,22,23 * * *".into()), named, false),
        case(Spec::Cron("40 * * * *".into()), |wall| wall.minute() == 40, true),
        case(
            Spec::Rrule("FREQ=DAILY;BYHOUR=0,2;BYMINUTE=0,20".into()),
            |wall| [0, 2].contains(&wall.hour()) && [0, 20].contains(&wall.minute()),
            false,
        ),
    ]
}

/// One minute of real time, and which of the two it is if the wall shows it twice.
struct Minute {
    at: i64,
    wall: DateTime,
    twice: Option<Dst>,
}

/// What the zone does in a window, from jiff.
struct Model {
    minutes: Vec<Minute>,
    /// Times that the wall never shows, and the instants they are shifted to.
    gaps: Vec<(DateTime, i64)>,
}

impl Model {
    fn around(zone: &TimeZone, transition: i64) -> Model {
        let (from, until) = (transition - BEFORE, transition + AFTER);
        let minute = |at: i64| {
            let wall = zone.to_datetime(second(at));
            let ambiguous = zone.to_ambiguous_timestamp(wall);
            let twice = match ambiguous.offset() {
                AmbiguousOffset::Fold { .. } => {
                    let earlier = ambiguous.earlier().expect("in range").as_second();
                    Some(if earlier == at { Dst::First } else { Dst::Last })
                }
                _ => None,
            };
            Minute { at, wall, twice }
        };
        let minutes: Vec<Minute> = (from..=until).step_by(MINUTE as usize).map(minute).collect();
        let mut gaps = Vec::new();
        let mut wall = minutes[0].wall;
        while wall < minutes[minutes.len() - 1].wall {
            if let AmbiguousOffset::Gap { before, .. } = zone.to_ambiguous_timestamp(wall).offset() {
                gaps.push((wall, before.to_timestamp(wall).expect("in range").as_second()));
            }
            wall = wall.checked_add(1.minute()).expect("in range");
        }
        Model { minutes, gaps }
    }

    fn occurrences(&self, case: &Case, gap: DstGap, overlap: DstOverlap) -> BTreeSet<i64> {
        let keeps = |twice: Option<Dst>| match (twice, overlap) {
            (None, _) | (_, DstOverlap::Both) => true,
            (Some(twice), DstOverlap::First) => case.always_both || twice == Dst::First,
            (Some(twice), DstOverlap::Last) => case.always_both || twice == Dst::Last,
        };
        let shown = self.minutes.iter().filter(|minute| (case.matches)(minute.wall) && keeps(minute.twice));
        let shifted = self.gaps.iter().filter(|(wall, _)| gap == DstGap::Shift && (case.matches)(*wall));
        shown.map(|minute| minute.at).chain(shifted.map(|&(_, at)| at)).collect()
    }
}

fn second(at: i64) -> Timestamp {
    Timestamp::from_second(at).unwrap()
}

fn time(at: i64) -> Time {
    Time::from_millis(at as u64 * 1000)
}

/// Zones with the same transitions in these years behave alike: one of each.
fn zones_that_differ() -> BTreeMap<String, (TimeZone, Vec<i64>)> {
    let (from, until): (Timestamp, Timestamp) =
        ("2025-01-01T00:00:00Z".parse().unwrap(), "2035-01-01T00:00:00Z".parse().unwrap());
    let mut seen = HashSet::new();
    let mut zones_seen = BTreeMap::new();
    for name in zones() {
        let zone = zone::find(&name).unwrap();
        let transitions = zone.following(from).take_while(|transition| transition.timestamp() < until);
        let table: Vec<(i64, i32)> =
            transitions.map(|transition| (transition.timestamp().as_second(), transition.offset().seconds())).collect();
        if seen.insert((zone.to_offset(from).seconds(), table.clone())) {
            zones_seen.insert(name, (zone, table.into_iter().map(|(at, _)| at).collect()));
        }
    }
    zones_seen
}

fn occurrences(calendar: &Calendar, from: i64, through: i64) -> Vec<i64> {
    let mut found = Vec::new();
    let mut after = time(from - 1);
    while let Some(next) = calendar.next(after).filter(|next| next.at <= time(through)) {
        assert!(next.at > after, "next is not after {after:?}");
        assert_eq!(next.civil, calendar.zone.to_datetime(second(next.at.as_millis() as i64 / 1000)));
        found.push(next.at.as_millis() as i64 / 1000);
        after = next.at;
    }
    found
}

#[test]
fn no_occurrence_is_lost_or_doubled_at_any_transition_of_any_zone_for_ten_years() {
    let seed = ScheduleRef { tenant: TenantName::default_tenant(), name: ScheduleName::parse("report").unwrap() };
    let zones = zones_that_differ();
    let transitions: usize = zones.values().map(|(_, transitions)| transitions.len()).sum();
    assert!(zones.len() > 60 && transitions > 500, "{} zones, {transitions} transitions", zones.len());
    let check = |name: &String, zone: &TimeZone, transitions: &[i64]| {
        let models: Vec<Model> = transitions.iter().map(|&at| Model::around(zone, at)).collect();
        for case in cases() {
            for overlap in [DstOverlap::First, DstOverlap::Last, DstOverlap::Both] {
                let of = |gap| {
                    let when = When {
                        zone: name.clone(),
                        dst_gap: gap,
                        dst_overlap: overlap,
                        ..When::new(vec![case.spec.clone()])
                    };
                    Calendar::compile(&when, &seed).unwrap()
                };
                let (shift, skip) = (of(DstGap::Shift), of(DstGap::Skip));
                for (model, at) in models.iter().zip(transitions) {
                    let (from, through) = (model.minutes[0].at, model.minutes[model.minutes.len() - 1].at);
                    let place = || format!("{name} {} {:?} {overlap:?}", second(*at), case.spec);
                    let (shifted, skipped) = (
                        model.occurrences(&case, DstGap::Shift, overlap),
                        model.occurrences(&case, DstGap::Skip, overlap),
                    );
                    // The model cannot tell what a gap before the window shifts into it, nor one behind it out of it.
                    assert!(occurrences(&shift, from, through).into_iter().eq(shifted.iter().copied()), "{}", place());
                    if model.gaps.is_empty() {
                        continue;
                    }
                    assert!(occurrences(&skip, from, through).into_iter().eq(skipped.iter().copied()), "{}", place());
                    let dropped: u64 =
                        skip.dropped(time(from - 1), time(through)).iter().map(|group| group.count).sum();
                    assert_eq!(dropped as usize, shifted.difference(&skipped).count(), "{}", place());
                }
            }
        }
    };
    let all: Vec<_> = zones.iter().collect();
    std::thread::scope(|scope| {
        for part in all.chunks(all.len().div_ceil(2)) {
            scope.spawn(move || part.iter().for_each(|(name, (zone, transitions))| check(name, zone, transitions)));
        }
    });
}

#[test]
fn an_hourly_interval_stays_hourly_at_any_transition_of_any_zone_for_ten_years() {
    let seed = ScheduleRef { tenant: TenantName::default_tenant(), name: ScheduleName::parse("report").unwrap() };
    for (name, (_, transitions)) in zones_that_differ() {
        let spec = Spec::Every { every: Duration::from_secs(3600), anchor: None };
        let calendar = Calendar::compile(&When { zone: name.clone(), ..When::new(vec![spec]) }, &seed).unwrap();
        for at in transitions {
            let found = occurrences(&calendar, at - 5 * 3600, at + 5 * 3600);
            assert!(found.len() >= 10 && found.windows(2).all(|pair| pair[1] - pair[0] == 3600), "{name}");
        }
    }
}
