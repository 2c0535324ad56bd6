//! The states of a job and the one table of moves between them. Everything else asks this table.

use std::fmt::{self, Write};

use crate::job::Tally;

/// Where a job is. Entered and left as [`MOVES`] says; pictured in `docs/lifecycle.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// Has unfinished dependencies.
    Blocked,
    /// Its time lies ahead.
    Waiting,
    /// Due, and nobody holds it.
    Ready,
    /// Held by a worker.
    Running,
    Succeeded,
    /// Used up its attempts, or failed for good. Kept until a person revives it, or retention.
    Dead,
    Cancelled,
}

impl State {
    pub const ALL: [State; 7] =
        [State::Blocked, State::Waiting, State::Ready, State::Running, State::Succeeded, State::Dead, State::Cancelled];

    pub fn is_final(self) -> bool {
        matches!(self, State::Succeeded | State::Dead | State::Cancelled)
    }
}

/// What can happen to a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Move {
    Submit,
    Unblock,
    Promote,
    RunNow,
    Reschedule,
    Claim,
    Succeed,
    Retry,
    Snooze,
    Release,
    Bury,
    Cancel,
    Revive,
    Prune,
}

/// Every move there is: from, what, to. `None` is "not there".
pub const MOVES: &[(Option<State>, Move, Option<State>)] = {
    use Move::*;
    use State::*;
    &[
        (None, Submit, Some(Blocked)),
        (None, Submit, Some(Waiting)),
        (None, Submit, Some(Ready)),
        (Some(Blocked), Unblock, Some(Waiting)),
        (Some(Blocked), Unblock, Some(Ready)),
        (Some(Blocked), RunNow, Some(Ready)),
        (Some(Blocked), Reschedule, Some(Blocked)),
        (Some(Blocked), Cancel, Some(Cancelled)),
        (Some(Waiting), Promote, Some(Ready)),
        (Some(Waiting), RunNow, Some(Ready)),
        (Some(Waiting), Reschedule, Some(Waiting)),
        (Some(Waiting), Reschedule, Some(Ready)),
        (Some(Waiting), Cancel, Some(Cancelled)),
        (Some(Ready), Reschedule, Some(Waiting)),
        (Some(Ready), Reschedule, Some(Ready)),
        (Some(Ready), Claim, Some(Running)),
        (Some(Ready), Cancel, Some(Cancelled)),
        (Some(Running), Succeed, Some(Succeeded)),
        (Some(Running), Retry, Some(Waiting)),
        (Some(Running), Retry, Some(Ready)),
        (Some(Running), Snooze, Some(Waiting)),
        (Some(Running), Snooze, Some(Ready)),
        (Some(Running), Release, Some(Ready)),
        (Some(Running), Bury, Some(Dead)),
        (Some(Running), Cancel, Some(Cancelled)),
        (Some(Dead), Revive, Some(Ready)),
        (Some(Succeeded), Prune, None),
        (Some(Dead), Prune, None),
        (Some(Cancelled), Prune, None),
    ]
};

/// Whether the table has this move.
pub fn allows(from: Option<State>, what: Move, to: Option<State>) -> bool {
    MOVES.contains(&(from, what, to))
}

/// Whether a job in this state can be moved so at all.
pub fn can(from: State, what: Move) -> bool {
    MOVES.iter().any(|&(source, how, _)| source == Some(from) && how == what)
}

/// The table as a Mermaid state diagram, for `docs/lifecycle.md`.
pub fn mermaid() -> String {
    let name = |state: &Option<State>| state.map_or("[*]".to_owned(), |state| format!("{state:?}"));
    let mut picture = String::from("stateDiagram-v2\n");
    for (from, what, to) in MOVES {
        writeln!(picture, "    {} --> {} : {what:?}", name(from), name(to)).expect("a string takes all");
    }
    picture
}

/// What an API user sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    Blocked,
    Scheduled,
    Retrying,
    Pending,
    Running,
    Dispatched,
    Completed,
    Failed,
    Cancelled,
    Paused,
}

impl Status {
    pub const ALL: [Status; 10] = [
        Status::Blocked,
        Status::Scheduled,
        Status::Retrying,
        Status::Pending,
        Status::Running,
        Status::Dispatched,
        Status::Completed,
        Status::Failed,
        Status::Cancelled,
        Status::Paused,
    ];

    pub fn of(state: State, paused: bool, tally: Tally) -> Status {
        match state {
            State::Succeeded => Status::Completed,
            State::Dead => Status::Failed,
            State::Cancelled => Status::Cancelled,
            State::Running => Status::Running,
            _ if paused => Status::Paused,
            State::Blocked => Status::Blocked,
            State::Waiting if tally.retries() > 0 => Status::Retrying,
            State::Waiting => Status::Scheduled,
            State::Ready => Status::Pending,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Status::Blocked => "BLOCKED",
            Status::Scheduled => "SCHEDULED",
            Status::Retrying => "RETRYING",
            Status::Pending => "PENDING",
            Status::Running => "RUNNING",
            Status::Dispatched => "DISPATCHED",
            Status::Completed => "COMPLETED",
            Status::Failed => "FAILED",
            Status::Cancelled => "CANCELLED",
            Status::Paused => "PAUSED",
        }
    }

    pub fn parse(text: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.as_str().eq_ignore_ascii_case(text))
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_state_without_an_exit() {
        for state in State::ALL {
            assert!(
                MOVES.iter().any(|&(from, _, to)| from == Some(state) && to != Some(state)),
                "{state:?} has no exit"
            );
            assert!(MOVES.iter().any(|&(_, _, to)| to == Some(state)), "{state:?} cannot be entered");
        }
    }

    #[test]
    fn the_table_lists_no_move_twice() {
        for (at, row) in MOVES.iter().enumerate() {
            assert!(!MOVES[..at].contains(row), "{row:?} is there twice");
        }
    }

    #[test]
    fn only_a_person_or_retention_moves_what_is_final() {
        for &(from, what, _) in MOVES {
            if from.is_some_and(State::is_final) {
                assert!(matches!(what, Move::Revive | Move::Prune), "{from:?} {what:?}");
            }
        }
    }

    #[test]
    fn the_picture_in_the_docs_is_the_table() {
        let docs = include_str!("../../../docs/lifecycle.md");
        assert!(docs.contains(&mermaid()), "docs/lifecycle.md must hold this picture:\n{}", mermaid());
    }

    #[test]
    fn every_status_reads_back() {
        for status in Status::ALL {
            assert_eq!(Status::parse(status.as_str()), Some(status));
        }
        assert_eq!(Status::parse("nonsense"), None);
    }
}
