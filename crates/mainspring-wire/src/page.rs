//! Finding jobs: `GET /v1/jobs`, page by page. A cursor is the server's own and is only handed back.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::JobView;

/// One page of jobs.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct JobPage {
    pub jobs: Vec<JobView>,
    /// Ask again with this for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Which jobs to find.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct JobQuery {
    /// One status, or several with commas between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Made by this schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// Part of this workflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow: Option<Uuid>,
    /// Jobs on a page.
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
    fn a_page_says_the_same_again() {
        round_trip::<JobPage>(r#"{"jobs":[]}"#);
        round_trip::<JobPage>(r#"{"jobs":[],"next_cursor":"c2"}"#);
        round_trip::<JobQuery>(
            r#"{"status":"PENDING,RUNNING","queue":"q","type":"mail","tag":"t","schedule":"s","workflow":"JOB","limit":10,"cursor":"c"}"#,
        );
        refused::<JobQuery>(r#"{"state":"PENDING"}"#, "unknown field `state`");
    }

    #[test]
    fn a_query_is_described_by_its_wire_names() {
        let names: Vec<String> = JobQuery::into_params(|| None).into_iter().map(|parameter| parameter.name).collect();
        assert_eq!(names, ["status", "queue", "type", "tag", "schedule", "workflow", "limit", "cursor"]);
    }
}
