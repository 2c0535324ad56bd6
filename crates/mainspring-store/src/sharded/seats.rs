//! The seats of nodes over several databases. The seat of a segment is kept by the database that keeps its jobs, so that what is
//! written in its name is checked in the write itself. Nodes and the assignment are kept by all of them, and the *senior*, the
//! first that answers, is believed. A database that cannot be reached loses only its seats. Assigns nothing.

use std::collections::BTreeMap;

use async_trait::async_trait;
use mainspring_core::id::NodeId;
use mainspring_core::placement::Shard;
use mainspring_core::seats::{Assign, Assigned, NodeInfo, Roll, Seat, Seats, Term};
use mainspring_core::store::{Error, Result};
use mainspring_core::time::Time;
use uuid::Uuid;

use super::Sharded;
use super::all::Answers;

#[async_trait]
impl Seats for Sharded {
    async fn renew(&self, now: Time, node: NodeInfo, until: Time) -> Result<Roll> {
        let id = node.id;
        let rolls = self
            .ask_all(|database| {
                let node = node.clone();
                async move { database.seats.renew(now, node, until).await }
            })
            .await?;
        let leaders: Vec<Option<Term>> =
            rolls.0.iter().map(|roll| roll.as_ref()?.term(Seat::Leader).copied()).collect();
        let (senior, roll) = self.merge(rolls);
        if let Some(term) = roll.term(Seat::Leader).copied().filter(|term| is_held_by(term, id)) {
            self.lead_all(Leading { now, until, senior, term }, &leaders).await?;
        }
        Ok(roll)
    }

    async fn take(&self, now: Time, node: NodeId, seats: Vec<Seat>, until: Time) -> Result<Vec<Term>> {
        let senior = self.senior();
        let answers = self
            .ask_if_any(|database| {
                let own: Vec<Seat> =
                    seats.iter().copied().filter(|seat| self.keeper(*seat, senior) == database.shard).collect();
                (!own.is_empty()).then_some(async move { database.seats.take(now, node, own, until).await })
            })
            .await?;
        let terms: BTreeMap<Seat, Term> = answers.some().flatten().map(|term| (term.seat, term)).collect();
        if let Some(term) = terms.get(&Seat::Leader).copied().filter(|term| is_held_by(term, node)) {
            let none = vec![None; self.databases.len()];
            self.lead_all(Leading { now, until, senior, term }, &none).await?;
        }
        Ok(seats.into_iter().map(|seat| terms.get(&seat).copied().unwrap_or(nobodys(seat))).collect())
    }

    async fn give_up(&self, now: Time, node: NodeId, seats: Vec<Seat>) -> Result<()> {
        let kept = |seat: &Seat, shard| seat.segment().is_none_or(|segment| self.placement.shard_of(segment) == shard);
        // What cannot be given up now ends by itself.
        self.ask_if_any(|database| {
            let own: Vec<Seat> = seats.iter().copied().filter(|seat| kept(seat, database.shard)).collect();
            (!own.is_empty()).then_some(async move { database.seats.give_up(now, node, own).await })
        })
        .await?;
        Ok(())
    }

    async fn assign(&self, now: Time, assign: Assign) -> Result<Assigned> {
        let mandate = self.leads.mandate(Some(assign.warrant));
        let answers = self
            .ask_some(|database| {
                let warrant = mandate.at(database.shard)??;
                let part = Assign { warrant, ..assign.clone() };
                Some(async move { database.seats.assign(now, part).await })
            })
            .await?;
        Ok(answers.0[mandate.senior.index()].unwrap_or(Assigned::Done))
    }

    async fn leave(&self, now: Time, node: NodeId) -> Result<()> {
        self.ask_all(|database| async move { database.seats.leave(now, node).await }).await?;
        Ok(())
    }

    async fn roll(&self) -> Result<Roll> {
        let rolls = self.ask_all(|database| async move { database.seats.roll().await }).await?;
        Ok(self.merge(rolls).1)
    }

    /// The senior's: nodes measure themselves against one.
    async fn clock(&self) -> Result<Option<Time>> {
        self.ask_first(|database| async move { database.seats.clock().await }).await
    }
}

/// A node that leads by the senior's term.
struct Leading {
    now: Time,
    until: Time,
    senior: Shard,
    term: Term,
}

impl Sharded {
    /// Takes the leader seats of the other databases as well, where nobody else's term stands, and remembers which it got.
    async fn lead_all(&self, leading: Leading, known: &[Option<Term>]) -> Result<()> {
        let Leading { now, until, senior, term } = leading;
        let held = |shard: Shard| known[shard.index()].filter(|term| is_held_by(term, leading.term.holder));
        let taken = self
            .ask_if_any(|database| {
                let is_missing = database.shard != senior && held(database.shard).is_none();
                is_missing.then_some(async move {
                    let terms = database.seats.take(now, term.holder, vec![Seat::Leader], until).await?;
                    Ok(terms.into_iter().find(|other| other.holder == term.holder))
                })
            })
            .await?;
        let epoch = |(shard, taken): (Shard, Option<Option<Term>>)| {
            let term = if shard == senior { Some(term) } else { held(shard).or(taken.flatten()) };
            term.map(|term| term.epoch)
        };
        self.leads.note(senior, term, self.placement.shards().zip(taken.0).map(epoch).collect());
        Ok(())
    }

    /// Nodes, assignment and leader as the senior has them, and from each database the terms of its segments.
    fn merge(&self, rolls: Answers<Roll>) -> (Shard, Roll) {
        let mut whole: Option<(Shard, Roll)> = None;
        let mut terms = Vec::new();
        for (shard, roll) in self.placement.shards().zip(rolls.0) {
            let Some(mut roll) = roll else { continue };
            let is_kept = |term: &Term| match term.seat {
                Seat::Segment(segment) => self.placement.shard_of(segment) == shard,
                Seat::Leader => whole.is_none(),
            };
            terms.extend(roll.terms.extract_if(.., |term| is_kept(term)));
            whole.get_or_insert((shard, roll));
        }
        terms.sort_by_key(|term| term.seat);
        let (senior, roll) = whole.expect("at least one has answered");
        (senior, Roll { terms, ..roll })
    }

    /// Whose leader seat counts: that of the first that is up.
    fn senior(&self) -> Shard {
        let up = self.databases.iter().find(|database| database.down().is_none());
        up.map_or(Shard::FIRST, |database| database.shard)
    }

    fn keeper(&self, seat: Seat, senior: Shard) -> Shard {
        seat.segment().map_or(senior, |segment| self.placement.shard_of(segment))
    }

    /// As [`Sharded::ask_some`], and no error while any database is up, asked or not: what is lost is lost for those alone that
    /// did not answer.
    async fn ask_if_any<T, F>(
        &self,
        call: impl Fn(std::sync::Arc<super::database::Database>) -> Option<F>,
    ) -> Result<Answers<T>>
    where
        F: Future<Output = Result<T>>,
    {
        match self.ask_some(call).await {
            Err(error @ Error::Invalid(_)) => Err(error),
            Err(error) if self.databases.iter().all(|database| database.down().is_some()) => Err(error),
            Err(_) => Ok(Answers(self.databases.iter().map(|_| None).collect())),
            answers => answers,
        }
    }
}

fn is_held_by(term: &Term, node: NodeId) -> bool {
    term.holder == node && !term.is_given_up()
}

/// What is answered for a seat whose keeper cannot be asked: nobody is known to hold it, and it was not taken.
fn nobodys(seat: Seat) -> Term {
    Term { seat, holder: NodeId(Uuid::nil()), epoch: 0, until: Term::GIVEN_UP }
}
