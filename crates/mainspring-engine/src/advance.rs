//! Moves a clock that people move, from one instant at which something is due to the next. Does nothing that is due: the
//! actors do, and the clock waits for them.
//!
//! The walk stops at every instant at which a job or a schedule falls due, time opens a gate or a worker's lease ends, and between them in leaps,
//! for the sweep: jobs that expire, attempts that time out. A leap is as short as a sweep's interval while something runs or the
//! whole way is short, and grows with the way up to [`LEAP_MAX`].
//!
//! Workers are outside. What one is doing while the clock moves takes no time by it: an attempt that is running when the clock
//! leaps past its lease is taken back, as it would be from a worker that slept for so long.

use std::sync::Arc;
use std::time::Duration;

use mainspring_core::seats::Warrants;
use mainspring_core::segment::Segments;
use mainspring_core::store::Promote;
use mainspring_core::time::Time;

use crate::actor::Actor;
use crate::error::{Error, Result};
use crate::node::Node;
use crate::ownership::Ownership;

/// The longest way between two sweeps. No longer than [`mainspring_core::limits::LOOK_AHEAD_MAX`]: the store would not tell what
/// lies behind it.
pub const LEAP_MAX: Duration = Duration::from_secs(3600);
/// A way on which nothing is due is gone in about so many leaps.
const LEAPS: u32 = 4_096;
/// Stops of one walk. It then ends early, and says how far it came.
pub const STOPS_MAX: u64 = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockView {
    pub now: Time,
    /// It stands still until somebody advances it.
    pub is_virtual: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advanced {
    /// It is this late now, and everything that was due by then is done. Earlier than asked for after [`STOPS_MAX`] stops: ask
    /// again.
    Done { now: Time },
    /// This node goes by the machine's clock.
    NotVirtual,
    /// That lies in the past.
    Backwards { now: Time },
}

impl Node {
    pub(crate) fn clock_view(&self) -> ClockView {
        ClockView { now: self.clock.now(), is_virtual: self.clock.hands().is_some() }
    }

    /// Whether somebody moves the clock just now.
    pub(crate) fn is_walking(&self) -> bool {
        self.walk.try_lock().is_err()
    }

    pub(crate) async fn advance(self: &Arc<Node>, to: Time) -> Result<Advanced> {
        if self.clock.hands().is_none() {
            return Ok(Advanced::NotVirtual);
        }
        let mut closing = self.closing.listen();
        // On a task of its own: a caller that hangs up must not leave the clock somewhere on the way.
        let walk = tokio::spawn(self.clone().walk(to));
        tokio::select! {
            biased;
            walked = walk => walked.unwrap_or(Err(Error::Closed)),
            () = closing.raised() => Err(Error::Closed),
        }
    }

    async fn walk(self: Arc<Node>, to: Time) -> Result<Advanced> {
        let _alone = self.walk.lock().await;
        let Some(hands) = self.clock.hands() else { return Ok(Advanced::NotVirtual) };
        let mut now = self.clock.now();
        if to < now {
            return Ok(Advanced::Backwards { now });
        }
        let leap = (to.since(now) / LEAPS).clamp(self.settings.sweep_every.min(LEAP_MAX), LEAP_MAX);
        self.calm.come(now).await?;
        for _ in 0..STOPS_MAX {
            if now >= to || self.closing.is_raised() {
                break;
            }
            now = self.next_stop(now, leap).await?.min(to);
            // The seats are renewed for the time to come, so that nobody is found without them there.
            Ownership::new(self.clone()).tick(now).await?;
            self.plan.expect(&[now]);
            hands.set(now);
            self.calm.come(now).await?;
        }
        Ok(Advanced::Done { now })
    }

    async fn next_stop(self: &Arc<Node>, now: Time, leap: Duration) -> Result<Time> {
        let running = self.store.queues(None).await?.iter().any(|queue| queue.counts.running > 0);
        let leap = if running { leap.min(self.settings.sweep_every) } else { leap };
        let ask = Promote {
            segments: Segments::ALL,
            warrants: Warrants::NONE,
            limit: 1,
            look_ahead_until: now.after(leap),
            look_ahead_limit: 1,
            due_limit: 0,
        };
        let promoted = self.store.promote(now, ask).await?;
        let due_at = promoted.upcoming.first().copied();
        let gate_at = promoted.gates_at.filter(|&at| at > now);
        // Nothing is due, unless somebody was faster: a worker that has just ended what others wait for.
        self.tell_promoted(now, promoted);
        let silent_at = self.store.workers().await?.iter().map(|worker| worker.expires_at).filter(|&at| at > now).min();
        Ok([due_at, gate_at, silent_at].into_iter().flatten().fold(now.after(leap), Time::min))
    }
}
