//! Which database a tenant lives in, and which segments that database has, where there are several. Pure and fixed: the
//! same on every node and version, also in SQL. Moves nothing and knows no addresses.
//!
//! All that is promised across jobs (order, limits, keys, dependencies, schedules) holds within one tenant, so a tenant
//! lives in one database wholly. Segments are dealt out in turn (`segment % shards`), and the jobs and schedules of a tenant are
//! spread over the segments of its database. So a job's id alone says where it is, and so does a tenant's name.

use sha2::{Digest, Sha256};

use crate::limits::SHARDS_MAX;
use crate::name::TenantName;
use crate::segment::{Segment, Segments};

/// One of the databases of a set, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shard(u8);

impl Shard {
    pub const FIRST: Shard = Shard(0);

    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// How tenants and segments are spread over a number of databases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Placement {
    shards: u8,
}

impl Placement {
    /// Everything in one database.
    pub const ONE: Placement = Placement { shards: 1 };

    /// `None` unless there are 1 to [`SHARDS_MAX`].
    pub fn new(shards: usize) -> Option<Placement> {
        let shards = u8::try_from(shards).ok().filter(|shards| (1..=SHARDS_MAX).contains(shards))?;
        Some(Placement { shards })
    }

    /// How many databases there are.
    pub fn count(self) -> usize {
        usize::from(self.shards)
    }

    pub fn shards(self) -> impl Iterator<Item = Shard> {
        (0..self.shards).map(Shard)
    }

    /// The database that has this segment.
    pub fn shard_of(self, segment: Segment) -> Shard {
        Shard(segment.index() % self.shards)
    }

    /// The database that a tenant lives in: the first four bytes of the SHA-256 of its name, as a number, modulo how many
    /// there are. `mainspring.submit` in SQL says the same.
    pub fn home(self, tenant: &TenantName) -> Shard {
        let hash: [u8; 32] = Sha256::digest(tenant.as_str().as_bytes()).into();
        let number = u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]);
        Shard((number % u32::from(self.shards)) as u8)
    }

    pub fn segments_of(self, shard: Shard) -> Segments {
        Segment::all().filter(|&segment| self.shard_of(segment) == shard).collect()
    }

    /// How many segments the jobs of a tenant are spread over.
    pub fn spread(self, tenant: &TenantName) -> u8 {
        (Segment::COUNT - self.home(tenant).0).div_ceil(self.shards)
    }

    /// One of the segments of the tenant's database, all equally likely if `draw` is even over a multiple of
    /// [`Placement::spread`].
    pub fn segment_for(self, tenant: &TenantName, draw: u64) -> Segment {
        let nth = (draw % u64::from(self.spread(tenant))) as u8;
        Segment::wrap(self.home(tenant).0 + nth * self.shards)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tenant(name: &str) -> TenantName {
        TenantName::parse(name).expect("a name")
    }

    fn placements() -> impl Iterator<Item = Placement> {
        (1..=usize::from(SHARDS_MAX)).map(|shards| Placement::new(shards).expect("in range"))
    }

    #[test]
    fn the_home_of_a_tenant_never_changes() {
        let homes = |name: &str| [2, 3, 16].map(|shards| Placement::new(shards).unwrap().home(&tenant(name)).index());
        assert_eq!(homes("default"), [1, 0, 1]);
        assert_eq!(homes("acme"), [1, 1, 13]);
        assert_eq!(homes("other"), [0, 1, 0]);
    }

    #[test]
    fn every_segment_is_in_one_database_and_they_have_about_equally_many() {
        for placement in placements() {
            let parts: Vec<Segments> = placement.shards().map(|shard| placement.segments_of(shard)).collect();
            assert_eq!(parts.iter().map(|part| part.len()).sum::<u32>(), u32::from(Segment::COUNT));
            assert_eq!(parts.iter().flat_map(|part| part.iter()).collect::<Segments>(), Segments::ALL);
            let (least, most) = (parts.iter().map(|part| part.len()).min(), parts.iter().map(|part| part.len()).max());
            assert!(most <= least.map(|least| least + 1), "{parts:?}");
        }
    }

    #[test]
    fn the_jobs_of_a_tenant_are_spread_over_all_segments_of_its_database_and_no_other() {
        for placement in placements() {
            for name in ["default", "acme", "other"] {
                let tenant = tenant(name);
                let spread = placement.spread(&tenant);
                let drawn: Vec<Segment> =
                    (0..u64::from(spread)).map(|draw| placement.segment_for(&tenant, draw)).collect();
                assert_eq!(drawn.iter().copied().collect::<Segments>(), placement.segments_of(placement.home(&tenant)));
                assert_eq!(drawn.len(), usize::from(spread), "each once");
            }
        }
    }

    #[test]
    fn one_database_has_everything() {
        assert_eq!(Placement::ONE.segments_of(Shard::FIRST), Segments::ALL);
        assert_eq!(Placement::ONE.segment_for(&tenant("acme"), 143), Segment::wrap(43));
        assert_eq!(Placement::ONE.home(&tenant("acme")), Shard::FIRST);
    }

    #[test]
    fn limits_are_named_there_is_at_least_one_database_and_not_one_too_many() {
        assert_eq!(Placement::new(0), None);
        assert_eq!(Placement::new(1), Some(Placement::ONE));
        assert!(Placement::new(usize::from(SHARDS_MAX)).is_some());
        assert_eq!(Placement::new(usize::from(SHARDS_MAX) + 1), None);
    }
}
