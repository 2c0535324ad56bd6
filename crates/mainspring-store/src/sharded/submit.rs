//! Takes jobs in, by hand and from schedules, where their tenant lives. Refuses an id that says it is elsewhere: it would not be
//! found again.

use mainspring_core::job::Job;
use mainspring_core::store::{Error, Result, Submitted, Turn, Turned};
use mainspring_core::time::Time;

use super::Sharded;

impl Sharded {
    pub(super) async fn submit_routed(&self, now: Time, jobs: Vec<Job>) -> Result<Vec<Submitted>> {
        jobs.iter().try_for_each(|job| self.check(job))?;
        let home = |job: &Job| self.placement.home(&job.tenant);
        self.route(jobs, home, |database, jobs| async move { database.store.submit(now, jobs).await }).await
    }

    pub(super) async fn turn_routed(&self, now: Time, turns: Vec<Turn>) -> Result<Vec<Turned>> {
        turns.iter().flat_map(|turn| &turn.jobs).try_for_each(|job| self.check(job))?;
        let home = |turn: &Turn| self.placement.home(&turn.schedule.tenant);
        self.route(turns, home, |database, turns| async move { database.store.turn(now, turns).await }).await
    }

    fn check(&self, job: &Job) -> Result<()> {
        let (home, shard) = (self.placement.home(&job.tenant), self.placement.shard_of(job.id.segment()));
        if home == shard {
            return Ok(());
        }
        Err(Error::Invalid(format!(
            "job {} has an id of database {}, but tenant {} lives in database {} of {}; give it an id whose segment is there",
            job.id,
            shard.index() + 1,
            job.tenant,
            home.index() + 1,
            self.placement.count()
        )))
    }
}
