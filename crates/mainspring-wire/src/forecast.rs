//! What will fire: `GET /v1/forecast`. A look ahead over schedules and waiting jobs; nothing in it is a promise.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::parse::is_false;
use crate::{Span, Timestamp};

/// How far to look, and what to try.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ForecastQuery {
    /// Days ahead, from 1 to 7; 7 if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub days: Option<u32>,
    /// Also shows what it would look like if every schedule had this jitter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Span>,
}

/// What fires in each minute of the days ahead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Forecast {
    pub from: Timestamp,
    pub until: Timestamp,
    /// Fires of schedules in all minutes together.
    pub schedules: u64,
    /// Waiting jobs that fall due in all minutes together.
    pub jobs: u64,
    /// Minutes in which something fires, in order.
    pub minutes: Vec<ForecastMinute>,
    /// The fullest minute; absent if nothing fires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak: Option<ForecastMinute>,
    /// Minutes in which many schedules fire at once, the biggest first.
    pub herds: Vec<Herd>,
    /// The minutes as they would be with the jitter that was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with_jitter: Option<Vec<ForecastMinute>>,
    /// The fullest of those.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_with_jitter: Option<ForecastMinute>,
    /// There is more than could be counted: the minutes further ahead show too little.
    #[serde(default, skip_serializing_if = "is_false")]
    pub partial: bool,
}

/// One minute that is not empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ForecastMinute {
    pub at: Timestamp,
    /// Fires of schedules.
    pub schedules: u64,
    /// Waiting jobs that fall due.
    pub jobs: u64,
}

/// A minute in which many schedules fire at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Herd {
    pub at: Timestamp,
    /// Fires in this minute.
    pub count: u64,
    /// Some of the schedules, those that fire most first.
    pub schedules: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{refused, round_trip};

    #[test]
    fn a_forecast_says_the_same_again() {
        round_trip::<ForecastQuery>(r#"{"days":3,"jitter":"5m"}"#);
        refused::<ForecastQuery>(r#"{"weeks":1}"#, "unknown field `weeks`");
        round_trip::<Forecast>(concat!(
            r#"{"from":"2026-12-01T09:00:00.000Z","until":"2026-12-08T09:00:00.000Z","schedules":12,"jobs":1,"#,
            r#""minutes":[{"at":"2026-12-02T00:00:00.000Z","schedules":12,"jobs":1}],"#,
            r#""peak":{"at":"2026-12-02T00:00:00.000Z","schedules":12,"jobs":1},"#,
            r#""herds":[{"at":"2026-12-02T00:00:00.000Z","count":12,"schedules":["nightly"]}],"#,
            r#""with_jitter":[{"at":"2026-12-02T00:00:00.000Z","schedules":3,"jobs":1}],"#,
            r#""peak_with_jitter":{"at":"2026-12-02T00:00:00.000Z","schedules":3,"jobs":1},"partial":true}"#,
        ));
        round_trip::<Forecast>(concat!(
            r#"{"from":"2026-12-01T09:00:00.000Z","until":"2026-12-08T09:00:00.000Z","schedules":0,"jobs":0,"#,
            r#""minutes":[],"herds":[]}"#,
        ));
    }
}
