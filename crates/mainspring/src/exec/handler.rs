//! A program behind the SDK's worker: every job of the queues, whatever its type, is one run of it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mainspring_worker::{Client, Context, Failure, Outcome};

use crate::exec::outcome::outcome;
use crate::exec::runner::{Call, Program};

#[derive(Clone, Debug)]
pub struct ExecHandler {
    pub program: Arc<Program>,
    pub surroundings: Surroundings,
}

/// What holds for every run of a worker.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// How long a run may take, if it is to be shorter than the job's own timeout.
    pub timeout: Option<Duration>,
    /// How long "not now" is.
    pub later: Duration,
    /// For programs that want to ask the server something: they are told the address that it is at just then.
    pub client: Client,
}

impl ExecHandler {
    pub async fn handle(self, ctx: Context) -> Outcome {
        run(&self.program, &ctx, &self.surroundings, ctx.data_text().as_bytes(), BTreeMap::new()).await
    }
}

/// Runs a program for a job, and says what its end means.
pub(super) async fn run(
    program: &Program,
    ctx: &Context,
    surroundings: &Surroundings,
    stdin: &[u8],
    mut env: BTreeMap<String, String>,
) -> Outcome {
    env.extend(about(ctx, surroundings.client.url()));
    let call = Call { stdin, env, timeout: surroundings.timeout, cancel: ctx.token() };
    match program.run(call).await {
        Ok(ran) => {
            tracing::info!(job = %ctx.job_id(), attempt = ctx.attempt(), ending = ?ran.ending, took = ?ran.duration, "ran");
            outcome(ran, ctx.stop_reason(), surroundings.later)
        }
        Err(error) => {
            let path = program.path.display();
            tracing::error!(job = %ctx.job_id(), %error, "could not start {path}");
            Outcome::Fail(Failure::new(format!("could not start {path}: {error}")).kind("NotStarted"))
        }
    }
}

/// What the program is told about its job.
fn about(ctx: &Context, server: &str) -> impl Iterator<Item = (String, String)> {
    let mut env = vec![
        ("MAINSPRING_JOB_ID", ctx.job_id().to_string()),
        ("MAINSPRING_FENCE", ctx.fence().to_string()),
        ("MAINSPRING_TYPE", ctx.kind().to_owned()),
        ("MAINSPRING_QUEUE", ctx.queue().to_owned()),
        ("MAINSPRING_TENANT", ctx.tenant().to_owned()),
        ("MAINSPRING_ATTEMPT", ctx.attempt().to_string()),
        ("MAINSPRING_MAX_ATTEMPTS", ctx.max_attempts().to_string()),
        ("MAINSPRING_SERVER", server.to_owned()),
    ];
    let checkpoint = ctx.job().checkpoint.as_ref();
    env.extend(checkpoint.map(|checkpoint| ("MAINSPRING_CHECKPOINT", checkpoint.get().to_owned())));
    env.into_iter().map(|(name, value)| (name.to_owned(), value))
}
