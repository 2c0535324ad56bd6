//! Promise 4, between tenants: a worker that serves all of them serves them in turns. A tenant that has a job which could go is passed
//! over in its queue for a bounded number of jobs, however much the others have waiting.
//!
//! The bound: who was served last is at most `cost / weight` ahead of the line, and each job of another tenant moves that one on by at least
//! `1 / its weight`. So of each other tenant at most `its weight · COST_MAX / weight + 2` jobs go first.

use std::collections::{BTreeMap, BTreeSet};

use mainspring_core::gate::{GateName, GateRef};
use mainspring_core::name::{QueueName, TenantName};
use mainspring_core::store::{Command, Whose};

use super::order::{Request, each_request, free, offers};
use super::past::Gates;
use super::{Checker, Deed, Findings, Past};
use crate::hop::Ask;

const PROMISE: &str = "tenants are served in turns";

/// The heaviest job of the workload.
pub const COST_MAX: u32 = 3;

#[derive(Debug, Default)]
pub struct Turns {
    /// How many jobs of others went first, in a queue, since a tenant was served there or had nothing that could go.
    passed_over: BTreeMap<(QueueName, TenantName), u32>,
}

impl Turns {
    fn judge(&mut self, deed: &Deed<'_>, request: Request<'_>, past: &Past, findings: &mut Findings) {
        let Request { claim, jobs, gates, .. } = request;
        let offers = offers(deed, request, past);
        let free: BTreeSet<(QueueName, TenantName)> = free(deed.now, &offers, request)
            .into_iter()
            .map(|offer| (offer.job.queue.clone(), offer.job.tenant.clone()))
            .collect();
        self.passed_over.retain(|place, _| !claim.queues.contains(&place.0) || free.contains(place));
        for (queue, tenant) in free {
            let in_queue = || jobs.iter().filter(|claimed| claimed.job.queue == queue);
            let passed = self.passed_over.entry((queue.clone(), tenant.clone())).or_default();
            match in_queue().any(|claimed| claimed.job.tenant == tenant) {
                true => *passed = 0,
                false => *passed += in_queue().count() as u32,
            }
            let max = bound(&tenant, gates);
            if *passed > max {
                let passed = *passed;
                findings
                    .broken(deed.at, PROMISE, || format!("{passed} jobs went before {tenant} in {queue}, of {max}"));
            }
        }
    }
}

fn bound(tenant: &TenantName, gates: &Gates) -> u32 {
    let weight_of = |tenant: &TenantName| {
        gates.rule(&GateRef { tenant: tenant.clone(), gate: GateName::Tenant }).weight.unwrap_or(1)
    };
    let names = crate::workload::TENANTS.map(|name| TenantName::parse(name).expect("a name"));
    let others = names.iter().filter(|other| *other != tenant);
    others.map(|other| (weight_of(other) * COST_MAX).div_ceil(weight_of(tenant)) + 2).sum()
}

impl Checker for Turns {
    fn see(&mut self, deed: &Deed<'_>, past: &Past, findings: &mut Findings) {
        match deed.ask {
            Ask::Claim(_) => each_request(deed, past, |request| {
                if request.claim.whose == Whose::All {
                    self.judge(deed, request, past, findings);
                }
            }),
            // Whoever has another weight from now on has waited by the one before.
            Ask::Command(commands) if commands.iter().any(|it| matches!(it, Command::Gate { .. })) => {
                self.passed_over.clear();
            }
            _ => {}
        }
    }
}
