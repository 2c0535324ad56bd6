//! Whether the node can do its work, as its actors found out. Probes nothing itself.

use std::collections::BTreeMap;
use std::sync::Mutex;

use mainspring_core::time::Time;

/// How the node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// Started, not shutting down, and its last calls to the store went well.
    pub ready: bool,
    pub since: Time,
    pub last_promote_at: Time,
    pub last_sweep_at: Time,
    /// What the store said last time, if that was an error.
    pub store_error: Option<String>,
}

/// What the actors write down.
#[derive(Debug)]
pub(crate) struct Chart(Mutex<Entries>);

#[derive(Debug)]
struct Entries {
    since: Time,
    last_promote_at: Time,
    last_sweep_at: Time,
    /// By actor.
    troubles: BTreeMap<&'static str, String>,
}

impl Chart {
    pub(crate) fn new(now: Time) -> Chart {
        Chart(Mutex::new(Entries { since: now, last_promote_at: now, last_sweep_at: now, troubles: BTreeMap::new() }))
    }

    pub(crate) fn promoted(&self, now: Time) {
        self.entries().last_promote_at = now;
    }

    pub(crate) fn swept(&self, now: Time) {
        self.entries().last_sweep_at = now;
    }

    /// Answers whether this is news.
    pub(crate) fn trouble(&self, actor: &'static str, error: String) -> bool {
        let before = self.entries().troubles.insert(actor, error.clone());
        before.is_none_or(|before| before != error)
    }

    /// Answers whether there was trouble before.
    pub(crate) fn fine(&self, actor: &'static str) -> bool {
        self.entries().troubles.remove(actor).is_some()
    }

    pub(crate) fn read(&self, closing: bool) -> Health {
        let entries = self.entries();
        let store_error = entries.troubles.values().next().cloned();
        Health {
            ready: !closing && store_error.is_none(),
            since: entries.since,
            last_promote_at: entries.last_promote_at,
            last_sweep_at: entries.last_sweep_at,
            store_error,
        }
    }

    fn entries(&self) -> std::sync::MutexGuard<'_, Entries> {
        self.0.lock().expect("nobody panics while holding the chart")
    }
}
