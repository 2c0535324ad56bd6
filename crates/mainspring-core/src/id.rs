//! Names that machines give: jobs, workers, nodes, fences. Mints nothing by itself: entropy comes in from outside.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

use crate::segment::Segment;
use crate::time::Time;

/// A job's id: a UUIDv7 whose last seven bits are its segment.
///
/// Ids minted by one node rise, so that records land on dense pages and ties in rank go to the older job.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId([u8; 16]);

impl JobId {
    pub const MIN: JobId = JobId([0; 16]);
    pub const MAX: JobId = JobId([0xff; 16]);
    /// How many ids one node can mint within a millisecond and keep them rising.
    pub const ORDER_MAX: u32 = (1 << 26) - 1;

    /// 48 bits of time, 26 bits of `order` within the millisecond, 41 bits of entropy, 7 bits of segment.
    pub fn mint(at: Time, order: u32, segment: Segment, entropy: u64) -> JobId {
        let order = u128::from(order & Self::ORDER_MAX);
        let (high, low) = (order >> 14, order & 0x3fff);
        let bits = u128::from(at.as_millis()) << 80
            | 0x7u128 << 76
            | high << 64
            | 0b10u128 << 62
            | low << 48
            | (u128::from(entropy) & 0x1ff_ffff_ffff) << 7
            | u128::from(segment.index());
        JobId(bits.to_be_bytes())
    }

    pub const fn from_bytes(bytes: [u8; 16]) -> JobId {
        JobId(bytes)
    }

    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// An id that we did not mint can carry any seven bits; they wrap into the segments there are.
    pub fn segment(&self) -> Segment {
        Segment::wrap(self.0[15] & 0x7f)
    }

    pub fn uuid(&self) -> Uuid {
        Uuid::from_bytes(self.0)
    }
}

impl From<Uuid> for JobId {
    fn from(uuid: Uuid) -> JobId {
        JobId(uuid.into_bytes())
    }
}

impl FromStr for JobId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<JobId, uuid::Error> {
        Ok(Uuid::try_parse(text)?.into())
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.uuid().fmt(f)
    }
}

impl fmt::Debug for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.uuid().fmt(f)
    }
}

/// One incarnation of a worker process. A worker that comes back gets a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkerId(pub Uuid);

/// One `mainspring serve` process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub Uuid);

/// One workflow: a graph of jobs that was submitted as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkflowId(pub Uuid);

/// A number that rises at every claim of a job and is never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Fence(pub u64);

/// The name of a lease: no two claims ever share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseId {
    pub job: JobId,
    pub fence: Fence,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_minted_id_is_a_uuid_v7_that_carries_its_segment(
            ms in 0u64..1 << 48, order in 0..=JobId::ORDER_MAX, segment in 0u8..100, entropy: u64,
        ) {
            let segment = Segment::new(segment).expect("below the count");
            let id = JobId::mint(Time::from_millis(ms), order, segment, entropy);
            prop_assert_eq!(id.uuid().get_version_num(), 7);
            prop_assert_eq!(id.uuid().get_variant(), uuid::Variant::RFC4122);
            prop_assert_eq!(id.segment(), segment);
            prop_assert_eq!(id.to_string().parse::<JobId>().expect("prints as a uuid"), id);
        }

        #[test]
        fn ids_rise_with_time_and_order(ms in 0u64..1 << 40, order in 0..JobId::ORDER_MAX, a: u64, b: u64) {
            let segment = Segment::wrap(a as u8);
            let id = JobId::mint(Time::from_millis(ms), order, segment, a);
            let next = JobId::mint(Time::from_millis(ms), order + 1, Segment::wrap(b as u8), b);
            let later = JobId::mint(Time::from_millis(ms + 1), 0, Segment::wrap(b as u8), b);
            prop_assert!(id < next && next < later);
        }
    }
}
