//! When a schedule does not fire, whatever its rules say.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::short::{self, Short};

/// A date, or an object with one of: `from` and `through`, `weekdays`, `times`, `cron`, `rrule`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exclusion {
    /// A whole day of the schedule's time zone, such as `2026-12-25`.
    Date(String),
    /// Whole days, both included.
    Dates {
        from: String,
        through: String,
    },
    Weekdays(Vec<String>),
    Times(TimesOfDay),
    /// Every minute that the expression names.
    Cron(String),
    Rrule(String),
}

/// From a time of day up to but not including another; over midnight if `to` is not after `from`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TimesOfDay {
    #[schema(example = "22:00")]
    pub from: String,
    #[schema(example = "06:00")]
    pub to: String,
}

/// The long form.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ExclusionLong {
    /// A date; together with `through`.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    /// A date, itself included; together with `from`.
    #[serde(skip_serializing_if = "Option::is_none")]
    through: Option<String>,
    /// `MON` to `SUN`.
    #[serde(skip_serializing_if = "Option::is_none")]
    weekdays: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<TimesOfDay>,
    /// Every minute that the expression names.
    #[serde(skip_serializing_if = "Option::is_none")]
    cron: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rrule: Option<String>,
}

impl Short for Exclusion {
    type Long = ExclusionLong;
    const EXPECTED: &'static str =
        "a date such as 2026-12-25, or an object with from and through, weekdays, times, cron or rrule";

    fn from_text(text: &str) -> Result<Exclusion, String> {
        Ok(Exclusion::Date(text.to_owned()))
    }

    fn from_long(long: ExclusionLong) -> Result<Exclusion, String> {
        let ExclusionLong { from, through, weekdays, times, cron, rrule } = long;
        let dates = match (from, through) {
            (Some(from), Some(through)) => Some(Exclusion::Dates { from, through }),
            (None, None) => None,
            _ => return Err("from and through go together: give both, or one date as a string".to_owned()),
        };
        let given = [
            dates,
            weekdays.map(Exclusion::Weekdays),
            times.map(Exclusion::Times),
            cron.map(Exclusion::Cron),
            rrule.map(Exclusion::Rrule),
        ];
        let mut given = given.into_iter().flatten();
        match (given.next(), given.next()) {
            (Some(one), None) => Ok(one),
            (None, _) => Err(format!("it says nothing: expected {}", Self::EXPECTED)),
            _ => Err("it says two things: make an exclusion of each".to_owned()),
        }
    }
}

impl<'de> Deserialize<'de> for Exclusion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Exclusion, D::Error> {
        short::read(deserializer)
    }
}

impl Serialize for Exclusion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut long = ExclusionLong::default();
        match self.clone() {
            Exclusion::Date(date) => return date.serialize(serializer),
            Exclusion::Dates { from, through } => (long.from, long.through) = (Some(from), Some(through)),
            Exclusion::Weekdays(days) => long.weekdays = Some(days),
            Exclusion::Times(times) => long.times = Some(times),
            Exclusion::Cron(text) => long.cron = Some(text),
            Exclusion::Rrule(text) => long.rrule = Some(text),
        }
        long.serialize(serializer)
    }
}

impl PartialSchema for Exclusion {
    fn schema() -> RefOr<Schema> {
        let description =
            "A date, or an object with one of: `from` and `through`, `weekdays`, `times`, `cron`, `rrule`.";
        short::schema::<ExclusionLong>("2026-12-25", description)
    }
}

impl ToSchema for Exclusion {
    fn name() -> Cow<'static, str> {
        "Exclusion".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        ExclusionLong::schemas(schemas);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{refused, round_trip};

    #[test]
    fn every_exclusion_says_the_same_again() {
        for json in [
            r#""2026-12-25""#,
            r#"{"from":"2026-12-24","through":"2027-01-01"}"#,
            r#"{"weekdays":["SAT","SUN"]}"#,
            r#"{"times":{"from":"22:00","to":"06:00"}}"#,
            r#"{"cron":"* * 1 * *"}"#,
            r#"{"rrule":"FREQ=YEARLY"}"#,
        ] {
            round_trip::<Exclusion>(json);
        }
    }

    #[test]
    fn an_exclusion_says_one_thing() {
        refused::<Exclusion>("7", "expected a date such as 2026-12-25, or an object");
        refused::<Exclusion>("{}", "it says nothing");
        refused::<Exclusion>(r#"{"from":"2026-12-24"}"#, "from and through go together");
        refused::<Exclusion>(r#"{"weekdays":["SAT"],"cron":"* * * * *"}"#, "it says two things");
        refused::<Exclusion>(r#"{"day":"SAT"}"#, "unknown field `day`");
        refused::<Exclusion>(r#"{"times":{"from":"22:00"}}"#, "missing field `to`");
    }
}
