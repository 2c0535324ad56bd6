//! What readers ask of schedules and their ledger. Changes nothing.

use mainspring_core::schedule::{ScheduleRef, ScheduleView};
use mainspring_core::store::{LedgerPage, LedgerQuery, SchedulePage, ScheduleQuery};

use super::book::Book;

impl Book {
    pub(super) fn schedule(&self, schedule: &ScheduleRef) -> Option<ScheduleView> {
        self.schedules.get(schedule).cloned()
    }

    pub(super) fn schedules(&self, query: &ScheduleQuery) -> SchedulePage {
        let mut found = self
            .schedules
            .iter()
            .filter(|(schedule, _)| schedule.tenant == query.tenant)
            .filter(|(schedule, _)| query.above.as_ref().is_none_or(|above| schedule.name > *above));
        let page: Vec<_> = found.by_ref().take(query.limit).collect();
        SchedulePage {
            next: found.next().and(page.last()).map(|(schedule, _)| schedule.name.clone()),
            schedules: page.into_iter().map(|(_, view)| view.clone()).collect(),
        }
    }

    pub(super) fn ledger(&self, query: &LedgerQuery) -> LedgerPage {
        let mut found = self
            .ledger
            .iter()
            .rev()
            .filter(|((schedule, _), _)| *schedule == query.schedule)
            .filter(|((_, place), _)| query.below.is_none_or(|below| *place < below));
        let page: Vec<_> = found.by_ref().take(query.limit).collect();
        LedgerPage {
            next: found.next().and(page.last()).map(|((_, place), _)| *place),
            rows: page.into_iter().map(|(_, row)| row.clone()).collect(),
        }
    }
}
