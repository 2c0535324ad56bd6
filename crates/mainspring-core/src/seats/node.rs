//! What a node says of itself, what is known of all of them, and why two cannot work together. Finds out nothing: a
//! node tells, a store remembers.

use std::fmt;
use std::str::FromStr;

use super::Term;
use crate::id::NodeId;
use crate::segment::Segment;
use crate::time::Time;

/// What nodes must agree on to share a store: it rises when what one writes another could not read.
pub const PROTOCOL: u32 = 1;

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Answers clients and workers.
    Api,
    /// Holds seats: makes due jobs ready, turns schedules, sweeps.
    Scheduler,
    /// Hands jobs to workers.
    Dispatcher,
}

impl Role {
    pub const ALL: [Role; 3] = [Role::Api, Role::Scheduler, Role::Dispatcher];

    pub fn as_str(self) -> &'static str {
        match self {
            Role::Api => "api",
            Role::Scheduler => "scheduler",
            Role::Dispatcher => "dispatcher",
        }
    }
}

/// The roles of a node; all of them unless somebody says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roles(u8);

impl Roles {
    pub const ALL: Roles = Roles(0b111);

    pub fn has(self, role: Role) -> bool {
        self.0 >> role as u8 & 1 == 1
    }

    pub fn iter(self) -> impl Iterator<Item = Role> {
        Role::ALL.into_iter().filter(move |&role| self.has(role))
    }

    /// As a number that [`Roles::from_bits`] reads again.
    pub fn bits(self) -> u8 {
        self.0
    }

    pub fn from_bits(bits: u8) -> Roles {
        Roles(bits & Roles::ALL.0)
    }
}

impl Default for Roles {
    fn default() -> Roles {
        Roles::ALL
    }
}

impl FromIterator<Role> for Roles {
    fn from_iter<I: IntoIterator<Item = Role>>(roles: I) -> Roles {
        Roles(roles.into_iter().fold(0, |bits, role| bits | 1 << role as u8))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no role; give some of api, scheduler, dispatcher, with commas between them")]
pub struct UnknownRole(pub String);

impl FromStr for Roles {
    type Err = UnknownRole;

    fn from_str(text: &str) -> Result<Roles, UnknownRole> {
        let role = |word: &str| {
            let named = Role::ALL.into_iter().find(|role| role.as_str() == word.trim());
            named.ok_or_else(|| UnknownRole(word.trim().into()))
        };
        text.split(',').map(role).collect()
    }
}

impl fmt::Display for Roles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(Role::as_str).collect();
        f.write_str(&names.join(","))
    }
}

/// What a node says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeInfo {
    pub id: NodeId,
    /// Where it listens, for people.
    pub address: Option<String>,
    pub roles: Roles,
    /// Of the program, for people.
    pub version: String,
    pub protocol: u32,
    /// How many segments it knows of.
    pub segments: u8,
    /// A digest of which store has which segments; 0 where there is one store.
    pub shards: u64,
    pub started_at: Time,
    /// How far its clock is ahead of the store's, if the store has one.
    pub skew_ms: Option<i64>,
    /// Whether it takes seats: it has the role, its clock is right, and it is not about to go.
    pub willing: bool,
}

impl NodeInfo {
    /// In what this node differs from one that it would have to work with, if so.
    pub fn unfit_for(&self, other: &NodeInfo) -> Option<Unfit> {
        let differs =
            |what, ours: u64, theirs: u64| (ours != theirs).then_some(Unfit { what, its: ours, others: theirs });
        differs("protocol", u64::from(self.protocol), u64::from(other.protocol))
            .or_else(|| differs("number of segments", u64::from(self.segments), u64::from(other.segments)))
            .or_else(|| differs("shard map", self.shards, other.shards))
    }

    /// Why two nodes cannot work together, if so.
    pub fn mismatch(&self, other: &NodeInfo) -> Option<Mismatch> {
        let unfit = self.unfit_for(other)?;
        let others = Box::new((other.id, other.address.clone(), other.version.clone()));
        Some(Mismatch { unfit, others })
    }

