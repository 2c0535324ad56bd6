//! Calls that work in bounded steps: they are repeated while there is more, because a store is free to do less than it
//! was asked in one step. It is not free to do more, or to go on for ever.

use std::collections::BTreeMap;

use mainspring_core::store::*;
use mainspring_core::time::Time;

use super::perform::Answer;

/// More steps than any call of a script can need.
const STEPS_MAX: usize = 1000;

pub async fn promote(store: &dyn Store, now: Time, ask: Promote) -> Result<Answer> {
    let (mut ready, mut oldest, mut cancelled) = (BTreeMap::new(), None::<Time>, Vec::new());
    let (mut due, mut refused) = (None, None);
    for _ in 0..STEPS_MAX {
        // Schedules stay due until they are turned: whoever goes on asking for them is told of more for ever.
        let due_limit = if due.is_none() { ask.due_limit } else { 0 };
        let step = store.promote(now, Promote { due_limit, ..ask.clone() }).await?;
        let count: u64 = step.ready.iter().map(|(_, count)| count).sum();
        if count + step.cancelled.len() as u64 > ask.limit as u64 || step.due.len() > due_limit {
            return Ok(Answer::Broke(format!("past its limit: {step:?}")));
        }
        if !step.ready.is_sorted_by(|(one, _), (next, _)| one < next) {
            return Ok(Answer::Broke(format!("not in the order of queues: {step:?}")));
        }
        if *refused.get_or_insert(step.refused) != step.refused {
            return Ok(Answer::Broke(format!("refuses something else: {step:?}")));
        }
        if step.more && !step.upcoming.is_empty() {
            return Ok(Answer::Broke(format!("looks ahead while there is more: {step:?}")));
        }
        step.ready.into_iter().for_each(|(queue, count)| *ready.entry(queue).or_insert(0) += count);
        oldest = oldest.into_iter().chain(step.oldest).min();
        cancelled.extend(step.cancelled);
        let due = due.get_or_insert(step.due);
        if !step.more {
            let after = store.promote(now, ask).await?;
            let upcoming = step.upcoming;
            let (nothing, listed) = (after.ready.is_empty() && after.cancelled.is_empty(), std::mem::take(due));
            if !nothing || after.due != listed {
                return Ok(Answer::Broke(format!("was done, and then did or listed something else: {after:?}")));
            }
            let (refused, more_due) = (after.refused, after.more);
            return Ok(Answer::Promoted { ready, oldest, cancelled, due: listed, more_due, upcoming, refused });
        }
    }
    Ok(endless("promote"))
}

pub async fn reclaim(store: &dyn Store, now: Time, ask: Reclaim) -> Result<Answer> {
    let (mut leases, mut expired, mut silent) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..STEPS_MAX {
        let step = store.reclaim(now, ask).await?;
        if step.leases.len() > ask.limit || step.expired.len() > ask.limit {
            return Ok(Answer::Broke(format!("past its limit: {step:?}")));
        }
        leases.extend(step.leases);
        expired.extend(step.expired);
        silent.extend(step.silent);
        if !step.more {
            silent.sort();
            return Ok(Answer::Reclaimed { leases, expired, silent, deposed: step.deposed });
        }
    }
    Ok(endless("reclaim"))
}

pub async fn prune(store: &dyn Store, now: Time, ask: Prune) -> Result<Answer> {
    let (mut jobs, mut keys, mut rows) = (0, 0, 0);
    for _ in 0..STEPS_MAX {
        let step = store.prune(now, ask).await?;
        if step.jobs + step.keys + step.rows > ask.limit as u64 {
            return Ok(Answer::Broke(format!("past its limit: {step:?}")));
        }
        jobs += step.jobs;
        keys += step.keys;
        rows += step.rows;
        if !step.more {
            return Ok(Answer::Pruned { jobs, keys, rows, deposed: step.deposed });
        }
    }
    Ok(endless("prune"))
}

pub async fn find(store: &dyn Store, mut query: Query) -> Result<Answer> {
    let mut found = Vec::new();
    for _ in 0..STEPS_MAX {
        let page = store.find(query.clone()).await?;
        if page.jobs.len() > query.limit {
            return Ok(Answer::Broke(format!("past its limit: {page:?}")));
        }
        found.extend(page.jobs);
        if page.next.is_none() {
            return Ok(Answer::Found(found));
        }
        query.below = page.next;
    }
    Ok(endless("find"))
}

pub async fn schedules(store: &dyn Store, mut query: ScheduleQuery) -> Result<Answer> {
    let mut found = Vec::new();
    for _ in 0..STEPS_MAX {
        let page = store.schedules(query.clone()).await?;
        if page.schedules.len() > query.limit {
            return Ok(Answer::Broke(format!("past its limit: {page:?}")));
        }
        found.extend(page.schedules);
        if page.next.is_none() {
            return Ok(Answer::Schedules(found));
        }
        query.above = page.next;
    }
    Ok(endless("schedules"))
}

pub async fn ledger(store: &dyn Store, mut query: LedgerQuery) -> Result<Answer> {
    let mut found = Vec::new();
    for _ in 0..STEPS_MAX {
        let page = store.ledger(query.clone()).await?;
        if page.rows.len() > query.limit {
            return Ok(Answer::Broke(format!("past its limit: {page:?}")));
        }
        found.extend(page.rows);
        if page.next.is_none() {
            return Ok(Answer::Ledger(found));
        }
        query.below = page.next;
    }
    Ok(endless("ledger"))
}

/// Which jobs a store looks at first is its own business: of an agenda that is cut short, only its limit is checked.
pub async fn agenda(store: &dyn Store, ask: AgendaAsk) -> Result<Answer> {
    let some = store.agenda(ask.clone()).await?;
    let all = store.agenda(AgendaAsk { jobs_max: u64::MAX, ..ask.clone() }).await?;
    let counted: u64 = some.due.iter().map(|(_, count)| count).sum();
    let is_whole = some.due == all.due;
    match counted > ask.jobs_max || all.partial || !(some.partial || is_whole) {
        true => Ok(Answer::Broke(format!("{some:?} is cut at {} from {all:?}", ask.jobs_max))),
        false => Ok(Answer::Agenda(all.due)),
    }
}

/// Takes the hints out of what is told of gates: how many queues a store names is its own business. That it tells
/// nothing where there is nothing to tell is not.
pub fn without_hints<'a>(told: impl Iterator<Item = &'a mut Option<Box<GateNews>>>) -> Option<Answer> {
    for told in told {
        if told.as_deref() == Some(&GateNews::default()) {
            return Some(Answer::Broke("tells of gates where there is nothing to tell".to_owned()));
        }
        let rest = told.take().map(|news| GateNews { opened: Vec::new(), ..*news });
        *told = rest.filter(|news| *news != GateNews::default()).map(Box::new);
    }
    None
}

fn endless(call: &str) -> Answer {
    Answer::Broke(format!("{call} says that there is more for ever"))
}
