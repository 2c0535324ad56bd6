//! Promise 2, for seats: one node holds a seat, the epoch rises with the holder, and nothing is done in the name of a seat by one
//! who does not hold it any more. At the end the segments are with those who live, evenly.

use std::collections::BTreeMap;

use mainspring_core::id::NodeId;
use mainspring_core::seats::{Assigned, Roll, Seat, Term, Warrant};
use mainspring_core::store::{Promote, Promoted, Turned};
use mainspring_core::time::Time;

use super::{Checker, Deed, Findings, Last, Past};
use crate::hop::{Ask, Reply};

const PROMISE: &str = "no two holders of a seat";

#[derive(Debug, Default)]
pub struct Epochs {
    terms: BTreeMap<Seat, Term>,
}

impl Epochs {
    fn taken(&mut self, deed: &Deed<'_>, term: Term, findings: &mut Findings) {
        let before = self.terms.insert(term.seat, term);
        let right = match before {
            None => term.epoch == 1,
            Some(before) if before.holder == term.holder => before.epoch == term.epoch,
            Some(before) => before.until <= deed.now && term.epoch == before.epoch + 1,
        };
        if !right {
            findings.broken(deed.at, PROMISE, || format!("{term:?} after {before:?}, taken at {:?}", deed.now));
        }
    }

    fn renewed(&mut self, at: Time, node: NodeId, until: Time, roll: &Roll, findings: &mut Findings) {
        let held = self.terms.values_mut().filter(|term| term.holder == node && !term.is_given_up());
        held.for_each(|term| term.until = until);
        if roll.terms.iter().any(|term| self.terms.get(&term.seat) != Some(term)) {
            findings.broken(at, PROMISE, || format!("{:?} is not how the terms stand: {:?}", roll.terms, self.terms));
        }
    }

    fn give_up(&mut self, node: NodeId, seat: Seat) {
        if let Some(term) = self.terms.get_mut(&seat).filter(|term| term.holder == node) {
            term.until = Term::GIVEN_UP;
        }
    }

    fn epoch(&self, seat: Seat) -> u64 {
        self.terms.get(&seat).map_or(0, |term| term.epoch)
    }

    /// Whoever acts in a lost name is refused, and whoever does not is not.
    fn in_the_name(&self, at: Time, warrant: Option<Warrant>, deposed: bool, findings: &mut Findings) {
        let Some(warrant) = warrant else { return };
        let stands = self.epoch(warrant.seat);
        if (warrant.epoch != stands) != deposed {
            findings.broken(at, PROMISE, || format!("{warrant:?} at epoch {stands}: deposed is {deposed}"));
        }
    }

    fn promoted(&self, at: Time, ask: &Promote, answer: &Promoted, findings: &mut Findings) {
        let expected = ask.warrants.refused(ask.segments, |segment| self.epoch(Seat::Segment(segment)));
        if answer.refused != expected {
            let refused = answer.refused;
            findings.broken(at, PROMISE, || format!("a promote was refused {refused:?} in place of {expected:?}"));
        }
    }
}

impl Checker for Epochs {
    fn see(&mut self, deed: &Deed<'_>, _: &Past, findings: &mut Findings) {
        match (deed.ask, deed.reply) {
            (Ask::Take(..), Reply::Take(terms)) => {
                terms.iter().for_each(|&term| self.taken(deed, term, findings));
            }
            (Ask::Renew(node, until), Reply::Renew(roll)) => {
                self.renewed(deed.at, node.id, *until, roll, findings);
            }
            (Ask::GiveUp(node, seats), _) => seats.iter().for_each(|&seat| self.give_up(*node, seat)),
            (Ask::Leave(node), _) => Seat::all().for_each(|seat| self.give_up(*node, seat)),
            (Ask::Assign(assign), Reply::Assign(answer)) => {
                self.in_the_name(deed.at, Some(assign.warrant), *answer == Assigned::Deposed, findings);
            }
            (Ask::Promote(ask), Reply::Promote(answer)) => self.promoted(deed.at, ask, answer, findings),
            (Ask::Turn(turns), Reply::Turn(answers)) => {
                for (turn, answer) in turns.iter().zip(answers) {
                    self.in_the_name(deed.at, turn.warrant, *answer == Turned::Deposed, findings);
                }
            }
            (Ask::Reclaim(ask), Reply::Reclaim(answer)) => {
                self.in_the_name(deed.at, ask.warrant, answer.deposed, findings);
            }
            (Ask::Prune(ask), Reply::Prune(answer)) => {
                self.in_the_name(deed.at, ask.warrant, answer.deposed, findings);
            }
            _ => {}
        }
    }

    fn end(&mut self, last: &Last, _: &Past, findings: &mut Findings) {
        let live: Vec<NodeId> =
            last.roll.nodes.iter().filter(|view| view.is_live(last.at)).map(|view| view.info.id).collect();
        if live.len() != last.nodes {
            findings.broken(last.at, PROMISE, || format!("{} of {} nodes are on the roll", live.len(), last.nodes));
            return;
        }
        let held = |term: &&Term| term.until > last.at && live.contains(&term.holder);
        let segments = last.roll.terms.iter().filter(held).filter(|term| term.seat != Seat::Leader);
        let mut shares: BTreeMap<NodeId, usize> = live.iter().map(|&id| (id, 0)).collect();
        for term in segments {
            *shares.entry(term.holder).or_default() += 1;
        }
        let (least, most) = (shares.values().min().copied(), shares.values().max().copied());
        let uneven = most.unwrap_or(0) - least.unwrap_or(0) > 1;
        if uneven || shares.values().sum::<usize>() + 1 != Seat::COUNT {
            findings.broken(last.at, PROMISE, || format!("the segments are not shared out evenly: {shares:?}"));
        }
    }
}
