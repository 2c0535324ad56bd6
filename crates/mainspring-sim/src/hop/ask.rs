//! Every call that changes something, as a value: it can be delayed, repeated, refused, written down and checked. Reads are
//! not here: they can only be late or fail.

use mainspring_core::id::NodeId;
use mainspring_core::job::Job;
use mainspring_core::seats::{Assign, Assigned, NodeInfo, Roll, Seat, Seats, Term};
use mainspring_core::store::*;
use mainspring_core::time::Time;
use mainspring_store::memory::Memory;

#[derive(Clone, Debug)]
pub enum Ask {
    Submit(Vec<Job>),
    Promote(Promote),
    Claim(Vec<Claim>),
    Heartbeat(Vec<Beat>),
    Report(Vec<Report>),
    Settle(Vec<Settlement>),
    Reclaim(Reclaim),
    Command(Vec<Command>),
    Turn(Vec<Turn>),
    Prune(Prune),
    Renew(Box<NodeInfo>, Time),
    Take(NodeId, Vec<Seat>, Time),
    GiveUp(NodeId, Vec<Seat>),
    Assign(Assign),
    Leave(NodeId),
}

#[derive(Clone, Debug)]
pub enum Reply {
    Submit(Vec<Submitted>),
    Promote(Promoted),
    Claim(Vec<ClaimAnswer>),
    Heartbeat(Vec<Pulse>),
    Report(Vec<Hold>),
    Settle(Vec<Settled>),
    Reclaim(Reclaimed),
    Command(Vec<Commanded>),
    Turn(Vec<Turned>),
    Prune(Pruned),
    Renew(Roll),
    Take(Vec<Term>),
    Assign(Assigned),
    Nothing,
}

impl Ask {
    /// Whether the line may carry it twice. A claim that nobody heard of hands out jobs all the same, and a person's word
    /// that arrives a second time is a second word.
    pub fn may_repeat(&self) -> bool {
        !matches!(self, Ask::Claim(_) | Ask::Command(_))
    }

    /// Makes the call.
    pub async fn perform(self, store: &Memory, now: Time) -> Result<Reply> {
        Ok(match self {
            Ask::Submit(jobs) => Reply::Submit(store.submit(now, jobs).await?),
            Ask::Promote(ask) => Reply::Promote(store.promote(now, ask).await?),
            Ask::Claim(claims) => Reply::Claim(store.claim(now, claims).await?),
            Ask::Heartbeat(beats) => Reply::Heartbeat(store.heartbeat(now, beats).await?),
            Ask::Report(reports) => Reply::Report(store.report(now, reports).await?),
            Ask::Settle(settlements) => Reply::Settle(store.settle(now, settlements).await?),
            Ask::Reclaim(ask) => Reply::Reclaim(store.reclaim(now, ask).await?),
            Ask::Command(commands) => Reply::Command(store.command(now, commands).await?),
            Ask::Turn(turns) => Reply::Turn(store.turn(now, turns).await?),
            Ask::Prune(ask) => Reply::Prune(store.prune(now, ask).await?),
            Ask::Renew(node, until) => Reply::Renew(store.renew(now, *node, until).await?),
            Ask::Take(node, seats, until) => Reply::Take(store.take(now, node, seats, until).await?),
            Ask::GiveUp(node, seats) => {
                store.give_up(now, node, seats).await?;
                Reply::Nothing
            }
            Ask::Assign(assign) => Reply::Assign(store.assign(now, assign).await?),
            Ask::Leave(node) => {
                store.leave(now, node).await?;
                Reply::Nothing
            }
        })
    }
}
