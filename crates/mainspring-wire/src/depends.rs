//! What a job waits for, and what it can read of it: `depends_on` of a job, and `GET /v1/jobs/{id}/parents`.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, PartialSchema, ToSchema};
use uuid::Uuid;

use crate::short::{self, Short};
use crate::{ErrorView, Status};

crate::words::words! {
    /// What becomes of a job whose parent failed or was cancelled.
    #[derive(Default)]
    pub enum OnFailure: "a way to go on" {
        /// It is cancelled too.
        #[default]
        Cancel = "cancel",
        /// It runs all the same.
        Run = "run",
        /// It stays blocked until the parent is retried and succeeds, or a person runs or cancels it.
        Hold = "hold",
    }
}

/// A job that must end first: its id, or an object that also says what its failure means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DependsOn {
    pub job_id: Uuid,
    pub on_failure: OnFailure,
}

/// The long form.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DependsOnLong {
    job_id: Uuid,
    /// `cancel` if left out.
    #[serde(default)]
    #[schema(required = false)]
    on_failure: OnFailure,
}

impl From<Uuid> for DependsOn {
    fn from(job_id: Uuid) -> DependsOn {
        DependsOn { job_id, on_failure: OnFailure::default() }
    }
}

impl Short for DependsOn {
    type Long = DependsOnLong;
    const EXPECTED: &'static str = "the id of a job, or an object with job_id and on_failure";

    fn from_text(text: &str) -> Result<DependsOn, String> {
        let id = Uuid::try_parse(text);
        id.map(DependsOn::from)
            .map_err(|error| format!("{} is not the id of a job: {error}", crate::parse::quoted(text)))
    }

    fn from_long(long: DependsOnLong) -> Result<DependsOn, String> {
        Ok(DependsOn { job_id: long.job_id, on_failure: long.on_failure })
    }
}

impl<'de> Deserialize<'de> for DependsOn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<DependsOn, D::Error> {
        short::read(deserializer)
    }
}

impl Serialize for DependsOn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.on_failure {
            OnFailure::Cancel => self.job_id.serialize(serializer),
            on_failure => DependsOnLong { job_id: self.job_id, on_failure }.serialize(serializer),
        }
    }
}

impl PartialSchema for DependsOn {
    fn schema() -> RefOr<Schema> {
        short::schema::<DependsOnLong>(
            "01980000-0000-7000-8000-000000000001",
            "A job that must end first: its id, or an object that also says what its failure means.",
        )
    }
}

impl ToSchema for DependsOn {
    fn name() -> Cow<'static, str> {
        "DependsOn".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        DependsOnLong::schemas(schemas);
    }
}

/// A parent, as its child may read it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ParentView {
    pub job_id: Uuid,
    /// Its name, if it is a step of a workflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Absent if its retention is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    pub on_failure: OnFailure,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Value)]
    pub result: Option<Box<RawValue>>,
    /// Why its last failed attempt failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorView>,
}

/// One page of a job's parents, in the order of its `depends_on`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct Parents {
    pub parents: Vec<ParentView>,
    /// Ask again with this for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Which of a job's parents.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ParentsQuery {
    /// Parents on a page; all of them if left out, as far as their results fit.
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

    #[test]
    fn a_parent_is_said_short_or_long() {
        let plain: DependsOn = round_trip(r#""JOB""#);
        assert_eq!(plain, DependsOn::from(plain.job_id));
        let held: DependsOn = round_trip(r#"{"job_id":"JOB","on_failure":"hold"}"#);
        assert_eq!(held.on_failure, OnFailure::Hold);
        let json = format!(r#"{{"job_id":"{}"}}"#, crate::check::JOB);
        assert_eq!(serde_json::from_str::<DependsOn>(&json).expect("is read"), plain);
    }

    #[test]
    fn what_is_no_parent_is_refused() {
        refused::<DependsOn>(r#""x""#, r#""x" is not the id of a job"#);
        refused::<DependsOn>("7", "expected the id of a job, or an object with job_id and on_failure");
        refused::<DependsOn>("[]", "expected the id of a job");
        refused::<DependsOn>("{}", "missing field `job_id`");
        refused::<DependsOn>(r#"{"job_id":"JOB","on_failure":"retry"}"#, "unknown variant `retry`");
        refused::<DependsOn>(r#"{"job_id":"JOB","onfailure":"run"}"#, "unknown field `onfailure`");
    }

    #[test]
    fn parents_say_the_same_again() {
        round_trip::<Parents>(concat!(
            r#"{"parents":[{"job_id":"JOB","step":"a","status":"COMPLETED","on_failure":"cancel","result":{ "n":1 }},"#,
            r#"{"job_id":"JOB","status":"FAILED","on_failure":"run","error":{"message":"boom"}},"#,
            r#"{"job_id":"JOB","on_failure":"hold"}],"next_cursor":"3"}"#,
        ));
    }
}
