//! The promises of the design's third section, one file each. A checker sees every call at the store, and what all calls before it
//! add up to ([`Past`]), and says what was broken; at the end it looks at what is left. It trusts nothing that the store says of itself.
//!
//! | promise | file |
//! |---|---|
//! | 1 nothing accepted is lost | `nothing_lost`; `checkpoints`, `keys` (what was accepted beside jobs) |
//! | 2 no two holders | `holders` (of a job), `epochs` (of a seat) |
//! | 3 every occurrence makes exactly one job | `occurrences` |
//! | 4 order is fair | `order` (by rank, past gates), `turns` (between tenants), `on_time` (nobody before its time) |
//! | 5 a failure stays where it is | `failures_stay` |
//! | 6 no state without an exit | `exits`; `attempts` (no job is tried for ever), `expiries` |
//! | 7 all engines answer alike | not here: conformance and lockstep of `mainspring-store` hold every store to the one that is used here |
//! | 8 limits are named, and hold | `limits` (at gates), `depth` (of queues) |
//! | and what jobs and workers were promised | `parents` (a child waits), `orders` (a worker that was told to stop gets nothing) |

mod attempts;
mod checkpoints;
mod deed;
mod depth;
mod epochs;
mod exits;
mod expiries;
mod failures_stay;
mod holders;
mod keys;
mod limits;
mod nothing_lost;
mod occurrences;
mod on_time;
mod order;
mod orders;
mod parents;
mod past;
mod turns;

use mainspring_core::time::Time;

pub use deed::{Acks, Before, Deed, Last, Poisoned};
pub use past::Past;
pub use turns::COST_MAX;

/// A broken promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub at: Time,
    pub promise: &'static str,
    pub what: String,
}

/// Where checkers put what they find.
#[derive(Debug, Default)]
pub struct Findings(Vec<Finding>);

/// More of the same help nobody.
const FINDINGS_MAX: usize = 20;

impl Findings {
    pub fn broken(&mut self, at: Time, promise: &'static str, what: impl FnOnce() -> String) {
        if self.0.len() < FINDINGS_MAX {
            self.0.push(Finding { at, promise, what: what() });
        }
    }
}

trait Checker: std::fmt::Debug + Send {
    /// A call, and what was before it.
    fn see(&mut self, deed: &Deed<'_>, past: &Past, findings: &mut Findings) {
        let _ = (deed, past, findings);
    }

    /// The storm is over, and whatever is well had time.
    fn midway(&mut self, last: &Last, past: &Past, findings: &mut Findings) {
        let _ = (last, past, findings);
    }

    /// Everybody had time.
    fn end(&mut self, last: &Last, past: &Past, findings: &mut Findings) {
        let _ = (last, past, findings);
    }
}

/// All checkers.
#[derive(Debug)]
pub struct Bench {
    checkers: Vec<Box<dyn Checker>>,
    past: Past,
    findings: Findings,
}

impl Bench {
    /// `clocks_are_right`: whether "silent for so long" can be judged by the world's time.
    pub fn new(clocks_are_right: bool) -> Bench {
        let checkers: Vec<Box<dyn Checker>> = vec![
            Box::new(nothing_lost::NothingLost),
            Box::new(checkpoints::Checkpoints),
            Box::new(keys::Keys::default()),
            Box::new(holders::Holders::new(clocks_are_right)),
            Box::new(epochs::Epochs::default()),
            Box::new(occurrences::Occurrences::default()),
            Box::new(limits::Limits::new(clocks_are_right)),
            Box::new(depth::Depth),
            Box::new(on_time::OnTime { clocks_are_right }),
            Box::new(order::Order),
            Box::new(turns::Turns::default()),
            Box::new(parents::Parents::default()),
            Box::new(orders::Orders),
            Box::new(attempts::Attempts),
            Box::new(expiries::Expiries),
            Box::new(failures_stay::FailuresStay),
            Box::new(exits::Exits),
        ];
        Bench { checkers, past: Past::default(), findings: Findings::default() }
    }

    pub fn past(&self) -> &Past {
        &self.past
    }

    pub fn see(&mut self, deed: &Deed<'_>) {
        for checker in &mut self.checkers {
            checker.see(deed, &self.past, &mut self.findings);
        }
        self.past.note(deed);
    }

    /// What somebody else found.
    pub fn broken(&mut self, at: Time, promise: &'static str, what: String) {
        self.findings.broken(at, promise, || what);
    }

    pub fn midway(&mut self, last: &Last) {
        for checker in &mut self.checkers {
            checker.midway(last, &self.past, &mut self.findings);
        }
    }

    pub fn end(&mut self, last: &Last) {
        for checker in &mut self.checkers {
            checker.end(last, &self.past, &mut self.findings);
        }
    }

    pub fn has_found(&self) -> bool {
        !self.findings.0.is_empty()
    }

    pub fn findings(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.findings.0)
    }
}
