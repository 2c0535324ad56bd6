//! A schedule as it is looked at: what a person said, and what has happened since.

use std::borrow::Cow;

use serde::de::{Error, MapAccess};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, PartialSchema, ToSchema};
use uuid::Uuid;

use crate::beside::{self, Beside};
use crate::{NewSchedule, Timestamp};

crate::words::words! {
    /// Whether a schedule fires.
    pub enum ScheduleStatus: "the status of a schedule" {
        Active = "ACTIVE",
        Paused = "PAUSED",
        /// No occurrence is left: its rules, `end_at` or `max_runs` say so.
        Ended = "ENDED",
    }
}

crate::words::words! {
    /// Who paused a schedule.
    pub enum PausedBy: "who pauses a schedule" {
        Person = "person",
        /// One of its jobs failed for good, and it says `pause_on_failure`.
        Failure = "failure",
    }
}

/// Why a schedule does not fire for now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PauseView {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    pub since: Timestamp,
    /// It resumes by itself then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    pub by: PausedBy,
    /// The job that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_id: Option<Uuid>,
}

/// A schedule: the document as it was written, with what the server adds to it beside.
#[derive(Debug, Clone, Serialize)]
pub struct ScheduleView {
    #[serde(flatten)]
    pub schedule: NewSchedule,
    /// Rises when a person changes the schedule; the `ETag`.
    pub revision: u64,
    pub status: ScheduleStatus,
    /// Present while it is paused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused: Option<PauseView>,
    /// The occurrence that comes next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_fire_time: Option<Timestamp>,
    /// The last occurrence that made a job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_fire_time: Option<Timestamp>,
    /// How many occurrences made a job.
    pub runs: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_job_id: Option<Uuid>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// What the server adds, as it is read and as it is described.
#[derive(Default, ToSchema)]
#[allow(dead_code, reason = "the schema is derived from the fields")]
struct Added {
    #[schema(value_type = u64)]
    revision: Option<u64>,
    #[schema(value_type = ScheduleStatus)]
    status: Option<ScheduleStatus>,
    paused: Option<PauseView>,
    next_fire_time: Option<Timestamp>,
    last_fire_time: Option<Timestamp>,
    #[schema(value_type = u64)]
    runs: Option<u64>,
    last_job_id: Option<Uuid>,
    #[schema(value_type = Timestamp)]
    created_at: Option<Timestamp>,
    #[schema(value_type = Timestamp)]
    updated_at: Option<Timestamp>,
}

impl Beside for Added {
    const EXPECTED: &'static str = "an object: a schedule";
    const LENIENT: bool = true;

    fn take<'de, A: MapAccess<'de>>(&mut self, field: &str, map: &mut A) -> Result<bool, A::Error> {
        match field {
            "revision" => beside::once(&mut self.revision, "revision", map),
            "status" => beside::once(&mut self.status, "status", map),
            "paused" => beside::once(&mut self.paused, "paused", map),
            "next_fire_time" => beside::once(&mut self.next_fire_time, "next_fire_time", map),
            "last_fire_time" => beside::once(&mut self.last_fire_time, "last_fire_time", map),
            "runs" => beside::once(&mut self.runs, "runs", map),
            "last_job_id" => beside::once(&mut self.last_job_id, "last_job_id", map),
            "created_at" => beside::once(&mut self.created_at, "created_at", map),
            "updated_at" => beside::once(&mut self.updated_at, "updated_at", map),
            _ => Ok(false),
        }
    }
}

impl<'de> Deserialize<'de> for ScheduleView {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ScheduleView, D::Error> {
        let (added, schedule): (Added, NewSchedule) = beside::read(deserializer)?;
        Ok(ScheduleView {
            schedule,
            revision: added.revision.ok_or_else(|| D::Error::missing_field("revision"))?,
            status: added.status.ok_or_else(|| D::Error::missing_field("status"))?,
            paused: added.paused,
            next_fire_time: added.next_fire_time,
            last_fire_time: added.last_fire_time,
            runs: added.runs.ok_or_else(|| D::Error::missing_field("runs"))?,
            last_job_id: added.last_job_id,
            created_at: added.created_at.ok_or_else(|| D::Error::missing_field("created_at"))?,
            updated_at: added.updated_at.ok_or_else(|| D::Error::missing_field("updated_at"))?,
        })
    }
}

impl PartialSchema for ScheduleView {
    fn schema() -> RefOr<Schema> {
        let mut schema = NewSchedule::schema();
        if let (RefOr::T(Schema::Object(view)), RefOr::T(Schema::Object(added))) = (&mut schema, Added::schema()) {
            view.description = Some("A schedule as it was written, and what has happened to it since.".to_owned());
            view.additional_properties = None;
            view.required.extend(added.required);
            view.properties.extend(added.properties);
        }
        schema
    }
}

impl ToSchema for ScheduleView {
    fn name() -> Cow<'static, str> {
        "ScheduleView".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        NewSchedule::schemas(schemas);
        Added::schemas(schemas);
    }
}

