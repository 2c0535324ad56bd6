//! The way of a call through a mutant: it is changed, made, and its answer changed, each as the mutant likes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use mainspring_core::id::JobId;
use mainspring_core::job::{Claimed, Job, JobView};
use mainspring_core::name::TenantName;
use mainspring_core::store::{Result, Views};
use mainspring_core::time::Time;
use mainspring_store::memory::Memory;

use super::Mutant;
use crate::hop::{Ask, Ground, Hop, Reply, at_once};
use crate::workload::TENANTS;
use crate::world::Chance;

#[derive(Debug)]
pub struct Mutated {
    ground: Ground,
    pub(super) how: Mutant,
    pub(super) chance: Chance,
    notes: Mutex<Notes>,
}

/// What a mutant remembers.
#[derive(Debug, Default)]
pub struct Notes {
    /// What was handed out last.
    pub last: Option<Claimed>,
    /// Jobs as they were submitted, where something else was kept.
    pub said: BTreeMap<JobId, Job>,
    /// Jobs that were put off.
    pub snoozed: BTreeSet<JobId>,
    /// Jobs that were taken back and not settled yet.
    pub taken_back: BTreeSet<JobId>,
}

impl Mutated {
    pub fn new(how: Mutant, chance: Chance) -> Mutated {
        Mutated { ground: Ground::default(), how, chance, notes: Mutex::default() }
    }

    /// Now and then, so that a run gets somewhere before it breaks.
    pub(super) fn now_and_then(&self) -> bool {
        self.chance.percent(15)
    }

    pub(super) fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().expect("no mutant panics")
    }

    pub(super) fn view(&self, id: JobId) -> Option<JobView> {
        let tenants = TENANTS.map(|name| TenantName::parse(name).expect("a name"));
        tenants.iter().find_map(|tenant| at_once(self.ground().get(tenant, vec![id])).ok()?.pop()?)
    }
}

#[async_trait]
impl Hop for Mutated {
    async fn pass(&self, now: Time, ask: Ask) -> Result<Reply> {
        if let Some(reply) = self.instead(now, &ask).await? {
            return Ok(reply);
        }
        let before = self.gates();
        let mut asked = self.change(now, ask.clone());
        self.bend(&mut asked);
        let reply = self.ground.pass(now, asked).await?;
        self.bend_gates(now, &ask, &reply, before);
        let mut reply = self.spoil(now, &ask, reply).await?;
        self.mend(&mut reply);
        Ok(reply)
    }

    fn ground(&self) -> &Memory {
        self.ground.ground()
    }
}
