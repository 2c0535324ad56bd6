//! What can go wrong, sorted by what the caller can do. A lost race is not here: it is an answer.

use std::time::Duration;

use mainspring_core::graph::BadGraph;
use mainspring_core::schedule::BadSchedule;
use mainspring_core::store;

use crate::limit::BadLimit;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// Try later: too many requests wait already. Nothing of this one happened.
    #[error("too many requests are waiting; try again in {} ms", retry_after.as_millis())]
    Busy { retry_after: Duration },
    /// Fix the schedule.
    #[error(transparent)]
    Schedule(#[from] BadSchedule),
    /// Fix the workflow.
    #[error(transparent)]
    Graph(#[from] BadGraph),
    /// Fix the limit.
    #[error(transparent)]
    Limit(#[from] BadLimit),
    /// As [`store::Error`] says.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// Ask another node: this one does not have the role for it.
    #[error("this node has not the role of {role}; ask another one, or start it with --roles")]
    Elsewhere { role: &'static str },
    /// Call a person: this node cannot work with those that are there.
    #[error("{0}")]
    Mismatch(String),
    /// Ask another node: this one is shutting down.
    #[error("the node is shutting down")]
    Closed,
}
