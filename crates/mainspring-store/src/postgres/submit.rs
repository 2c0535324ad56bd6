//! Takes jobs in: reads what they can meet, lets [`Plan`] decide, writes what was decided. Makes no ids.
//!
//! Isolation. Read committed. What the plan relies on stays so until the commit: bounded queues, parents and workflows
//! are locked; an id or a key that somebody else brings meanwhile makes the insert come short, and the transaction begins
//! anew and sees it.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use deadpool_postgres::GenericClient;
use mainspring_core::id::JobId;
use mainspring_core::job::{Job, Role};
use mainspring_core::lifecycle::State;
use mainspring_core::name::{IdempotencyKey, QueueRef, TenantName};
use mainspring_core::store::{Error, Submitted};
use mainspring_core::time::Time;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::Postgres;
use super::bulk::COPY_ROWS_MIN;
use super::error::{Fault, Result, damaged};
use super::moves::{Moves, Place, Who};
use super::numbers::{self, ms, time};
use super::pipeline::{Step, ask, ask_at_once, pipeline};
use super::plan::{Bounded, Known, Made, Plan, Seen, Taken, are_together};
use super::pool::{Transaction, transact};
use super::record::Records;
use super::slip::{Slip, Slips};

pub(super) async fn submit(store: &Postgres, now: Time, jobs: Vec<Job>) -> Result<Vec<Submitted>> {
    // Nearly always a job meets nothing: then it is written without a look. What was overlooked undoes the transaction.
    let mut guesses = jobs.iter().all(meets_nothing);
    if guesses && let Some(answers) = submit_at_once(store, now, &jobs).await? {
        store.upkeep.wear(&store.pool, 0);
        return Ok(answers);
    }
    let answers = transact!(store.pool, |txn| {
        let mut answers = None;
        if std::mem::take(&mut guesses) {
            answers = submit_new(store, &txn, now, &jobs).await?;
        }
        match answers {
            Some(answers) => answers,
            None => submit_looking(store, &txn, now, &jobs).await?,
        }
    });
    store.upkeep.wear(&store.pool, 0);
    Ok(answers)
}

/// No key, parent or workflow decides what becomes of it.
fn meets_nothing(job: &Job) -> bool {
    job.idempotency.is_none() && job.depends_on.is_empty() && job.workflow.is_none()
}

/// Takes in a few jobs that meet nothing and are ready at once, by one statement. Nothing if that is not all there is to it.
async fn submit_at_once(store: &Postgres, now: Time, jobs: &[Job]) -> Result<Option<Vec<Submitted>>> {
    if store.limits.last_version() != 0 || jobs.len() >= COPY_ROWS_MIN {
        return Ok(None);
    }
    let connection = store.submit_line.get(&store.pool, jobs.len()).await?;
    let Some((plan, answers)) = plan_new(store, &*connection, now, jobs).await? else { return Ok(None) };
    let (mut records, mut slips) = (Records::default(), Slips::default());
    let mut counts: BTreeMap<i32, i64> = BTreeMap::new();
    for Taken { job, state, .. } in &plan.taken {
        if *state != State::Ready {
            return Ok(None);
        }
        let queue = plan.known.queue_ids[&job.queue_ref()];
        records.push(job, queue);
        slips.push(&Slip::new(job, queue));
        *counts.entry(queue).or_default() += 1;
    }
    let (queues, counts): (Vec<i32>, Vec<i64>) = counts.into_iter().unzip();
    let mut params = records.insert().arrays();
    params.extend([&slips.lanes as &(dyn ToSql + Sync), &slips.ready, &slips.expiries, &slips.marks, &queues, &counts]);
    let written = ask_at_once(&connection, include_str!("sql/submit_plain.sql"), &params).await?;
    let is_written = written.is_some_and(|rows| rows[0].get(0));
    Ok(is_written.then_some(answers))
}

/// What becomes of jobs that meet nothing, if their ids are new and their queues are known and take any number. Nothing if a queue is
/// not.
async fn plan_new<'a>(
    store: &Postgres,
    client: &impl GenericClient,
    now: Time,
    jobs: &'a [Job],
) -> Result<Option<(Plan<'a>, Vec<Submitted>)>, Fault> {
    let queues: BTreeSet<QueueRef> = jobs.iter().map(Job::queue_ref).collect();
    let queue_ids = store.queues.find(client, &queues).await?;
    if queue_ids.len() < queues.len() || store.queues.were_bounded(queue_ids.values()) {
        return Ok(None);
    }
    let mut plan = Plan { now, known: Known { queue_ids, ..Known::default() }, taken: Vec::new() };
    let answers = jobs.chunk_by(are_together).flat_map(|jobs| plan.together(jobs)).collect();
    Ok(Some((plan, answers)))
}