    /// Of two that do not fit, the one that came later goes.
    pub fn came_after(&self, other: &NodeInfo) -> bool {
        (self.started_at, self.id) > (other.started_at, other.id)
    }
}

/// What keeps a node from working with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfit {
    pub what: &'static str,
    pub its: u64,
    pub others: u64,
}

/// Two nodes on one store that cannot work together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    unfit: Unfit,
    others: Box<(NodeId, Option<String>, String)>,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unfit { what, its, others } = self.unfit;
        let (id, address, version) = &*self.others;
        let address = address.as_deref().unwrap_or("an unknown address");
        write!(
            f,
            "this node does not fit the cluster: its {what} is {its}, that of node {} ({version}, at {address}) is \
             {others}; start it with the same program and the same stores, or stop the other nodes first",
            id.0
        )
    }
}

/// What is known of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeView {
    pub info: NodeInfo,
    /// When it last said that it lives.
    pub seen_at: Time,
    /// It counts as gone from then on.
    pub until: Time,
}

impl NodeView {
    pub fn is_live(&self, now: Time) -> bool {
        now < self.until
    }
}

/// All that is known of nodes and seats.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Roll {
    /// By id. Those that are gone stay for a while.
    pub nodes: Vec<NodeView>,
    /// Every term that was ever taken, by seat; some may be over.
    pub terms: Vec<Term>,
    /// Who is to have which segment, by segment.
    pub assigned: Vec<(Segment, NodeId)>,
}

impl Roll {
    pub fn term(&self, seat: super::Seat) -> Option<&Term> {
        self.terms.iter().find(|term| term.seat == seat)
    }

    pub fn node(&self, id: NodeId) -> Option<&NodeView> {
        self.nodes.iter().find(|view| view.info.id == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn info(number: u128) -> NodeInfo {
        NodeInfo {
            id: NodeId(Uuid::from_u128(number)),
            address: Some("10.0.0.2:7070".into()),
            roles: Roles::ALL,
            version: "0.1.0".into(),
            protocol: PROTOCOL,
            segments: Segment::COUNT,
            shards: 0,
            started_at: Time::ZERO,
            skew_ms: None,
            willing: true,
        }
    }

    #[test]
    fn nodes_that_differ_say_in_what_and_what_to_do() {
        assert_eq!(info(1).mismatch(&info(2)), None);
        let other = NodeInfo { segments: 64, ..info(2) };
        let why = info(1).mismatch(&other).expect("they differ").to_string();
        assert!(why.contains("number of segments is 100") && why.contains("is 64"), "{why}");
        assert!(why.contains("10.0.0.2:7070") && why.contains("stop the other nodes"), "{why}");
        assert!(info(1).mismatch(&NodeInfo { protocol: 2, ..info(2) }).is_some());
        assert!(info(1).mismatch(&NodeInfo { shards: 5, ..info(2) }).is_some());
        let newer = NodeInfo { version: "0.2.0".into(), ..info(2) };
        assert_eq!(info(1).mismatch(&newer), None, "another version that speaks the same is welcome");
    }

    #[test]
    fn of_two_nodes_exactly_one_came_later() {
        assert!(info(2).came_after(&info(1)) && !info(1).came_after(&info(2)));
        assert!(NodeInfo { started_at: Time::from_millis(1), ..info(1) }.came_after(&info(2)));
    }

    #[test]
    fn roles_are_read_as_they_are_written() {
        let some: Roles = "api, dispatcher".parse().expect("two roles");
        assert_eq!(some.to_string(), "api,dispatcher");
        assert!(some.has(Role::Api) && !some.has(Role::Scheduler));
        assert_eq!(Roles::from_bits(some.bits()), some);
        assert_eq!("api,scheduler,dispatcher".parse(), Ok(Roles::ALL));
        assert_eq!("api,cook".parse::<Roles>(), Err(UnknownRole("cook".into())));
    }
}