/// One page of schedules, by name.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct SchedulePage {
    pub schedules: Vec<ScheduleView>,
    /// Ask again with this for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Which schedules to list.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ScheduleQuery {
    /// Only those that are paused, or only those that are not. Picks from each page, which may be short for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
    /// Schedules on a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// The `next_cursor` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{refused, round_trip};

    const ADDED: &str = concat!(
        r#""revision":3,"status":"PAUSED","paused":{"note":"n","since":"2026-12-01T09:00:00.000Z","#,
        r#""until":"2026-12-02T09:00:00.000Z","by":"failure","job_id":"JOB"},"next_fire_time":"2026-12-02T03:00:00.000Z","#,
        r#""last_fire_time":"2026-12-01T03:00:00.000Z","runs":7,"last_job_id":"JOB","#,
        r#""created_at":"2026-12-01T09:00:00.000Z","updated_at":"2026-12-01T09:00:00.000Z"}"#,
    );

    #[test]
    fn a_view_says_the_same_again() {
        let view: ScheduleView =
            round_trip(&format!(r#"{{"schedule_id":"s","cron":"0 3 * * *","job":{{"type":"a","data":[ 1 ]}},{ADDED}"#));
        assert_eq!((view.revision, view.schedule.cron.as_deref()), (3, Some("0 3 * * *")));
        round_trip::<SchedulePage>(concat!(
            r#"{"schedules":[{"schedule_id":"s","every":"90s","job":{"type":"a"},"revision":1,"status":"ACTIVE","runs":0,"#,
            r#""created_at":"2026-12-01T09:00:00.000Z","updated_at":"2026-12-01T09:00:00.000Z"}],"next_cursor":"s"}"#,
        ));
        round_trip::<ScheduleQuery>(r#"{"paused":true,"limit":5,"cursor":"s"}"#);
    }

    #[test]
    fn an_older_reader_skips_what_a_newer_server_adds() {
        let json = format!(r#"{{"newer":{{"x":[1]}},"cron":"0 3 * * *","job":{{"type":"a"}},{ADDED}"#);
        let view: ScheduleView = serde_json::from_str(&json.replace("JOB", crate::check::JOB)).expect("it is read");
        assert_eq!(view.runs, 7);
        refused::<ScheduleView>(r#"{"cron":"0 3 * * *","job":{"type":"a"}}"#, "missing field `revision`");
    }

    #[test]
    fn a_view_is_described_as_the_document_with_more() {
        let schema = serde_json::to_value(ScheduleView::schema()).expect("a schema prints");
        assert_eq!(
            schema["required"],
            serde_json::json!(["job", "revision", "status", "runs", "created_at", "updated_at"])
        );
        assert!(schema["properties"]["cron"].is_object() && schema["properties"]["last_job_id"].is_object());
        assert!(schema.get("additionalProperties").is_none());
    }
}
