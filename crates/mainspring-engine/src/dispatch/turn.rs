//! Settles what a worker has finished and claims what comes next, in one request and one call to the store: the turn of a worker's
//! loop. Decides nothing that `settle` and `poll` do not decide.

use std::sync::Arc;

use mainspring_core::placement::{Placement, Shard};
use mainspring_core::store::{self, Claim, ClaimAnswer, Settled, Settlement};

use super::handful::Handful;
use super::poll::ClaimAsk;
use crate::error::{Error, Result};
use crate::gather;
use crate::lanes::Homed;
use crate::node::Node;
use crate::settle::{AttemptEnd, Story};

/// What is finished, and what is asked for next.
#[derive(Debug)]
pub(crate) struct Turn {
    settlements: Vec<Settlement>,
    claim: Claim,
}

/// What both came to. The settlements stand whatever became of the claim.
#[derive(Debug)]
pub(crate) struct Turned {
    settled: Vec<Settled>,
    claimed: store::Result<Handful>,
}

/// Where it claims: what it settles is nearly always there as well.
impl Homed for Turn {
    fn home(&self, placement: Placement) -> Option<Shard> {
        self.claim.home(placement)
    }
}

impl gather::Item for Turn {
    fn weight(&self) -> usize {
        self.settlements.len() + gather::Item::weight(&self.claim)
    }
}

impl Node {
    /// The settlements have their answers before the claim begins to wait, so `ask.wait` holds them back: who cannot wait for
    /// them asks for no wait.
    pub(crate) async fn settle_and_claim(
        &self,
        ends: Vec<AttemptEnd>,
        ask: ClaimAsk,
    ) -> Result<(Vec<Settled>, Result<ClaimAnswer>)> {
        let settlements = self.settlements(ends).await?;
        let (claim, patience) = self.claim_of(ask);
        let generation = self.poll.generation(&claim);
        let turn = Turn { settlements, claim: claim.clone() };
        let Turned { settled, claimed } = self.turns.ask(vec![turn]).await?.pop().expect("one answer for one turn");
        let claimed = match claimed {
            Ok(handful) => self.wait_for_more(handful, claim, generation, patience).await,
            Err(error) => Err(Error::Store(error)),
        };
        Ok((settled, claimed))
    }

    /// One gathered call. If the settlements come to an error, what was claimed is given back.
    pub(crate) async fn apply_turns(self: Arc<Node>, turns: Vec<Turn>) -> store::Result<Vec<Turned>> {
        let counts: Vec<usize> = turns.iter().map(|turn| turn.settlements.len()).collect();
        let mut settlements = Vec::with_capacity(counts.iter().sum());
        let mut claims = Vec::with_capacity(turns.len());
        for turn in turns {
            settlements.extend(turn.settlements);
            claims.push(turn.claim);
        }
        let (now, wanted) = (self.clock.now(), claims.len());
        let story = Story::of(&self, &settlements);
        let call = self.store.settle_and_claim(now, settlements, claims);
        let (settled, claimed) = self.meters.time_turns(story.len(), wanted, call).await;
        let claimed = claimed.map(|answers| self.handfuls(answers));
        let settled = settled?;
        story.tell(&self, now, &settled);
        let mut settled = settled.into_iter();
        let claimed: Vec<store::Result<Handful>> = match claimed {
            Ok(handfuls) => handfuls.into_iter().map(Ok).collect(),
            Err(error) => counts.iter().map(|_| Err(error.clone())).collect(),
        };
        let turned = counts.into_iter().zip(claimed);
        Ok(turned.map(|(count, claimed)| Turned { settled: settled.by_ref().take(count).collect(), claimed }).collect())
    }
}
