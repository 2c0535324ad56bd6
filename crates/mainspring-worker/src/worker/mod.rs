//! The worker: claims jobs, runs their handlers, keeps its leases and settles. Decides nothing about a job: it says how an
//! attempt ended, and the server decides what that means.
//!
//! One file per actor, each named for the moment it owns, all meeting in [`Workplace`](workplace::Workplace):
//! - `run`: from the registration to the leave. `incarnation`: what the server knows the worker as, until it forgets it.
//! - `claim`: asks for as many jobs as there is room for, one request at a time, and settles with it what has just ended.
//! - `attempt`: one handler, from its start to its settlement.
//! - `heartbeat`: keeps the leases, hears what to stop.
//! - `outbox`: what ended and is not settled yet. `settle`: sends what no claim took along, in order, until the server has it.
//! - `handle`: what others see of it.

mod attempt;
mod claim;
mod handle;
mod heartbeat;
mod holds;
mod incarnation;
mod outbox;
mod run;
mod settle;
mod signal;
mod workplace;

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use mainspring_wire::{Register, Span, Tenants};

use crate::client::Client;
use crate::context::Context;
use crate::error::Result;
use crate::handler::{Handler, boxed};
use crate::outcome::IntoOutcome;

pub use handle::WorkerHandle;
pub use signal::shutdown_signal;

const CONCURRENCY_DEFAULT: usize = 10;
const QUEUE_DEFAULT: &str = "default";
/// How long a claim waits for a job. Under the half minute after which proxies tend to give up.
const CLAIM_WAIT_DEFAULT: Duration = Duration::from_secs(20);
const GRACE_DEFAULT: Duration = Duration::from_secs(30);
const STOP_GRACE_DEFAULT: Duration = Duration::from_secs(5);

/// Runs handlers for the jobs of some queues.
///
/// ```no_run
/// use mainspring_worker::{BoxError, Client, Context, Worker, shutdown_signal};
///
/// # async fn main_() -> mainspring_worker::Result<()> {
/// let client = Client::new("http://127.0.0.1:7710")?;
/// Worker::new(client)
///     .queue("mail")
///     .handle("send", |ctx| async move {
///         let address: String = ctx.data()?;
///         println!("sending to {address}");
///         Ok::<_, BoxError>("sent")
///     })
///     .concurrency(20)
///     .run_until(shutdown_signal())
///     .await
/// # }
/// ```
pub struct Worker {
    client: Client,
    handlers: Handlers,
    settings: Settings,
    handle: WorkerHandle,
}

/// Which handler runs what.
#[derive(Default)]
struct Handlers {
    by_type: HashMap<String, Handler>,
    any: Option<Handler>,
}

struct Settings {
    register: Register,
    tenants: Tenants,
    concurrency: usize,
    claim_wait: Duration,
    grace: Duration,
    stop_grace: Duration,
}

impl Worker {
    /// A worker of the queue `default` with no handlers yet.
    pub fn new(client: Client) -> Worker {
        let register = Register {
            host: std::env::var("HOSTNAME").ok().filter(|host| !host.is_empty()),
            pid: Some(std::process::id()),
            ..Register::default()
        };
        let settings = Settings {
            register,
            tenants: Tenants::Own,
            concurrency: CONCURRENCY_DEFAULT,
            claim_wait: CLAIM_WAIT_DEFAULT,
            grace: GRACE_DEFAULT,
            stop_grace: STOP_GRACE_DEFAULT,
        };
        Worker { client, handlers: Handlers::default(), settings, handle: WorkerHandle::default() }
    }

    /// Claims from this queue too. With none named it is `default`.
    #[must_use]
    pub fn queue(mut self, queue: impl Into<String>) -> Worker {
        self.settings.register.queues.push(queue.into());
        self
    }

    /// Claims the jobs of every tenant that has queues by these names, in fair turns by their weights. [`Context::tenant`] says
    /// whose each one is. Without it, only the jobs of the client's own tenant.
    #[must_use]
    pub fn all_tenants(mut self) -> Worker {
        self.settings.tenants = Tenants::All;
        self
    }