/// Takes them in.
async fn submit_new(
    store: &Postgres,
    txn: &Transaction<'_>,
    now: Time,
    jobs: &[Job],
) -> Result<Option<Vec<Submitted>>, Fault> {
    let Some((plan, answers)) = plan_new(store, txn, now, jobs).await? else { return Ok(None) };
    let numbers: Vec<i32> = plan.known.queue_ids.values().copied().collect();
    let bounded =
        write(store, txn, plan, vec![Step::new(include_str!("sql/submit_bounded.sql"), vec![&numbers])]).await?;
    if !bounded.is_empty() {
        store.queues.note_bounded(bounded.iter().map(|row| row.get(0)));
        return Err(Fault::Raced("jobs were taken into a bounded queue without a look at how full it is"));
    }
    Ok(Some(answers))
}

async fn submit_looking(
    store: &Postgres,
    txn: &Transaction<'_>,
    now: Time,
    jobs: &[Job],
) -> Result<Vec<Submitted>, Fault> {
    let mut plan = read(store, txn, now, &jobs.iter().collect::<Vec<_>>()).await?;
    let answers = jobs.chunk_by(are_together).flat_map(|jobs| plan.together(jobs)).collect();
    write(store, txn, plan, Vec::new()).await?;
    Ok(answers)
}

/// Reads and locks what these jobs can meet. To be called once in a transaction, before anything is written in it.
pub(super) async fn read<'a>(
    store: &Postgres,
    txn: &Transaction<'_>,
    now: Time,
    jobs: &[&Job],
) -> Result<Plan<'a>, Fault> {
    let queues: BTreeSet<QueueRef> = jobs.iter().map(|job| job.queue_ref()).collect();
    let queue_ids = store.queues.find(txn, &queues).await?;
    store.queues.has_room_for(txn, queues.len() - queue_ids.len(), store.queues_max).await?;

    let ids: Vec<Uuid> = jobs.iter().map(|job| job.id.uuid()).collect();
    let numbers: Vec<i32> = queue_ids.values().copied().collect();
    let keys: BTreeSet<(&str, &str)> =
        jobs.iter().filter_map(|job| Some((job.tenant.as_str(), job.idempotency.as_ref()?.key.as_str()))).collect();
    let (key_tenants, key_texts): (Vec<&str>, Vec<&str>) = keys.into_iter().unzip();
    let workflows: BTreeSet<(&str, Uuid)> =
        jobs.iter().filter_map(|job| Some((job.tenant.as_str(), job.workflow.as_ref()?.workflow.0))).collect();
    let (workflow_tenants, workflow_ids): (Vec<&str>, Vec<Uuid>) = workflows.into_iter().unzip();

    let mut steps = vec![
        Step::new(include_str!("sql/submit_bounded.sql"), vec![&numbers]),
        Step::new(include_str!("sql/submit_seen.sql"), vec![&ids]),
    ];
    if !key_texts.is_empty() {
        steps.push(Step::new(include_str!("sql/submit_keys.sql"), vec![&key_tenants, &key_texts]));
    }
    if !workflow_ids.is_empty() {
        steps.push(Step::new(include_str!("sql/submit_workflows.sql"), vec![&workflow_tenants, &workflow_ids]));
    }
    let mut answers = pipeline(txn, &steps).await?.into_iter();
    let (bounded, seen) = (answers.next().unwrap_or_default(), answers.next().unwrap_or_default());
    let mut known = Known { queue_ids, ..Known::default() };
    if !key_texts.is_empty() {
        for row in answers.next().unwrap_or_default() {
            let made =
                Made { id: row.get::<_, Uuid>(2).into(), fingerprint: sixteen(row.get(3))?, until: time(row.get(4)) };
            known.keys.insert((tenant(row.get(0))?, key(row.get(1))?), made);
        }
    }
    if !workflow_ids.is_empty() {
        for row in answers.next().unwrap_or_default() {
            let steps = u64::try_from(row.get::<_, i64>(2)).unwrap_or_default();
            known.unfinished.insert((tenant(row.get(0))?, row.get(1)), steps);
        }
    }
    if !bounded.is_empty() {
        let numbers: Vec<i32> = bounded.iter().map(|row| row.get(0)).collect();
        let depths = ask(txn, include_str!("sql/submit_depths.sql"), &[&numbers]).await?;
        let depths: BTreeMap<i32, i64> = depths.iter().map(|row| (row.get(0), row.get(1))).collect();
        for row in bounded {
            let number: i32 = row.get(0);
            let queue = known.queue_ids.iter().find(|(_, id)| **id == number).map(|(queue, _)| queue.clone());
            let count = |count: i64| u64::try_from(count).unwrap_or_default();
            let depth = count(depths.get(&number).copied().unwrap_or_default());
            known.bounded.extend(queue.map(|queue| (queue, Bounded { max_depth: count(row.get(1)), depth })));
        }
    }
    let seen: Vec<Uuid> = seen.iter().map(|row| row.get(0)).collect();
    read_jobs(txn, &mut known, &seen, jobs).await?;
    Ok(Plan { now, known, taken: Vec::new() })
}

