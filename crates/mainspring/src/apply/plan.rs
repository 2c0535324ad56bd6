//! The difference between what should be and what is. Reads the server, changes nothing.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use mainspring_wire::{
    LimitRule, LimitView, NewSchedule, PreviewQuery, QueuePatch, QueueView, ScheduleQuery, ScheduleView,
};
use mainspring_worker::{Client, Expect};
use serde::Serialize;
use serde_json::{Value, json};

use super::facts::{Facts, facts};
use super::mark::Source;
use super::{Wanted, WantedQueue};

/// Schedules on a page while those to prune are looked for.
const PAGE: u32 = 500;

/// What is to be done, thing by thing.
#[derive(Debug, Serialize)]
pub struct Plan {
    pub source: String,
    pub items: Vec<Item>,
}

#[derive(Debug, Serialize)]
pub struct Item {
    pub what: What,
    pub name: String,
    pub action: Action,
    /// All fields of what is new, the changed ones of what is not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<FieldChange>,
    #[serde(skip)]
    pub step: Step,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    Queue,
    Limit,
    Schedule,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    Create,
    Update,
    Unchanged,
    Prune,
}

#[derive(Debug, PartialEq, Serialize)]
pub struct FieldChange {
    pub field: String,
    /// Absent: nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Value>,
}

/// How an item is carried out. What was looked at must still be so.
#[derive(Debug)]
pub enum Step {
    Nothing,
    Put { schedule: Box<NewSchedule>, expect: Expect },
    Delete { expect: Expect },
    Queue { patch: QueuePatch, paused: Option<bool> },
    Limit { rule: LimitRule },
}

impl Plan {
    pub async fn make(client: &Client, wanted: Wanted, source: &Source, prune: bool) -> Result<Plan> {
        let mut items = Vec::new();
        let queues = client.queues().await?.queues;
        for (name, wanted) in &wanted.queues {
            items.push(queue(name, wanted, queues.iter().find(|queue| queue.name == *name)));
        }
        if !wanted.limits.is_empty() {
            let limits = client.limits().await?.limits;
            for (reach, rule) in wanted.limits {
                let checked = client.check_limit(&reach, &rule).await;
                let kept = checked.with_context(|| format!("limit {reach} is not one"))?.rule.unwrap_or_default();
                items.push(limit(&reach, rule, &kept, rule_of(&limits, &reach)));
            }
        }
        let mut names = Vec::new();
        for (name, mut schedule) in wanted.schedules {
            source.mark(&mut schedule);
            let kept = kept(client, &schedule).await.with_context(|| format!("schedule {name} is not one"))?;
            let present = find(client, &name).await.with_context(|| format!("could not look at schedule {name}"))?;
            items.push(self::schedule(&name, Meant { written: schedule, kept }, present.as_ref()));
            names.push(name);
        }
        if prune {
            let gone = marked(client, source).await?.into_iter().filter(|(name, _)| names.binary_search(name).is_err());
            items.extend(gone.map(|(name, revision)| Item {
                what: What::Schedule,
                name,
                action: Action::Prune,
                fields: Vec::new(),
                step: Step::Delete { expect: Expect::Revision(revision) },
            }));
        }
        Ok(Plan { source: source.name().to_owned(), items })
    }

    pub fn count(&self, action: Action) -> usize {
        self.items.iter().filter(|item| item.action == action).count()
    }

    /// How many items are not as they should be.
    pub fn changes(&self) -> usize {
        self.items.len() - self.count(Action::Unchanged)
    }
}

/// The rule that was set for this reach, and not for a pattern that covers it.
fn rule_of<'a>(limits: &'a [LimitView], reach: &str) -> Option<&'a LimitRule> {
    limits.iter().find(|view| view.reach == reach && view.pattern.is_none())?.rule.as_ref()
}

/// `kept` is how the server would keep it: with every default.
fn limit(reach: &str, written: LimitRule, kept: &LimitRule, present: Option<&LimitRule>) -> Item {
    let (action, fields) = match present {
        None => (Action::Create, changes(&Facts::new(), &rule_facts(&written))),
        Some(present) if present == kept => (Action::Unchanged, Vec::new()),
        Some(present) => (Action::Update, changes(&rule_facts(present), &rule_facts(kept))),
    };
    let step = if action == Action::Unchanged { Step::Nothing } else { Step::Limit { rule: written } };
    Item { what: What::Limit, name: reach.to_owned(), action, fields, step }
}

fn rule_facts(rule: &LimitRule) -> Facts {
    match serde_json::to_value(rule) {
        Ok(Value::Object(fields)) => fields.into_iter().collect(),
        _ => Facts::new(),
    }
}

