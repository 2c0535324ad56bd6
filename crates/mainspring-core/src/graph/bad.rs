//! Why some steps are no workflow, in words that name the steps. Finds nothing by itself.

use std::fmt;

use crate::limits::{DEPENDENCIES_MAX, WORKFLOW_EDGES_MAX, WORKFLOW_JOBS_MAX};
use crate::name::StepName;

/// Why these steps make no workflow. Positions count from 0, as in the request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadGraph {
    #[error("a workflow has at most {WORKFLOW_JOBS_MAX} steps, this one has {steps}; split it")]
    TooManySteps { steps: usize },
    #[error("a workflow has at most {WORKFLOW_EDGES_MAX} dependencies, this one has {edges}; wait for fewer steps")]
    TooManyEdges { edges: usize },
    #[error(
        "step `{step}` waits for {parents} others, at most {DEPENDENCIES_MAX} are allowed; put a step in between that \
         gathers some of them"
    )]
    TooManyParents { step: StepName, parents: usize },
    #[error("two steps are called `{step}`, at positions {first} and {second}; rename one")]
    Twice { step: StepName, first: usize, second: usize },
    #[error("step `{step}` waits for `{parent}`, which is not in this workflow{}", did_you_mean(.near))]
    Unknown { step: StepName, parent: StepName, near: Option<StepName> },
    #[error("step `{step}` waits for itself and would never start; take `{step}` out of what it waits for")]
    Itself { step: StepName },
    #[error("step `{step}` names `{parent}` twice among what it waits for; name it once")]
    ParentTwice { step: StepName, parent: StepName },
    /// Each step waits for the next, and the last for the first.
    #[error("these steps wait for each other and would never start: {}; take one dependency away", Circle(.steps))]
    Cycle { steps: Vec<StepName> },
}

fn did_you_mean(near: &Option<StepName>) -> String {
    near.as_ref().map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

/// `a → b → c → a`, where an arrow is "waits for". A long one is cut in the middle.
struct Circle<'a>(&'a [StepName]);

/// How many names of a cycle are shown.
const SHOWN: usize = 20;

impl fmt::Display for Circle<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left_out = self.0.len().saturating_sub(SHOWN);
        let head = if left_out > 0 { SHOWN / 2 } else { self.0.len() };
        for step in &self.0[..head] {
            write!(f, "{step} → ")?;
        }
        if left_out > 0 {
            write!(f, "({left_out} more) → ")?;
        }
        for step in &self.0[head + left_out..] {
            write!(f, "{step} → ")?;
        }
        self.0.first().map_or(Ok(()), |first| write!(f, "{first}"))
    }
}