/// Where the jobs are that were seen before, and the parents. Parents stay there until we are done.
async fn read_jobs(txn: &Transaction<'_>, known: &mut Known, seen: &[Uuid], jobs: &[&Job]) -> Result<(), Fault> {
    let ours: HashSet<JobId> = jobs.iter().map(|job| job.id).collect();
    let depended = jobs.iter().flat_map(|job| &job.depends_on).map(|dependency| dependency.parent);
    let parents: BTreeSet<Uuid> = depended.map(|parent| parent.uuid()).collect();
    if seen.is_empty() && parents.is_empty() {
        return Ok(());
    }
    let held = hold(txn, &parents).await?;
    let asked: Vec<Uuid> =
        seen.iter().copied().chain(parents.iter().copied()).collect::<BTreeSet<_>>().into_iter().collect();
    for row in ask(txn, include_str!("sql/whereabouts.sql"), &[&asked]).await? {
        let id: Uuid = row.get(0);
        let state = numbers::state(row.get(2))?;
        if parents.contains(&id) && !held.contains(&id) && !state.is_final() && !ours.contains(&JobId::from(id)) {
            // It went from table to table while we looked into them one by one.
            return Err(Fault::Raced("a parent moved while its child was submitted"));
        }
        known.jobs.insert(
            id.into(),
            Seen {
                tenant: tenant(row.get(1))?,
                state,
                ready_at: time(row.get::<_, Option<i64>>(3).unwrap_or_default()),
            },
        );
    }
    Ok(())
}

/// Keeps unfinished parents where they are: whoever ends one of them waits for our commit, and then sees the new edge. Looked
/// for in the order of a job's walk, so that one that moves on is met in the next table.
async fn hold(txn: &Transaction<'_>, parents: &BTreeSet<Uuid>) -> Result<HashSet<Uuid>, Fault> {
    if parents.is_empty() {
        return Ok(HashSet::new());
    }
    let ids: Vec<Uuid> = parents.iter().copied().collect();
    let tables = [
        include_str!("sql/hold_aside.sql"),
        include_str!("sql/hold_waiting.sql"),
        include_str!("sql/hold_ready.sql"),
        include_str!("sql/hold_leases.sql"),
    ];
    let held = pipeline(txn, &tables.map(|sql| Step::new(sql, vec![&ids]))).await?;
    Ok(held.iter().flatten().map(|row| row.get(0)).collect())
}

/// Writes what was decided, together with the given statements; what the first of those answered.
pub(super) async fn write(
    store: &Postgres,
    txn: &Transaction<'_>,
    plan: Plan<'_>,
    first: Vec<Step<'_>>,
) -> Result<Vec<Row>, Fault> {
    let Plan { now, known, taken } = plan;
    if taken.is_empty() {
        return Ok(Vec::new());
    }
    let mut queue_ids = known.queue_ids;
    let new: BTreeSet<QueueRef> =
        taken.iter().map(|taken| taken.job.queue_ref()).filter(|queue| !queue_ids.contains_key(queue)).collect();
    if !new.is_empty() {
        queue_ids.extend(store.queues.make(txn, &new).await?);
    }

    let mut moves = Moves::default();
    let mut records = Records::default();
    let (mut parents, mut children, mut on_failure) = (Vec::new(), Vec::new(), Vec::new());
    for Taken { job, state, open, .. } in &taken {
        let queue = *queue_ids.get(&job.queue_ref()).ok_or_else(|| damaged("no number for a queue it just made"))?;
        records.push(job, queue);
        let slip = Slip::new(job, queue);
        moves.put(&slip, Place::of(*state));
        moves.came(Who::from(&slip), Place::of(*state));
        for dependency in open {
            parents.push(dependency.parent.uuid());
            children.push(job.id.uuid());
            on_failure.push(numbers::of_on_failure(dependency.on_failure));
        }
    }
    let keys = Keys::of(&taken);
    let workflows = Workflows::of(&taken);
    let (key_count, at) = (keys.keys.len() as i64, ms(now));
    let mut steps = first;
    records.insert().write(txn, &mut steps).await?;
    if !keys.keys.is_empty() {
        steps.push(keys.step(&key_count, &at));
    }
    if !parents.is_empty() {
        steps.push(Step::new(include_str!("sql/submit_put_edges.sql"), vec![&parents, &children, &on_failure]));
    }
    if !workflows.ids.is_empty() {
        steps.push(workflows.step(&at));
    }
    let (answers, _) = moves.write_placed(store, txn, now, steps).await?;
    Ok(answers.into_iter().next().unwrap_or_default())
}

