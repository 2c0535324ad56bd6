//! `mainspring.submit(…)`: jobs that come and go with an application's own transaction.

use std::time::Duration;

use mainspring_core::id::JobId;
use mainspring_core::job::{Idempotency, Job};
use mainspring_core::lifecycle::State;
use mainspring_core::limits;
use mainspring_core::store::{
    Beat, BeatKind, Claim, ClaimAnswer, Command, QueueCommand, Store, Views, Whose, WorkerInfo,
};
use mainspring_core::time::Time;
use mainspring_core::wakeups::{Wakeup, Wakeups};
use tokio_postgres::Client;
use uuid::Uuid;

use super::Postgres;
use super::testing::Database;
use crate::conformance::stage::{job, queue, queue_ref, tenant, worker};

async fn submit(client: &Client, arguments: &str) -> Result<JobId, String> {
    let row = client.query_one(&format!("SELECT mainspring.submit({arguments})"), &[]).await;
    row.map(|row| row.get::<_, Uuid>(0).into()).map_err(|error| match error.as_db_error() {
        Some(said) => said.message().to_owned(),
        None => error.to_string(),
    })
}

async fn look(store: &Postgres, id: JobId) -> Option<mainspring_core::job::JobView> {
    store.get(&tenant("default"), vec![id]).await.unwrap().remove(0)
}

#[tokio::test]
async fn a_job_of_a_transaction_that_is_rolled_back_never_was_and_one_that_commits_is_heard_of_and_claimed() {
    let database = Database::new();
    let opened = Postgres::open_shared(&database.options()).await.unwrap();
    opened.wakeups.listening(1).await;
    let mut client = database.connect().await;

    let transaction = client.transaction().await.unwrap();
    let row = transaction.query_one("SELECT mainspring.submit('send', queue => 'mail')", &[]).await.unwrap();
    let undone = JobId::from(row.get::<_, Uuid>(0));
    transaction.rollback().await.unwrap();
    assert_eq!(look(&opened.store, undone).await, None);
    assert!(opened.store.queues(None).await.unwrap().is_empty(), "not even the queue is left");

    let transaction = client.transaction().await.unwrap();
    for number in 0..5 {
        let sql = "SELECT mainspring.submit('send', jsonb_build_object('number', $1::int), queue => 'mail')";
        transaction.query_one(sql, &[&number]).await.unwrap();
    }
    transaction.commit().await.unwrap();
    let mut heard = opened.wakeups.wakes().await;
    while heard.len() < 3 {
        heard.extend(opened.wakeups.wakes().await);
    }
    let ready = |count| Wakeup::Ready { queue: queue_ref("mail"), count };
    assert_eq!(heard, [ready(1), ready(2), ready(4)], "enough for all five, and nothing of what was undone");

    let now = Time::from_millis(u64::MAX);
    let beat = BeatKind::Register { info: WorkerInfo::default(), lease: Duration::from_secs(30) };
    let beats = vec![Beat { worker: worker(1), tenant: tenant("default"), kind: beat }];
    opened.store.heartbeat(now, beats).await.unwrap();
    let claim =
        Claim { worker: worker(1), tenant: tenant("default"), whose: Whose::Own, queues: vec![queue("mail")], max: 9 };
    let claimed = opened.store.claim(now, vec![claim]).await.unwrap().remove(0);
    assert!(matches!(&claimed, ClaimAnswer::Jobs(jobs) if jobs.len() == 5), "{claimed:?}");
}

