//! The words of a script that are about nodes, their seats, and the warrants that they act under; how they are drawn, and what they mean.

use std::fmt;

use mainspring_core::id::{JobId, NodeId};
use mainspring_core::seats::{Assign, NodeInfo, PROTOCOL, Role, Roles, Seat, Seats, Term, Warrant, Warrants};
use mainspring_core::segment::Segment;
use mainspring_core::store::Result;
use mainspring_core::time::Time;
use proptest::collection::vec;
use proptest::prelude::*;

use super::past::Past;
use super::perform::Answer;
use super::script::Call;
use super::words::{START, Span};

/// A node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct N(pub u8);

impl fmt::Debug for N {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0)
    }
}

impl N {
    const COUNT: u8 = 3;

    pub fn id(self) -> NodeId {
        NodeId(JobId::mint(START, u32::from(self.0), Segment::wrap(0), 9).uuid())
    }

    pub fn all() -> impl Iterator<Item = N> {
        (0..Self::COUNT).map(N)
    }

    fn info(self) -> NodeInfo {
        let odd = self.0 % 2 == 1;
        NodeInfo {
            id: self.id(),
            address: odd.then(|| format!("10.0.0.{}:7070", self.0)),
            roles: if odd { [Role::Scheduler].into_iter().collect() } else { Roles::ALL },
            version: format!("0.{}.0", self.0),
            protocol: PROTOCOL,
            segments: Segment::COUNT,
            shards: 0,
            started_at: START,
            skew_ms: odd.then_some(-7),
            willing: !odd,
        }
    }
}

/// What a node does about seats.
#[derive(Clone, Copy, Debug)]
pub enum Sitting {
    Renew { until: Span },
    Take { post: Post, until: Span },
    GiveUp(Post),
    Leave,
}

/// Seats that are taken and given up together.
#[derive(Clone, Copy, Debug)]
pub enum Post {
    Leader,
    Odd,
    Even,
    All,
}

impl Post {
    fn seats(self) -> Vec<Seat> {
        let has = |seat: &Seat| match (self, seat.segment()) {
            (Post::All, _) | (Post::Leader, None) => true,
            (Post::Odd, Some(segment)) => segment.index() % 2 == 1,
            (Post::Even, Some(segment)) => segment.index().is_multiple_of(2),
            (Post::Leader, Some(_)) | (Post::Odd | Post::Even, None) => false,
        };
        Seat::all().filter(has).collect()
    }
}

/// In whose name a call is made. Of a seat that nobody ever took, everything is in nobody's name.
#[derive(Clone, Copy, Debug)]
pub enum Paper {
    Nobody,
    /// Of whoever holds the seat.
    Right,
    /// Of whoever held it before.
    Stale,
    /// Of an epoch that is still to come; of many segments, of the odd ones alone.
    Partly,
}

impl Paper {
    pub fn warrant(self, seat: Seat, past: &Past) -> Option<Warrant> {
        let stands = *past.epochs.get(&seat)?;
        let epoch = match self {
            Paper::Nobody => return None,
            Paper::Right => stands,
            Paper::Stale => stands - 1,
            Paper::Partly => stands + 1,
        };
        Some(Warrant { seat, epoch })
    }

    pub fn warrants(self, past: &Past) -> Warrants {
        let term = |(&seat, &stands): (&Seat, &u64)| {
            let epoch = match (self, seat.segment()) {
                (Paper::Stale, _) => stands - 1,
                (Paper::Partly, Some(segment)) if segment.index().is_multiple_of(2) => 0,
                _ => stands,
            };
            Term { seat, holder: N(0).id(), epoch, until: START }
        };
        match self {
            Paper::Nobody => Warrants::NONE,
            _ => Warrants::of(&past.epochs.iter().map(term).collect::<Vec<Term>>()),
        }
    }
}

/// Makes a call that is about seats.
pub async fn perform(seats: &dyn Seats, now: Time, call: &Call, past: &Past) -> Result<Answer> {
    Ok(match call {
        Call::Seat(node, Sitting::Renew { until }) => {
            Answer::Rolled(seats.renew(now, node.info(), until.from(now)).await?)
        }
        Call::Seat(node, Sitting::Take { post, until }) => {
            Answer::Terms(seats.take(now, node.id(), post.seats(), until.from(now)).await?)
        }
        Call::Seat(node, Sitting::GiveUp(post)) => {
            seats.give_up(now, node.id(), post.seats()).await?;
            Answer::Nothing
        }
        Call::Seat(node, Sitting::Leave) => {
            seats.leave(now, node.id()).await?;
            Answer::Nothing
        }
        Call::Assign { paper, to, forget } => {
            let nobody = Warrant { seat: Seat::Leader, epoch: 1 };
            let warrant = paper.warrant(Seat::Leader, past).unwrap_or(nobody);
            let to = to.iter().map(|&(segment, node)| (Segment::wrap(segment), node.id())).collect();
            let assign = Assign { warrant, to, forget_before: forget.from(now) };
            Answer::Assigned(seats.assign(now, assign).await?)
        }
        Call::Roll => Answer::Rolled(seats.roll().await?),
        _ => Answer::Nothing,
    })
}

/// Mostly in nobody's name, so that scripts get on also where nobody has a seat.
pub fn paper() -> impl Strategy<Value = Paper> {
    prop_oneof![5 => Just(Paper::Nobody), 4 => Just(Paper::Right), 1 => Just(Paper::Stale), 1 => Just(Paper::Partly)]
}

/// Terms last for long, or for about as long as a step of the clock.
pub fn call() -> impl Strategy<Value = Call> {
    let until = || prop_oneof![1 => (0..6i64).prop_map(Span), 1 => Just(Span(3_600_000)), 1 => Just(Span(-1))];
    let post = || prop::sample::select(vec![Post::Leader, Post::Leader, Post::Odd, Post::Even, Post::All, Post::All]);
    let sitting = prop_oneof![
        2 => until().prop_map(|until| Sitting::Renew { until }),
        5 => (post(), until()).prop_map(|(post, until)| Sitting::Take { post, until }),
        1 => post().prop_map(Sitting::GiveUp),
        1 => Just(Sitting::Leave),
    ];
    let node = || (0..N::COUNT).prop_map(N);
    let to = vec((0..4u8, node()), 0..3);
    let forget = prop_oneof![Just(Span(-3_600_000)), Just(Span(0)), Just(Span(1))];
    prop_oneof![
        8 => (node(), sitting).prop_map(|(node, sitting)| Call::Seat(node, sitting)),
        2 => (paper(), to, forget).prop_map(|(paper, to, forget)| Call::Assign { paper, to, forget }),
        1 => Just(Call::Roll),
    ]
}
