//! The promises of the design's third section, one file each. A checker sees every call at the store, keeps what it needs to know
//! of the past, and says what was broken; at the end it looks at what is left. It trusts nothing that the store says of itself.
//!
//! | promise | file |
//! |---|---|
//! | nothing accepted is lost | `nothing_lost` |
//! | no two holders | `holders` (of a job), `epochs` (of a seat) |
//! | every occurrence makes exactly one job | `occurrences` |
//! | order is fair | `order` |
//! | a failure stays where it is, no state without an exit | `exits` |
//! | a child waits for its parents | `parents` |
//! | limits are named | `limits` |

mod deed;
mod epochs;
mod exits;
mod holders;
mod limits;
mod nothing_lost;
mod occurrences;
mod order;
mod parents;

use mainspring_core::time::Time;

pub use deed::{Acks, Before, Deed, Last};

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
    fn see(&mut self, deed: &Deed<'_>, findings: &mut Findings);

    /// The storm is over and everybody had time.
    fn end(&mut self, last: &Last, findings: &mut Findings) {
        let _ = (last, findings);
    }
}

/// All checkers.
#[derive(Debug)]
pub struct Bench {
    checkers: Vec<Box<dyn Checker>>,
    findings: Findings,
}

impl Bench {
    /// `clocks_are_right`: whether "silent for so long" can be judged by the world's time.
    pub fn new(clocks_are_right: bool) -> Bench {
        let checkers: Vec<Box<dyn Checker>> = vec![
            Box::new(nothing_lost::NothingLost::default()),
            Box::new(holders::Holders::new(clocks_are_right)),
            Box::new(epochs::Epochs::default()),
            Box::new(occurrences::Occurrences::default()),
            Box::new(order::Order),
            Box::new(parents::Parents::default()),
            Box::new(exits::Exits),
            Box::new(limits::Limits),
        ];
        Bench { checkers, findings: Findings::default() }
    }

    pub fn see(&mut self, deed: &Deed<'_>) {
        for checker in &mut self.checkers {
            checker.see(deed, &mut self.findings);
        }
    }

    /// What somebody else found.
    pub fn broken(&mut self, at: Time, promise: &'static str, what: String) {
        self.findings.broken(at, promise, || what);
    }

    pub fn end(&mut self, last: &Last) {
        for checker in &mut self.checkers {
            checker.end(last, &mut self.findings);
        }
    }

    pub fn has_found(&self) -> bool {
        !self.findings.0.is_empty()
    }

    pub fn findings(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.findings.0)
    }
}