#[tokio::test]
async fn a_job_is_the_same_whichever_way_it_came() {
    let database = Database::new();
    let store = Postgres::open(&database.options()).await.unwrap();
    let client = database.connect().await;
    let id = submit(&client, "'send', '{\"to\": \"somebody\"}', queue => 'mail'").await.unwrap();
    let view = look(&store, id).await.unwrap();
    let submitted_at = view.job.submitted_at;
    let plain = Job {
        id,
        submitted_at,
        run_at: submitted_at,
        data: mainspring_core::job::Json("{\"to\": \"somebody\"}".into()),
        ..job(1)
    };
    assert_eq!(view.job, plain);
    assert_eq!((view.standing.state, view.standing.ready_at), (State::Ready, submitted_at));
    assert_eq!(id.uuid().get_version_num(), 7);
    assert_eq!(id.as_bytes()[..6], submitted_at.as_millis().to_be_bytes()[2..], "its id begins with its time");

    let arguments = "'send', run_at => '2100-01-01T00:00:00Z', expires_at => '2100-01-02T00:00:00Z', priority => -7,
        max_attempts => 9, timeout => '90 seconds', tags => '{a,käse & brot}', idempotency_key => 'k',
        concurrency_key => 'c', rate_key => 'r', weight => 3";
    let id = submit(&client, arguments).await.unwrap();
    let Job { run_at, expires_at, priority, max_attempts, timeout, tags, idempotency, keys, submitted_at, .. } =
        look(&store, id).await.unwrap().job;
    assert_eq!(run_at, Time::from_millis(4_102_444_800_000));
    assert_eq!(expires_at, Some(run_at.after(Duration::from_secs(24 * 3600))));
    assert_eq!((priority.value(), max_attempts, timeout), (-7, 9, Some(Duration::from_secs(90))));
    assert_eq!(tags.iter().map(|tag| tag.as_str()).collect::<Vec<_>>(), ["a", "käse & brot"]);
    assert_eq!((keys.concurrency.unwrap().as_str(), keys.rate.unwrap().as_str(), keys.weight), ("c", "r", 3));
    assert_eq!(idempotency.unwrap().until, submitted_at.after(Idempotency::RETENTION_DEFAULT));
    let queues = store.queues(None).await.unwrap();
    assert_eq!(queues.iter().map(|queue| queue.counts.depth()).collect::<Vec<_>>(), [1, 1]);
    // Found by a search for its tag, and by the promoter in its segment when its time comes.
    let segments = std::iter::once(id.segment()).collect();
    let ask = mainspring_core::store::Promote { segments, ..crate::conformance::stage::everything(10) };
    assert_eq!(store.promote(run_at, ask).await.unwrap().ready.len(), 1);
}

#[tokio::test]
async fn a_key_that_was_seen_answers_the_job_it_made_and_refuses_another() {
    let database = Database::new();
    let client = database.connect().await;
    let first = submit(&client, "'send', '1', idempotency_key => 'k'").await.unwrap();
    assert_eq!(submit(&client, "'send', '1', idempotency_key => 'k'").await.unwrap(), first);
    assert_ne!(submit(&client, "'send', '1', tenant => 'other', idempotency_key => 'k'").await.unwrap(), first);
    let refused = submit(&client, "'send', '2', idempotency_key => 'k'").await.unwrap_err();
    assert!(refused.contains(&first.to_string()), "{refused}");
    client.batch_execute("UPDATE mainspring.keys SET until = 0").await.unwrap();
    assert_ne!(submit(&client, "'send', '2', idempotency_key => 'k'").await.unwrap(), first, "a key is over some time");
}

