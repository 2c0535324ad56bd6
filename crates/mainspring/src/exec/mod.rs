//! `worker --exec`: a program as a job handler. The payload goes in on stdin; exit code, output tails and duration come out.
//!
//! - `tail`: the last bytes of an output, bounded.
//! - `group`: the process group of a run, which never outlives it.
//! - `runner`: one run from start to end, with timeout and cancel. Knows nothing of jobs.
//! - `outcome`: what an exit code means for the job.
//! - `handler`: the four above, behind the SDK's worker. `shell`: the same, with a command in each job's data.

mod group;
mod handler;
mod outcome;
mod runner;
mod shell;
mod tail;

pub use handler::{ExecHandler, Surroundings};
pub use outcome::EXIT_CODES_HELP;
pub use runner::Program;
pub use shell::{SHELL_TYPE, ShellCommand, ShellHandler};
