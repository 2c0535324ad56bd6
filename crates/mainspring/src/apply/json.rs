//! TOML as JSON. Dates and times of TOML become the texts that the API reads, so they may be written with or without quotes.

use serde_json::{Map, Number, Value};

/// `None` for what JSON cannot say: infinity, not a number.
pub fn from_toml(value: toml::Value) -> Option<Value> {
    Some(match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => Value::from(number),
        toml::Value::Float(number) => Value::Number(Number::from_f64(number)?),
        toml::Value::Boolean(boolean) => Value::Bool(boolean),
        toml::Value::Datetime(time) => Value::String(time.to_string()),
        toml::Value::Array(items) => Value::Array(items.into_iter().map(from_toml).collect::<Option<_>>()?),
        toml::Value::Table(table) => {
            let fields = table.into_iter().map(|(name, value)| Some((name, from_toml(value)?)));
            Value::Object(fields.collect::<Option<Map<_, _>>>()?)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_of_toml_has_its_json() {
        let toml = "day = 2026-12-25\nat = 09:30:00\nwhen = 2026-12-25T09:30:00+01:00\nn = 7\nx = 1.5\nlist = [\"a\", {b = true}]\n";
        let json = from_toml(toml.parse::<toml::Table>().expect("it is TOML").into()).expect("it has a JSON");
        let expected = serde_json::json!({
            "day": "2026-12-25", "at": "09:30:00", "when": "2026-12-25T09:30:00+01:00", "n": 7, "x": 1.5, "list": ["a", {"b": true}]
        });
        assert_eq!(json, expected);
        assert_eq!(from_toml("x = inf".parse::<toml::Table>().expect("it is TOML").into()), None);
    }
}
