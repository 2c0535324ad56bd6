//! Knows whether everything that is due has been done: each actor rests until a later time, nobody has asked it to come
//! sooner, and no woken claim is on its way. A clock that people move goes on only then. Does nothing itself.

use std::sync::{Arc, Mutex, MutexGuard};

use mainspring_core::time::Time;
use tokio::sync::watch;

use crate::error::{Error, Result};
use crate::node::Node;
use crate::nudge::Nudge;

#[derive(Debug)]
pub(crate) struct Calm {
    floor: Mutex<Floor>,
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Floor {
    desks: Vec<Desk>,
    /// Claims that were woken and are being served.
    errands: usize,
}

/// Where an actor works.
#[derive(Debug)]
struct Desk {
    nudge: Arc<Nudge>,
    actor: Occupied,
}

#[derive(Debug)]
enum Occupied {
    Working,
    /// It had been asked so often when it began the work that it has finished.
    Resting {
        until: Time,
        asked: u64,
    },
    Failing(Error),
}

/// An actor's place on the floor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place(usize);

impl Calm {
    pub(crate) fn new() -> Calm {
        Calm { floor: Mutex::default(), changed: watch::Sender::new(()) }
    }

    /// A new actor, that comes at `first_at`.
    pub(crate) fn enter(&self, nudge: Arc<Nudge>, first_at: Time) -> Place {
        let mut floor = self.floor();
        floor.desks.push(Desk { nudge, actor: Occupied::Resting { until: first_at, asked: 0 } });
        Place(floor.desks.len() - 1)
    }

    pub(crate) fn working(&self, place: Place) {
        self.floor().desks[place.0].actor = Occupied::Working;
    }

    pub(crate) fn resting(&self, place: Place, until: Time, asked: u64) {
        self.floor().desks[place.0].actor = Occupied::Resting { until, asked };
        self.changed.send_replace(());
    }

    pub(crate) fn failing(&self, place: Place, error: Error) {
        self.floor().desks[place.0].actor = Occupied::Failing(error);
        self.changed.send_replace(());
    }

    /// Returns when all that is due by `now` is done; an error if an actor cannot do its work.
    pub(crate) async fn come(&self, now: Time) -> Result<()> {
        let mut changed = self.changed.subscribe();
        loop {
            changed.borrow_and_update();
            if self.floor().is_calm(now)? {
                return Ok(());
            }
            changed.changed().await.map_err(|_| Error::Closed)?;
        }
    }

    fn floor(&self) -> MutexGuard<'_, Floor> {
        self.floor.lock().expect("nobody panics on the floor")
    }
}

impl Floor {
    fn is_calm(&self, now: Time) -> Result<bool> {
        let mut calm = self.errands == 0;
        for desk in &self.desks {
            match &desk.actor {
                Occupied::Failing(error) => return Err(error.clone()),
                Occupied::Working => calm = false,
                Occupied::Resting { until, asked } => calm &= *until > now && *asked == desk.nudge.asked(),
            }
        }
        Ok(calm)
    }
}

/// Something that was begun and is not over before this is dropped.
#[derive(Debug)]
pub(crate) struct Errand(Arc<Node>);

impl Errand {
    pub(crate) fn begin(node: &Arc<Node>) -> Errand {
        node.calm.floor().errands += 1;
        Errand(node.clone())
    }
}

impl Drop for Errand {
    fn drop(&mut self) {
        self.0.calm.floor().errands -= 1;
        self.0.calm.changed.send_replace(());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time::from_millis(1_000);
    const LATER: Time = Time::from_millis(2_000);

    #[test]
    fn it_is_calm_when_nobody_works_is_due_or_is_asked_to_come() {
        let (calm, nudge) = (Calm::new(), Arc::new(Nudge::default()));
        let is_calm = || calm.floor().is_calm(NOW).unwrap();
        let place = calm.enter(nudge.clone(), NOW);
        assert!(!is_calm(), "it is due");
        calm.resting(place, LATER, 0);
        assert!(is_calm());
        nudge.notify_one();
        assert!(!is_calm(), "it was asked to come");
        calm.working(place);
        assert!(!is_calm());
        calm.resting(place, LATER, nudge.asked());
        assert!(is_calm());
        calm.failing(place, Error::Closed);
        assert!(calm.floor().is_calm(NOW).is_err());
    }
}
