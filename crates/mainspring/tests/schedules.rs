//! Schedules through the real program: killed around fire times, down for a minute and for a season, and what a preview promises.

mod harness;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use harness::Server;
use mainspring_wire::{
    Advance, Catchup, CatchupMode, Event, EventKind, Every, JobQuery, LedgerQuery, LedgerRow, LedgerWhat, NewSchedule,
    PreviewQuery, Span, Timestamp,
};
use mainspring_worker::{Client, Expect};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const KILLS: u64 = 22;
const SCHEDULES: u64 = 24;
const MINUTE_MS: u64 = 60_000;
const DAY_MS: u64 = 24 * 60 * MINUTE_MS;

fn client(server: &Server) -> Client {
    Client::new(&server.url).expect("an address")
}

/// Of the mode none, how far back and how many says nothing, and is refused.
fn catchup(mode: CatchupMode, window: Span, max: u32) -> Catchup {
    match mode {
        CatchupMode::None => mode.into(),
        _ => Catchup { mode, window: Some(window), max: Some(max) },
    }
}

fn every_second(index: u64, mode: CatchupMode) -> NewSchedule {
    // Close together, so that a kill falls between two of them.
    let anchor = Some(Timestamp(index * 2));
    NewSchedule {
        every: Some(Every { every: Span::from_secs(1), anchor }),
        catchup: Some(catchup(mode, Span::from_secs(3600), 10_000)),
        ..NewSchedule::new(format!("s{index}"), "t")
    }
}

/// Exactly one job for each occurrence, or one row that says why not.
#[test]
fn every_occurrence_makes_one_job_or_says_why_not_over_twenty_kills() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let dir = tempfile::tempdir().expect("a directory");
        let mut server = Server::start_with(dir.path(), &["--log-level", "warn"]);
        let mut random = StdRng::seed_from_u64(1);
        let modes = [CatchupMode::All, CatchupMode::Latest, CatchupMode::None];
        let mut schedules = BTreeMap::new();
        for index in 0..SCHEDULES {
            let mode = modes[(index % 3) as usize];
            let schedule = every_second(index, mode);
            let name = format!("s{index}");
            let view = client(&server).put_schedule(&name, &schedule, Expect::Absent).await.expect("stored");
            schedules.insert(name, (mode, view.created_at));
        }
        for _ in 0..KILLS {
            kill_after(&mut server, random.random_range(1..2 * SCHEDULES)).await;
            server.restart();
        }
        // The last start has caught up when every schedule has fired after it.
        let client = client(&server);
        let started_at = client.clock().await.expect("the clock").now;
        let mut checked = 0;
        for (name, (mode, created_at)) in &schedules {
            let rows = ledger_past(&client, name, started_at).await;
            checked += check(&client, name, *mode, *created_at, rows).await;
        }
        println!("{checked} occurrences of {SCHEDULES} schedules over {KILLS} kills");
        assert!(checked > SCHEDULES * KILLS / 4, "the server was killed before it did anything: {checked}");
    });
}

/// Kills the server right after so many fires.
async fn kill_after(server: &mut Server, fires: u64) {
    let mut events = client(server).events_of(None, &[EventKind::ScheduleFired]).await.expect("events");
    let watching = async {
        for _ in 0..fires {
            let event: Option<Event> = events.next().await.expect("the server runs");
            event.expect("the stream goes on");
        }
    };
    tokio::time::timeout(Duration::from_secs(60), watching).await.expect("schedules fire");
    server.kill();
}

