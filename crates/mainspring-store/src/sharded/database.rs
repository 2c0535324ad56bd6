//! One of several databases, and whether it answers. Says in the log when that changes, not at every call.
//!
//! Up until it does not answer a call that others wait for as well; then down, and left out of such calls, until a look at it,
//! which nobody waits for, succeeds. A look begins whenever somebody would have asked it and none is under way. Calls that only
//! its own tenants wait for go to it all the same.

use std::mem::{Discriminant, discriminant};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use mainspring_core::placement::Shard;
use mainspring_core::seats::Seats;
use mainspring_core::store::{Error, Result, Store};

use super::Part;

/// How long a call that is asked of all waits for one of them: well within a node's term, and longer than any answer takes
/// that is not stuck.
pub const PATIENCE_MAX: Duration = Duration::from_secs(5);
/// The same for a sweep, which may have much to clear away, and keeps nobody waiting but the next sweep.
pub const SWEEP_PATIENCE_MAX: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct Database {
    pub shard: Shard,
    pub store: Arc<dyn Store>,
    pub seats: Arc<dyn Seats>,
    name: String,
    health: Mutex<Health>,
    looked_at: AtomicBool,
}

#[derive(Debug, Default)]
struct Health {
    /// Why it is down, if it is.
    down: Option<Error>,
    /// What the log was last told to be wrong.
    told: Option<Discriminant<Error>>,
}

impl Database {
    pub fn new(shard: Shard, part: Part) -> Database {
        let Part { name, store, seats } = part;
        Database { shard, store, seats, name, health: Mutex::default(), looked_at: AtomicBool::new(false) }
    }

    /// Why it is not asked, if it is not. Then it is looked at, unless somebody does already.
    pub fn down(self: &Arc<Database>) -> Option<Error> {
        let why = self.health().down.clone()?;
        if !self.looked_at.swap(true, Ordering::AcqRel) {
            let database = self.clone();
            tokio::spawn(async move { database.look().await });
        }
        Some(why)
    }

    async fn look(&self) {
        // Small, and nothing that it says matters.
        let answers = self.store.workers().await.is_ok() && self.seats.roll().await.is_ok();
        if answers {
            self.health().down = None;
        }
        self.looked_at.store(false, Ordering::Release);
    }

    /// What it answers, if it does within [`PATIENCE_MAX`].
    pub async fn patiently<T>(&self, call: impl Future<Output = Result<T>>) -> Result<T> {
        self.within(PATIENCE_MAX, call).await
    }

    /// What nobody waited for may have happened all the same: to its caller, a reply was lost.
    pub async fn within<T>(&self, patience: Duration, call: impl Future<Output = Result<T>>) -> Result<T> {
        let answer = tokio::time::timeout(patience, call).await.unwrap_or_else(|_| {
            let waited = patience.as_secs();
            Err(Error::Unavailable(format!("{} did not answer within {waited} s", self.name)))
        });
        match &answer {
            Ok(_) => self.answers(),
            // The caller's, not the database's.
            Err(Error::Invalid(_)) => {}
            Err(error) => self.fails(error),
        }
        answer
    }

    fn answers(&self) {
        let mut health = self.health();
        // One that is full or damaged answers some calls and not others: that is told once.
        if health.told == Some(discriminant(&Error::Unavailable(String::new()))) {
            tracing::info!(database = %self.name, "the database answers again");
            health.told = None;
        }
    }

    fn fails(&self, error: &Error) {
        let mut health = self.health();
        if health.told != Some(discriminant(error)) {
            tracing::warn!(database = %self.name, %error, "the database does not do its part; its tenants wait, others do not");
            health.told = Some(discriminant(error));
        }
        if let Error::Unavailable(_) = error {
            health.down = Some(error.clone());
        }
    }

    fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock().expect("nobody panics with it")
    }
}
