//! Hands out jobs: a worker's own tenant's from the one database where they are; those of all tenants from one database after the
//! other, beginning with another every time, so that all are served alike. Best rank first holds within a database.

use std::collections::BTreeSet;
use std::sync::Arc;

use mainspring_core::job::Claimed;
use mainspring_core::placement::Shard;
use mainspring_core::store::{Claim, ClaimAnswer, Result, SettledAndClaimed, Settlement, Whose, settle_then_claim};
use mainspring_core::time::Time;

use super::Sharded;
use super::database::Database;

impl Sharded {
    pub(super) async fn claim_routed(&self, now: Time, claims: Vec<Claim>) -> Result<Vec<ClaimAnswer>> {
        let is_own: Vec<bool> = claims.iter().map(|claim| claim.whose == Whose::Own).collect();
        let (own, all): (Vec<Claim>, Vec<Claim>) = claims.into_iter().partition(|claim| claim.whose == Whose::Own);
        let home = |claim: &Claim| self.placement.home(&claim.tenant);
        // First, because they may fail: nothing is claimed for the others then.
        let own =
            self.route(own, home, |database, claims| async move { database.store.claim(now, claims).await }).await?;
        let (mut own, mut all) = (own.into_iter(), self.claim_all(now, all).await?.into_iter());
        let answer = |is_own: bool| if is_own { own.next() } else { all.next() };
        Ok(is_own.into_iter().map(answer).map(|answer| answer.expect("one answer for each claim")).collect())
    }

    /// By one database if all of it is there, as it is nearly always.
    pub(super) async fn settle_and_claim_routed(
        &self,
        now: Time,
        settlements: Vec<Settlement>,
        claims: Vec<Claim>,
    ) -> SettledAndClaimed {
        let settled =
            settlements.iter().map(|settlement| Some(self.placement.shard_of(settlement.lease.job.segment())));
        let home = |claim: &Claim| (claim.whose == Whose::Own).then(|| self.placement.home(&claim.tenant));
        let homes: BTreeSet<Option<Shard>> = settled.chain(claims.iter().map(home)).collect();
        match homes.first() {
            Some(Some(shard)) if homes.len() == 1 => {
                self.databases[shard.index()].store.settle_and_claim(now, settlements, claims).await
            }
            _ => settle_then_claim(self, now, settlements, claims).await,
        }
    }

    async fn claim_all(&self, now: Time, claims: Vec<Claim>) -> Result<Vec<ClaimAnswer>> {
        if claims.is_empty() {
            return Ok(Vec::new());
        }
        let mut asking: Vec<Asking> = claims.into_iter().map(Asking::new).collect();
        let first = self.turn();
        // A worker's own database says whether it may have jobs at all: it is asked before any other.
        for database in self.databases.iter().filter(|database| database.shard.index() != first) {
            let is_home = |one: &Asking| self.placement.home(&one.claim.tenant) == database.shard;
            self.ask_for(now, database, &mut asking, |one| is_home(one).then_some(0)).await?;
        }
        for turn in 0..self.databases.len() {
            let database = &self.databases[(first + turn) % self.databases.len()];
            self.ask_for(now, database, &mut asking, |one| Some(one.left()).filter(|&left| left > 0)).await?;
        }
        Ok(asking.into_iter().map(|one| one.answer()).collect())
    }

    /// Asks one database for those that want something of it. One that does not answer gives nothing.
    async fn ask_for(
        &self,
        now: Time,
        database: &Arc<Database>,
        asking: &mut [Asking],
        wants: impl Fn(&Asking) -> Option<usize>,
    ) -> Result<()> {
        let mut served: Vec<(&mut Asking, usize)> = asking
            .iter_mut()
            .filter(|one| one.turned_away.is_none())
            .filter_map(|one| wants(one).map(|max| (one, max)))
            .collect();
        if served.is_empty() || database.down().is_some() {
            return Ok(());
        }
        let claims: Vec<Claim> = served.iter().map(|(one, max)| Claim { max: *max, ..one.claim.clone() }).collect();
        let Ok(mut answers) = database.patiently(database.store.claim(now, claims.clone())).await else {
            return Ok(());
        };

        let is_home = |claim: &Claim| self.placement.home(&claim.tenant) == database.shard;
        let is_stranger =
            |(claim, answer): &(&Claim, &ClaimAnswer)| !is_home(claim) && **answer == ClaimAnswer::UnknownWorker;
        let strangers: Vec<&Claim> = claims.iter().zip(&answers).filter(is_stranger).map(|(claim, _)| claim).collect();
        if !strangers.is_empty() && self.welcome(now, database, &strangers).await.is_ok() {
            let again: Vec<Claim> = strangers.iter().map(|&claim| claim.clone()).collect();
            if let Ok(second) = database.patiently(database.store.claim(now, again)).await {
                let unknown = answers
                    .iter_mut()
                    .zip(&claims)
                    .filter(|(answer, claim)| !is_home(claim) && **answer == ClaimAnswer::UnknownWorker);
                unknown.zip(second).for_each(|((answer, _), second)| *answer = second);
            }
        }
        for ((one, _), answer) in served.iter_mut().zip(answers) {
            one.take(answer, self.placement.home(&one.claim.tenant) == database.shard);
        }
        Ok(())
    }
}

/// A claim on its way from database to database.
struct Asking {
    claim: Claim,
    jobs: Vec<Claimed>,
    /// What its own database said, if that was not jobs.
    turned_away: Option<ClaimAnswer>,
}

impl Asking {
    fn new(claim: Claim) -> Asking {
        Asking { claim, jobs: Vec::new(), turned_away: None }
    }

    fn left(&self) -> usize {
        self.claim.max - self.jobs.len()
    }

    fn take(&mut self, answer: ClaimAnswer, is_home: bool) {
        match answer {
            ClaimAnswer::Jobs(jobs) => self.jobs.extend(jobs),
            turned_away if is_home => self.turned_away = Some(turned_away),
            // A guest there: its own database is the one to say so.
            ClaimAnswer::UnknownWorker | ClaimAnswer::Quiet => {}
        }
    }

    fn answer(self) -> ClaimAnswer {
        match self.turned_away {
            Some(turned_away) if self.jobs.is_empty() => turned_away,
            _ => ClaimAnswer::Jobs(self.jobs),
        }
    }
}
