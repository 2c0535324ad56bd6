//! A gather for each database: jobs of two databases never share a call, so that the failure of one is not the other's. With one
//! database there is one, and this is no more than that. Sends nothing itself.

use mainspring_core::job::Job;
use mainspring_core::placement::{Placement, Shard};
use mainspring_core::store::{Beat, Claim, Report, Settlement, Whose};
use metrics::Counter;

use crate::error::Result;
use crate::gather::{Bounds, Gather, Gathering, Item, gather};

/// Which database an item is for.
pub(crate) trait Homed {
    /// `None` if it may be any of them.
    fn home(&self, placement: Placement) -> Option<Shard>;
}

impl Homed for Job {
    fn home(&self, placement: Placement) -> Option<Shard> {
        Some(placement.home(&self.tenant))
    }
}

impl Homed for Claim {
    fn home(&self, placement: Placement) -> Option<Shard> {
        match self.whose {
            Whose::Own => Some(placement.home(&self.tenant)),
            Whose::All => None,
        }
    }
}

impl Homed for Settlement {
    fn home(&self, placement: Placement) -> Option<Shard> {
        Some(placement.shard_of(self.lease.job.segment()))
    }
}

impl Homed for Report {
    fn home(&self, placement: Placement) -> Option<Shard> {
        Some(placement.shard_of(self.lease.job.segment()))
    }
}

/// A worker may hold jobs of any database, and beats in all of them.
impl Homed for Beat {
    fn home(&self, _: Placement) -> Option<Shard> {
        None
    }
}

/// One lane for each database, and one for what may be any of them.
#[derive(Debug)]
pub(crate) struct Lanes<I, A> {
    placement: Placement,
    lanes: Vec<Gather<I, A>>,
}

/// Lanes and their other ends. Each has these bounds.
pub(crate) fn lanes<I, A>(
    placement: Placement,
    bounds: Bounds,
    rejected: &Counter,
) -> (Lanes<I, A>, Vec<Gathering<I, A>>) {
    let count = if placement == Placement::ONE { 1 } else { placement.count() + 1 };
    let (lanes, ends) = (0..count).map(|_| gather(bounds, rejected)).unzip();
    (Lanes { placement, lanes }, ends)
}

impl<I: Item + Homed, A> Lanes<I, A> {
    /// One answer for each item, in order. Turned away if too many wait already.
    pub(crate) async fn ask(&self, items: Vec<I>) -> Result<Vec<A>> {
        self.each(items, |lane, items| lane.ask(items)).await
    }

    /// The same for the node's own requests: waits for room instead.
    pub(crate) async fn ask_patiently(&self, items: Vec<I>) -> Result<Vec<A>> {
        self.each(items, |lane, items| lane.ask_patiently(items)).await
    }

    /// A request for several databases goes to each of them in part, and fails if one part does.
    async fn each<'a, F>(&'a self, items: Vec<I>, ask: impl Fn(&'a Gather<I, A>, Vec<I>) -> F) -> Result<Vec<A>>
    where
        F: Future<Output = Result<Vec<A>>>,
    {
        if let [lane] = &self.lanes[..] {
            return ask(lane, items).await;
        }
        let mut parts: Vec<(Vec<usize>, Vec<I>)> = self.lanes.iter().map(|_| Default::default()).collect();
        let count = items.len();
        for (place, item) in items.into_iter().enumerate() {
            let lane = item.home(self.placement).map_or(self.placement.count(), Shard::index);
            parts[lane].0.push(place);
            parts[lane].1.push(item);
        }
        let asked = self.lanes.iter().zip(parts).filter(|(_, (places, _))| !places.is_empty());
        let mut answers: Vec<Option<A>> = std::iter::repeat_with(|| None).take(count).collect();
        // One after the other: whoever asks for much asks for one database, or has been taken apart before.
        for (lane, (places, items)) in asked {
            for (place, answer) in places.into_iter().zip(ask(lane, items).await?) {
                answers[place] = Some(answer);
            }
        }
        Ok(answers.into_iter().map(|answer| answer.expect("every item has an answer")).collect())
    }
}

/// What there is for each database, in order, without those for which there is nothing.
pub(crate) fn apart<I>(placement: Placement, items: Vec<I>, home: impl Fn(&I) -> Shard) -> Vec<Vec<I>> {
    let mut parts: Vec<Vec<I>> = placement.shards().map(|_| Vec::new()).collect();
    items.into_iter().for_each(|item| parts[home(&item).index()].push(item));
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
#[path = "lanes_tests.rs"]
mod tests;
