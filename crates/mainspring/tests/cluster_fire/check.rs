//! Whether what clients and workers were told fits what the store has, to the last job. The numbers are the promises of the design.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mainspring_wire::{
    Execution, ExecutionOutcome, JobQuery, JobView, LedgerQuery, LedgerRow, LedgerWhat, Outcome, SettledAs, Status,
};
use mainspring_worker::Client;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::book::{Book, Hold, Pages};
use crate::produce::{DOOMED, KEY_LIMIT, Planned, TICK};
use crate::watch;

const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Histories that are read at once.
const READERS: usize = 16;

/// What was found on the way, for the summary.
#[derive(Default)]
pub struct Seen {
    pub by_status: BTreeMap<&'static str, usize>,
    pub attempts: usize,
    pub crashes: usize,
    pub occurrences: usize,
    /// The nominal time and the lateness of what schedules fired, in milliseconds.
    pub late_ms: Vec<(u64, u64)>,
    pub peaks: BTreeMap<String, usize>,
    /// By how much the recorded start of an attempt lies before the recorded end of the one before it, in milliseconds. Two nodes read
    /// their clocks, each before its own write; which one came first, fences say.
    pub back_ms: Vec<u64>,
}

/// Waits until every schedule is over and no job is left to do.
pub async fn wait_for_the_end(client: &Client, schedules: &[Planned]) {
    loop {
        if is_over(client, schedules).await.unwrap_or(false) {
            return;
        }
        watch::pause(LOOK_EVERY).await;
    }
}

async fn is_over(client: &Client, schedules: &[Planned]) -> mainspring_worker::Result<bool> {
    for planned in schedules {
        if client.schedule(&planned.name).await?.next_fire_time.is_some() {
            return Ok(false);
        }
    }
    let queues = client.queues().await?.queues;
    let left = queues.iter().map(|queue| queue.pending + queue.scheduled + queue.running + queue.blocked);
    Ok(left.sum::<u64>() == 0)
}

/// What did not come to its end, for whoever has to find out why.
pub async fn unfinished(client: &Client) -> String {
    let jobs = all_jobs(client).await;
    let open = jobs.values().filter(|job| job.ended_at.is_none()).take(20);
    open.map(|job| format!("{} {} {} {:?}", job.job_id, job.kind, job.status, job.lease)).collect::<Vec<_>>().join("\n")
}

pub async fn check(client: &Client, book: &Book, schedules: &[Planned]) -> Seen {
    let jobs = all_jobs(client).await;
    let histories = histories(client, jobs.keys().copied().collect()).await;
    let mut seen = Seen::default();
    let ticks = ledger(client, &jobs, schedules, &mut seen).await;
    let pages = book.pages();
    everything_accepted_is_there(&pages, &jobs);
    nothing_else_is_there(&pages, &jobs, &ticks);
    let words = words_by_job(&pages);
    for job in jobs.values() {
        let history = &histories[&job.job_id];
        ended_as_told(job, words.get(&job.job_id).unwrap_or(&Words::default()));
        attempts_follow_each_other(job, history, &mut seen);
        *seen.by_status.entry(job.status.as_str()).or_default() += 1;
    }
    let held = surely_held(&pages, &histories);
    nobody_holds_what_another_holds(&held);
    limits_hold(&pages, &jobs, &held, &mut seen);
    assert!(
        !pages.deliveries.is_empty() && pages.late > 0,
        "nothing was shown: {} deliveries, {} workers vanished, {} late words",
        pages.deliveries.len(),
        pages.vanished,
        pages.late
    );
    seen
}

/// 1. Nothing accepted is lost.
fn everything_accepted_is_there(pages: &Pages, jobs: &HashMap<Uuid, JobView>) {
    for (id, kind) in &pages.accepted {
        let job = jobs.get(id).unwrap_or_else(|| panic!("{kind} {id} was accepted and is gone"));
        assert_eq!(job.kind, *kind, "job {id} is another");
        let cancelled = pages.cancel_asked.contains(id) && job.status == Status::Cancelled;
        let expected = if *kind == DOOMED { Status::Failed } else { Status::Completed };
        assert!(job.status == expected || cancelled, "{kind} {id} ended as {}", job.status);
    }
}

/// 1. … and nothing is there that nobody knows of. Producers repeat until they are answered, so they know all.
fn nothing_else_is_there(pages: &Pages, jobs: &HashMap<Uuid, JobView>, ticks: &HashSet<Uuid>) {
    for job in jobs.values().filter(|job| !pages.accepted.contains_key(&job.job_id)) {
        assert!(ticks.contains(&job.job_id), "nobody submitted {} {}: {job:?}", job.kind, job.job_id);
    }
}

