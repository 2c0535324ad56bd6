//! Jobs beside the occurrences that come by themselves: one now, or those of a past range that have none.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use mainspring_core::id::JobId;
use mainspring_core::job::Job;
use mainspring_core::limits::BACKFILL_MAX;
use mainspring_core::schedule::{self, LedgerRow, Plan, ScheduleRef, ScheduleView, What};
use mainspring_core::store::{self, LedgerPlace, LedgerQuery, Submitted, To, Turn, Turned};
use mainspring_core::time::Time;

use super::change::TURN_TRIES_MAX;
use super::{Backfill, BackfillAsk, BackfillOccurrence, BackfillWas, Told};
use crate::announce::News;
use crate::error::{Error, Result};
use crate::gather::RETRY_AFTER;
use crate::node::Node;
use crate::submit::Submission;

/// Occurrences that are filled in one write.
const STEP_MAX: usize = 500;

/// What became of one write of a back-fill.
enum Step {
    Done {
        occurrences: Vec<BackfillOccurrence>,
        more: bool,
    },
    /// Somebody was faster.
    Lost,
    Refused(Submitted),
}

impl Node {
    pub(crate) async fn trigger_schedule(self: &Arc<Node>, at: &ScheduleRef) -> Result<Option<Submission>> {
        for _ in 0..TURN_TRIES_MAX {
            let Some(view) = self.store.schedule(at).await? else { return Ok(None) };
            let now = self.clock.now();
            let id = self.mint.lock().job(now, &at.tenant);
            let mut jobs = match self.make(now, &view, schedule::trigger(&view, id, now)).await? {
                Turned::Done { jobs, .. } => jobs,
                Turned::Refused { answer, .. } => vec![answer],
                Turned::Lost { .. } | Turned::Deposed => continue,
            };
            return Ok(Some(Submission::new(id, jobs.pop().expect("one answer for one job"))));
        }
        Err(Error::Busy { retry_after: RETRY_AFTER })
    }

    pub(crate) async fn backfill(self: &Arc<Node>, at: &ScheduleRef, ask: BackfillAsk) -> Result<Option<Backfill>> {
        let max = ask.max.min(BACKFILL_MAX);
        let mut filled = Backfill { occurrences: vec![], more: true };
        let (mut from, mut lost) = (ask.from, 0);
        while filled.more && filled.occurrences.len() < max {
            let Some(view) = self.store.schedule(at).await? else { return Ok(None) };
            let left = max - filled.occurrences.len();
            let step =
                schedule::Backfill { from, to: ask.to, max: left.min(STEP_MAX), placement: self.settings.placement };
            match self.fill(&view, step, ask.dry_run).await? {
                Step::Done { occurrences, more } => {
                    from = occurrences.last().map_or(from, |last| last.at.after(Duration::from_millis(1)));
                    filled.occurrences.extend(occurrences);
                    filled.more = more;
                }
                Step::Lost if lost < TURN_TRIES_MAX => lost += 1,
                Step::Lost => return Err(Error::Busy { retry_after: RETRY_AFTER }),
                Step::Refused(answer) if filled.occurrences.is_empty() => return Err(refused(&view, answer)),
                // What was filled before stays filled: the caller learns of it, and of this when it goes on.
                Step::Refused(_) => break,
            }
        }
        Ok(Some(filled))
    }

    async fn fill(self: &Arc<Node>, view: &ScheduleView, step: schedule::Backfill, dry_run: bool) -> Result<Step> {
        let now = self.clock.now();
        let calendar = self.calendars.of(&view.schedule)?;
        let mut plan = schedule::backfill(view, &calendar, step, now);
        let ids: Vec<JobId> = plan.jobs.iter().map(|job| job.id).collect();
        let found = self.store.get(&view.schedule.tenant, ids.clone()).await?;
        let mut known = self.told_of(&view.schedule.reference(), &plan.rows).await?;
        known.extend(ids.into_iter().zip(found).filter_map(|(id, job)| job.map(|_| id)));
        let occurrences = occurrences(&plan, &known);
        let more = plan.more;
        plan.jobs.retain(|job| !known.contains(&job.id));
        plan.rows.retain(|row| !matches!(row.what, What::Backfilled { job } if known.contains(&job)));
        if dry_run || plan.jobs.is_empty() {
            return Ok(Step::Done { occurrences, more });
        }
        Ok(match self.make(now, view, plan).await? {
            Turned::Done { .. } => Step::Done { occurrences, more },
            Turned::Lost { .. } | Turned::Deposed => Step::Lost,
            Turned::Refused { answer, .. } => Step::Refused(answer),
        })
    }

    /// The jobs that the ledger knows of in the time of these rows: it outlives them.
    async fn told_of(&self, schedule: &ScheduleRef, rows: &[LedgerRow]) -> Result<HashSet<JobId>> {
        let mut told = HashSet::new();
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Ok(told) };
        let after = last.occurrence.after(Duration::from_millis(1));
        let mut below = Some(LedgerPlace { occurrence: after, version: 0, index: 0 });
        while below.is_some() {
            let page = self.store.ledger(LedgerQuery { schedule: schedule.clone(), below, limit: STEP_MAX }).await?;
            told.extend(page.rows.iter().filter_map(|row| match row.what {
                What::Fired { job, .. } | What::Backfilled { job } => Some(job),
                What::Skipped(_) | What::Missed | What::Triggered { .. } => None,
            }));
            below = page.next.filter(|next| next.occurrence >= first.occurrence);
        }
        Ok(told)
    }

    /// Makes the jobs of a plan that leaves the schedule as it is, and tells of them.
    async fn make(self: &Arc<Node>, now: Time, view: &ScheduleView, plan: Plan) -> Result<Turned> {
        let turn = Turn {
            schedule: view.schedule.reference(),
            expect: Some(view.version),
            to: To::Move(plan.then.clone()),
            jobs: plan.jobs,
            rows: plan.rows.clone(),
            warrant: None,
        };
        let turned = self.turn_one(now, turn).await?;
        if let Turned::Done { jobs, .. } = &turned {
            let (schedule, before) = (&view.schedule, Some(&view.standing));
            let mut news = News::default();
            self.tell_turned(now, Told { schedule, before, then: before, rows: &plan.rows, jobs }, &mut news);
            self.announce(now, news);
        }
        Ok(turned)
    }
}

fn occurrences(plan: &Plan, known: &HashSet<JobId>) -> Vec<BackfillOccurrence> {
    let occurrence = |(row, job): (&LedgerRow, &Job)| BackfillOccurrence {
        at: row.occurrence,
        job: job.id,
        was: if known.contains(&job.id) { BackfillWas::Exists } else { BackfillWas::Filled },
    };
    plan.rows.iter().zip(&plan.jobs).map(occurrence).collect()
}

fn refused(view: &ScheduleView, answer: Submitted) -> Error {
    let queue = &view.schedule.job.queue;
    let why = match answer {
        Submitted::QueueFull { max_depth } => {
            format!("queue {queue:?} holds the {max_depth} jobs it may; let it run down, or raise its max_depth")
        }
        other => format!("queue {queue:?} would not take the jobs: {other:?}"),
    };
    Error::Store(store::Error::Full(why))
}
