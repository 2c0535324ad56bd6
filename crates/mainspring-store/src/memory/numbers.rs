//! The numbers that a store hands out and never uses twice: fences and versions of schedules. Knows no job and no schedule but
//! by name.

use std::collections::BTreeMap;

use mainspring_core::id::{Fence, JobId};
use mainspring_core::schedule::ScheduleRef;

#[derive(Clone, Debug)]
pub(super) enum Numbers {
    /// One counter for the whole store.
    Together { fence: u64, version: u64 },
    /// One for each job and schedule, never forgotten. Of several stores that share the tenants out, each hands out what one
    /// store with all of them would, so that their answers can be compared.
    Apart { fences: BTreeMap<JobId, u64>, versions: BTreeMap<ScheduleRef, u64> },
}

impl Numbers {
    pub fn together() -> Numbers {
        Numbers::Together { fence: 0, version: 0 }
    }

    pub fn apart() -> Numbers {
        Numbers::Apart { fences: BTreeMap::new(), versions: BTreeMap::new() }
    }

    pub fn fence(&mut self, job: JobId) -> Fence {
        Fence(next(match self {
            Numbers::Together { fence, .. } => fence,
            Numbers::Apart { fences, .. } => fences.entry(job).or_default(),
        }))
    }

    pub fn version(&mut self, schedule: &ScheduleRef) -> u64 {
        next(match self {
            Numbers::Together { version, .. } => version,
            Numbers::Apart { versions, .. } => versions.entry(schedule.clone()).or_default(),
        })
    }
}

fn next(last: &mut u64) -> u64 {
    *last += 1;
    *last
}
