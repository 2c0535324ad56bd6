//! What the catalogs of a database mean for us. Pure: facts in, findings out.

use std::time::Duration;

use mainspring_core::store::{Ailment, Severity};

/// From here on a transaction hurts: dead rows of minutes of work lie in the way of claims.
const HURTING_TRANSACTION: Duration = Duration::from_secs(10 * 60);
/// How much of a statement is shown.
const QUERY_SHOWN_CHARS: usize = 80;
/// Dead rows of a hot table below which nothing is said: the upkeep vacuums after half as many.
const DEAD_ROWS_MAX: u64 = 100_000;
/// Beyond that: so many dead rows for each live one.
const DEAD_TIMES_MAX: u64 = 5;
/// Connections in use, in per cent of all there may be.
const CONNECTIONS_PER_CENT: u64 = 80;
const CONNECTIONS_PER_CENT_CRITICAL: u64 = 95;

/// Somebody or something that keeps the database from forgetting dead rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Holder {
    /// `transaction`, `prepared` or `slot`.
    pub kind: String,
    /// The pid, the name of the prepared transaction, or of the slot.
    pub name: String,
    pub user: Option<String>,
    pub application: Option<String>,
    pub state: Option<String>,
    /// Zero if it is not known.
    pub age: Duration,
    pub query: Option<String>,
}

pub(super) fn holders(holders: &[Holder], long: Duration, place: &str) -> Vec<Ailment> {
    let mut found: Vec<Ailment> = holders.iter().filter_map(|holder| holding(holder, place)).collect();
    for (kind, name, what) in [
        ("transaction", "long_transaction", format!("no transaction is open for longer than {}", span(long))),
        ("prepared", "prepared_transaction", format!("no prepared transaction is older than {}", span(long))),
        ("slot", "replication_slot", "no replication slot keeps dead rows from being removed".to_owned()),
    ] {
        if !holders.iter().any(|holder| holder.kind == kind) {
            found.push(Ailment::well(name, what, place));
        }
    }
    found
}

fn holding(holder: &Holder, place: &str) -> Option<Ailment> {
    let Holder { kind, name, user, application, state, age, query } = holder;
    let said = |text: &Option<String>| text.as_deref().filter(|text| !text.is_empty()).unwrap_or("unknown").to_owned();
    let cost = "dead rows cannot be removed while it stays, and claims get slower";
    let (finding, what, remedy) = match kind.as_str() {
        "transaction" => (
            "long_transaction",
            format!(
                "pid {name} (user {}, application {}) has had a transaction open for {}, {}: {}; {cost}",
                said(user),
                said(application),
                span(*age),
                said(state),
                head(&said(query)),
            ),
            format!(
                "have its owner end it, or end it with SELECT pg_terminate_backend({name}); \
                 set idle_in_transaction_session_timeout for that user so that it does not come back"
            ),
        ),
        "prepared" => (
            "prepared_transaction",
            format!("the transaction {name:?} of user {} was prepared {} ago; {cost}", said(user), span(*age)),
            format!("end it with COMMIT PREPARED '{name}' or ROLLBACK PREPARED '{name}'"),
        ),
        "slot" => (
            "replication_slot",
            format!("the replication slot {name:?} ({}) holds back what can be removed; {cost}", said(state)),
            format!(
                "bring its consumer up to date, or remove it with SELECT pg_drop_replication_slot('{name}'); \
                 for a standby, turn hot_standby_feedback off"
            ),
        ),
        _ => return None,
    };
    let severity = if *age >= HURTING_TRANSACTION { Severity::Critical } else { Severity::Warning };
    Some(Ailment { name: finding, severity, what, place: place.into(), remedy })
}

/// A setting of the server, as `pg_settings` has it.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub name: String,
    pub value: String,
}

pub(super) fn settings(settings: &[Setting], place: &str) -> Vec<Ailment> {
    settings.iter().filter_map(|setting| set(setting, place)).collect()
}

fn set(setting: &Setting, place: &str) -> Option<Ailment> {
    let (name, severity, cost) = match setting.name.as_str() {
        "fsync" => ("fsync", Severity::Critical, "a crash of the machine can lose or damage everything"),
        "full_page_writes" => {
            ("full_page_writes", Severity::Critical, "a crash of the machine can damage the database")
        }
        "synchronous_commit" => {
            ("synchronous_commit", Severity::Critical, "a crash of the server can lose jobs that were accepted")
        }
        "autovacuum" => ("autovacuum", Severity::Warning, "tables grow without end, and plans go wrong"),
        _ => return None,
    };
    let what = format!("{name} is {}", setting.value);
    if setting.value != "off" {
        return Some(Ailment::well(name, what, place));
    }
    let remedy =
        format!("set {name} = on and reload the server (ALTER SYSTEM SET {name} = on; SELECT pg_reload_conf())");
    Some(Ailment { name, severity, what: format!("{what}: {cost}"), place: place.into(), remedy })
}

/// One of our hot tables.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub name: String,
    pub live: u64,
    pub dead: u64,
}