/// What somebody wrote, and how the server would keep it: with every default, times in order.
struct Meant {
    written: NewSchedule,
    kept: NewSchedule,
}

/// Asks the server, which also says what is wrong with it, before anything is changed.
async fn kept(client: &Client, schedule: &NewSchedule) -> Result<NewSchedule> {
    let preview = client.preview_unsaved(schedule, &PreviewQuery { count: Some(1), after: None }).await?;
    Ok(preview.schedule.unwrap_or_else(|| schedule.clone()))
}

async fn find(client: &Client, name: &str) -> Result<Option<ScheduleView>> {
    match client.schedule(name).await {
        Ok(view) => Ok(Some(view)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Every schedule that was applied from this source, with its revision.
async fn marked(client: &Client, source: &Source) -> Result<BTreeMap<String, u64>> {
    let mut marked = BTreeMap::new();
    let mut query = ScheduleQuery { limit: Some(PAGE), ..ScheduleQuery::default() };
    loop {
        let page = client.schedules(&query).await.context("could not list schedules")?;
        let ours = page.schedules.iter().filter(|view| source.has_marked(view));
        marked.extend(ours.map(|view| (view.schedule.schedule_id.clone().unwrap_or_default(), view.revision)));
        query.cursor = page.next_cursor;
        if query.cursor.is_none() {
            return Ok(marked);
        }
    }
}

fn schedule(name: &str, meant: Meant, present: Option<&ScheduleView>) -> Item {
    let fields = match present {
        // Of what is new, what was written is shown, and not every default.
        None => changes(&Facts::new(), &facts(&meant.written)),
        Some(view) => changes(&facts(&view.schedule), &facts(&meant.kept)),
    };
    let (action, expect) = match present {
        None => (Action::Create, Expect::Absent),
        Some(_) if fields.is_empty() => (Action::Unchanged, Expect::Anything),
        Some(view) => (Action::Update, Expect::Revision(view.revision)),
    };
    let step = match action {
        Action::Unchanged => Step::Nothing,
        _ => Step::Put { schedule: Box::new(meant.written), expect },
    };
    Item { what: What::Schedule, name: name.to_owned(), action, fields, step }
}

fn changes(before: &Facts, after: &Facts) -> Vec<FieldChange> {
    let fields: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let change = |field: &String| FieldChange {
        field: field.clone(),
        from: before.get(field).cloned(),
        to: after.get(field).cloned(),
    };
    fields.into_iter().map(change).filter(|change| change.from != change.to).collect()
}

fn queue(name: &str, wanted: &WantedQueue, present: Option<&QueueView>) -> Item {
    let mut before = Facts::new();
    let mut after = Facts::new();
    let mut compare = |field: &str, is: Option<Value>, should: Option<Value>| {
        before.extend(is.map(|value| (field.to_owned(), value)).filter(|_| should.is_some()));
        after.extend(should.filter(|value| !value.is_null()).map(|value| (field.to_owned(), value)));
    };
    compare("paused", present.map(|queue| json!(queue.paused)), wanted.paused.map(|paused| json!(paused)));
    let max_depth = present.and_then(|queue| queue.max_depth).map(|depth| json!(depth));
    compare("max_depth", max_depth, wanted.max_depth.map(|depth| json!(depth)));
    compare("age_factor", present.map(|queue| json!(queue.age_factor)), wanted.age_factor.map(|factor| json!(factor)));
    let fields = changes(&before, &after);
    let (action, step) = match (present, fields.is_empty()) {
        (_, true) => (Action::Unchanged, Step::Nothing),
        (present, false) => {
            let changed = |field: &str| fields.iter().any(|change| change.field == field);
            let patch = QueuePatch {
                age_factor: wanted.age_factor.filter(|_| changed("age_factor")),
                max_depth: wanted.max_depth.filter(|_| changed("max_depth")),
            };
            let action = if present.is_some() { Action::Update } else { Action::Create };
            (action, Step::Queue { patch, paused: wanted.paused.filter(|_| changed("paused")) })
        }
    };
    Item { what: What::Queue, name: name.to_owned(), action, fields, step }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(json: Value) -> ScheduleView {
        let mut json = json;
        for (field, value) in [("revision", json!(4)), ("status", json!("ACTIVE")), ("runs", json!(0))] {
            json[field] = value;
        }
        (json["created_at"], json["updated_at"]) = (json!(0), json!(0));
        serde_json::from_value(json).expect("a view")
    }

    fn meant(json: Value) -> Meant {
        let written: NewSchedule = serde_json::from_value(json).expect("a schedule");
        let kept = NewSchedule { timezone: Some("UTC".into()), ..written.clone() };
        Meant { written, kept }
    }

    #[test]
    fn a_schedule_is_created_updated_or_left_alone() {
        let one = json!({"cron": "0 3 * * *", "job": {"type": "t"}});
        let created = schedule("s", meant(one.clone()), None);
        assert_eq!(created.action, Action::Create);
        assert!(matches!(created.step, Step::Put { expect: Expect::Absent, .. }));
        assert_eq!(created.fields.iter().map(|change| change.field.as_str()).collect::<Vec<_>>(), ["cron", "job.type"]);

        let stored = json!({"cron": "0 3 * * *", "timezone": "UTC", "job": {"type": "t"}});
        let same = schedule("s", meant(one.clone()), Some(&view(stored)));
        assert_eq!((same.action, same.fields.len()), (Action::Unchanged, 0));

        let other = json!({"cron": "0 4 * * *", "timezone": "UTC", "note": "n", "job": {"type": "t"}});
        let updated = schedule("s", meant(one), Some(&view(other)));
        assert!(matches!(updated.step, Step::Put { expect: Expect::Revision(4), .. }));
        let expected = [
            FieldChange { field: "cron".into(), from: Some(json!("0 4 * * *")), to: Some(json!("0 3 * * *")) },
            FieldChange { field: "note".into(), from: Some(json!("n")), to: None },
        ];
        assert_eq!((updated.action, updated.fields), (Action::Update, Vec::from(expected)));
    }

    #[test]
    fn a_limit_is_created_updated_or_left_alone() {
        let rule = |json: Value| serde_json::from_value::<LimitRule>(json).expect("a rule");
        let written = rule(json!({"rate": {"permits": 5, "per": "1m"}}));
        let kept = rule(json!({"rate": {"permits": 5, "per": "1m", "burst": 5}}));
        let created = limit("key:a", written.clone(), &kept, None);
        assert_eq!((created.action, created.fields[0].field.as_str()), (Action::Create, "rate"));
        assert!(matches!(created.step, Step::Limit { .. }));
        let same = limit("key:a", written.clone(), &kept, Some(&kept));
        assert!(same.action == Action::Unchanged && matches!(same.step, Step::Nothing), "{same:?}");
        let other = rule(json!({"concurrency": 3}));
        let updated = limit("key:a", written, &kept, Some(&other));
        let fields: Vec<&str> = updated.fields.iter().map(|change| change.field.as_str()).collect();
        assert_eq!((updated.action, fields), (Action::Update, vec!["concurrency", "rate"]));

        let views: Vec<LimitView> = serde_json::from_value(json!([
            {"reach": "key:*", "rule": {"concurrency": 3}},
            {"reach": "key:a", "rule": {"concurrency": 3}, "pattern": "key:*", "state": {"running": 1, "waiting": 0}}
        ]))
        .expect("views");
        assert!(rule_of(&views, "key:*").is_some());
        assert_eq!(rule_of(&views, "key:a"), None, "it is the pattern's");
    }

    #[test]
    fn a_queue_is_changed_only_in_what_is_said() {
        let present: QueueView = serde_json::from_value(json!({
            "name": "q", "tenant": "default", "paused": false, "age_factor": 0.1, "max_depth": 5, "blocked": 0, "scheduled": 0,
            "pending": 0, "running": 0, "completed": 0, "failed": 0, "cancelled": 0
        }))
        .expect("a queue");
        let check =
            |wanted: WantedQueue, present: Option<&QueueView>, action: Action, patch: &str, paused: Option<bool>| {
                let item = queue("q", &wanted, present);
                assert_eq!(item.action, action, "{wanted:?}");
                let step = match item.step {
                    Step::Queue { patch, paused } => (serde_json::to_string(&patch).expect("it prints"), paused),
                    _ => ("{}".to_owned(), None),
                };
                assert_eq!(step, (patch.to_owned(), paused), "{wanted:?}");
            };
        let nothing = WantedQueue::default;
        check(nothing(), Some(&present), Action::Unchanged, "{}", None);
        let same = WantedQueue { paused: Some(false), max_depth: Some(Some(5)), age_factor: Some(0.1) };
        check(same.clone(), Some(&present), Action::Unchanged, "{}", None);
        check(
            WantedQueue { max_depth: Some(None), ..nothing() },
            Some(&present),
            Action::Update,
            r#"{"max_depth":null}"#,
            None,
        );
        check(WantedQueue { paused: Some(true), ..same.clone() }, Some(&present), Action::Update, "{}", Some(true));
        check(same, None, Action::Create, r#"{"age_factor":0.1,"max_depth":5}"#, Some(false));
    }
}
