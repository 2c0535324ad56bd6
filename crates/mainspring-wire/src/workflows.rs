//! Workflows: `POST /v1/workflows`, `GET /v1/workflows/{id}`, `…/cancel`. Jobs that wait for each other by local names, taken
//! in with one write.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::{Error, MapAccess};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, PartialSchema, ToSchema};
use uuid::Uuid;

use crate::beside::{self, Beside};
use crate::parse::is_false;
use crate::short::{self, Short};
use crate::{JobView, NewJob, OnFailure, Span, Timestamp};

/// Jobs that are taken in together, or not at all.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewWorkflow {
    /// In any order: a step may come after one that is named later.
    pub jobs: Vec<NewStep>,
    /// Runs once every job of the workflow has ended, however it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callback: Option<NewJob>,
    /// The same key and body again answers the workflow it made first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// How long the key is remembered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_retention: Option<Span>,
}

/// A job of a workflow: everything a job has, its name in the workflow, and what it comes after.
#[derive(Debug, Clone, Default, Serialize)]
pub struct NewStep {
    pub name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<After>,
    /// What is done. Its `depends_on` may name jobs outside of the workflow.
    #[serde(flatten)]
    pub job: NewJob,
}

#[derive(Default)]
struct NameAndAfter {
    name: Option<String>,
    after: Option<Vec<After>>,
}

impl Beside for NameAndAfter {
    const EXPECTED: &'static str = "an object: a job with a name";
    const LENIENT: bool = false;

    fn take<'de, A: MapAccess<'de>>(&mut self, field: &str, map: &mut A) -> Result<bool, A::Error> {
        match field {
            "name" => beside::once(&mut self.name, "name", map),
            "after" => beside::once(&mut self.after, "after", map),
            _ => Ok(false),
        }
    }
}

impl<'de> Deserialize<'de> for NewStep {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<NewStep, D::Error> {
        let (beside, job): (NameAndAfter, NewJob) = beside::read(deserializer)?;
        let name = beside.name.ok_or_else(|| D::Error::missing_field("name"))?;
        Ok(NewStep { name, after: beside.after.unwrap_or_default(), job })
    }
}

impl PartialSchema for NewStep {
    fn schema() -> RefOr<Schema> {
        let mut schema = NewJob::schema();
        if let RefOr::T(Schema::Object(step)) = &mut schema {
            let name = utoipa::openapi::ObjectBuilder::new()
                .schema_type(utoipa::openapi::schema::Type::String)
                .description(Some("Its name in the workflow."));
            let after = utoipa::openapi::ArrayBuilder::new()
                .items(utoipa::openapi::Ref::from_schema_name("After"))
                .description(Some("The steps that must end first."));
            step.description = Some("A job of a workflow: a job with a name, and what it comes after.".to_owned());
            step.required.insert(0, "name".to_owned());
            step.properties.insert("name".to_owned(), name.into());
            step.properties.insert("after".to_owned(), after.into());
        }
        schema
    }
}

impl ToSchema for NewStep {
    fn name() -> Cow<'static, str> {
        "NewStep".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push(("After".to_owned(), After::schema()));
        After::schemas(schemas);
        NewJob::schemas(schemas);
    }
}

/// A step that must end first: its name, or an object that also says what its failure means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct After {
    pub job: String,
    pub on_failure: OnFailure,
}

/// The long form.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AfterLong {
    job: String,
    /// `cancel` if left out.
    #[serde(default)]
    #[schema(required = false)]
    on_failure: OnFailure,
}

impl After {
    /// After this step, if it succeeds.
    pub fn new(job: impl Into<String>) -> After {
        After { job: job.into(), on_failure: OnFailure::default() }
    }
}

impl Short for After {
    type Long = AfterLong;
    const EXPECTED: &'static str = "the name of a step, or an object with job and on_failure";

    fn from_text(text: &str) -> Result<After, String> {
        Ok(After::new(text))
    }

    fn from_long(long: AfterLong) -> Result<After, String> {
        Ok(After { job: long.job, on_failure: long.on_failure })
    }
}

impl<'de> Deserialize<'de> for After {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<After, D::Error> {
        short::read(deserializer)
    }
}

impl Serialize for After {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.on_failure {
            OnFailure::Cancel => self.job.serialize(serializer),
            on_failure => AfterLong { job: self.job.clone(), on_failure }.serialize(serializer),
        }
    }
}

impl PartialSchema for After {
    fn schema() -> RefOr<Schema> {
        let description = "A step that must end first: its name, or an object that also says what its failure means.";
        short::schema::<AfterLong>("fetch", description)
    }
}

impl ToSchema for After {
    fn name() -> Cow<'static, str> {
        "After".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        AfterLong::schemas(schemas);
    }
}

/// The answer to a workflow: all of its jobs are durable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WorkflowSubmitted {
    pub workflow_id: Uuid,
    /// The job of each step, by its name.
    pub jobs: BTreeMap<String, Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callback_id: Option<Uuid>,
    /// The idempotency key was seen before: this is the workflow it made then.
    #[serde(default, skip_serializing_if = "is_false")]
    pub duplicate: bool,
}