pub(super) fn tables(tables: &[Table], place: &str) -> Vec<Ailment> {
    let name = "dead_rows";
    let is_worn = |table: &&Table| table.dead > DEAD_ROWS_MAX.max(table.live.saturating_mul(DEAD_TIMES_MAX));
    let worn: Vec<&Table> = tables.iter().filter(is_worn).collect();
    if worn.is_empty() {
        return vec![Ailment::well(name, "dead rows of the hot tables are removed", place)];
    }
    let finding = |table: &&Table| Ailment {
        name,
        severity: Severity::Warning,
        what: format!("the table {} has {} dead rows beside {} live ones", table.name, table.dead, table.live),
        place: place.into(),
        remedy: "look for a long_transaction, prepared_transaction or replication_slot above; if there is none, \
                 VACUUM mainspring."
            .to_owned()
            + &table.name,
    };
    worn.iter().map(finding).collect()
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Connections {
    pub open: u64,
    pub max: u64,
}

pub(super) fn connections(Connections { open, max }: Connections, place: &str) -> Ailment {
    let name = "connections";
    let what = format!("{open} of {max} connections are in use");
    let per_cent = open.saturating_mul(100) / max.max(1);
    let severity = match per_cent {
        CONNECTIONS_PER_CENT_CRITICAL.. => Severity::Critical,
        CONNECTIONS_PER_CENT.. => Severity::Warning,
        _ => return Ailment::well(name, what, place),
    };
    let remedy = "raise max_connections, or lower store.connections of the nodes or what other programs take".into();
    Ailment { name, severity, what, place: place.into(), remedy }
}

fn head(query: &str) -> String {
    let line = query.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(QUERY_SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// In the largest unit that shows it.
fn span(span: Duration) -> String {
    match span.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3_600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worst(found: &[Ailment]) -> Severity {
        found.iter().map(|it| it.severity).max().expect("every check says something")
    }

    /// Every finding says what, where, and what to do unless all is well.
    fn sound(found: &[Ailment]) {
        for it in found {
            assert!(!it.what.is_empty() && it.place == "d on h", "{it:?}");
            assert_eq!(it.remedy.is_empty(), it.severity == Severity::Ok, "{it:?}");
        }
    }

    #[test]
    fn whoever_holds_dead_rows_is_named_with_what_to_do() {
        let minute = Duration::from_secs(60);
        let check = |kind: &str, age: Duration, expected: Severity, words: &[&str]| {
            let holder = Holder {
                kind: kind.into(),
                name: "4711".into(),
                user: Some("app".into()),
                application: Some("psql".into()),
                state: Some("idle in transaction".into()),
                age,
                query: Some(format!("SELECT  1\n{}", "x".repeat(200))),
            };
            let found = holders(&[holder], minute, "d on h");
            sound(&found);
            assert_eq!((found.len(), worst(&found)), (3, expected), "{found:?}");
            let told = format!("{} {}", found[0].what, found[0].remedy);
            words.iter().for_each(|word| assert!(told.contains(word), "{told:?} does not say {word:?}"));
        };
        let transaction =
            ["pid 4711", "user app", "psql", "idle in transaction", "SELECT 1 xxx", "…", "terminate_backend(4711)"];
        check("transaction", minute * 2, Severity::Warning, &transaction);
        check("transaction", minute * 10, Severity::Critical, &["for 10 min", "idle_in_transaction_session_timeout"]);
        check("prepared", minute, Severity::Warning, &["ROLLBACK PREPARED '4711'", "60 s ago"]);
        check("slot", Duration::ZERO, Severity::Warning, &["pg_drop_replication_slot('4711')"]);
        let well = holders(&[], minute, "d on h");
        sound(&well);
        assert_eq!((well.len(), worst(&well)), (3, Severity::Ok));
    }

    #[test]
    fn settings_that_lose_what_was_committed_are_critical() {
        let check = |name: &str, value: &str, expected: Severity| {
            let found = settings(&[Setting { name: name.into(), value: value.into() }], "d on h");
            sound(&found);
            assert_eq!(worst(&found), expected, "{found:?}");
        };
        for name in ["fsync", "full_page_writes", "synchronous_commit"] {
            check(name, "on", Severity::Ok);
            check(name, "off", Severity::Critical);
        }
        check("synchronous_commit", "remote_apply", Severity::Ok);
        check("autovacuum", "off", Severity::Warning);
    }

    #[test]
    fn dead_rows_count_when_they_are_many_and_more_than_the_live_ones() {
        let check = |live: u64, dead: u64, expected: Severity| {
            let found = tables(&[Table { name: "ready".into(), live, dead }], "d on h");
            sound(&found);
            assert_eq!(worst(&found), expected, "{found:?}");
        };
        check(0, DEAD_ROWS_MAX, Severity::Ok);
        check(0, DEAD_ROWS_MAX + 1, Severity::Warning);
        check(1_000_000, 5_000_000, Severity::Ok);
        check(1_000_000, 5_000_001, Severity::Warning);
    }

    #[test]
    fn connections_that_run_out_are_told_before_they_are_gone() {
        let check = |open: u64, expected: Severity| {
            let found = connections(Connections { open, max: 100 }, "d on h");
            sound(std::slice::from_ref(&found));
            assert_eq!(found.severity, expected, "{found:?}");
        };
        check(79, Severity::Ok);
        check(80, Severity::Warning);
        check(95, Severity::Critical);
    }
}
