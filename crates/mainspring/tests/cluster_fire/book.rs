//! What clients and workers were told, and when. Judges nothing but what can never be right.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

use mainspring_wire::{Outcome, SettledAs};
use uuid::Uuid;

use crate::watch;

#[derive(Default)]
pub struct Pages {
    /// Every job that somebody was answered for, with its type.
    pub accepted: HashMap<Uuid, &'static str>,
    /// Jobs whose cancellation was asked for.
    pub cancel_asked: HashSet<Uuid>,
    /// Calls that had to be repeated because their answer did not come.
    pub repeated: u64,
    /// Jobs that were submitted again on purpose.
    pub again: u64,
    /// What the settlement of each fence was acknowledged as, if it was not stale.
    pub ended: HashMap<(Uuid, u64), SettledAs>,
    /// What was said of a fence without an answer (or by the SDK, which keeps the answer to itself).
    pub unsure: HashMap<(Uuid, u64), Vec<Outcome>>,
    /// Settlements that were told to be stale.
    pub stale: u64,
    /// Late words that had to be stale, and were.
    pub late: u64,
    /// Workers that vanished with their leases.
    pub vanished: u64,
    /// When jobs were handed to workers.
    pub deliveries: Vec<Instant>,
    /// When jobs were held, as their workers saw it.
    pub holds: Vec<Hold>,
    /// How many jobs of each key were held at most in one snapshot of the store, and how many snapshots were looked at.
    pub most_held: HashMap<String, i64>,
    pub snapshots: u64,
    /// Fences that were handed out: none twice.
    pub fences: HashSet<(Uuid, u64)>,
}

/// A job was held from here to there: from the answer to the claim to the word about its end.
#[derive(Clone, Debug)]
pub struct Hold {
    pub job: Uuid,
    pub fence: u64,
    pub from: Instant,
    pub until: Instant,
}

pub struct Book {
    pub began: Instant,
    pages: Mutex<Pages>,
}

impl Book {
    pub fn new() -> Book {
        Book { began: watch::now(), pages: Mutex::default() }
    }

    pub fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().expect("nobody panicked over the book")
    }

    pub fn accept(&self, id: Uuid, kind: &'static str) {
        let before = self.pages().accepted.insert(id, kind);
        assert!(before.is_none_or(|before| before == kind), "job {id} was answered for two of different types");
    }

    pub fn deliver(&self, job: Uuid, fence: u64) {
        let mut pages = self.pages();
        pages.deliveries.push(watch::now());
        assert!(pages.fences.insert((job, fence)), "job {job} was handed out twice under fence {fence}");
    }

    /// A worker was told what became of its word.
    pub fn settle(&self, job: Uuid, fence: u64, state: SettledAs) {
        let mut pages = self.pages();
        if state == SettledAs::Stale {
            pages.stale += 1;
            return;
        }
        let before = pages.ended.insert((job, fence), state);
        assert_eq!(before, None, "fence {fence} of job {job} was settled twice; now as {state}");
    }

    /// One snapshot of the store: how many jobs of each key are held.
    pub fn look(&self, held: impl Iterator<Item = (String, i64)>) {
        let mut pages = self.pages();
        pages.snapshots += 1;
        for (key, held) in held {
            let most = pages.most_held.entry(key).or_default();
            *most = held.max(*most);
        }
    }

    /// A worker said something and does not know whether it was heard.
    pub fn doubt(&self, job: Uuid, fence: u64, outcome: Outcome) {
        self.pages().unsure.entry((job, fence)).or_default().push(outcome);
    }
}
