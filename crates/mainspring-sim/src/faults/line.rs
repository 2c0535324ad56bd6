//! One node's line to the store. A call waits while its node is frozen, on the way there and on the way back, and arrives with the
//! time and the warrant that it left with. Decides nothing about jobs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use mainspring_core::store::{Error, Result};
use mainspring_core::time::Time;
use mainspring_store::memory::Memory;

use super::weather::{Fate, Weather};
use crate::hop::{Ask, Hop, Reply};
use crate::world::{Chance, Life, WorldClock, sleep};

/// How long a caller waits for a store that is out of reach.
const GIVES_UP_AFTER: Duration = Duration::from_millis(500);

/// Of what leaders say.
const LATE_PERCENT: u32 = 20;

#[derive(Debug)]
pub struct Line {
    pub next: Arc<dyn Hop>,
    pub life: Arc<Life>,
    pub weather: Arc<Weather>,
    pub chance: Chance,
    pub world: WorldClock,
    cut: AtomicBool,
}

impl Line {
    pub fn new(next: Arc<dyn Hop>, life: Arc<Life>, weather: Arc<Weather>, chance: Chance, world: WorldClock) -> Line {
        Line { next, life, weather, chance, world, cut: AtomicBool::new(false) }
    }

    /// Out of reach, or in reach again.
    pub fn set_cut(&self, cut: bool) {
        self.cut.store(cut, Ordering::Relaxed);
    }

    /// Brings a call to the store, or not.
    async fn go_there(&self) -> Result<Fate> {
        self.life.awake().await;
        let fate = self.weather.fate(&self.chance);
        pass_time(fate.there).await;
        self.life.awake().await;
        if self.cut.load(Ordering::Relaxed) {
            sleep(GIVES_UP_AFTER).await;
            self.life.awake().await;
            return Err(Error::Unavailable("the line is cut".into()));
        }
        if fate.refused {
            return Err(Error::Unavailable("the store had a bad moment".into()));
        }
        Ok(fate)
    }

    /// What a leader says may arrive once more when somebody else leads already: it was thought lost on the way.
    fn say_again_late(&self, now: Time, ask: &Ask) {
        if !matches!(ask, Ask::Assign(_)) || self.weather.is_clear() || !self.chance.percent(LATE_PERCENT) {
            return;
        }
        let (next, ask, late) = (self.next.clone(), ask.clone(), self.chance.ms(5_000, 15_000));
        tokio::spawn(async move {
            sleep(late).await;
            let _ = next.pass(now, ask).await;
        });
    }

    async fn come_back(&self, fate: Fate) -> Result<()> {
        pass_time(fate.back).await;
        self.life.awake().await;
        // What was on its way when the line was cut is lost, and the caller cannot tell.
        match fate.lost || self.cut.load(Ordering::Relaxed) {
            true => Err(Error::Unavailable("the reply was lost".into())),
            false => Ok(()),
        }
    }
}

async fn pass_time(wait: Duration) {
    if !wait.is_zero() {
        sleep(wait).await;
    }
}

#[async_trait]
impl Hop for Line {
    async fn pass(&self, now: Time, ask: Ask) -> Result<Reply> {
        let fate = self.go_there().await?;
        self.say_again_late(now, &ask);
        let again = (fate.repeated && ask.may_repeat()).then(|| ask.clone());
        let reply = self.next.pass(now, ask).await;
        if let Some(ask) = again {
            // Nobody hears what it says.
            let _ = self.next.pass(now, ask).await;
        }
        self.come_back(fate).await?;
        reply
    }

    async fn look(&self) -> Result<()> {
        let fate = self.go_there().await?;
        self.come_back(fate).await
    }

    /// The store's clock is the world's.
    fn clock(&self) -> Option<Time> {
        Some(self.world.now())
    }

    fn ground(&self) -> &Memory {
        self.next.ground()
    }
}
