//! Every field of a schedule: the bad values, and what each is answered. A bad document is refused alike when it is made,
//! replaced and previewed.

use serde_json::json;

use crate::house::{House, Reply};

/// A field, members of a document with a value that is not allowed, and words of the answer. The status is 422.
const BAD_VALUES: &[(&str, &str, &str)] = &[
    // Which rule.
    ("when", r#""note":"x""#, "say when: give one of cron, every"),
    ("when", r#""when":[]"#, "say when"),
    ("every", r#""cron":"* * * * *","every":"1h""#, "cron and every both say when"),
    ("when", r#""cron":"* * * * *","when":[{"every":"1h"}]"#, "cron and when both say when"),
    ("when[1].cron", r#""when":[{"every":"1h"},{"cron":"60 * * * *"}]"#, "\"60\" is not a minute (position 0); 0–59"),
    ("when[0].daily[1]", r#""when":[{"daily":["09:00","9"]}]"#, "\"9\" is not a time of day (position 0)"),
    ("when[0].weekly.days[0]", r#""when":[{"weekly":{"days":["XXX"],"at":"09:00"}}]"#, "\"XXX\" is not a weekday"),
    ("when[1].every", r#""when":[{"cron":"* * * * *"},{"every":"1ms"}]"#, "is not an interval"),
    ("when[0]", r#""when":[{"hourly":"x"}]"#, "unknown variant `hourly`"),
    ("when", r#""when":"daily""#, "expected a list"),
    // Cron.
    ("cron", r#""cron":"""#, "the expression is empty (position 0)"),
    ("cron", r#""cron":"* * * *""#, "there are 4 fields (position 7)"),
    ("cron", r#""cron":"60 * * * *""#, "\"60\" is not a minute (position 0); 0–59 are allowed"),
    ("cron", r#""cron":"0 24 * * *""#, "(position 2)"),
    ("cron", r#""cron":"0 0 1,32 * *""#, "\"32\" is not a day (position 6)"),
    ("cron", r#""cron":"0 0 * FOO *""#, "\"FOO\" is not a month (position 6)"),
    ("cron", r#""cron":"0 0 * * MON-XYZ""#, "\"XYZ\" is not a weekday (position 12)"),
    ("cron", r#""cron":"5-1 * * * *""#, "runs backwards"),
    ("cron", r#""cron":"*/0 * * * *""#, "is not a step of minutes"),
    ("cron", r#""cron":"0 0 * * FRI#6""#, "#1 to #5 are allowed"),
    ("cron", r#""cron":"H(9 * * * *""#, "is not a spread"),
    ("cron", r#""cron":"@never""#, "is not a nickname"),
    ("cron", r#""cron":"ä * * * *""#, "is not a minute"),
    ("cron", r#""cron":"0 0 30 2 *""#, "this never happens; look at the days and months that it names"),
    ("when[1]", r#""when":[{"every":"1h"},{"cron":"0 0 30 2 *"}]"#, "this never happens"),
    (
        "exclude[0].rrule",
        r#""daily":"09:00","exclude":[{"rrule":"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"}]"#,
        "this never happens",
    ),
    ("cron", r#""cron":"0 0 0 1 1 * 2020""#, "no occurrence lies ahead"),
    ("cron", r#""cron":7"#, "expected a string"),
    // Intervals.
    ("every", r#""every":"0s""#, "is not an interval"),
    ("every", r#""every":"999ms""#, "is not an interval"),
    ("every", r#""every":"soon""#, "is not a duration"),
    ("every", r#""every":-1"#, "is negative"),
    ("every", r#""every":"36500d""#, "is not an interval"),
    ("every", r#""every":true"#, "expected a duration such as 90s, or an object"),
    ("every.every", r#""every":{"anchor":0}"#, "must be given"),
    ("every.anchor", r#""every":{"every":"1h","anchor":"noon"}"#, "is not a time"),
    ("every.from", r#""every":{"every":"1h","from":0}"#, "unknown field `from`"),
    // Times of day.
    ("daily", r#""daily":"9""#, "is not a time of day (position 0); write it as 09:30"),
    ("daily", r#""daily":"24:00""#, "is not a time of day"),
    ("daily", r#""daily":[]"#, "there is no time of day"),
    ("daily[1]", r#""daily":["09:00","09:60"]"#, "\"09:60\" is not a time of day"),
    ("daily", r#""daily":9"#, "expected a string, or a list of strings"),
    ("weekly.days[1]", r#""weekly":{"days":["MON","FUN"],"at":"09:00"}"#, "\"FUN\" is not a weekday"),
    ("weekly.days", r#""weekly":{"days":[],"at":"09:00"}"#, "there is no weekday"),
    ("weekly.at", r#""weekly":{"days":["MON"],"at":"noon"}"#, "is not a time of day"),
    ("weekly.at", r#""weekly":{"days":["MON"]}"#, "must be given"),
    ("weekly.day", r#""weekly":{"day":["MON"],"at":"09:00"}"#, "unknown field `day`"),
    ("monthly.days[1]", r#""monthly":{"days":[1,32],"at":"09:00"}"#, "32 is not a day of a month"),
    ("monthly.days[0]", r#""monthly":{"days":[0],"at":"09:00"}"#, "0 is not a day of a month"),
    ("monthly.days[0]", r#""monthly":{"days":[-1000],"at":"09:00"}"#, "-1000 is not a day of a month"),
    ("monthly.days", r#""monthly":{"days":[],"at":"09:00"}"#, "there are 0 days of the month"),
    ("monthly.days[0]", r#""monthly":{"days":["1"],"at":"09:00"}"#, "expected a whole number"),
    (
        "monthly",
        r#""monthly":{"days":[31],"at":"09:00"},"exclude":[{"weekdays":["MON-SUN"]}]"#,
        "no occurrence lies ahead",
    ),
    // Recurrence rules.
    ("rrule", r#""rrule":"""#, "there is no rule (position 0)"),
    ("rrule", r#""rrule":"FREQ=DALY""#, "\"DALY\" is not a frequency (position 5)"),
    ("rrule", r#""rrule":"FREQ=DAILY;BYHOUR=24""#, "is not a value of BYHOUR (position 18); 0–23"),
    ("rrule", r#""rrule":"FREQ=DAILY;BYFOO=1""#, "\"BYFOO\" is not a part of a rule (position 11)"),
    ("rrule", r#""rrule":"BYDAY=MO""#, "the rule has no FREQ"),
    ("rrule", r#""rrule":"FREQ=DAILY;UNTIL=20200101""#, "no occurrence lies ahead"),
    // Where.
    ("timezone", r#""cron":"* * * * *","timezone":"Europe/Berln""#, "did you mean Europe/Berlin?"),
    ("timezone", r#""cron":"* * * * *","timezone":"""#, "is not a time zone"),
    ("timezone", r#""cron":"* * * * *","timezone":"Mars/Olympus""#, "write an IANA name"),
    ("timezone", r#""cron":"* * * * *","timezone":"+01:00""#, "is not a time zone"),
    ("dst_gap", r#""cron":"* * * * *","dst_gap":"jump""#, "expected `shift` or `skip`"),
    ("dst_overlap", r#""cron":"* * * * *","dst_overlap":"none""#, "unknown variant `none`"),
    // Exclusions.
    ("exclude[0]", r#""daily":"09:00","exclude":["2026-13-25"]"#, "\"2026-13-25\" is not a date (position 0)"),
    ("exclude[1]", r#""daily":"09:00","exclude":["2026-12-25","Christmas"]"#, "is not a date"),
    (
        "exclude[0]",
        r#""daily":"09:00","exclude":[{"from":"2027-01-01","through":"2026-12-24"}]"#,
        "write the earlier date first",
    ),
    ("exclude[0].through", r#""daily":"09:00","exclude":[{"from":"2027-01-01","through":"x"}]"#, "is not a date"),
    ("exclude[0]", r#""daily":"09:00","exclude":[{"from":"2027-01-01"}]"#, "from and through go together"),
    ("exclude[0]", r#""daily":"09:00","exclude":[{}]"#, "it says nothing"),
    ("exclude[0]", r#""daily":"09:00","exclude":[{"weekdays":["SAT"],"cron":"* * * * *"}]"#, "it says two things"),
    ("exclude[0].weekdays[1]", r#""daily":"09:00","exclude":[{"weekdays":["SAT","X"]}]"#, "is not a weekday"),
    (
        "exclude[0].times.from",
        r#""daily":"09:00","exclude":[{"times":{"from":"25:00","to":"06:00"}}]"#,
        "is not a time of day",
    ),
    (
        "exclude[0].times",
        r#""daily":"09:00","exclude":[{"times":{"from":"06:00","to":"06:00"}}]"#,
        "is nothing, or the whole day",
    ),
    ("exclude[0].cron", r#""daily":"09:00","exclude":[{"cron":"60 * * * *"}]"#, "is not a minute (position 0)"),
    ("exclude[0].rrule", r#""daily":"09:00","exclude":[{"rrule":"FREQ=HOURLY"}]"#, "names days"),
    ("exclude[0].calendar", r#""daily":"09:00","exclude":[{"calendar":"eu"}]"#, "unknown field `calendar`"),
    ("daily", r#""daily":"09:00","exclude":[{"times":{"from":"08:00","to":"10:00"}}]"#, "no occurrence lies ahead"),
    // How long, how often.
    (
        "end_at",
        r#""daily":"09:00","start_at":"2027-01-02T00:00:00Z","end_at":"2027-01-01T00:00:00Z""#,
        "it ends before it starts",
    ),
    ("daily", r#""daily":"09:00","end_at":"2026-12-01T00:00:00Z""#, "no occurrence lies ahead"),
    ("start_at", r#""daily":"09:00","start_at":"tomorrow""#, "is not a time"),
    ("max_runs", r#""daily":"09:00","max_runs":0"#, "0 runs are none"),
    ("max_runs", r#""daily":"09:00","max_runs":-1"#, "not negative"),
    ("jitter", r#""daily":"09:00","jitter":"2d""#, "is too long"),
    ("catchup", r#""daily":"09:00","catchup":"some""#, "expected one of none, latest, all"),
    ("catchup", r#""daily":"09:00","catchup":{"mode":"none","max":3}"#, "catches nothing up"),
    ("catchup.max", r#""daily":"09:00","catchup":{"mode":"all","max":0}"#, "0 is not a maximum"),
    ("catchup.max", r#""daily":"09:00","catchup":{"mode":"all","max":10001}"#, "10001 is not a maximum"),
    ("catchup.window", r#""daily":"09:00","catchup":{"mode":"all","window":"367d"}"#, "is too long"),
    ("catchup.mode", r#""daily":"09:00","catchup":{"window":"1d"}"#, "must be given"),
    ("overlap", r#""daily":"09:00","overlap":"queue""#, "unknown variant `queue`"),
    ("pause_on_failure", r#""daily":"09:00","pause_on_failure":"yes""#, "expected true or false"),
    // Its name.
    ("schedule_id", r#""schedule_id":"a b","daily":"09:00""#, "must not contain ' ' (position 1)"),
    ("schedule_id", r#""schedule_id":"","daily":"09:00""#, "a schedule must not be empty"),
    ("schedule_id", r#""schedule_id":"preview","daily":"09:00""#, "is taken by the path"),
    ("crn", r#""crn":"* * * * *""#, "unknown field `crn`; allowed here: `schedule_id`, `cron`"),
];

/// The same for the job that it makes.
const BAD_JOBS: &[(&str, &str, &str)] = &[
    ("job.type", r#"{}"#, "must be given"),
    ("job.type", r#"{"type":""}"#, "a type must not be empty"),
    ("job.queue", r#"{"type":"a","queue":"a b"}"#, "must not contain ' '"),
    ("job.priority", r#"{"type":"a","priority":1001}"#, "1001 is not from -1000 to 1000"),
    ("job.deadline", r#"{"type":"a","deadline":"2026-12-01T09:00:00Z"}"#, "is not a duration"),
    ("job.expires_in", r#"{"type":"a","expires_in":0}"#, "is zero"),
    ("job.retry.factor", r#"{"type":"a","retry":{"factor":0.5}}"#, "0.5 is not from 1 to 100"),
    ("job.max_attempts", r#"{"type":"a","max_attempts":0}"#, "0 is not from 1 to 1000"),
    ("job.max_crashes", r#"{"type":"a","max_crashes":1001}"#, "1001 is not from 0 to 1000"),
    ("job.timeout", r#"{"type":"a","timeout":"1ms"}"#, "is not from 100ms to 30d"),
    ("job.tags[0]", r#"{"type":"a","tags":[""]}"#, "a tag must not be empty"),
    ("job.concurrency_key", r#"{"type":"a","concurrency_key":""}"#, "a limit key must not be empty"),
    ("job.rate_key", r#"{"type":"a","rate_key":"a\nb"}"#, "must not contain '\\n'"),
    ("job.weight", r#"{"type":"a","weight":0}"#, "0 is not from 1 to 65535"),
    ("job.weight", r#"{"type":"a","weight":65536}"#, "65536 is not from 1 to 65535"),
    ("job.run_at", r#"{"type":"a","run_at":0}"#, "unknown field `run_at`"),
    ("job.depends_on", r#"{"type":"a","depends_on":[]}"#, "unknown field `depends_on`"),
];

#[tokio::test]
async fn every_bad_value_of_a_schedule_is_named_with_what_is_wrong() {
    let house = House::open().await;
    let documents = BAD_VALUES
        .iter()
        .map(|(field, members, words)| (field, format!(r#"{{{members},"job":{{"type":"a"}}}}"#), words));
    let jobs = BAD_JOBS.iter().map(|(field, job, words)| (field, format!(r#"{{"daily":"09:00","job":{job}}}"#), words));
    let mut wrong = Vec::new();
    for (field, body, words) in documents.chain(jobs) {
        let mut replies =
            vec![house.post("/v1/schedules", &body).await, house.post("/v1/schedules/preview", &body).await];
        if *field != "schedule_id" {
            replies.push(house.call("PUT", "/v1/schedules/s", body.clone()).await);
        }
        // All of them are checked before any is complained of: a word that changes changes in many places.
        let is_refused = |reply: &Reply| {
            let problem = reply.json();
            let detail = problem["detail"].as_str().unwrap_or_default();
            reply.status == 422 && problem["field"] == json!(field) && detail.contains(words)
        };
        wrong.extend(replies.iter().filter(|reply| !is_refused(reply)).map(|reply| {
            format!("{} {body}\n  expected {field}: {words}\n  got {} {}", reply.asked, reply.status, reply.text)
        }));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    house.post("/v1/schedules", r#"{"daily":"09:00"}"#).await.refused(422, Some("job"), "must be given");
    assert_eq!(house.get("/v1/schedules").await.expect(200)["schedules"], json!([]), "nothing was stored");
}

#[tokio::test]
async fn what_is_too_long_is_refused_with_its_bound() {
    let house = House::open().await;
    let check = async |members: String, field: &str, words: &str| {
        let body = format!(r#"{{{members},"job":{{"type":"a"}}}}"#);
        house.post("/v1/schedules", &body).await.refused(422, Some(field), words)
    };
    check(format!(r#""cron":"{}""#, "*".repeat(1025)), "cron", "1024 are allowed").await;
    check(format!(r#""rrule":"{}""#, "x".repeat(1025)), "rrule", "1024 are allowed").await;
    check(format!(r#""daily":"09:00","note":"{}""#, "n".repeat(1025)), "note", "1024 are allowed").await;
    check(format!(r#""schedule_id":"{}","daily":"09:00""#, "n".repeat(129)), "schedule_id", "at most 128 bytes").await;
    let rules = vec![r#"{"every":"1h"}"#; 17].join(",");
    let problem = check(format!(r#""when":[{rules}]"#), "when", "specs_max is 16").await;
    assert_eq!(problem["limit"], json!({"name": "specs_max", "max": 16}));
    let dates = vec![r#""2026-12-25""#; 1001].join(",");
    let problem = check(format!(r#""daily":"09:00","exclude":[{dates}]"#), "exclude", "exclusions_max is 1000").await;
    assert_eq!(problem["limit"], json!({"name": "exclusions_max", "max": 1000}));
    let times = (0..101).map(|at| format!(r#""{:02}:{:02}""#, at / 60, at % 60)).collect::<Vec<_>>().join(",");
    check(format!(r#""daily":[{times}]"#), "daily", "100 are allowed").await;
    let data = format!(r#""daily":"09:00","job":{{"type":"a","data":"{}"}}"#, "x".repeat(256 * 1024));
    let problem =
        house.post("/v1/schedules", &format!("{{{data}}}")).await.refused(422, Some("job.data"), "data_bytes_max");
    assert_eq!(problem["limit"], json!({"name": "data_bytes_max", "max": 256 * 1024}));
}

#[tokio::test]
async fn several_wrong_fields_are_all_named_at_once() {
    let house = House::open().await;
    let body = r#"{"weekly":{"days":["X"],"at":"9"},"exclude":["x"],"job":{"type":"","weight":0}}"#;
    let problem = house.post("/v1/schedules", body).await.refused(422, Some("weekly.days[0]"), "is not a weekday");
    let errors = problem["errors"].as_array().expect("a list").iter();
    let fields: Vec<&str> = errors.map(|error| error["field"].as_str().expect("a name")).collect();
    assert_eq!(fields, ["weekly.days[0]", "weekly.at", "exclude[0]", "job.type", "job.weight"]);
}

#[tokio::test]
async fn bad_moves_are_refused() {
    let house = House::open().await;
    house.post("/v1/schedules", r#"{"schedule_id":"s","every":"1h","job":{"type":"a"}}"#).await.expect(201);
    let check = async |verb: &str, body: &str, field: &str, words: &str| {
        house.post(&format!("/v1/schedules/s/{verb}"), body).await.refused(422, Some(field), words);
    };
    check("pause", r#"{"until":"2026-12-02T00:00:00Z","for":"1h"}"#, "for", "both say how long").await;
    check("pause", r#"{"until":"2026-12-01T09:00:00Z"}"#, "until", "over already").await;
    check("pause", r#"{"for":0}"#, "for", "over already").await;
    check("pause", r#"{"until":"9000-01-01T00:00:00Z"}"#, "until", "more than 100 years").await;
    check("pause", r#"{"reason":"x"}"#, "reason", "unknown field `reason`").await;
    check("pause", &format!(r#"{{"note":"{}"}}"#, "n".repeat(1025)), "note", "note_bytes_max is 1024").await;
    check("backfill", r#"{"from":0}"#, "to", "must be given").await;
    check("backfill", r#"{"from":10,"to":9}"#, "to", "the range is empty").await;
    check("backfill", r#"{"from":0,"to":9,"max":0}"#, "max", "0 is not from 1 to 10000").await;
    check("backfill", r#"{"from":0,"to":9,"max":10001}"#, "max", "10001 is not from 1 to 10000").await;
    check("backfill", r#"{"from":0,"to":9,"dryrun":true}"#, "dryrun", "unknown field `dryrun`").await;
    for (query, field, words) in [
        ("preview?count=0", "count", "from 1 to 1000"),
        ("preview?count=1001", "count", "from 1 to 1000"),
        ("preview?after=noon", "after", "is not a time"),
        ("preview?n=3", "n", "allowed here: count, after"),
        ("ledger?limit=0", "limit", "from 1 to 1000"),
        ("ledger?cursor=x", "cursor", "is not a cursor"),
    ] {
        house.get(&format!("/v1/schedules/s/{query}")).await.refused(400, Some(field), words);
    }
    for (query, field, words) in [
        ("limit=1001", "limit", "from 1 to 1000"),
        ("paused=maybe", "paused", "neither true nor false"),
        ("cursor=a%20b", "cursor", "is not a cursor"),
        ("status=PAUSED", "status", "allowed here: paused, limit, cursor"),
    ] {
        house.get(&format!("/v1/schedules?{query}")).await.refused(400, Some(field), words);
    }
    house.get("/v1/schedules/a%20b").await.refused(400, Some("id"), "must not contain ' '");
    house.call("PUT", "/v1/schedules/t", r#"{"schedule_id":"u","every":"1h","job":{"type":"a"}}"#).await.refused(
        422,
        Some("schedule_id"),
        "is not t, as the path says",
    );
    house.call("PUT", "/v1/schedules/preview", r#"{"every":"1h","job":{"type":"a"}}"#).await.refused(
        405,
        None,
        "does not take PUT",
    );
}