#[tokio::test]
async fn limits_are_named_what_is_past_one_is_refused_by_name_and_what_is_at_one_is_not() {
    let database = Database::new();
    let client = database.connect().await;
    let (name, key) = ("x".repeat(limits::NAME_BYTES_MAX), "x".repeat(limits::LIMIT_KEY_BYTES_MAX));
    let data = format!("'\"{}\"'", "x".repeat(limits::DATA_BYTES_MAX - 2));
    let tag = "x".repeat(limits::TAG_BYTES_MAX);
    let tags = |count: usize| vec!["a"; count].join(",");
    let span_days = limits::SPAN_MAX.as_secs() / 86_400;
    let timeout_days = limits::TIMEOUT_MAX.as_secs() / 86_400;
    let fits = [
        format!("'{name}', queue => '{name}', tenant => '{name}'"),
        format!("'t', {data}"),
        format!("'t', priority => {}", limits::PRIORITY_MIN),
        format!("'t', priority => {}", limits::PRIORITY_MAX),
        format!("'t', max_attempts => {}", limits::ATTEMPTS_MAX),
        format!("'t', timeout => '{} ms'", limits::TIMEOUT_MIN.as_millis()),
        format!("'t', timeout => '{timeout_days} days'"),
        format!("'t', tags => '{{{}}}'", tags(limits::TAGS_MAX)),
        format!("'t', tags => '{{{tag}}}'"),
        format!("'t', concurrency_key => '{key}', rate_key => '{key}', idempotency_key => '{key}'"),
        format!("'t', run_at => now() + interval '{} days'", span_days - 1),
        "'t', weight => 65535".into(),
    ];
    for arguments in fits {
        submit(&client, &arguments).await.unwrap_or_else(|error| panic!("{:.80}: {error}", arguments));
    }
    let refused = [
        ("type", format!("'{name}x'")),
        ("type", "NULL".into()),
        ("type", "'a b'".into()),
        ("queue", format!("'t', queue => '{name}x'")),
        ("tenant", "'t', tenant => ''".into()),
        ("data", data.replacen('x', "xx", 1).replacen('\'', "'t', '", 1)),
        ("data", "'t', NULL".into()),
        ("priority", format!("'t', priority => {}", limits::PRIORITY_MIN - 1)),
        ("priority", format!("'t', priority => {}", limits::PRIORITY_MAX + 1)),
        ("max_attempts", format!("'t', max_attempts => {}", limits::ATTEMPTS_MAX + 1)),
        ("max_attempts", "'t', max_attempts => 0".into()),
        ("timeout", "'t', timeout => '99 ms'".into()),
        ("timeout", format!("'t', timeout => '{timeout_days} days 1 ms'")),
        ("tags", format!("'t', tags => '{{{}}}'", tags(limits::TAGS_MAX + 1))),
        ("tags", format!("'t', tags => '{{{tag}x}}'")),
        ("tags", "'t', tags => ARRAY[E'a\\nb']".into()),
        ("concurrency_key", format!("'t', concurrency_key => '{key}x'")),
        ("rate_key", "'t', rate_key => ''".into()),
        ("idempotency_key", format!("'t', idempotency_key => '{key}x'")),
        ("run_at", format!("'t', run_at => now() + interval '{} days'", span_days + 1)),
        ("expires_at", "'t', expires_at => now() - interval '1 day'".into()),
        ("weight", "'t', weight => 0".into()),
    ];
    for (parameter, arguments) in refused {
        let said = submit(&client, &arguments).await.expect_err(parameter);
        assert!(said.starts_with(&format!("{parameter}: ")), "{parameter}: {said}");
    }
}

#[tokio::test]
async fn a_full_queue_refuses_and_an_application_needs_no_more_than_the_schema() {
    let database = Database::new();
    let store = Postgres::open(&database.options()).await.unwrap();
    let bound = Command::Queue { queue: queue_ref("mail"), what: QueueCommand::SetMaxDepth(Some(1)) };
    store.command(Time::ZERO, vec![bound]).await.unwrap();
    let client = database.connect().await;
    let application = format!("application_{}", std::process::id());
    let roles = format!(
        "DROP ROLE IF EXISTS {application}; CREATE ROLE {application};
         GRANT USAGE ON SCHEMA mainspring TO {application}; SET ROLE {application}"
    );
    client.batch_execute(&roles).await.unwrap();
    assert!(client.query("SELECT FROM mainspring.jobs", &[]).await.is_err(), "it may not read what others submitted");
    submit(&client, "'send', queue => 'mail'").await.unwrap();
    let said = submit(&client, "'send', queue => 'mail'").await.unwrap_err();
    assert!(said.contains("'mail' holds 1 unfinished jobs"), "{said}");
    client.batch_execute(&format!("RESET ROLE; DROP OWNED BY {application}; DROP ROLE {application}")).await.unwrap();
}
