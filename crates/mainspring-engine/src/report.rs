//! What running attempts say of themselves. Prolongs no lease: heartbeats do.

use mainspring_core::store::{self, Hold, Report, ReportKind};

use crate::error::Result;
use crate::events::{Event, EventKind};
use crate::gather;
use crate::measure::Call;
use crate::node::Node;

impl gather::Item for Report {}

impl Node {
    pub(crate) async fn report(&self, reports: Vec<Report>) -> Result<Vec<Hold>> {
        self.reports.ask(reports).await
    }

    /// One gathered call.
    pub(crate) async fn apply_reports(&self, reports: Vec<Report>) -> store::Result<Vec<Hold>> {
        let now = self.clock.now();
        let started: Vec<_> =
            reports.iter().map(|report| (report.kind == ReportKind::Started).then_some(report.lease.job)).collect();
        let holds = self.meters.time_gathered(Call::Report, reports.len(), self.store.report(now, reports)).await?;
        let stale = holds.iter().filter(|hold| **hold == Hold::Stale).count();
        if stale > 0 {
            self.meters.stale.increment(stale as u64);
        }
        self.stage.say(|| {
            let held = started.into_iter().zip(&holds).filter(|(_, hold)| **hold != Hold::Stale);
            held.filter_map(|(job, _)| Some(Event::new(now, EventKind::Started).of_job(job?)))
        });
        Ok(holds)
    }
}