/// What keys made, the last word for each.
#[derive(Default)]
struct Keys<'a> {
    tenants: Vec<&'a str>,
    keys: Vec<&'a str>,
    jobs: Vec<Uuid>,
    fingerprints: Vec<&'a [u8]>,
    until: Vec<i64>,
}

impl<'a> Keys<'a> {
    fn of(taken: &'a [Taken<'_>]) -> Keys<'a> {
        let said = taken.iter().filter_map(|taken| Some((taken.job, taken.job.idempotency.as_ref()?)));
        let last: BTreeMap<_, _> =
            said.map(|(job, said)| ((job.tenant.as_str(), said.key.as_str()), (job, said))).collect();
        let mut keys = Keys::default();
        for ((tenant, key), (job, said)) in last {
            keys.tenants.push(tenant);
            keys.keys.push(key);
            keys.jobs.push(job.id.uuid());
            keys.fingerprints.push(&said.fingerprint);
            keys.until.push(ms(said.until));
        }
        keys
    }

    fn step<'s>(&'s self, count: &'s i64, now: &'s i64) -> Step<'s> {
        let Keys { tenants, keys, jobs, fingerprints, until } = self;
        Step::new(include_str!("sql/submit_put_keys.sql"), vec![count, tenants, keys, jobs, fingerprints, until, now])
    }
}

/// What becomes of the workflows of the jobs.
#[derive(Default)]
struct Workflows<'a> {
    tenants: Vec<&'a str>,
    ids: Vec<Uuid>,
    callbacks: Vec<Option<Uuid>>,
    callback_waits: Vec<bool>,
    members: Vec<i32>,
    blocked: Vec<i32>,
    waiting: Vec<i32>,
    ready: Vec<i32>,
}

impl<'a> Workflows<'a> {
    fn of(taken: &'a [Taken<'_>]) -> Workflows<'a> {
        let mut by_id: BTreeMap<(&str, Uuid), Vec<&Taken<'_>>> = BTreeMap::new();
        for member in taken {
            if let Some(place) = &member.job.workflow {
                by_id.entry((member.job.tenant.as_str(), place.workflow.0)).or_default().push(member);
            }
        }
        let mut rows = Workflows::default();
        for ((tenant, id), members) in by_id {
            let role = |member: &&Taken<'_>| member.job.workflow.as_ref().map(|place| place.role);
            let callback = members.iter().rev().find(|member| role(member) == Some(Role::Callback));
            let steps = |state| {
                members.iter().filter(|member| role(member) == Some(Role::Step) && member.state == state).count() as i32
            };
            rows.tenants.push(tenant);
            rows.ids.push(id);
            rows.callbacks.push(callback.map(|member| member.job.id.uuid()));
            rows.callback_waits.push(callback.is_some_and(|member| member.state == State::Blocked));
            rows.members.push(members.len() as i32);
            rows.blocked.push(steps(State::Blocked));
            rows.waiting.push(steps(State::Waiting));
            rows.ready.push(steps(State::Ready));
        }
        rows
    }

    fn step<'s>(&'s self, now: &'s i64) -> Step<'s> {
        let Workflows { tenants, ids, callbacks, callback_waits, members, blocked, waiting, ready } = self;
        Step::new(
            include_str!("sql/submit_put_workflows.sql"),
            vec![now, tenants, ids, callbacks, callback_waits, members, blocked, waiting, ready],
        )
    }
}

pub(super) fn tenant(text: &str) -> Result<TenantName, Error> {
    TenantName::parse(text).map_err(|error| damaged(format!("tenant {text:?}: {error}")))
}

pub(super) fn key(text: &str) -> Result<IdempotencyKey, Error> {
    IdempotencyKey::parse(text).map_err(|error| damaged(format!("idempotency key {text:?}: {error}")))
}

pub(super) fn sixteen(bytes: &[u8]) -> Result<[u8; 16], Error> {
    bytes.try_into().map_err(|_| damaged("a fingerprint that has not 16 bytes"))
}
