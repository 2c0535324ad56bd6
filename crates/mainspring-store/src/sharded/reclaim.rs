//! Has every database take back what ran out and forget what is old, in the leader's name as each of them knows it.

use std::collections::BTreeSet;

use mainspring_core::id::WorkerId;
use mainspring_core::store::{Prune, Pruned, Reclaim, Reclaimed, Result};
use mainspring_core::time::Time;

use super::all::Answers;
use super::database::SWEEP_PATIENCE_MAX;
use super::{NOT_ASKED, Sharded};

impl Sharded {
    pub(super) async fn reclaim_all(&self, now: Time, ask: Reclaim) -> Result<Reclaimed> {
        let mandate = self.leads.mandate(ask.warrant);
        let (mut whole, mut silent) = (Reclaimed::default(), BTreeSet::new());
        let mut limits = self.shares(ask.limit);
        let mut behind = vec![false; limits.len()];
        loop {
            let answers = self
                .ask_within(SWEEP_PATIENCE_MAX, |database| {
                    let limit = limits[database.shard.index()];
                    let warrant = mandate.at(database.shard).filter(|_| limit != NOT_ASKED)?;
                    let part = Reclaim { limit, warrant, ..ask };
                    Some(async move { database.store.reclaim(now, part).await })
                })
                .await?;
            whole.deposed |= deposed(&answers, &mandate, |part| part.deposed);
            note(&mut behind, &answers, |part| part.more);
            for part in answers.some() {
                whole.leases.extend(part.leases);
                whole.expired.extend(part.expired);
                silent.extend(part.silent);
            }
            whole.more = behind.contains(&true);
            match self.left_over(ask.limit - whole.leases.len().max(whole.expired.len()), &limits, &behind) {
                Some(next) => limits = next,
                None => break,
            }
        }
        whole.leases.sort_by_key(|taken| taken.claimed.job.id);
        whole.silent = self.without_those_at_home(silent).await;
        Ok(whole)
    }

    /// A worker that another database than its own has written off is not gone.
    async fn without_those_at_home(&self, mut silent: BTreeSet<WorkerId>) -> Vec<WorkerId> {
        if !silent.is_empty()
            && let Ok(living) = self.workers_of_all().await
        {
            silent.retain(|silent| living.iter().all(|worker| worker.id != *silent));
        }
        silent.into_iter().collect()
    }

    pub(super) async fn prune_all(&self, now: Time, ask: Prune) -> Result<Pruned> {
        let mandate = self.leads.mandate(ask.warrant);
        let mut whole = Pruned::default();
        let mut limits = self.shares(ask.limit);
        let mut behind = vec![false; limits.len()];
        loop {
            let answers = self
                .ask_within(SWEEP_PATIENCE_MAX, |database| {
                    let limit = limits[database.shard.index()];
                    let warrant = mandate.at(database.shard).filter(|_| limit != NOT_ASKED)?;
                    let part = Prune { limit, warrant, ..ask };
                    Some(async move { database.store.prune(now, part).await })
                })
                .await?;
            whole.deposed |= deposed(&answers, &mandate, |part| part.deposed);
            note(&mut behind, &answers, |part| part.more);
            for part in answers.some() {
                whole.jobs += part.jobs;
                whole.keys += part.keys;
                whole.rows += part.rows;
            }
            whole.more = behind.contains(&true);
            // Whole buckets go beyond a limit.
            let done = usize::try_from(whole.jobs + whole.keys + whole.rows).unwrap_or(usize::MAX);
            match self.left_over(ask.limit.saturating_sub(done), &limits, &behind) {
                Some(next) => limits = next,
                None => break,
            }
        }
        Ok(whole)
    }
}

/// Who has more to do. Of those that were not asked this time, what they said before stands.
fn note<T>(behind: &mut [bool], answers: &Answers<T>, more: impl Fn(&T) -> bool) {
    for (behind, part) in behind.iter_mut().zip(&answers.0) {
        *behind = part.as_ref().map_or(*behind, &more);
    }
}

/// Whether the database that the leader leads by says that another does. Elsewhere its predecessor's term may only not be over
/// yet: that database is left out until it is.
fn deposed<T>(answers: &Answers<T>, mandate: &super::lead::Mandate, is_deposed: impl Fn(&T) -> bool) -> bool {
    answers.0[mandate.senior.index()].as_ref().is_some_and(is_deposed)
}
