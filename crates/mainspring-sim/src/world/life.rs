//! Whether a process runs, is frozen, or is gone. Everything that a process does waits here first: a frozen one goes on where
//! it was, and one that is gone does nothing for ever.
//!
//! Those who wait go on in the order in which they came, or a history could not be replayed: a `watch` wakes them in any.

use std::sync::Mutex;

use tokio::sync::Notify;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    Up,
    Frozen,
    Dead,
}

#[derive(Debug)]
pub struct Life {
    condition: Mutex<Condition>,
    changed: Notify,
}

impl Life {
    pub fn begin() -> Life {
        Life { condition: Mutex::new(Condition::Up), changed: Notify::new() }
    }

    pub fn freeze(&self) {
        self.change(Condition::Frozen);
    }

    pub fn thaw(&self) {
        self.change(Condition::Up);
    }

    pub fn end(&self) {
        self.change(Condition::Dead);
    }

    pub fn is_over(&self) -> bool {
        self.condition() == Condition::Dead
    }

    /// Returns when it runs; never, if it is gone.
    pub async fn awake(&self) {
        self.until(Condition::Up).await;
    }

    /// Returns when it is gone.
    pub async fn over(&self) {
        self.until(Condition::Dead).await;
    }

    /// Nobody comes back from the dead.
    fn change(&self, to: Condition) {
        let mut now = self.condition.lock().expect("nobody panics while living");
        if *now != Condition::Dead {
            *now = to;
            self.changed.notify_waiters();
        }
    }

    async fn until(&self, wanted: Condition) {
        // In one thread nothing changes between looking and waiting.
        while self.condition() != wanted {
            self.changed.notified().await;
        }
    }

    fn condition(&self) -> Condition {
        *self.condition.lock().expect("nobody panics while living")
    }
}
