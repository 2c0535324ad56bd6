//! Whose turn it is among the tenants of a queue name. Survives no reopen: all turns are equal then.

use std::collections::{BTreeMap, BTreeSet};

use mainspring_core::gate::{Share, Turn};
use mainspring_core::name::TenantName;

/// The tenants of one queue name.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    share: Share,
    turns: BTreeMap<TenantName, Turn>,
    /// Who had something that could go when it was last asked whose turn it is.
    had: BTreeSet<TenantName>,
}

impl Line {
    /// Who goes next of those who have something that could go, given with their weights. Who had nothing last time
    /// joins.
    pub fn pick(&mut self, candidates: &BTreeMap<TenantName, u32>) -> Option<TenantName> {
        for (tenant, &weight) in candidates {
            if self.had.contains(tenant) {
                continue;
            }
            let turn = self.share.join(self.turn(tenant), weight);
            self.turns.insert(tenant.clone(), turn);
        }
        self.had = candidates.keys().cloned().collect();
        Share::pick(candidates.keys().map(|tenant| (self.turn(tenant), tenant.clone())))
    }

    pub fn charge(&mut self, tenant: &TenantName, weight: u32, cost: u16) {
        let turn = self.share.charge(self.turn(tenant), weight, cost);
        self.turns.insert(tenant.clone(), turn);
    }

    fn turn(&self, tenant: &TenantName) -> Turn {
        self.turns.get(tenant).copied().unwrap_or_default()
    }
}
