//! The words of a script: small symbols for jobs, tenants, queues, workers and times, and what each of them means.
//!
//! They are symbols (`j3`, `q1`, `w0`; `job~2` and `lease~2`, counted back from the last), not ids, so that a script
//! keeps its meaning when shrinking takes calls out of it.

use std::fmt;
use std::time::Duration;

use mainspring_core::id::{Fence, JobId, LeaseId, WorkerId, WorkflowId};
use mainspring_core::job::Job;
use mainspring_core::name::{IdempotencyKey, QueueName, QueueRef, ScheduleName, Tag, TenantName, TypeName};
use mainspring_core::schedule::ScheduleRef;
use mainspring_core::segment::Segment;
use mainspring_core::time::Time;

use super::past::Past;

/// When every script begins.
pub const START: Time = Time::from_millis(1_700_000_000_000);

/// Counted back from the last, and around again, so that it names one as soon as there is one.
fn recent<Item: Copy>(items: &[Item], back: usize) -> Option<Item> {
    let back = back.checked_rem(items.len())?;
    items.iter().rev().nth(back).copied()
}

/// A job: one of those taken in, counted from the last; or any.
#[derive(Clone, Copy)]
pub enum Who {
    Recent(usize),
    Any(J),
}

impl Who {
    pub fn id(self, past: &Past) -> JobId {
        match self {
            Who::Recent(back) => recent(&past.jobs, back).unwrap_or(J(0).id()),
            Who::Any(job) => job.id(),
        }
    }
}

impl fmt::Debug for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Who::Recent(back) => write!(f, "job~{back}"),
            Who::Any(job) => job.fmt(f),
        }
    }
}

/// What a job waits for: a job before it in the same call, counted back from it; or one from before.
#[derive(Clone, Copy)]
pub enum Parent {
    Beside(usize),
    Who(Who),
}

impl fmt::Debug for Parent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Parent::Beside(back) => write!(f, "beside~{back}"),
            Parent::Who(who) => who.fmt(f),
        }
    }
}

/// A workflow: one of those submitted, counted from the last.
#[derive(Clone, Copy)]
pub struct F(pub usize);

impl F {
    pub fn recent(self, past: &Past) -> Option<&(WorkflowId, Vec<Job>)> {
        let back = self.0.checked_rem(past.workflows.len())?;
        past.workflows.iter().rev().nth(back)
    }

    pub fn id(self, past: &Past) -> WorkflowId {
        self.recent(past).map_or(F::nth(usize::MAX), |(id, _)| *id)
    }

    /// The id of the workflow that is the nth of its script.
    pub fn nth(number: usize) -> WorkflowId {
        WorkflowId(JobId::mint(START, number as u32, Segment::wrap(0), 8).uuid())
    }
}

impl fmt::Debug for F {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "workflow~{}", self.0)
    }
}

/// Which version of a schedule a turn expects.
#[derive(Clone, Copy, Debug)]
pub enum Expect {
    /// The one it has, or that there is none.
    Right,
    Missing,
    Never(u64),
}

/// A lease: one of those handed out, counted from the last; or one that never was.
#[derive(Clone, Copy)]
pub enum Which {
    Recent(usize),
    Never(J, u64),
}

impl Which {
    pub fn lease(self, past: &Past) -> LeaseId {
        let never = |job: J, fence| LeaseId { job: job.id(), fence: Fence(fence) };
        match self {
            Which::Never(job, fence) => never(job, fence),
            Which::Recent(back) => recent(&past.leases, back).unwrap_or(never(J(0), 0)),
        }
    }
}

impl fmt::Debug for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Which::Recent(back) => write!(f, "lease~{back}"),
            Which::Never(job, fence) => write!(f, "({job:?}, fence {fence})"),
        }
    }
}

macro_rules! symbol {
    ($name:ident, $letter:literal) => {
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(pub u8);

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}{}", $letter, self.0)
            }
        }
    };
}

symbol!(J, "j");
symbol!(T, "t");
symbol!(Q, "q");
symbol!(W, "w");
symbol!(K, "k");
symbol!(S, "s");
symbol!(L, "l");

impl J {
    pub const COUNT: u8 = 32;

    /// Ids of neighbours lie in different segments; some share a millisecond, some do not.
    pub fn id(self) -> JobId {
        let at = Time::from_millis(START.as_millis() - 1000 + u64::from(self.0 / 3));
        JobId::mint(at, u32::from(self.0), Segment::wrap(self.0.wrapping_mul(37)), u64::from(self.0))
    }

    pub fn all() -> impl Iterator<Item = J> {
        (0..Self::COUNT).map(J)
    }
}

impl T {
    pub const COUNT: u8 = 2;

    pub fn name(self) -> TenantName {
        TenantName::parse(&format!("{self:?}")).expect("a letter and a number is a name")
    }

    pub fn all() -> impl Iterator<Item = T> {
        (0..Self::COUNT).map(T)
    }
}

impl Q {
    pub fn name(self) -> QueueName {
        QueueName::parse(&format!("{self:?}")).expect("a letter and a number is a name")
    }

    pub fn of(self, tenant: T) -> QueueRef {
        QueueRef { tenant: tenant.name(), queue: self.name() }
    }
}

impl S {
    pub const COUNT: u8 = 3;

    pub fn name(self) -> ScheduleName {
        ScheduleName::parse(&format!("{self:?}")).expect("a letter and a number is a name")
    }

    pub fn of(self, tenant: T) -> ScheduleRef {
        ScheduleRef { tenant: tenant.name(), name: self.name() }
    }

    pub fn all() -> impl Iterator<Item = S> {
        (0..Self::COUNT).map(S)
    }
}

impl W {
    pub fn id(self) -> WorkerId {
        WorkerId(JobId::mint(START, u32::from(self.0), Segment::wrap(0), 7).uuid())
    }
}

impl K {
    pub fn kind(self) -> TypeName {
        TypeName::parse(&format!("{self:?}")).expect("a letter and a number is a name")
    }

    pub fn tag(self) -> Tag {
        Tag::parse(&format!("{self:?}")).expect("a letter and a number is a tag")
    }
}

/// A client's own name for a submission, and what it said under it.
#[derive(Clone, Debug)]
pub struct Key {
    pub key: u8,
    pub words: u8,
    pub keep: Span,
}

impl Key {
    pub fn key(&self) -> IdempotencyKey {
        IdempotencyKey::parse(&format!("key {}", self.key)).expect("printable")
    }
}

/// Milliseconds from now.
#[derive(Clone, Copy)]
pub struct Span(pub i64);

impl Span {
    pub fn from(self, now: Time) -> Time {
        Time::from_millis(now.as_millis().saturating_add_signed(self.0))
    }

    pub fn length(self) -> Duration {
        Duration::from_millis(self.0.unsigned_abs())
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(i64, &str); 4] = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s")];
        let whole = UNITS.into_iter().find(|(unit, _)| self.0 != 0 && self.0 % unit == 0);
        let (unit, name) = whole.unwrap_or((1, "ms"));
        write!(f, "{:+}{name}", self.0 / unit)
    }
}
