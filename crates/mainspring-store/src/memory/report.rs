//! Writes down what a running attempt says of itself. Prolongs nothing.

use mainspring_core::store::{Hold, Report, ReportKind};
use mainspring_core::time::Time;

use super::book::Book;

impl Book {
    pub(super) fn report(&mut self, now: Time, report: Report) -> Hold {
        let Some(entry) = self.leased(report.lease) else { return Hold::Stale };
        let standing = &mut entry.standing;
        let lease = standing.lease.as_mut().expect("a leased job has a lease");
        match report.kind {
            ReportKind::Started => {
                lease.started_at.get_or_insert(now);
            }
            ReportKind::Checkpoint { data, progress } => {
                standing.checkpoint = data.or(standing.checkpoint.take());
                standing.progress = progress.or(standing.progress.take());
            }
        }
        Hold::Held { cancel_asked: lease.cancel_asked.is_some() }
    }
}