/// What was said of one job, by fence.
#[derive(Default)]
struct Words {
    told: Vec<(u64, SettledAs)>,
    /// Perhaps heard.
    said: Vec<(u64, Outcome)>,
}

fn words_by_job(pages: &Pages) -> HashMap<Uuid, Words> {
    let mut words: HashMap<Uuid, Words> = HashMap::new();
    for (&(job, fence), &state) in &pages.ended {
        words.entry(job).or_default().told.push((fence, state));
    }
    for (&(job, fence), outcomes) in &pages.unsure {
        words.entry(job).or_default().said.extend(outcomes.iter().map(|outcome| (fence, *outcome)));
    }
    words
}

/// 2. Who was told that a job ended by its word was told the truth, and nobody else was.
fn ended_as_told(job: &JobView, words: &Words) {
    let (id, told) = (job.job_id, &words.told);
    let count = |state| told.iter().filter(|(_, told)| *told == state).count();
    let (completed, failed, cancelled) =
        (count(SettledAs::Completed), count(SettledAs::Failed), count(SettledAs::Cancelled));
    assert!(completed + failed + cancelled <= 1, "job {id} has more than one end: {told:?}");
    match job.status {
        Status::Completed => {
            let fence =
                job.result.as_ref().and_then(|result| result.get().parse().ok()).expect("its result is a fence");
            let by_doubt = completed == 0 && words.said.contains(&(fence, Outcome::Success));
            let by_word = told.contains(&(fence, SettledAs::Completed));
            assert!(by_word || by_doubt, "job {id} ended under {fence}, and nobody said so: {told:?}");
            assert_eq!(failed + cancelled, 0, "job {id} succeeded: {told:?}");
        }
        Status::Failed => {
            let by_doubt = completed == 0 && words.said.iter().any(|(_, said)| *said == Outcome::Failure);
            assert!(failed == 1 || by_doubt, "job {id} is dead, and nobody failed: {told:?}");
        }
        Status::Cancelled => assert_eq!(completed + failed, 0, "job {id} is cancelled: {told:?}"),
        status => panic!("{} {id} has not ended: {status}", job.kind),
    }
}

/// 2. Fences rise, and every attempt has an end.
fn attempts_follow_each_other(job: &JobView, history: &[Execution], seen: &mut Seen) {
    let id = job.job_id;
    seen.attempts += history.len();
    for execution in history {
        let (Some(_), Some(outcome)) = (execution.ended_at, execution.outcome) else {
            panic!("an attempt at {id} has no end: {execution:?}")
        };
        seen.crashes += usize::from(outcome == ExecutionOutcome::Crashed);
    }
    for pair in history.windows(2) {
        assert!(pair[0].fence < pair[1].fence, "fences of {id} do not rise: {pair:?}");
        let ended_ms = pair[0].ended_at.expect("looked at above").as_millis();
        seen.back_ms.extend(ended_ms.checked_sub(pair[1].started_at.as_millis()).filter(|back| *back > 0));
    }
    let succeeded = history.iter().filter(|execution| execution.outcome == Some(ExecutionOutcome::Succeeded)).count();
    assert_eq!(succeeded, usize::from(job.status == Status::Completed), "job {id} succeeded {succeeded} times");
}

/// 3. Every occurrence has one row, and every one that fired one job. Answers the jobs.
async fn ledger(
    client: &Client,
    jobs: &HashMap<Uuid, JobView>,
    schedules: &[Planned],
    seen: &mut Seen,
) -> HashSet<Uuid> {
    let mut made = HashSet::new();
    for planned in schedules {
        let mut rows = rows(client, &planned.name).await;
        rows.sort_by_key(|row| row.occurrence);
        let mut next_s = planned.first_s;
        for row in rows {
            let name = &planned.name;
            assert_eq!(
                row.occurrence.as_millis(),
                next_s * 1_000,
                "{name}: an occurrence is missing or doubled: {row:?}"
            );
            next_s += row.count * planned.every_s;
            assert_eq!(row.through.as_millis(), (next_s - planned.every_s) * 1_000, "{name}: {row:?}");
            seen.occurrences += usize::try_from(row.count).expect("few");
            // Nothing is skipped and nothing missed: all is caught up, and they may overlap.
            assert_eq!(row.what, LedgerWhat::Fired, "{name}: {row:?}");
            let job = row.job_id.and_then(|id| jobs.get(&id)).unwrap_or_else(|| panic!("{name}: no job for {row:?}"));
            assert_eq!((job.occurrence, job.kind.as_str()), (Some(row.occurrence), TICK), "{name}: another's job");
            assert!(made.insert(job.job_id), "{name}: one job for two occurrences: {row:?}");
            seen.late_ms.push((row.occurrence.as_millis(), row.late_ms.unwrap_or_default()));
        }
        assert_eq!(next_s, planned.last_s + planned.every_s, "{}: the last occurrences are missing", planned.name);
    }
    made
}

