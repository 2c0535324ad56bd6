//! Put, remove, pause and resume: read, let the core decide, and write if the schedule is still as it was read. One that fired in
//! between is read again: a person's request does not fail because of that.

use std::sync::Arc;

use mainspring_core::lifecycle::State;
use mainspring_core::schedule::{self, Look, PauseAsk, Plan, Schedule, ScheduleRef, ScheduleView, Standing};
use mainspring_core::store::{To, Turn, Turned};
use mainspring_core::time::Time;

use super::{Expect, ScheduleMove, SchedulePut, Told};
use crate::announce::News;
use crate::error::{Error, Result};
use crate::gather::RETRY_AFTER;
use crate::measure::Call;
use crate::node::Node;
use crate::trigger::{OCCURRENCES_MAX, unreadable};

/// How often a change is tried against others that are faster.
pub(super) const TURN_TRIES_MAX: usize = 20;

/// A change that is decided.
pub(super) struct Change {
    pub(super) to: To,
    pub(super) plan: Plan,
}

impl Node {
    pub(crate) async fn put_schedule(self: &Arc<Node>, schedule: Schedule, expect: Expect) -> Result<SchedulePut> {
        schedule.compile()?;
        let at = schedule.reference();
        for _ in 0..TURN_TRIES_MAX {
            let view = self.store.schedule(&at).await?;
            let revision = view.as_ref().map(|view| view.standing.revision);
            let stands = match expect {
                Expect::Absent => revision.is_none(),
                Expect::Revision(expected) => revision == Some(expected),
                Expect::Anything => true,
            };
            if !stands {
                return Ok(SchedulePut::Conflict { revision });
            }
            let now = self.clock.now();
            let Some(view) = view else {
                let standing = schedule::create(&schedule, now)?;
                let plan = unmoved(standing.clone());
                let to = To::Put { schedule: Box::new(schedule.clone()), standing };
                match self.change(now, &schedule, None, Change { to, plan }).await? {
                    Some(created) => return Ok(SchedulePut::Created(created)),
                    None => continue,
                }
            };
            if view.schedule == schedule {
                return Ok(SchedulePut::Unchanged(view));
            }
            // What is due under the old words happens under the old words.
            if self.turn_due(view.clone()).await? {
                continue;
            }
            let plan = schedule::replace(&view, &schedule, now)?;
            let to = To::Put { schedule: Box::new(schedule.clone()), standing: plan.then.clone() };
            if let Some(replaced) = self.change(now, &schedule, Some(&view), Change { to, plan }).await? {
                return Ok(SchedulePut::Replaced(replaced));
            }
        }
        Err(Error::Busy { retry_after: RETRY_AFTER })
    }

    pub(crate) async fn remove_schedule(self: &Arc<Node>, at: &ScheduleRef, expect: Expect) -> Result<ScheduleMove> {
        for _ in 0..TURN_TRIES_MAX {
            let Some(view) = self.store.schedule(at).await? else { return Ok(ScheduleMove::Missing) };
            let revision = view.standing.revision;
            if expect == Expect::Absent || matches!(expect, Expect::Revision(expected) if expected != revision) {
                return Ok(ScheduleMove::Conflict { revision });
            }
            let change = Change { to: To::Gone, plan: unmoved(view.standing.clone()) };
            if let Some(removed) = self.change(self.clock.now(), &view.schedule, Some(&view), change).await? {
                return Ok(ScheduleMove::Done(ScheduleView { version: view.version, ..removed }));
            }
        }
        Err(Error::Busy { retry_after: RETRY_AFTER })
    }

    pub(crate) async fn pause_schedule(
        self: &Arc<Node>,
        at: &ScheduleRef,
        note: String,
        until: Option<Time>,
    ) -> Result<ScheduleMove> {
        let ask = PauseAsk { note, until };
        self.move_schedule(at, |view, _, now| match self.calendars.of(&view.schedule) {
            Ok(calendar) => Ok(schedule::pause(view, &calendar, ask.clone(), now)?),
            Err(bad) => Ok(unmoved(unreadable(&view.standing, &bad.to_string(), now))),
        })
        .await
    }

    pub(crate) async fn resume_schedule(self: &Arc<Node>, at: &ScheduleRef) -> Result<ScheduleMove> {
        self.move_schedule(at, |view, last_job, now| {
            let calendar = self.calendars.of(&view.schedule)?;
            Ok(schedule::resume(Look {
                view,
                calendar: &calendar,
                last_job,
                now,
                placement: self.settings.placement,
                step_max: OCCURRENCES_MAX,
            }))
        })
        .await
    }

    async fn move_schedule(
        self: &Arc<Node>,
        at: &ScheduleRef,
        decide: impl Fn(&ScheduleView, Option<State>, Time) -> Result<Plan>,
    ) -> Result<ScheduleMove> {
        for _ in 0..TURN_TRIES_MAX {
            let Some(view) = self.store.schedule(at).await? else { return Ok(ScheduleMove::Missing) };
            let last_jobs = self.last_jobs(std::slice::from_ref(&view)).await?;
            let last_job = view.standing.last_job.and_then(|id| last_jobs.get(&id).copied());
            let now = self.clock.now();
            let plan = decide(&view, last_job, now)?;
            if plan.then == view.standing {
                return Ok(ScheduleMove::Done(view));
            }
            let change = Change { to: To::Move(plan.then.clone()), plan };
            if let Some(moved) = self.change(now, &view.schedule, Some(&view), change).await? {
                return Ok(ScheduleMove::Done(moved));
            }
        }
        Err(Error::Busy { retry_after: RETRY_AFTER })
    }

    /// Writes a change, unless somebody was faster: `None` then.
    pub(super) async fn change(
        self: &Arc<Node>,
        now: Time,
        schedule: &Schedule,
        view: Option<&ScheduleView>,
        change: Change,
    ) -> Result<Option<ScheduleView>> {
        let Change { to, plan } = change;
        let is_removal = to == To::Gone;
        let turn = Turn {
            schedule: schedule.reference(),
            expect: view.map(|view| view.version),
            to,
            jobs: plan.jobs,
            rows: plan.rows.clone(),
            warrant: None,
        };
        let Turned::Done { version, jobs } = self.turn_one(now, turn).await? else { return Ok(None) };
        let then = (!is_removal).then_some(&plan.then);
        let before = view.map(|view| &view.standing);
        let mut news = News::default();
        self.tell_turned(now, Told { schedule, before, then, rows: &plan.rows, jobs: &jobs }, &mut news);
        self.announce(now, news);
        Ok(Some(ScheduleView { schedule: schedule.clone(), standing: plan.then, version }))
    }

    pub(super) async fn turn_one(self: &Arc<Node>, now: Time, turn: Turn) -> Result<Turned> {
        if self.closing.is_raised() {
            return Err(Error::Closed);
        }
        let mut answers = self.meters.time(Call::Turn, self.store.turn(now, vec![turn])).await?;
        Ok(answers.pop().expect("one answer for one turn"))
    }
}

/// A plan that leaves it as it is.
pub(super) fn unmoved(then: Standing) -> Plan {
    Plan { jobs: vec![], cancel: vec![], rows: vec![], then, more: false }
}
