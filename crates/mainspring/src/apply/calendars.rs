//! Lists of exclusions with a name. Schedules name them (`exclude = [{ calendar = "holidays" }]`), and they are written out here: the
//! server knows no calendars, so a changed calendar changes every schedule that names it, and the difference shows it.

use std::collections::BTreeMap;

use serde_json::Value;

#[derive(Debug, Default)]
pub struct Calendars(pub BTreeMap<String, Vec<Value>>);

impl Calendars {
    /// Puts the exclusions of a calendar where a schedule names it.
    pub fn write_out(&self, schedule: &mut Value) -> Result<(), String> {
        let Some(exclude) = schedule.get_mut("exclude").and_then(Value::as_array_mut) else { return Ok(()) };
        let mut written = Vec::with_capacity(exclude.len());
        for exclusion in std::mem::take(exclude) {
            match exclusion.get("calendar") {
                None => written.push(exclusion),
                Some(name) => written.extend(self.find(&exclusion, name)?.iter().cloned()),
            }
        }
        *exclude = written;
        Ok(())
    }

    fn find(&self, exclusion: &Value, name: &Value) -> Result<&Vec<Value>, String> {
        let name = name.as_str().ok_or("exclude: the name of a calendar is a text")?;
        if exclusion.as_object().is_some_and(|fields| fields.len() > 1) {
            return Err(format!(
                "exclude: {{ calendar = {name:?} }} says nothing beside it; make an exclusion of each"
            ));
        }
        self.0.get(name).ok_or_else(|| {
            let known = self.0.keys().cloned().collect::<Vec<_>>().join(", ");
            let known = if known.is_empty() { "there are none".to_owned() } else { format!("there are {known}") };
            format!("exclude: there is no calendar {name:?} in what is applied; {known}")
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_calendar_is_written_out_where_it_is_named() {
        let holidays = vec![json!("2026-12-25"), json!({"weekdays": ["SAT"]})];
        let calendars = Calendars(BTreeMap::from([("holidays".to_owned(), holidays)]));
        let mut schedule = json!({"exclude": ["2026-11-11", {"calendar": "holidays"}, {"cron": "* * * * *"}]});
        calendars.write_out(&mut schedule).expect("it is known");
        let exclude = json!(["2026-11-11", "2026-12-25", {"weekdays": ["SAT"]}, {"cron": "* * * * *"}]);
        assert_eq!(schedule["exclude"], exclude);

        let refused = |mut schedule: Value| calendars.write_out(&mut schedule).expect_err("is refused");
        assert!(refused(json!({"exclude": [{"calendar": "feasts"}]})).contains("there are holidays"));
        assert!(refused(json!({"exclude": [{"calendar": 7}]})).contains("is a text"));
        assert!(refused(json!({"exclude": [{"calendar": "holidays", "cron": "x"}]})).contains("beside it"));
        calendars.write_out(&mut json!({"exclude": "wrong"})).expect("the shape is judged elsewhere");
    }
}
