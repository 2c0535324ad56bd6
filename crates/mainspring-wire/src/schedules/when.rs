//! When a schedule fires. Texts are read by the server: here they only have their shape.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::short::{self, Short};
use crate::{Span, Timestamp};

/// One rule of several: an object with one field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Timing {
    Cron(String),
    Every(Every),
    Daily(ClockTimes),
    Weekly(Weekly),
    Monthly(Monthly),
    Rrule(String),
}

/// A length of real time: `90s`, or an object that also says from when it is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Every {
    pub every: Span,
    /// The unix epoch if absent.
    pub anchor: Option<Timestamp>,
}

/// The long form.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EveryLong {
    every: Span,
    /// It is counted from here; from the unix epoch if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    anchor: Option<Timestamp>,
}

impl From<Span> for Every {
    fn from(every: Span) -> Every {
        Every { every, anchor: None }
    }
}

impl Short for Every {
    type Long = EveryLong;
    const EXPECTED: &'static str = "a duration such as 90s, or an object with every and anchor";

    fn from_text(text: &str) -> Result<Every, String> {
        text.parse::<Span>().map(Every::from).map_err(|error| error.to_string())
    }

    fn from_number(seconds: f64) -> Option<Result<Every, String>> {
        Some(Span::from_seconds(seconds).map(Every::from).map_err(|error| error.to_string()))
    }

    fn from_long(long: EveryLong) -> Result<Every, String> {
        Ok(Every { every: long.every, anchor: long.anchor })
    }
}

impl<'de> Deserialize<'de> for Every {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Every, D::Error> {
        short::read(deserializer)
    }
}

impl Serialize for Every {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.anchor {
            None => self.every.serialize(serializer),
            anchor => EveryLong { every: self.every, anchor }.serialize(serializer),
        }
    }
}

impl PartialSchema for Every {
    fn schema() -> RefOr<Schema> {
        short::schema::<EveryLong>("90s", "A length of real time, or an object that also says from when it is counted.")
    }
}

impl ToSchema for Every {
    fn name() -> Cow<'static, str> {
        "Every".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        EveryLong::schemas(schemas);
    }
}

/// Times of day such as `09:00` or `23:59:30`: one, or several.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClockTimes(pub Vec<String>);

impl<'de> Deserialize<'de> for ClockTimes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ClockTimes, D::Error> {
        short::one_or_many(deserializer).map(ClockTimes)
    }
}

impl Serialize for ClockTimes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [one] => one.serialize(serializer),
            all => all.serialize(serializer),
        }
    }
}

impl PartialSchema for ClockTimes {
    fn schema() -> RefOr<Schema> {
        short::texts_schema("09:00", "A time of day, or a list of them.")
    }
}

impl ToSchema for ClockTimes {
    fn name() -> Cow<'static, str> {
        "ClockTimes".into()
    }
}

/// On these days of the week.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Weekly {
    /// `MON` to `SUN`.
    pub days: Vec<String>,
    pub at: ClockTimes,
}

/// On these days of the month.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Monthly {
    /// From 1 to 31; from the end of the month if negative, -1 is its last day. A month without the day is passed over.
    pub days: Vec<i32>,
    pub at: ClockTimes,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{refused, round_trip};

    #[test]
    fn every_rule_says_the_same_again() {
        for json in [
            r#"{"cron":"0 3 * * *"}"#,
            r#"{"every":"90s"}"#,
            r#"{"every":{"every":"90s","anchor":"2026-01-01T00:00:00.000Z"}}"#,
            r#"{"daily":"09:00"}"#,
            r#"{"daily":["09:00","17:00"]}"#,
            r#"{"weekly":{"days":["MON"],"at":["09:00","17:00"]}}"#,
            r#"{"monthly":{"days":[1,-1],"at":"00:00"}}"#,
            r#"{"rrule":"FREQ=DAILY"}"#,
        ] {
            round_trip::<Timing>(json);
        }
        let check =
            |json: &str| assert_eq!(serde_json::from_str::<Every>(json).expect("is read").every, Span::from_secs(90));
        check("90");
        check(r#""PT90S""#);
        check(r#"{"every":90}"#);
    }

    #[test]
    fn a_rule_that_is_none_is_refused() {
        refused::<Timing>(r#"{"cron":"x","every":"1s"}"#, "expected");
        refused::<Timing>(r#"{"hourly":"x"}"#, "unknown variant `hourly`, expected one of `cron`");
        refused::<Timing>(r#""cron""#, "expected");
        refused::<Every>(r#""soon""#, r#""soon" is not a duration"#);
        refused::<Every>("-1", "is negative");
        refused::<Every>("[]", "expected a duration such as 90s, or an object with every and anchor");
        refused::<Every>("{}", "missing field `every`");
        refused::<Every>(r#"{"every":"1s","from":0}"#, "unknown field `from`");
        refused::<ClockTimes>("9", "expected a string, or a list of strings");
        refused::<ClockTimes>("[9]", "expected a string");
        refused::<Weekly>(r#"{"days":["MON"]}"#, "missing field `at`");
        refused::<Monthly>(r#"{"days":["1"],"at":"09:00"}"#, "expected i32");
    }
}
