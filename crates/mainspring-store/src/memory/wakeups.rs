//! Hints within one process. Promises nothing: a node that is slow to listen misses some.

use async_trait::async_trait;
use mainspring_core::wakeups::{Wakeup, Wakeups};
use tokio::sync::{Mutex, broadcast};

/// The wakeups of a node that is the only one: there is nobody to tell, and nobody calls.
#[derive(Debug, Default)]
pub struct Alone;

#[async_trait]
impl Wakeups for Alone {
    async fn wake(&self, _hints: Vec<Wakeup>) {}

    async fn wakes(&self) -> Vec<Wakeup> {
        std::future::pending().await
    }
}

/// The wakeups of one of several nodes in a process.
#[derive(Debug)]
pub struct Together {
    index: usize,
    others: broadcast::Sender<(usize, Vec<Wakeup>)>,
    heard: Mutex<broadcast::Receiver<(usize, Vec<Wakeup>)>>,
}

impl Together {
    /// How many calls a node may be behind before it misses some.
    pub const BEHIND_MAX: usize = 1024;

    /// One for each node, all connected.
    pub fn nodes(count: usize) -> Vec<Together> {
        let (others, _) = broadcast::channel(Self::BEHIND_MAX);
        let node = |index| Together { index, others: others.clone(), heard: Mutex::new(others.subscribe()) };
        (0..count).map(node).collect()
    }
}

#[async_trait]
impl Wakeups for Together {
    async fn wake(&self, hints: Vec<Wakeup>) {
        self.others.send((self.index, hints)).expect("this node itself listens");
    }

    async fn wakes(&self) -> Vec<Wakeup> {
        let mut heard = self.heard.lock().await;
        loop {
            match heard.recv().await {
                Ok((from, hints)) if from != self.index => return hints,
                Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
            }
        }
    }
}
