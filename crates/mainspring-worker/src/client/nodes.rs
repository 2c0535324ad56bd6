//! Which server a call goes to, of those that a client was given. Sends nothing, and never says that a call may be repeated.
//!
//! A client stays with one of them. It goes on to the next when that one does not answer, or answers that it cannot work
//! (502, 503, 504), and it does not come back by itself: a cluster has no node that is better than the others.

use std::sync::atomic::{AtomicUsize, Ordering};

use http::StatusCode;
use tokio::sync::watch;

use super::base_url::BaseUrl;
use crate::error::{Error, Result};

/// The most addresses that one client takes. A call that finds nobody tries each of them once.
pub(super) const ADDRESSES_MAX: usize = 64;

pub(super) struct Nodes {
    known: Vec<Known>,
    current: AtomicUsize,
}

struct Known {
    base: BaseUrl,
    /// How often it did not answer.
    silent: watch::Sender<u64>,
}

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct At(usize);

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Answered(StatusCode),
    /// There was no connection, so the server has heard nothing of it.
    NotSent,
    /// Nobody knows whether the server has heard it.
    Unanswered,
}

impl Nodes {
    /// One address, or several with commas between them. `dice`, from 0 to 1, says where to begin, so that clients that were
    /// given the same list do not all begin with the same one.
    pub fn parse(text: &str, dice: f64) -> Result<Nodes> {
        let known: Vec<Known> = text
            .split(',')
            .map(|one| Ok(Known { base: BaseUrl::parse(one)?, silent: watch::Sender::new(0) }))
            .collect::<Result<_>>()?;
        if known.len() > ADDRESSES_MAX {
            let count = known.len();
            return Err(Error::Address(format!(
                "{count} addresses were given; the limit (ADDRESSES_MAX) is {ADDRESSES_MAX}"
            )));
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in a short list")]
        let first = (dice.clamp(0.0, 1.0) * known.len() as f64) as usize;
        Ok(Nodes { current: AtomicUsize::new(first.min(known.len() - 1)), known })
    }

    pub fn count(&self) -> usize {
        self.known.len()
    }

    pub fn current(&self) -> At {
        At(self.current.load(Ordering::Relaxed))
    }

    pub fn base(&self, at: At) -> &BaseUrl {
        &self.known[at.0].base
    }

    pub fn bases(&self) -> impl Iterator<Item = &BaseUrl> {
        self.known.iter().map(|known| &known.base)
    }

    /// Writes down what became of a call there: the next one goes elsewhere if this one cannot work.
    pub fn note(&self, at: At, fate: Fate) {
        if self.known.len() == 1 || !fate.is_elsewhere_better() {
            return;
        }
        // Of many calls that fail at once, one moves on.
        let next = (at.0 + 1) % self.known.len();
        let _ = self.current.compare_exchange(at.0, next, Ordering::Relaxed, Ordering::Relaxed);
        if !matches!(fate, Fate::Answered(_)) {
            self.known[at.0].silent.send_modify(|times| *times += 1);
        }
    }

    /// Waits until some call to this one, from now on, gets no answer. For those that wait long for theirs: a server that is
    /// frozen keeps its connections open.
    pub async fn silence(&self, at: At) {
        let mut silent = self.known[at.0].silent.subscribe();
        let told = silent.changed().await;
        told.expect("the sender is in self");
    }
}

impl Fate {
    /// Whether another node may do better with a call.
    pub fn is_elsewhere_better(self) -> bool {
        match self {
            Fate::Answered(status) => matches!(status.as_u16(), 502..=504),
            Fate::NotSent | Fate::Unanswered => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(dice: f64) -> Nodes {
        Nodes::parse("http://a, http://b,http://c", dice).expect("three addresses")
    }

    fn current(nodes: &Nodes) -> &str {
        nodes.base(nodes.current()).as_str()
    }

    #[test]
    fn clients_begin_anywhere_and_stay_while_they_are_answered() {
        let begins = [0.0, 0.3, 0.5, 0.9, 1.0].map(|dice| current(&nodes(dice)).to_owned());
        assert_eq!(begins, ["http://a", "http://a", "http://b", "http://c", "http://c"]);
        let nodes = nodes(0.0);
        for status in [200, 202, 404, 409, 422, 429, 500, 507] {
            nodes.note(nodes.current(), Fate::Answered(StatusCode::from_u16(status).expect("a status")));
            assert_eq!(current(&nodes), "http://a", "{status} says nothing against it");
        }
    }

    #[test]
    fn who_cannot_work_or_does_not_answer_is_left_and_the_last_is_followed_by_the_first() {
        let nodes = nodes(0.0);
        let fates = [Fate::Answered(StatusCode::SERVICE_UNAVAILABLE), Fate::NotSent, Fate::Unanswered];
        let went = fates.map(|fate| {
            nodes.note(nodes.current(), fate);
            current(&nodes).to_owned()
        });
        assert_eq!(went, ["http://b", "http://c", "http://a"]);
    }

    #[test]
    fn calls_that_fail_together_move_on_once() {
        let nodes = nodes(0.0);
        let at = nodes.current();
        (0..5).for_each(|_| nodes.note(at, Fate::NotSent));
        assert_eq!(current(&nodes), "http://b");
    }

    #[tokio::test]
    async fn who_waits_hears_that_its_server_is_silent_and_not_that_it_is_busy() {
        let nodes = nodes(0.0);
        let at = nodes.current();
        let mut waiting = Box::pin(nodes.silence(at));
        let mut hears = async || {
            tokio::select! { biased; () = &mut waiting => true, () = std::future::ready(()) => false }
        };
        assert!(!hears().await);
        nodes.note(at, Fate::Answered(StatusCode::SERVICE_UNAVAILABLE));
        nodes.note(nodes.current(), Fate::Unanswered);
        assert!(!hears().await, "that was said of others");
        nodes.note(at, Fate::Unanswered);
        assert!(hears().await);
    }

    #[test]
    fn the_number_of_addresses_is_bounded() {
        let list = |count: usize| vec!["http://a"; count].join(",");
        assert_eq!(Nodes::parse(&list(ADDRESSES_MAX), 0.0).map(|nodes| nodes.count()).ok(), Some(ADDRESSES_MAX));
        let error = Nodes::parse(&list(ADDRESSES_MAX + 1), 0.0).map(drop).expect_err("is too many").to_string();
        assert!(error.contains("ADDRESSES_MAX"), "{error}");
        assert!(Nodes::parse("http://a,", 0.0).is_err(), "an empty address is none");
    }
}
