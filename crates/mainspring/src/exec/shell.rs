//! A shell command behind the SDK's worker: each job's data says what to run. What `import crontab` makes, and what it needs to
//! run. Whoever may submit to the queue may run anything here, so it is asked for by name: `worker --shell`.

use std::collections::BTreeMap;
use std::time::Duration;

use mainspring_worker::{Context, Failure, Outcome};
use serde::{Deserialize, Serialize};

use crate::exec::handler::{Surroundings, run};
use crate::exec::runner::Program;

/// The type of such a job.
pub const SHELL_TYPE: &str = "shell";

/// The shell of a command that names none, as for cron.
const SHELL_DEFAULT: &str = "/bin/sh";

/// What is run: the data of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShellCommand {
    /// A line for the shell.
    pub command: String,
    /// What it reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<String>,
    /// Over the worker's own environment. `SHELL` also says which shell runs the command.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
}

#[derive(Clone, Debug)]
pub struct ShellHandler {
    pub surroundings: Surroundings,
    /// How long after SIGTERM a run is killed.
    pub kill_after: Duration,
}

impl ShellHandler {
    pub async fn handle(self, ctx: Context) -> Outcome {
        if ctx.kind() != SHELL_TYPE {
            let problem = format!("`worker --shell` runs jobs of the type {SHELL_TYPE:?}, not {:?}", ctx.kind());
            return Outcome::Fail(Failure::new(problem).kind("UnknownType"));
        }
        let command: ShellCommand = match ctx.data() {
            Ok(command) => command,
            // It will not fit better the next time.
            Err(failure) => return Outcome::Fail(failure.never_retry()),
        };
        let shell = command.env.get("SHELL").map_or(SHELL_DEFAULT, String::as_str);
        let program = Program {
            path: shell.into(),
            args: vec!["-c".into(), command.command.into()],
            kill_after: self.kill_after,
        };
        let stdin = command.stdin.unwrap_or_default();
        run(&program, &ctx, &self.surroundings, stdin.as_bytes(), command.env).await
    }
}
