//! All that a schedule says, field by field, so that two can be compared and only what differs is shown. Knows no defaults: it
//! compares documents as the server keeps them.

use std::collections::BTreeMap;

use mainspring_wire::NewSchedule;
use serde_json::Value;

/// By path, such as `job.queue`.
pub type Facts = BTreeMap<String, Value>;

/// Values that are objects stay whole, but for the job itself: a changed number deep in its data is a changed `job.data`.
pub fn facts(schedule: &NewSchedule) -> Facts {
    let Ok(Value::Object(fields)) = serde_json::to_value(schedule) else { return Facts::new() };
    let mut facts = Facts::new();
    for (field, value) in fields {
        match (field.as_str(), value) {
            // The name is what they are compared by.
            ("schedule_id", _) => {}
            ("job", Value::Object(job)) => {
                facts.extend(job.into_iter().map(|(field, value)| (format!("job.{field}"), value)));
            }
            (_, value) => drop(facts.insert(field, value)),
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_field_is_a_fact_of_its_own() {
        let json = json!({
            "schedule_id": "s", "every": {"every": "90s", "anchor": 0}, "exclude": ["2026-12-25"],
            "job": {"type": "t", "data": {"a": {"b": 1}}, "retry": {"strategy": "fixed"}}
        });
        let facts = facts(&serde_json::from_value(json).expect("a schedule"));
        let fields: Vec<&str> = facts.keys().map(String::as_str).collect();
        assert_eq!(fields, ["every", "exclude", "job.data", "job.retry", "job.type"]);
        assert_eq!(facts["job.data"], json!({"a": {"b": 1}}));
    }
}