    /// Runs jobs of this type with this handler. A second one for the same type takes the first one's place.
    ///
    /// A handler answers a `Result` of anything that serializes and of any error, or an [`Outcome`](crate::Outcome). If it
    /// panics, the attempt failed; the worker goes on.
    #[must_use]
    pub fn handle<F, Fut>(mut self, kind: impl Into<String>, handler: F) -> Worker
    where
        F: Fn(Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoOutcome> + Send + 'static,
    {
        self.handlers.by_type.insert(kind.into(), boxed(handler));
        self
    }

    /// Runs jobs of every type that has no handler of its own. Without it such an attempt fails, and another worker may take
    /// the next one.
    #[must_use]
    pub fn handle_any<F, Fut>(mut self, handler: F) -> Worker
    where
        F: Fn(Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoOutcome> + Send + 'static,
    {
        self.handlers.any = Some(boxed(handler));
        self
    }

    /// How many jobs it runs at once: at least 1; 10 unless set.
    #[must_use]
    pub fn concurrency(mut self, jobs: usize) -> Worker {
        self.settings.concurrency = jobs.clamp(1, workplace::CONCURRENCY_MAX);
        self
    }

    /// What people see it as.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Worker {
        self.settings.register.name = Some(name.into());
        self
    }

    /// The version of the program it is in, for people to see.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Worker {
        self.settings.register.version = Some(version.into());
        self
    }

    /// How long it may be silent before its jobs are given to others; the server's choice unless set.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Worker {
        self.settings.register.lease = Some(Span::from(lease));
        self
    }

    /// How long one claim waits for a job to come; 20 s unless set.
    #[must_use]
    pub fn claim_wait(mut self, wait: Duration) -> Worker {
        self.settings.claim_wait = wait;
        self
    }

    /// How long running handlers may go on when the worker shuts down; 30 s unless set. Then they are asked to stop.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Worker {
        self.settings.grace = grace;
        self
    }

    /// How long a handler that was asked to stop may take to do so; 5 s unless set. Then it is dropped at its next `await`.
    #[must_use]
    pub fn stop_grace(mut self, grace: Duration) -> Worker {
        self.settings.stop_grace = grace;
        self
    }

    /// Its health and its switch, to be kept while it runs.
    pub fn control(&self) -> WorkerHandle {
        self.handle.clone()
    }

    /// Runs until it is told to end, by [`WorkerHandle::stop`] or by an order of an operator.
    pub async fn run(self) -> Result<()> {
        self.run_until(std::future::pending()).await
    }

    /// Runs until `shutdown` ends (or as [`Worker::run`]), then shuts down: claims no more, lets running handlers finish within
    /// the grace, asks the rest to stop, gives back what did not finish, and leaves.
    ///
    /// An unreachable server is waited for. An error is a refusal that waiting does not mend, such as a queue name that is not
    /// one.
    pub async fn run_until(mut self, shutdown: impl Future<Output = ()>) -> Result<()> {
        let register = &mut self.settings.register;
        if register.queues.is_empty() {
            register.queues.push(QUEUE_DEFAULT.to_owned());
        }
        register.concurrency = Some(u32::try_from(self.settings.concurrency).unwrap_or(u32::MAX));
        run::run(self, shutdown).await
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("client", &self.client)
            .field("queues", &self.settings.register.queues)
            .field("types", &self.handlers.types())
            .field("concurrency", &self.settings.concurrency)
            .finish_non_exhaustive()
    }
}

impl Handlers {
    fn find(&self, kind: &str) -> Option<&Handler> {
        self.by_type.get(kind).or(self.any.as_ref())
    }

    /// The types with a handler of their own, in order.
    fn types(&self) -> Vec<&str> {
        let mut types: Vec<&str> = self.by_type.keys().map(String::as_str).collect();
        types.sort_unstable();
        types
    }
}
