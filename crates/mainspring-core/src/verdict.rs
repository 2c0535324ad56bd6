//! What an ended attempt means: the worker says how it went, [`decide`] says what follows, a store applies it.

use std::time::Duration;

use crate::job::{ExecutionOutcome, Failure, Job, Json, Tally};
use crate::lifecycle::State;
use crate::time::Time;

/// How an attempt went.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Succeeded {
        result: Option<Json>,
    },
    Failed {
        error: Failure,
        retry: RetryWish,
    },
    /// Not now: try again later, and do not count this.
    Snoozed {
        wait: Duration,
    },
    /// Whoever it calls says: come back later. Not counted.
    RateLimited {
        wait: Duration,
    },
    /// The worker shuts down, or never received it: given back.
    Released,
    /// The worker went silent.
    Crashed,
    /// The attempt's own timeout passed.
    TimedOut,
}

/// What a failing worker wishes for the next try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RetryWish {
    #[default]
    AsPolicy,
    After(Duration),
    Never,
}

/// What follows from an attempt.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    Succeed {
        result: Option<Json>,
    },
    /// The attempt is counted; try again at `at`.
    Retry {
        at: Time,
        cause: Cause,
        error: Failure,
    },
    /// The attempt is not counted; try again at `at`.
    Snooze {
        at: Time,
    },
    /// The attempt is not counted; ready at once, in the place it had.
    Release,
    /// The same, and the gate of its rate key, else of its concurrency key, is closed for so long.
    Close {
        wait: Duration,
    },
    Bury {
        cause: Cause,
        error: Failure,
    },
    Cancel {
        reason: String,
    },
}

/// Whom a lost attempt is counted against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    Failure,
    Timeout,
    Crash,
}

impl Verdict {
    /// How the attempt is written into the history.
    pub fn outcome(&self) -> ExecutionOutcome {
        match self {
            Verdict::Succeed { .. } => ExecutionOutcome::Succeeded,
            Verdict::Retry { cause, .. } | Verdict::Bury { cause, .. } => match cause {
                Cause::Failure => ExecutionOutcome::Failed,
                Cause::Timeout => ExecutionOutcome::TimedOut,
                Cause::Crash => ExecutionOutcome::Crashed,
            },
            Verdict::Snooze { .. } => ExecutionOutcome::Snoozed,
            Verdict::Release => ExecutionOutcome::Released,
            Verdict::Close { .. } => ExecutionOutcome::RateLimited,
            Verdict::Cancel { .. } => ExecutionOutcome::Cancelled,
        }
    }

    pub fn error(&self) -> Option<&Failure> {
        match self {
            Verdict::Retry { error, .. } | Verdict::Bury { error, .. } => Some(error),
            _ => None,
        }
    }

    /// The tally after it, from the tally during the attempt.
    pub fn count(&self, tally: Tally) -> Tally {
        match self {
            Verdict::Succeed { .. } | Verdict::Cancel { .. } => tally,
            Verdict::Snooze { .. } | Verdict::Release | Verdict::Close { .. } => {
                Tally { attempts: tally.attempts.saturating_sub(1), ..tally }
            }
            Verdict::Retry { cause, .. } | Verdict::Bury { cause, .. } => tally.with(*cause),
        }
    }

    /// Where the job goes, and if it has to wait, until when. `ready_at` is when the attempt before became due.
    pub fn destination(&self, now: Time, ready_at: Time) -> (State, Time) {
        let by = |at: Time| (if at <= now { State::Ready } else { State::Waiting }, at);
        match self {
            Verdict::Succeed { .. } => (State::Succeeded, ready_at),
            Verdict::Retry { at, .. } | Verdict::Snooze { at } => by(*at),
            Verdict::Release | Verdict::Close { .. } => (State::Ready, ready_at),
            Verdict::Bury { .. } => (State::Dead, ready_at),
            Verdict::Cancel { .. } => (State::Cancelled, ready_at),
        }
    }
}

impl Tally {
    fn with(self, cause: Cause) -> Tally {
        match cause {
            Cause::Failure | Cause::Timeout => Tally { failures: self.failures + 1, ..self },
            Cause::Crash => Tally { crashes: self.crashes + 1, ..self },
        }
    }
}

/// One attempt that is over.
#[derive(Clone, Copy, Debug)]
pub struct Attempt<'a> {
    pub job: &'a Job,
    /// During the attempt: `attempts` counts it, `failures` and `crashes` do not.
    pub tally: Tally,
    /// Why somebody asked it to stop, if somebody did.
    pub cancel_asked: Option<&'a str>,
}

/// What follows from an attempt that went so.
pub fn decide(attempt: Attempt<'_>, outcome: Outcome, now: Time, seed: u64) -> Verdict {
    match outcome {
        Outcome::Succeeded { result } => Verdict::Succeed { result },
        _ if attempt.cancel_asked.is_some() => given_back(attempt.cancel_asked),
        Outcome::Released => given_back(None),
        Outcome::Snoozed { wait } => Verdict::Snooze { at: now.after(wait) },
        // Without a key nobody else is told by it: the job waits alone.
        Outcome::RateLimited { wait } if attempt.job.keys.closing().is_none() => {
            Verdict::Snooze { at: now.after(wait) }
        }
        Outcome::RateLimited { wait } => Verdict::Close { wait },
        Outcome::Failed { error, retry } => lost(attempt, Cause::Failure, error.cut(), retry, now, seed),
        Outcome::TimedOut => {
            let error = Failure { kind: Some("timeout".into()), ..Failure::new("the attempt ran past its timeout") };
            lost(attempt, Cause::Timeout, error, RetryWish::AsPolicy, now, seed)
        }
        Outcome::Crashed => {
            let error = Failure { kind: Some("crash".into()), ..Failure::new("the worker went silent") };
            lost(attempt, Cause::Crash, error, RetryWish::AsPolicy, now, seed)
        }
    }
}

/// What follows for an attempt that is given back: nothing, unless somebody asked it to stop meanwhile.
pub fn given_back(cancel_asked: Option<&str>) -> Verdict {
    match cancel_asked {
        Some(reason) => Verdict::Cancel { reason: reason.into() },
        None => Verdict::Release,
    }
}

fn lost(attempt: Attempt<'_>, cause: Cause, error: Failure, wish: RetryWish, now: Time, seed: u64) -> Verdict {
    let tally = attempt.tally.with(cause);
    let used_up = match cause {
        Cause::Failure | Cause::Timeout => tally.failures >= attempt.job.max_attempts,
        Cause::Crash => tally.crashes > attempt.job.max_crashes,
    };
    if used_up || wish == RetryWish::Never {
        return Verdict::Bury { cause, error };
    }
    let wait = match (wish, cause) {
        (RetryWish::After(wait), _) => wait,
        (_, Cause::Crash) => attempt.job.retry.delay(tally.crashes, seed),
        _ => attempt.job.retry.delay(tally.failures, seed),
    };
    Verdict::Retry { at: now.after(wait), cause, error }
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
