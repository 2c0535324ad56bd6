//! Has every database move on what is due in its own segments. The bounds are those of the whole answer: the limit is dealt out,
//! and what was listed is merged and cut.

use std::collections::{BTreeMap, BTreeSet};

use mainspring_core::name::QueueRef;
use mainspring_core::schedule::{ScheduleRef, ScheduleView, place_of};
use mainspring_core::store::{Promote, Promoted, Result};
use mainspring_core::time::Time;

use super::{NOT_ASKED, Sharded};

impl Sharded {
    pub(super) async fn promote_all(&self, now: Time, ask: Promote) -> Result<Promoted> {
        let mut limits = self.shares(ask.limit);
        let mut parts: Vec<Option<Promoted>> = self.databases.iter().map(|_| None).collect();
        loop {
            let answers = self
                .ask_some(|database| {
                    let limit = limits[database.shard.index()];
                    let segments = ask.segments.within(self.placement.segments_of(database.shard));
                    let part = Promote { segments, limit, ..ask.clone() };
                    (limit != NOT_ASKED).then_some(async move { database.store.promote(now, part).await })
                })
                .await;
            let answers = match answers {
                // What was moved before is told even if the second step fails.
                Err(_) if parts.iter().any(Option::is_some) => return Ok(merge(parts.into_iter().flatten(), &ask)),
                answers => answers?.0,
            };
            for (part, answer) in parts.iter_mut().zip(answers) {
                *part = match (part.take(), answer) {
                    (Some(before), Some(then)) => Some(followed(before, then)),
                    (before, then) => then.or(before),
                };
            }
            let moved: u64 = parts.iter().flatten().map(moved).sum();
            let behind: Vec<bool> = parts.iter().map(|part| part.as_ref().is_some_and(|part| part.more)).collect();
            let left = ask.limit.saturating_sub(usize::try_from(moved).unwrap_or(usize::MAX));
            match self.left_over(left, &limits, &behind) {
                Some(next) => limits = next,
                None => return Ok(merge(parts.into_iter().flatten(), &ask)),
            }
        }
    }
}

/// How much of a limit was used.
fn moved(part: &Promoted) -> u64 {
    part.ready.iter().map(|(_, count)| count).sum::<u64>() + part.cancelled.len() as u64
}

/// What one database has done in two steps: what it moved in both, and what it lists after the second.
fn followed(before: Promoted, then: Promoted) -> Promoted {
    let mut ready: BTreeMap<QueueRef, u64> = before.ready.into_iter().collect();
    then.ready.into_iter().for_each(|(queue, count)| *ready.entry(queue).or_default() += count);
    Promoted {
        ready: ready.into_iter().collect(),
        oldest: before.oldest.into_iter().chain(then.oldest).min(),
        cancelled: before.cancelled.into_iter().chain(then.cancelled).collect(),
        opened: before.opened.into_iter().chain(then.opened).collect(),
        ..then
    }
}

fn merge(parts: impl Iterator<Item = Promoted>, ask: &Promote) -> Promoted {
    let mut whole = Promoted::default();
    let mut ready: BTreeMap<QueueRef, u64> = BTreeMap::new();
    let mut upcoming: BTreeSet<Time> = BTreeSet::new();
    let earlier = |one: Option<Time>, other: Option<Time>| one.into_iter().chain(other).min();
    for part in parts {
        part.ready.into_iter().for_each(|(queue, count)| *ready.entry(queue).or_default() += count);
        whole.oldest = earlier(whole.oldest, part.oldest);
        whole.cancelled.extend(part.cancelled);
        whole.due.extend(part.due);
        upcoming.extend(part.upcoming);
        whole.opened.extend(part.opened);
        whole.gates_at = earlier(whole.gates_at, part.gates_at);
        whole.refused = whole.refused.with(part.refused);
        whole.more |= part.more;
    }
    whole.ready = ready.into_iter().collect();
    whole.due.sort_by_cached_key(order);
    whole.more |= whole.due.len() > ask.due_limit;
    whole.due.truncate(ask.due_limit);
    if !whole.more {
        whole.upcoming = upcoming.into_iter().take(ask.look_ahead_limit).collect();
    }
    whole
}

fn order(view: &ScheduleView) -> (Option<Time>, u32, ScheduleRef) {
    let schedule = view.schedule.reference();
    (view.standing.wake_at, place_of(&schedule), schedule)
}
