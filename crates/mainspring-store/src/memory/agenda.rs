//! How many waiting jobs fall due when. Changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use mainspring_core::id::JobId;
use mainspring_core::store::{Agenda, AgendaAsk};
use mainspring_core::time::Time;

use super::book::Book;

impl Book {
    pub(super) fn agenda(&self, ask: &AgendaAsk) -> Agenda {
        let waiting: BTreeSet<(Time, JobId)> = self
            .jobs
            .values()
            .filter(|entry| entry.is_waiting() && ask.tenant.as_ref().is_none_or(|tenant| *tenant == entry.job.tenant))
            .map(|entry| (entry.standing.ready_at, entry.job.id))
            .filter(|&(at, _)| ask.from <= at && at < ask.until)
            .collect();
        let jobs_max = usize::try_from(ask.jobs_max).unwrap_or(usize::MAX);
        let mut due = BTreeMap::new();
        for &(at, _) in waiting.iter().take(jobs_max) {
            *due.entry(ask.step_of(at)).or_insert(0) += 1;
        }
        Agenda { due: due.into_iter().collect(), partial: waiting.len() > jobs_max }
    }
}
