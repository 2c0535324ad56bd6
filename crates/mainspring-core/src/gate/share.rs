//! Whose turn it is among the tenants of a queue, by weight (self-clocked fair queueing). Knows no jobs and no time.
//!
//! Each tenant has a *turn*, a point on a line; the lowest goes next. Serving it moves it on by cost / weight, so a
//! tenant of weight 3 moves a third as far and comes up three times as often. The share itself remembers the turn
//! that was served last, and whoever joins the line, for the first time or after having had nothing that could run,
//! joins one job ahead of it.
//!
//! What it promises:
//! - Among tenants that always have work, of costs up to c: `served_a / weight_a` is ahead of `served_b / weight_b` by
//!   at most `(c − 1) / weight_a + 1 / weight_b`; with equal costs nobody is behind its share by more than one job.
//!   Proof: only the lowest turn is moved, so no turn is more than one job ahead of the lowest.
//! - An idle tenant saves up nothing: it joins ahead of the turn served last, however long it was away.
//! - A first job waits for one round: at most `weight_i / weight + 1` jobs of each other tenant, were there a million
//!   waiting. Whoever is served moves the line on, so a stream of newcomers starves nobody.

/// One for each queue name. Need not survive a restart: all turns are equal then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub struct Share {
    /// The turn that was served last.
    pub last: Turn,
}

/// One for each tenant of the queue name. A tenant that was never seen has the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Turn(pub u128);

/// How far one unit of cost moves a tenant of weight 1. Weights to 1,000 divide it to 11 digits: the rounding adds
/// up to one job after 10¹¹, and 128 bits last for 10²³.
const UNIT: u128 = 1 << 48;

impl Share {
    /// Who goes next: the lowest turn, ties to the lesser name. With many tenants, keep them in a set ordered by
    /// (turn, tenant) and take the first: it is the same one.
    pub fn pick<T: Ord>(candidates: impl IntoIterator<Item = (Turn, T)>) -> Option<T> {
        candidates.into_iter().min().map(|(_, tenant)| tenant)
    }

    /// The turn of a tenant that has something to run again after it had nothing, or nothing that its gates let in.
    pub fn join(&self, turn: Turn, weight: u32) -> Turn {
        turn.max(self.last.moved(weight, 1))
    }

    /// The next turn of a tenant that was given a job of this cost.
    pub fn charge(&mut self, turn: Turn, weight: u32, cost: u16) -> Turn {
        self.last = self.last.max(turn);
        turn.moved(weight, cost)
    }
}

impl Turn {
    fn moved(self, weight: u32, cost: u16) -> Turn {
        Turn(self.0 + u128::from(cost.max(1)) * UNIT / u128::from(weight.max(1)))
    }
}

#[cfg(test)]
#[path = "share_tests.rs"]
mod tests;