crate::words::words! {
    /// Where a workflow is, by the states of its steps; the callback does not count.
    pub enum WorkflowStatus: "the status of a workflow" {
        /// A step has not ended.
        Running = "RUNNING",
        /// Every step has ended, none of them failed or was cancelled.
        Completed = "COMPLETED",
        /// Every step has ended, and one or more failed.
        Failed = "FAILED",
        /// Every step has ended; none failed, and one or more were cancelled.
        Cancelled = "CANCELLED",
    }
}

/// A workflow as a whole, and a page of its jobs.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct WorkflowView {
    pub workflow_id: Uuid,
    pub status: WorkflowStatus,
    pub counts: WorkflowCounts,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callback_id: Option<Uuid>,
    pub submitted_at: Timestamp,
    /// Its jobs, the callback included.
    pub jobs: Vec<JobView>,
    /// Ask again with this for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// How many steps of a workflow are where; the callback is not among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct WorkflowCounts {
    pub blocked: u64,
    pub scheduled: u64,
    pub pending: u64,
    pub paused: u64,
    pub running: u64,
    pub completed: u64,
    pub failed: u64,
    pub cancelled: u64,
}

/// Which jobs of a workflow.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WorkflowQuery {
    /// Jobs on a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// The `next_cursor` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// What cancelling a workflow came to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct WorkflowCancelled {
    /// Jobs that were cancelled, or whose worker is told to stop with its next heartbeat.
    pub cancelled: u64,
    /// The step was full: call again for the rest.
    #[serde(default)]
    pub more: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{refused, round_trip};

    #[test]
    fn a_workflow_says_the_same_again() {
        let workflow: NewWorkflow = round_trip(concat!(
            r#"{"jobs":[{"name":"a","type":"fetch","data":{ "n": 18446744073709551616 }},"#,
            r#"{"name":"b","after":["a",{"job":"a","on_failure":"run"}],"type":"sum","depends_on":["JOB"],"weight":2}],"#,
            r#""callback":{"type":"tell"},"idempotency_key":"k","idempotency_retention":"1d"}"#,
        ));
        let data = workflow.jobs[0].job.data.as_ref().expect("data was given");
        assert_eq!(data.get(), r#"{ "n": 18446744073709551616 }"#, "kept as it was written");
        assert_eq!(workflow.jobs[1].after[0], After::new("a"));
        assert_eq!(workflow.jobs[1].after[1].on_failure, OnFailure::Run);
    }

    #[test]
    fn a_step_is_read_whatever_the_order_of_its_fields() {
        let step: NewStep =
            serde_json::from_str(r#"{"type":"t","after":["x"],"queue":"q","name":"n"}"#).expect("a step");
        assert_eq!((step.name.as_str(), step.job.kind.as_str(), step.job.queue.as_deref()), ("n", "t", Some("q")));
    }

    #[test]
    fn a_step_refuses_what_it_does_not_know() {
        refused::<NewStep>(r#"{"type":"t"}"#, "missing field `name`");
        refused::<NewStep>(r#"{"name":"n"}"#, "missing field `type`");
        refused::<NewStep>(r#"{"name":"n","type":"t","prority":1}"#, "unknown field `prority`");
        refused::<NewStep>(r#"{"name":"n","type":"t","name":"m"}"#, "duplicate field `name`");
        refused::<NewStep>(r#"{"name":"n","type":"t","after":"a"}"#, "expected a sequence");
        refused::<NewStep>(r#"{"name":"n","type":"t","after":[7]}"#, "expected the name of a step");
        refused::<NewStep>(r#"{"name":"n","type":"t","after":[{"step":"a"}]}"#, "unknown field `step`");
        refused::<NewStep>("7", "expected an object");
        refused::<NewWorkflow>(r#"{"jobs":[],"call_back":1}"#, "unknown field `call_back`");
        refused::<NewWorkflow>("{}", "missing field `jobs`");
    }

    #[test]
    fn a_step_is_described_as_a_job_with_a_name() {
        let schema = serde_json::to_value(NewStep::schema()).expect("a schema prints");
        assert_eq!(schema["required"], serde_json::json!(["name", "type"]));
        assert_eq!(schema["additionalProperties"], serde_json::json!(false));
        assert!(schema["properties"]["queue"].is_object());
        assert_eq!(schema["properties"]["after"]["items"]["$ref"], "#/components/schemas/After");
    }

    #[test]
    fn answers_say_the_same_again() {
        round_trip::<WorkflowSubmitted>(
            r#"{"workflow_id":"JOB","jobs":{"a":"JOB"},"callback_id":"JOB","duplicate":true}"#,
        );
        round_trip::<WorkflowSubmitted>(r#"{"workflow_id":"JOB","jobs":{}}"#);
        round_trip::<WorkflowView>(concat!(
            r#"{"workflow_id":"JOB","status":"RUNNING","counts":{"blocked":1,"scheduled":0,"pending":1,"paused":0,"running":0,"#,
            r#""completed":2,"failed":0,"cancelled":0},"callback_id":"JOB","submitted_at":"2026-12-01T09:00:00.000Z","jobs":[],"next_cursor":"c"}"#,
        ));
        round_trip::<WorkflowCancelled>(r#"{"cancelled":3,"more":false}"#);
    }
}
