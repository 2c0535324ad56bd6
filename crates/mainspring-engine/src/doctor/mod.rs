//! The node examines itself, the cluster and the store, and says what is wrong, where, and what to do. Mends nothing. What the
//! facts mean is said in [`check`], purely; a fact that cannot be had is a finding of its own.

mod check;

use mainspring_core::store::{AgendaAsk, Ailment, Severity};
use mainspring_core::time::Time;

use crate::cluster;
use crate::error::Result;
use crate::node::Node;

/// Waiting jobs that are looked at to find out whether any is overdue.
const OVERDUE_JOBS_MAX: u64 = 10_000;

/// What a doctor found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    pub now: Time,
    /// The worst first; of one severity, as they were looked at.
    pub findings: Vec<Ailment>,
}

impl Diagnosis {
    /// The worst of it.
    pub fn severity(&self) -> Severity {
        self.findings.iter().map(|finding| finding.severity).max().unwrap_or(Severity::Ok)
    }
}

impl Node {
    pub(crate) async fn doctor(&self) -> Result<Diagnosis> {
        let now = self.clock.now();
        let term = self.settings.term;
        let mut findings = vec![check::health(&self.health())];
        let roll = self.seats.roll().await;
        match roll {
            Ok(roll) => {
                findings.push(check::segments(&roll, now, term));
                let view = cluster::view(self, roll);
                findings.push(check::leader(&view));
                findings.extend(check::clocks(&view));
                findings.push(check::versions(&view));
            }
            Err(error) => findings.push(check::unasked("cluster", &error)),
        }
        let until = now.before(check::OVERDUE);
        let ask = AgendaAsk { tenant: None, from: Time::ZERO, until, step: check::OVERDUE, jobs_max: OVERDUE_JOBS_MAX };
        findings.push(
            self.store
                .agenda(ask)
                .await
                .map_or_else(|error| check::unasked("overdue_jobs", &error), |agenda| check::overdue(&agenda, now)),
        );
        match self.store.queues(None).await {
            Ok(queues) => findings.extend([check::paused(&queues), check::dead(&queues)]),
            Err(error) => findings.push(check::unasked("queues", &error)),
        }
        findings.push(
            self.store
                .workers()
                .await
                .map_or_else(|error| check::unasked("silent_workers", &error), |workers| check::silent(&workers, now)),
        );
        match self.store.ailments(now).await {
            Ok(ailments) => findings.extend(ailments),
            Err(error) => findings.push(check::unasked("store", &error)),
        }
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        Ok(Diagnosis { now, findings })
    }
}