/// What workers saw themselves hold and surely held: it ended by their word, so nobody took it from them before. By job.
fn surely_held<'a>(pages: &'a Pages, histories: &HashMap<Uuid, Vec<Execution>>) -> HashMap<Uuid, Vec<&'a Hold>> {
    let by_word = [ExecutionOutcome::Succeeded, ExecutionOutcome::Failed, ExecutionOutcome::Cancelled].map(Some);
    let mut held: HashMap<Uuid, Vec<&Hold>> = HashMap::new();
    for hold in &pages.holds {
        let attempt = histories[&hold.job].iter().find(|attempt| attempt.fence == hold.fence);
        if attempt.is_some_and(|attempt| by_word.contains(&attempt.outcome)) {
            held.entry(hold.job).or_default().push(hold);
        }
    }
    held
}

/// 2. No two holders: while one surely held a job, nobody else did.
fn nobody_holds_what_another_holds(held: &HashMap<Uuid, Vec<&Hold>>) {
    for (job, holds) in held {
        let spans = holds.iter().map(|hold| (hold.from, hold.until)).collect();
        assert!(peak(spans) <= 1, "job {job} was held by two at once: {holds:?}");
    }
}

/// 4. No limit is exceeded: not in any snapshot of the store, nor at any instant by what workers saw.
fn limits_hold(pages: &Pages, jobs: &HashMap<Uuid, JobView>, held: &HashMap<Uuid, Vec<&Hold>>, seen: &mut Seen) {
    let mut watched: BTreeMap<&str, Vec<(Instant, Instant)>> = BTreeMap::new();
    for (job, holds) in held {
        let Some(key) = jobs[job].concurrency_key.as_deref() else { continue };
        watched.entry(key).or_default().extend(holds.iter().map(|hold| (hold.from, hold.until)));
    }
    let by_workers = watched.into_iter().map(|(key, spans)| (format!("{key} by workers"), peak(spans)));
    let in_store = pages.most_held.iter().map(|(key, most)| (format!("{key} in the store"), *most as usize));
    seen.peaks = by_workers.chain(in_store).collect();
    for (place, peak) in &seen.peaks {
        assert!(*peak <= KEY_LIMIT as usize, "{peak} jobs ran at once: {place}");
    }
    assert!(seen.peaks.values().any(|peak| *peak == KEY_LIMIT as usize), "no limit was ever reached: {:?}", seen.peaks);
}

/// The most at one instant. Who leaves in an instant makes room for who comes in it.
fn peak(spans: Vec<(Instant, Instant)>) -> usize {
    let spans = spans.into_iter().filter(|(from, until)| from < until);
    let mut moves: Vec<(Instant, i64)> = spans.flat_map(|(from, until)| [(from, 1), (until, -1)]).collect();
    moves.sort_unstable();
    let mut running = 0;
    let peaks = moves.into_iter().map(|(_, step)| {
        running += step;
        running
    });
    usize::try_from(peaks.max().unwrap_or(0)).expect("nobody leaves before it came")
}

async fn all_jobs(client: &Client) -> HashMap<Uuid, JobView> {
    let mut jobs = HashMap::new();
    let mut cursor = None;
    loop {
        let query = JobQuery { limit: Some(1_000), cursor, ..JobQuery::default() };
        let page = client.jobs(&query).await.expect("a page of jobs");
        jobs.extend(page.jobs.into_iter().map(|job| (job.job_id, job)));
        cursor = page.next_cursor;
        if cursor.is_none() {
            return jobs;
        }
    }
}

async fn histories(client: &Client, ids: Vec<Uuid>) -> HashMap<Uuid, Vec<Execution>> {
    let (places, mut reading) = (Arc::new(Semaphore::new(READERS)), JoinSet::new());
    for id in ids {
        let (client, places) = (client.clone(), places.clone());
        reading.spawn(async move {
            let _place = places.acquire().await.expect("it is never closed");
            (id, client.executions(id).await.expect("the history of a job").executions)
        });
    }
    reading.join_all().await.into_iter().collect()
}

async fn rows(client: &Client, schedule: &str) -> Vec<LedgerRow> {
    let mut rows = Vec::new();
    let mut cursor = None;
    loop {
        let query = LedgerQuery { limit: Some(1_000), cursor };
        let page = client.ledger(schedule, &query).await.expect("a page of the ledger");
        rows.extend(page.rows);
        cursor = page.next_cursor;
        if cursor.is_none() {
            return rows;
        }
    }
}
