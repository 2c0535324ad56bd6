//! What a script must be like for several databases, and which of their answers cannot be the same as those of one store.
//!
//! - A job's id says where it is, so jobs get ids of the database that their tenant lives in.
//! - A worker's id is the server's, and never comes from another tenant: each is registered by one tenant only.
//! - Claims for all tenants are left out: whose turn it is, is decided within each database. `sharded/share_tests.rs` has them.
//! - What the parts of a step come to is compared, not the order over databases: it is merged from answers that do not say by what
//!   they were ordered.

use mainspring_core::placement::Placement;
use mainspring_core::store::Whose;

use super::perform::Answer;
use super::script::*;
use super::words::*;

/// The script as it can be played on databases that are placed so.
pub fn housed(script: &Script, placement: Placement) -> Script {
    if placement == Placement::ONE {
        return script.clone();
    }
    Script(script.0.iter().map(|call| house(call.clone(), placement)).collect())
}

fn house(call: Call, placement: Placement) -> Call {
    let job = |new: NewJob, tenant: T| NewJob { id: lodge(new.id, tenant, placement), ..new };
    match call {
        Call::Submit(lots) => {
            let lot = |lot: Lot| match lot {
                Lot::Job(new) => {
                    let tenant = new.tenant;
                    Lot::Job(job(new, tenant))
                }
                Lot::Workflow { steps, callback } => {
                    let tenant = steps[0].tenant;
                    let steps = steps.into_iter().map(|step| job(step, tenant)).collect();
                    Lot::Workflow { steps, callback: callback.map(|callback| job(callback, tenant)) }
                }
                again => again,
            };
            Call::Submit(lots.into_iter().map(lot).collect())
        }
        Call::Turn(turns) => {
            let turn = |turn: NewTurn| {
                let jobs = turn.jobs.into_iter().map(|new| job(new, turn.tenant)).collect();
                NewTurn { jobs, ..turn }
            };
            Call::Turn(turns.into_iter().map(turn).collect())
        }
        Call::Claim(asks) => Call::Claim(own(asks)),
        Call::SettleAndClaim(ends, asks) => Call::SettleAndClaim(ends, own(asks)),
        Call::Heartbeat(beats) => {
            let said = |said: Said| match said.what {
                Beating::Register { .. } => Said { tenant: T(said.worker.0 % T::COUNT), ..said },
                _ => said,
            };
            Call::Heartbeat(beats.into_iter().map(said).collect())
        }
        other => other,
    }
}

fn own(asks: Vec<Ask>) -> Vec<Ask> {
    asks.into_iter().map(|ask| Ask { whose: Whose::Own, ..ask }).collect()
}

/// The next job whose id is where the tenant lives.
fn lodge(job: J, tenant: T, placement: Placement) -> J {
    let home = placement.home(&tenant.name());
    let around = (0..J::COUNT).map(|step| J((job.0 + step) % J::COUNT));
    let mut there = around.filter(|job| placement.shard_of(job.id().segment()) == home);
    there.next().expect("some job is in every database")
}

/// The answer without an order that several databases cannot know.
pub fn loosely(answer: Answer, placement: Placement) -> Answer {
    match answer {
        answer if placement == Placement::ONE => answer,
        Answer::Promoted { ready, oldest, mut cancelled, due, more_due, upcoming, refused } => {
            cancelled.sort();
            Answer::Promoted { ready, oldest, cancelled, due, more_due, upcoming, refused }
        }
        Answer::Reclaimed { mut leases, mut expired, silent, deposed } => {
            leases.sort_by_key(|taken| taken.claimed.job.id);
            expired.sort();
            Answer::Reclaimed { leases, expired, silent, deposed }
        }
        other => other,
    }
}
