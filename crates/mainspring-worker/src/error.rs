//! What can go wrong with a call, sorted by what the caller can do about it. Decides no retries: whoever holds the error does.

use std::error::Error as StdError;
use std::time::Duration;

use mainspring_wire::Problem;
use mainspring_wire::problem;

/// Anything that is boxed on its way to a caller.
pub type BoxError = Box<dyn StdError + Send + Sync + 'static>;

/// Why a call did not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address of the server, or the name of a tenant, is not one: correct it.
    #[error("{0}")]
    Address(String),

    /// The server understood and said no: correct the request. `problem.field` says where.
    #[error("the server refused: {0}")]
    Refused(Box<Problem>),

    /// The job is no longer held by this fence: stop working on it. Nothing was changed.
    #[error("the lease is over: {0}")]
    Stale(Box<Problem>),

    /// The server is too busy, starting, stopping or full (429, 502, 503, 504, 507): come back, after this long if it said so.
    #[error("the server cannot do it now: {problem}")]
    Busy {
        /// How long the server asks to wait.
        retry_after: Option<Duration>,
        /// What it said.
        problem: Box<Problem>,
    },

    /// No answer: the server is down, or the network is. It may or may not have done what was asked; try later.
    #[error("could not reach the server to {call}")]
    Unreachable {
        /// The call, such as `POST http://127.0.0.1:7710/v1/claims`.
        call: String,
        /// What happened to the connection.
        #[source]
        source: BoxError,
    },

    /// The server failed (500): call a person who can read its log.
    #[error("the server failed: {0}")]
    Broken(Box<Problem>),

    /// The answer is none of this API's: another program at this address, or a version that does not fit.
    #[error("did not understand the answer to {call}: {reason}")]
    Protocol {
        /// The call, such as `POST http://127.0.0.1:7710/v1/claims`.
        call: String,
        /// What was wrong with the answer.
        reason: String,
    },
}

/// An error and its causes in one line, for a log.
pub(crate) fn with_causes(error: &dyn StdError) -> String {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// What the calls answer.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// What the server said, if it said something.
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Error::Refused(problem) | Error::Stale(problem) | Error::Broken(problem) => Some(problem),
            Error::Busy { problem, .. } => Some(problem),
            Error::Address(_) | Error::Unreachable { .. } | Error::Protocol { .. } => None,
        }
    }

    /// There is no such job, queue, schedule, workflow or worker.
    pub fn is_not_found(&self) -> bool {
        self.is_problem(problem::NOT_FOUND)
    }

    /// The server does not know the worker (any more): it must register again.
    pub fn is_unknown_worker(&self) -> bool {
        self.is_problem(problem::UNKNOWN_WORKER)
    }

    /// What the caller expected to find was not there: somebody else was faster. Nothing was changed.
    pub fn is_precondition_failed(&self) -> bool {
        self.is_problem(problem::PRECONDITION_FAILED)
    }

    /// The same call may do better later, without anybody changing anything in it.
    pub fn is_passing(&self) -> bool {
        matches!(self, Error::Busy { .. } | Error::Unreachable { .. } | Error::Broken(_) | Error::Protocol { .. })
    }

    fn is_problem(&self, kind: &str) -> bool {
        self.problem().is_some_and(|problem| problem.kind == kind)
    }
}
