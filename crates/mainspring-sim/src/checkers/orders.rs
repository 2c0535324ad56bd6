//! What workers are promised: one that was told to go quiet or to terminate hears of it, and is given nothing more.

use mainspring_core::store::{ClaimAnswer, Pulse};

use super::{Checker, Deed, Findings, Past};
use crate::hop::{Ask, Reply};

const PROMISE: &str = "a worker that was told to stop is given nothing";

#[derive(Debug)]
pub struct Orders;

impl Checker for Orders {
    fn see(&mut self, deed: &Deed<'_>, past: &Past, findings: &mut Findings) {
        match (deed.ask, deed.reply) {
            (Ask::Claim(claims), Reply::Claim(answers)) => {
                for (claim, answer) in claims.iter().zip(answers) {
                    let told = past.orders.get(&claim.worker);
                    let right = match answer {
                        ClaimAnswer::Jobs(_) => told.is_none(),
                        ClaimAnswer::Quiet => told.is_some(),
                        ClaimAnswer::UnknownWorker => true,
                    };
                    if !right {
                        let worker = claim.worker.0;
                        findings
                            .broken(deed.at, PROMISE, || format!("{worker} was told {told:?} and answered {answer:?}"));
                    }
                }
            }
            (Ask::Heartbeat(beats), Reply::Heartbeat(pulses)) => {
                for (beat, pulse) in beats.iter().zip(pulses) {
                    let Pulse::Alive { order, .. } = pulse else { continue };
                    let told = past.orders.get(&beat.worker).copied().unwrap_or_default();
                    if *order != told {
                        let worker = beat.worker.0;
                        findings.broken(deed.at, PROMISE, || format!("{worker} was told {told:?} and hears {order:?}"));
                    }
                }
            }
            _ => {}
        }
    }
}
