//! Goes on with those who waited for a job that ended. Ends nothing but children whose parent failed.
//!
//! Of all listed edges there is something to do for, the one with the lowest parent, and of that the one with the lowest
//! child, is always the next, so that what comes of it does not depend on how many are done in one call. Callbacks whose
//! steps have all ended come after the edges, by workflow.
//!
//! Isolation. Read committed. Children are locked before their open edges are counted, so of two nodes that satisfy different
//! edges of one child, the second sees what the first did.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use mainspring_core::id::JobId;
use mainspring_core::job::OnFailure;
use mainspring_core::lifecycle::State;
use mainspring_core::name::QueueRef;
use mainspring_core::rank::{Priority, lane};
use mainspring_core::time::Time;
use tokio_postgres::Row;
use uuid::Uuid;

use super::Postgres;
use super::error::{Fault, Result};
use super::moves::{Moves, Place, Who};
use super::numbers::{self, time};
use super::pipeline::{Step, ask, pipeline};
use super::plan::due;
use super::pool::Transaction;
use super::reclaim::cancel;
use super::slip::Slip;

/// What one call of promote has done so far.
#[derive(Debug, Default)]
pub(super) struct Done {
    pub ready: BTreeMap<QueueRef, u64>,
    pub cancelled: Vec<(JobId, QueueRef)>,
}

/// Works the list off; how much of the limit is left, and whether there is more on it.
pub(super) async fn release(
    store: &Postgres,
    txn: &Transaction<'_>,
    now: Time,
    segments: &[i16],
    limit: usize,
    done: &mut Done,
) -> Result<(usize, bool), Fault> {
    if !ask(txn, include_str!("sql/release_any.sql"), &[]).await?[0].get::<_, bool>(0) {
        return Ok((limit, false));
    }
    let mut left = limit;
    while left > 0 {
        let step = release_edges(store, txn, now, segments, left, done).await?;
        if step == 0 {
            break;
        }
        left -= step;
    }
    if left > 0 {
        left -= release_callbacks(store, txn, now, segments, left, done).await?;
    }
    let more = left == 0 && ask(txn, include_str!("sql/release_more.sql"), &[&segments]).await?[0].get(0);
    Ok((left, more))
}

/// A Blocked job, locked.
struct Blocked {
    slip: Slip,
    paused: bool,
    priority: Priority,
    deadline: Option<Time>,
}

impl Blocked {
    fn read(row: &Row) -> Blocked {
        Blocked {
            slip: Slip::read(row),
            paused: row.get(9),
            priority: Priority::new(row.get::<_, i16>(10).into()).unwrap_or_default(),
            deadline: row.get::<_, Option<i64>>(11).map(time),
        }
    }

    fn place(&self) -> Place {
        Place { state: State::Blocked, paused: self.paused }
    }

    /// It is due from now on, or from its own time if that is later: while it was Blocked, nobody was late.
    fn unblock(self, now: Time, queue: &QueueRef, moves: &mut Moves, done: &mut Done) {
        let state = due(self.slip.ready_at, now);
        let ready_at = self.slip.ready_at.max(now);
        let to = Place { state, paused: self.paused };
        let slip = Slip { ready_at, lane: lane(self.priority, ready_at, self.deadline).value(), ..self.slip };
        moves.take(slip.id, self.place());
        moves.put(&slip, to);
        moves.moved(Who::from(&slip), self.place(), to);
        if state == State::Ready && !self.paused {
            *done.ready.entry(queue.clone()).or_insert(0) += 1;
        }
    }
}

/// An edge for which something is to be done.
struct Edge {
    parent: JobId,
    outcome: State,
    child: JobId,
    on_failure: OnFailure,
}