/// Every row of the ledger, once it reaches past an instant; latest first.
async fn ledger_past(client: &Client, name: &str, past: Timestamp) -> Vec<LedgerRow> {
    let reached = async {
        loop {
            let rows = ledger(client, name).await;
            if rows.first().is_some_and(|row| row.through > past) {
                return rows;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), reached).await.expect("it goes on firing")
}

async fn ledger(client: &Client, name: &str) -> Vec<LedgerRow> {
    let mut rows = Vec::new();
    let mut query = LedgerQuery { limit: Some(1000), cursor: None };
    loop {
        let page = client.ledger(name, &query).await.expect("a page");
        rows.extend(page.rows);
        query.cursor = page.next_cursor;
        if query.cursor.is_none() {
            return rows;
        }
    }
}

/// The occurrences of a schedule's jobs.
async fn occurrences_of_jobs(client: &Client, name: &str) -> Vec<Timestamp> {
    let mut occurrences = Vec::new();
    let mut query = JobQuery { schedule: Some(name.to_owned()), limit: Some(1000), ..JobQuery::default() };
    loop {
        let page = client.jobs(&query).await.expect("a page");
        occurrences.extend(page.jobs.iter().map(|job| job.occurrence.expect("a job of a schedule has one")));
        query.cursor = page.next_cursor;
        if query.cursor.is_none() {
            return occurrences;
        }
    }
}

/// The calendar's own word, after one instant and through another.
async fn calendar(client: &Client, name: &str, after: Timestamp, through: Timestamp) -> Vec<Timestamp> {
    let mut found = Vec::new();
    let mut after = after;
    loop {
        let query = PreviewQuery { count: Some(1000), after: Some(after) };
        let preview = client.preview_schedule(name, &query).await.expect("a preview");
        let Some(last) = preview.occurrences.last() else { return found };
        let done = preview.ends || last.at > through;
        after = last.at;
        found.extend(preview.occurrences.iter().map(|occurrence| occurrence.at).filter(|at| *at <= through));
        if done {
            return found;
        }
    }
}

/// Compares ledger, jobs and calendar; answers how many occurrences there were.
async fn check(client: &Client, name: &str, mode: CatchupMode, created_at: Timestamp, rows: Vec<LedgerRow>) -> u64 {
    let through = rows.iter().map(|row| row.through).max().expect("it has rows");
    let expected = calendar(client, name, created_at, through).await;
    let jobs: Vec<Timestamp> =
        occurrences_of_jobs(client, name).await.into_iter().filter(|occurrence| *occurrence <= through).collect();
    let fired: BTreeSet<Timestamp> = jobs.iter().copied().collect();
    assert_eq!(fired.len(), jobs.len(), "{name}: an occurrence has two jobs");

    let mut told: BTreeMap<Timestamp, &LedgerRow> = BTreeMap::new();
    for row in &rows {
        let inside: Vec<Timestamp> =
            expected.iter().copied().filter(|at| (row.occurrence..=row.through).contains(at)).collect();
        assert_eq!(inside.len() as u64, row.count, "{name}: a row covers other occurrences than it counts: {row:?}");
        for at in inside {
            let before = told.insert(at, row);
            assert!(before.is_none(), "{name}: {at} is in the ledger twice: {before:?} and {row:?}");
        }
    }
    for at in &expected {
        let row = told.get(at).unwrap_or_else(|| panic!("{name}: the ledger says nothing of {at}"));
        let has_job = fired.contains(at);
        match row.what {
            LedgerWhat::Fired => assert!(has_job, "{name}: {at} is told as fired and has no job"),
            LedgerWhat::Missed => assert!(!has_job && mode != CatchupMode::All, "{name}: {at} is told as missed"),
            other => panic!("{name}: {at} is told as {other}, which nobody asked for"),
        }
    }
    assert!(fired.iter().all(|at| told.contains_key(at)), "{name}: a job of no occurrence");
    expected.len() as u64
}

fn at(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

fn start_at(dir: &std::path::Path, now: Timestamp) -> Server {
    Server::start_with(dir, &["--log-level", "error", &format!("--virtual-clock={now}")])
}

/// After a minute, a day and a season down: which occurrences still make a job, and what the ledger says of the others.
#[tokio::test]
async fn what_was_missed_while_down_is_caught_up_as_the_schedule_says() {
    let began = at("2026-01-01T00:00:00Z");
    let often = |mode: CatchupMode| NewSchedule {
        cron: Some("*/10 * * * *".into()),
        catchup: Some(catchup(mode, Span::from_millis(2 * DAY_MS), 200)),
        ..NewSchedule::new("unused", "t")
    };
    // How long it was down, and how many jobs each mode makes of the occurrences that passed: one every ten minutes.
    // The ledger remembers for 90 days, so the longest is an hour short of that.
    let season = 90 * DAY_MS - 60 * MINUTE_MS;
    for (down_ms, passed, latest, all) in [(MINUTE_MS, 0, 0, 0), (DAY_MS, 144, 1, 144), (season, 90 * 144 - 6, 1, 200)]
    {
        let dir = tempfile::tempdir().expect("a directory");
        let mut server = start_at(dir.path(), began);
        let schedules = [
            ("none", often(CatchupMode::None), 0),
            ("latest", often(CatchupMode::Latest), latest),
            ("all", often(CatchupMode::All), all),
        ];
        for (name, schedule, _) in &schedules {
            client(&server).put_schedule(name, schedule, Expect::Absent).await.expect("stored");
        }
        // One occurrence fires while it is up, so that the rest counts from there. Both ends lie between two occurrences: one
        // that is hardly late counts as on time.
        client(&server)
            .advance_clock(&Advance { by: Some(Span::from_millis(15 * MINUTE_MS)), to: None })
            .await
            .expect("advanced");
        assert!(server.terminate().success());
        let up_again = Timestamp(began.0 + 15 * MINUTE_MS + down_ms);
        let server = start_at(dir.path(), up_again);
        let client = client(&server);
        // Nothing more falls due in it; it only waits until everything is decided.
        client.advance_clock(&Advance { by: Some(Span::from_millis(1)), to: None }).await.expect("advanced");
        for (name, _, caught_up) in &schedules {
            let jobs = occurrences_of_jobs(&client, name).await;
            assert_eq!(jobs.len() as u64, 1 + caught_up, "{name} after {down_ms} ms");
            let newest: BTreeSet<Timestamp> = jobs.iter().copied().collect();
            let calendar = calendar(&client, name, began, up_again).await;
            assert_eq!(calendar.len() as u64, 1 + passed);
            let expected: BTreeSet<Timestamp> =
                calendar[..1].iter().chain(&calendar[calendar.len() - *caught_up as usize..]).copied().collect();
            assert_eq!(newest, expected, "{name}: the newest are caught up");
            let rows = ledger(&client, name).await;
            let count = |what: LedgerWhat| rows.iter().filter(|row| row.what == what).map(|row| row.count).sum::<u64>();
            assert_eq!(count(LedgerWhat::Fired), 1 + caught_up, "{name}");
            assert_eq!(count(LedgerWhat::Missed), passed - caught_up, "{name}");
        }
    }
}

/// What a preview says before is what has fired afterwards, over a change of the clocks.
#[tokio::test]
async fn what_was_previewed_is_what_fires() {
    let dir = tempfile::tempdir().expect("a directory");
    let began = at("2027-03-27T00:00:00Z");
    let server = start_at(dir.path(), began);
    let client = client(&server);
    let documents = [
        r#"{"cron":"30 2 * * *","timezone":"Europe/Berlin","job":{"type":"t"}}"#,
        r#"{"cron":"30 2 * * *","timezone":"Europe/Berlin","dst_gap":"skip","job":{"type":"t"}}"#,
        r#"{"every":"47m","jitter":"5m","job":{"type":"t"}}"#,
        r#"{"daily":["09:00","17:30"],"timezone":"America/New_York","exclude":["2027-03-28"],"job":{"type":"t"}}"#,
        r#"{"when":[{"cron":"0 */6 * * *"},{"rrule":"FREQ=DAILY;BYHOUR=12;BYMINUTE=5;BYSECOND=0"}],"max_runs":7,"job":{"type":"t"}}"#,
    ];
    let mut promised = Vec::new();
    for (index, document) in documents.iter().enumerate() {
        let name = format!("p{index}");
        let schedule: NewSchedule = serde_json::from_str(document).expect("a schedule");
        client.put_schedule(&name, &schedule, Expect::Absent).await.expect("stored");
        let preview =
            client.preview_schedule(&name, &PreviewQuery { count: Some(1000), after: None }).await.expect("a preview");
        promised.push((name, preview.occurrences));
    }
    let until = Timestamp(began.0 + 3 * DAY_MS);
    // A little later, so that what jitter puts off has been made too.
    client.advance_clock(&Advance { by: None, to: Some(until) }).await.expect("advanced");
    for (name, occurrences) in promised {
        let expected: BTreeSet<Timestamp> =
            occurrences.iter().map(|occurrence| occurrence.at).filter(|at| *at <= until).collect();
        let jobs = occurrences_of_jobs(&client, &name).await;
        let fired: BTreeSet<Timestamp> = jobs.iter().copied().collect();
        assert_eq!(fired.len(), jobs.len(), "{name}: an occurrence has two jobs");
        assert_eq!(fired, expected, "{name}");
        assert!(!fired.is_empty(), "{name} fires");
    }
    let shifted =
        client.preview_schedule("p0", &PreviewQuery { count: Some(2), after: Some(began) }).await.expect("a preview");
    assert_eq!(shifted.occurrences[1].local, "2027-03-28T03:30:00", "02:30 does not exist that day");
}
