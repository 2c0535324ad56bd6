//! Schedules: `/v1/schedules` and what is below it.

use http::Method;
use http::header::{HeaderName, IF_MATCH, IF_NONE_MATCH};
use mainspring_wire::{
    Backfill, BackfillAnswer, LedgerPage, LedgerQuery, NewSchedule, Preview, PreviewQuery, SchedulePage, SchedulePause,
    ScheduleQuery, ScheduleView, Submitted,
};
use serde::Serialize;

use super::Client;
use super::call::{Call, segment};
use crate::error::Result;

/// What must hold for a schedule to be changed. If it does not, nothing changes, and the error
/// [is one of a failed precondition](crate::Error::is_precondition_failed).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Expect {
    /// Whatever is there, or nothing.
    #[default]
    Anything,
    /// There is no schedule by this name.
    Absent,
    /// It is as it was when it had this revision.
    Revision(u64),
}

impl Expect {
    fn header(self) -> Option<(HeaderName, String)> {
        match self {
            Expect::Anything => None,
            Expect::Absent => Some((IF_NONE_MATCH, "*".to_owned())),
            Expect::Revision(revision) => Some((IF_MATCH, format!("\"{revision}\""))),
        }
    }
}

impl Client {
    /// Creates a schedule; the server makes up a name if it has none. One by the same name must not be there.
    pub async fn create_schedule(&self, schedule: &NewSchedule) -> Result<ScheduleView> {
        self.ask(Call::post("/v1/schedules").body(schedule)).await
    }

    /// Creates the schedule, or replaces all that it says. What has fired stays fired.
    pub async fn put_schedule(&self, name: &str, schedule: &NewSchedule, expect: Expect) -> Result<ScheduleView> {
        // The name is in the path; a second one in the body could only contradict it.
        let schedule = NewSchedule { schedule_id: None, ..schedule.clone() };
        self.ask(Call::new(Method::PUT, path(name)).body(&schedule).only_if(expect.header())).await
    }

    /// Changes what the patch names and leaves the rest (a JSON merge patch: `null` removes a field).
    pub async fn patch_schedule(&self, name: &str, patch: &impl Serialize, expect: Expect) -> Result<ScheduleView> {
        self.ask(Call::new(Method::PATCH, path(name)).body(patch).only_if(expect.header())).await
    }

    /// Removes a schedule. Its jobs and its ledger stay.
    pub async fn delete_schedule(&self, name: &str, expect: Expect) -> Result<()> {
        self.tell(Call::new(Method::DELETE, path(name)).only_if(expect.header())).await.map(drop)
    }

    /// A schedule, and what has happened to it.
    pub async fn schedule(&self, name: &str) -> Result<ScheduleView> {
        self.ask(Call::get(path(name))).await
    }

    /// A page of schedules, by name. The page's `next_cursor`, put into the query, gives the next one.
    pub async fn schedules(&self, query: &ScheduleQuery) -> Result<SchedulePage> {
        self.ask(Call::get("/v1/schedules").query(query)).await
    }

    /// Nothing fires until the schedule is resumed, by a person or by itself if the request says when.
    pub async fn pause_schedule(&self, name: &str, request: &SchedulePause) -> Result<ScheduleView> {
        self.ask(Call::post(below(name, "pause")).body(request)).await
    }

    /// Lets a paused schedule go on.
    pub async fn resume_schedule(&self, name: &str) -> Result<ScheduleView> {
        self.ask(Call::post(below(name, "resume"))).await
    }

    /// One job now, beside the occurrences.
    pub async fn trigger_schedule(&self, name: &str) -> Result<Submitted> {
        self.ask(Call::post(below(name, "trigger"))).await
    }

    /// Makes the jobs of past occurrences that have none, in bounded steps: while the answer says `more`, call again with
    /// `from` right after its last occurrence.
    pub async fn backfill_schedule(&self, name: &str, request: &Backfill) -> Result<BackfillAnswer> {
        self.ask(Call::post(below(name, "backfill")).body(request)).await
    }

    /// When a schedule will fire.
    pub async fn preview_schedule(&self, name: &str, query: &PreviewQuery) -> Result<Preview> {
        self.ask(Call::get(below(name, "preview")).query(query)).await
    }

    /// When a schedule would fire that is not stored. What is wrong with it is told as when it is created.
    pub async fn preview_unsaved(&self, schedule: &NewSchedule, query: &PreviewQuery) -> Result<Preview> {
        self.ask(Call::post("/v1/schedules/preview").query(query).body(schedule)).await
    }

    /// A page of what became of the occurrences, latest first. It outlives the schedule.
    pub async fn ledger(&self, name: &str, query: &LedgerQuery) -> Result<LedgerPage> {
        self.ask(Call::get(below(name, "ledger")).query(query)).await
    }
}

fn path(name: &str) -> String {
    format!("/v1/schedules/{}", segment(name))
}

fn below(name: &str, what: &str) -> String {
    format!("{}/{what}", path(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_expected_is_said_as_http_says_it() {
        let header = |expect: Expect| expect.header().map(|(name, value)| format!("{name}: {value}"));
        assert_eq!(header(Expect::Anything), None);
        assert_eq!(header(Expect::Absent).as_deref(), Some("if-none-match: *"));
        assert_eq!(header(Expect::Revision(3)).as_deref(), Some("if-match: \"3\""));
    }

    #[test]
    fn a_name_with_slashes_stays_one_part_of_the_path() {
        assert_eq!(below("team/nightly", "pause"), "/v1/schedules/team%2Fnightly/pause");
    }
}
