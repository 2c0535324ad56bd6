//! Stores that break one promise each, on purpose. Each must be caught: what a simulator cannot see, it does not show. Not one of them is
//! ever near a real store.
//!
//! `store`: how a call goes through one. `instead`: those that do something else; `asked`: those that ask the reference for something else;
//! `told`: those that answer something else; `records`: those that keep something else than they took in; `gates`: those whose gates go wrong.

mod asked;
mod gates;
mod instead;
mod records;
mod store;
mod told;

pub use store::Mutated;

macro_rules! mutants {
    ($($(#[doc = $how:literal])+ $name:ident,)*) => {
        /// Which promise is broken, and how.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Mutant {
            $($(#[doc = $how])+ $name,)*
        }

        impl Mutant {
            pub const ALL: &'static [Mutant] = &[$(Mutant::$name,)*];
        }
    };
}

mutants! {
    /// A late worker settles its successor's attempt.
    NoFenceCheck,
    /// Whoever believes that it holds a seat acts for it.
    EpochIgnored,
    /// Whoever believes that it leads says who has which segment.
    DeposedLeaderAssigns,
    /// Two nodes are told that a seat is theirs.
    SeatForTwo,
    /// A seat that was given up stays with its holder.
    ForgetsGivingUp,
    /// The schedule moves on, and its jobs come after, if nothing happens in between.
    AdvancesBeforeSubmit,
    /// An occurrence makes two jobs.
    FiresTwice,
    /// A schedule is moved on whoever moved it before.
    VersionIgnored,
    /// The ledger loses a row now and then.
    LedgerRowLost,
    /// What a silent worker holds is held for ever.
    LeaseWithoutExpiry,
    /// An attempt may take as long as it likes.
    TimeoutIgnored,
    /// Silent after half of its lease.
    ReclaimsEarly,
    /// Beats are answered and not heard.
    DeafToBeats,
    /// A worker that is told to stop does not hear of it.
    OrderIgnored,
    /// Done is answered, and nothing was done.
    ForgetsSettlement,
    /// Accepted is answered, and nothing was kept.
    ForgetsSubmit,
    /// A key that was seen before is forgotten now and then, as by a restart.
    KeyForgotten,
    /// A person's change is answered and not kept.
    PatchLost,
    /// A job that was put off forgets how far it had come.
    SnoozeLosesCheckpoint,
    /// What is put off counts as failed.
    SnoozeCounted,
    /// A crash counts for nothing.
    CrashNotCounted,
    /// Time makes a job disappear.
    PromoteLosesJob,
    /// A job that is due stays where it is.
    PromoteSkipsJob,
    /// A job is ready before its time.
    PromotesEarly,
    /// A job is handed to two workers.
    HandsOutTwice,
    /// The best job comes last.
    WorstFirst,
    /// The first queue is served first, whatever waits in the others.
    QueueAfterQueue,
    /// A deadline changes nothing.
    DeadlineIgnored,
    /// The tenant that comes first in the alphabet is always the next.
    FirstTenantFirst,
    /// A queue that is paused goes on.
    QueuePauseIgnored,
    /// A job that is paused goes on.
    JobPauseIgnored,
    /// Children do not wait.
    ForgetsParents,
    /// The job at the end of a workflow does not wait for it.
    CallbackEarly,
    /// Cancelled is answered, and it runs on.
    CancelIgnored,
    /// A job that was tried expires.
    TriedJobExpires,
    /// A job that was not started in time is started late.
    ExpiryIgnored,
    /// What has ended is forgotten at once.
    PrunesEarly,
    /// Dead letters are kept no longer than the rest.
    DeadPrunedEarly,
    /// What has not ended is forgotten.
    PrunesUnfinished,
    /// A full queue takes more.
    DepthIgnored,
    /// Every job takes one slot and one permit.
    WeightIgnored,
    /// What a job shares limits by is forgotten.
    KeysIgnored,
    /// Who is taken back stays in its gates for ever.
    SlotKeptAtReclaim,
    /// Who is taken back is out of its gates before anybody has settled it.
    SlotFreedAtReclaim,
    /// Who is given back stays in its gates for ever.
    SlotKeptAtRelease,
    /// Permits come back twice as fast.
    RefilledTwice,
    /// A prune forgets gates that are in use.
    GatesForgotten,
    /// A breaker never finds its way back.
    BreakerNeverHalfOpens,
    /// A breaker never opens.
    BreakerNeverOpens,
    /// A key that somebody was told to come back to later is open.
    ClosureForgotten,
}
