//! What follows from a schedule's name and nothing else: its segment, the ids of its jobs, its jitter, its `H`. Where there are
//! several databases, segment and ids follow from the name and how many there are.
//!
//! All of it is SHA-256 over the fields, each preceded by its length, under a word that keeps the uses apart. This must
//! never change: a node of another version must make the same id for the same occurrence. Draws no random numbers.

use std::time::Duration;

use sha2::{Digest, Sha256};

use super::ScheduleRef;
use crate::id::JobId;
use crate::placement::Placement;
use crate::segment::Segment;
use crate::time::Time;

/// Where a schedule and all its jobs are.
pub fn segment_of(schedule: &ScheduleRef, placement: Placement) -> Segment {
    placement.segment_for(&schedule.tenant, number(&hash("segment", schedule, &[])))
}

/// The id of the job of an occurrence: whoever fires it, however often, it is the same job. A schedule that was deleted and
/// created again makes other ids.
pub fn occurrence_id(schedule: &ScheduleRef, placement: Placement, created_at: Time, occurrence: Time) -> JobId {
    let hash = hash("occurrence", schedule, &[created_at.as_millis(), occurrence.as_millis()]);
    JobId::mint(occurrence, place_of(schedule), segment_of(schedule, placement), number(&hash))
}

/// Where a schedule stands among those that are due at the same instant, and its job among theirs: a number below
/// [`JobId::ORDER_MAX`]. A store that keeps what belongs to a schedule in this order writes a herd to dense pages.
pub fn place_of(schedule: &ScheduleRef) -> u32 {
    (number(&hash("place", schedule, &[])) >> 32) as u32 & JobId::ORDER_MAX
}

/// How much later than its nominal time an occurrence runs: from nothing up to `jitter`.
pub fn jitter_of(schedule: &ScheduleRef, occurrence: Time, jitter: Duration) -> Duration {
    let span = u64::try_from(jitter.as_millis()).unwrap_or(u64::MAX - 1);
    if span == 0 {
        return Duration::ZERO;
    }
    Duration::from_millis(number(&hash("jitter", schedule, &[occurrence.as_millis()])) % (span + 1))
}

/// Where `H` puts a schedule in the field of this number.
pub(super) fn spread_of(schedule: &ScheduleRef, field: u64) -> u64 {
    number(&hash("spread", schedule, &[field]))
}

fn hash(purpose: &str, schedule: &ScheduleRef, numbers: &[u64]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for text in [purpose, schedule.tenant.as_str(), schedule.name.as_str()] {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text);
    }
    numbers.iter().for_each(|number| hash.update(number.to_be_bytes()));
    hash.finalize().into()
}

fn number(hash: &[u8; 32]) -> u64 {
    u64::from_be_bytes([hash[0], hash[1], hash[2], hash[3], hash[4], hash[5], hash[6], hash[7]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::{ScheduleName, TenantName};
    use proptest::prelude::*;

    fn schedule(name: &str) -> ScheduleRef {
        ScheduleRef { tenant: TenantName::default_tenant(), name: ScheduleName::parse(name).unwrap() }
    }

    #[test]
    fn the_id_of_an_occurrence_never_changes() {
        let id = occurrence_id(
            &schedule("report"),
            Placement::ONE,
            Time::from_millis(1),
            Time::from_millis(1_800_000_000_000),
        );
        assert_eq!(id.to_string(), "01a3185c-5000-74fc-a767-cc25d860c0ab");
        assert_eq!(segment_of(&schedule("report"), Placement::ONE).index(), 43);
        let jitter = jitter_of(&schedule("report"), Time::from_millis(5), Duration::from_secs(60));
        assert_eq!(jitter, Duration::from_millis(9_540));
        assert_eq!(spread_of(&schedule("report"), 1) % 60, 28);
    }

    proptest! {
        #[test]
        fn an_id_tells_its_time_and_segment_and_differs_by_schedule_life_and_occurrence(
            ms in 0u64..1 << 48, created in 0u64..1 << 48, jitter in 0u64..100_000, shards in 1usize..=16,
        ) {
            let (at, created_at) = (Time::from_millis(ms), Time::from_millis(created));
            let placement = Placement::new(shards).expect("in range");
            let one = schedule("one");
            let id = occurrence_id(&one, placement, created_at, at);
            prop_assert_eq!(id.uuid().get_version_num(), 7);
            prop_assert_eq!(&id.as_bytes()[..6], &ms.to_be_bytes()[2..]);
            prop_assert_eq!(id.segment(), segment_of(&one, placement));
            let (two, three) = (schedule("two"), schedule("three"));
            let in_place = place_of(&two).cmp(&place_of(&three));
            prop_assert_eq!(occurrence_id(&two, placement, at, at).cmp(&occurrence_id(&three, placement, created_at, at)), in_place);
            prop_assert_ne!(id, occurrence_id(&schedule("two"), placement, created_at, at));
            prop_assert_ne!(id, occurrence_id(&one, placement, Time::from_millis(created ^ 1), at));
            prop_assert_ne!(id, occurrence_id(&one, placement, created_at, Time::from_millis(ms ^ 1)));
            prop_assert!(jitter_of(&one, at, Duration::from_millis(jitter)) <= Duration::from_millis(jitter));
        }
    }

    #[test]
    fn schedules_spread_over_all_segments() {
        let taken: crate::segment::Segments =
            (0..2_000).map(|n| segment_of(&schedule(&format!("s{n}")), Placement::ONE)).collect();
        assert_eq!(taken, crate::segment::Segments::ALL);
    }

    #[test]
    fn of_several_databases_a_schedule_and_its_jobs_are_in_that_of_its_tenant() {
        let placement = Placement::new(3).expect("in range");
        let home = placement.home(&TenantName::default_tenant());
        let names = (0..2_000).map(|n| schedule(&format!("s{n}")));
        let taken: crate::segment::Segments = names.map(|schedule| segment_of(&schedule, placement)).collect();
        assert_eq!(taken, placement.segments_of(home));
        assert_eq!(segment_of(&schedule("report"), placement).index(), 81, "and never changes");
    }
}
