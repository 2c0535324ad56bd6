//! Promise 4: order is fair. Whoever asks first is given the best that is ready for it.

use mainspring_core::store::ClaimAnswer;

use super::{Checker, Deed, Findings};
use crate::hop::{Ask, Reply};

const PROMISE: &str = "order is fair";

#[derive(Debug)]
pub struct Order;

impl Checker for Order {
    fn see(&mut self, deed: &Deed<'_>, findings: &mut Findings) {
        let (Ask::Claim(_), Reply::Claim(answers), Some(best)) = (deed.ask, deed.reply, deed.before.best) else {
            return;
        };
        let Some(ClaimAnswer::Jobs(jobs)) = answers.first() else { return };
        match jobs.first() {
            Some(first) if first.job.id == best => {}
            given => {
                let given = given.map(|claimed| claimed.job.id);
                findings
                    .broken(deed.at, PROMISE, || format!("{best} is the best that is ready, and {given:?} was given"));
            }
        }
    }
}
