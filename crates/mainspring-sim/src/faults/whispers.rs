//! Hints between nodes. Some are lost, some come late; a node that starts hears what is said from then on.

use std::sync::Arc;

use async_trait::async_trait;
use mainspring_core::wakeups::{Wakeup, Wakeups};
use tokio::sync::{Mutex, broadcast};

use super::weather::Weather;
use crate::world::{Chance, Life};

/// Calls that a node may be behind before it misses some.
const BEHIND_MAX: usize = 256;

/// Where all hints go.
#[derive(Clone, Debug)]
pub struct Hub(broadcast::Sender<(u64, Vec<Wakeup>)>);

impl Hub {
    pub fn new() -> Hub {
        Hub(broadcast::Sender::new(BEHIND_MAX))
    }
}

impl Default for Hub {
    fn default() -> Hub {
        Hub::new()
    }
}

/// The hints of one run of one node.
#[derive(Debug)]
pub struct Whispers {
    name: u64,
    hub: Hub,
    heard: Mutex<broadcast::Receiver<(u64, Vec<Wakeup>)>>,
    life: Arc<Life>,
    weather: Arc<Weather>,
    chance: Chance,
}

impl Whispers {
    pub fn new(hub: Hub, life: Arc<Life>, weather: Arc<Weather>, chance: Chance) -> Whispers {
        let (name, heard) = (chance.seed(), Mutex::new(hub.0.subscribe()));
        Whispers { name, hub, heard, life, weather, chance }
    }
}

#[async_trait]
impl Wakeups for Whispers {
    async fn wake(&self, hints: Vec<Wakeup>) {
        self.life.awake().await;
        if self.weather.is_clear() || !self.chance.percent(20) {
            // There may be nobody who listens.
            let _ = self.hub.0.send((self.name, hints));
        }
    }

    async fn wakes(&self) -> Vec<Wakeup> {
        let mut heard = self.heard.lock().await;
        loop {
            let hint = heard.recv().await;
            self.life.awake().await;
            match hint {
                Ok((from, hints)) if from != self.name => return hints,
                Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
            }
        }
    }
}