/// Does the next edges, at most so many; how many. Ends early where a child that was cancelled has children of its own, whose
/// edges may come before the rest.
async fn release_edges(
    store: &Postgres,
    txn: &Transaction<'_>,
    now: Time,
    segments: &[i16],
    limit: usize,
    done: &mut Done,
) -> Result<usize, Fault> {
    let count = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = ask(txn, include_str!("sql/release_edges.sql"), &[&segments, &count]).await?;
    if rows.is_empty() {
        // Entries of which only edges that hold are left are not in the way of anything; they go with the next ones.
        ask(txn, include_str!("sql/release_done.sql"), &[&JobId::MAX.uuid()]).await?;
        return Ok(0);
    }
    let mut edges = Vec::with_capacity(rows.len());
    let mut children: HashMap<JobId, Blocked> = HashMap::new();
    for row in &rows {
        let child = Blocked::read(row);
        edges.push(Edge {
            parent: row.get::<_, Uuid>(12).into(),
            outcome: numbers::state(row.get(13))?,
            child: child.slip.id,
            on_failure: numbers::on_failure(row.get(14))?,
        });
        children.insert(child.slip.id, child);
    }
    let names = store.queues.names(txn, children.values().map(|child| child.slip.queue)).await?;
    let mut open = Open::read(txn, children.keys().map(|id| id.uuid()).collect()).await?;

    let mut moves = Moves::default();
    let (mut parents, mut satisfied) = (Vec::new(), Vec::new());
    let mut new_parent: Option<JobId> = None;
    let (mut steps, mut last) = (0, edges[0].parent);
    for edge in edges {
        if new_parent.is_some_and(|new| new < edge.parent) {
            break;
        }
        last = edge.parent;
        // Cancelled by an edge before this one: all its edges went with it.
        let Some(child) = children.get(&edge.child) else { continue };
        if !open.close(edge.child, edge.parent) {
            continue;
        }
        steps += 1;
        let queue = &names[&child.slip.queue];
        if edge.outcome != State::Succeeded && edge.on_failure == OnFailure::Cancel {
            let how = if edge.outcome == State::Dead { "failed" } else { "was cancelled" };
            let reason = format!("its parent {} {how}", edge.parent);
            cancel(&mut moves, now, &child.slip, child.place(), None, reason);
            done.cancelled.push((edge.child, queue.clone()));
            children.remove(&edge.child);
            if open.has_children(edge.child) {
                new_parent = Some(new_parent.map_or(edge.child, |other| other.min(edge.child)));
            }
            continue;
        }
        parents.push(edge.parent.uuid());
        satisfied.push(edge.child.uuid());
        if open.is_free(edge.child) {
            let child = children.remove(&edge.child).expect("it was just there");
            child.unblock(now, queue, &mut moves, done);
        }
    }
    let done_until = last.uuid();
    let satisfy = Step::new(include_str!("sql/release_satisfy.sql"), vec![&parents, &satisfied]);
    moves.write_placed(store, txn, now, vec![satisfy]).await?;
    ask(txn, include_str!("sql/release_done.sql"), &[&done_until]).await?;
    // Nothing done means that all of them were stale; the next look does not find them again.
    Ok(steps)
}

/// The open edges of some children.
struct Open {
    edges: HashMap<JobId, BTreeSet<JobId>>,
    with_children: HashSet<JobId>,
}

impl Open {
    async fn read(txn: &Transaction<'_>, children: Vec<Uuid>) -> Result<Open, Fault> {
        let mut open = Open { edges: HashMap::new(), with_children: HashSet::new() };
        for row in ask(txn, include_str!("sql/release_open.sql"), &[&children]).await? {
            let child = JobId::from(row.get::<_, Uuid>(0));
            open.edges.entry(child).or_default().insert(row.get::<_, Uuid>(1).into());
            if row.get(2) {
                open.with_children.insert(child);
            }
        }
        Ok(open)
    }

    /// Whether it was open until now.
    fn close(&mut self, child: JobId, parent: JobId) -> bool {
        self.edges.get_mut(&child).is_some_and(|parents| parents.remove(&parent))
    }

    fn is_free(&self, child: JobId) -> bool {
        self.edges.get(&child).is_none_or(BTreeSet::is_empty)
    }

    fn has_children(&self, child: JobId) -> bool {
        self.with_children.contains(&child)
    }
}

async fn release_callbacks(
    store: &Postgres,
    txn: &Transaction<'_>,
    now: Time,
    segments: &[i16],
    limit: usize,
    done: &mut Done,
) -> Result<usize, Fault> {
    let count = i64::try_from(limit).unwrap_or(i64::MAX);
    let steps = [Step::new(include_str!("sql/release_callbacks.sql"), vec![&segments, &count])];
    let rows = pipeline(txn, &steps).await?.remove(0);
    let names = store.queues.names(txn, rows.iter().map(|row| row.get(1))).await?;
    let mut moves = Moves::default();
    for callback in rows.iter().map(Blocked::read) {
        let queue = &names[&callback.slip.queue];
        callback.unblock(now, queue, &mut moves, done);
    }
    moves.write_placed(store, txn, now, Vec::new()).await?;
    Ok(rows.len())
}
