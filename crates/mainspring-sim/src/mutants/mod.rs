//! Stores that break one promise each, on purpose. Each must be caught: what a simulator cannot see, it does not show. Not one of them is
//! ever near a real store.

mod store;

pub use store::Mutated;

/// Which promise is broken, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// A late worker settles its successor's attempt.
    NoFenceCheck,
    /// Whoever believes that it holds a seat acts for it.
    EpochIgnored,
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
    /// What a silent worker holds is held for ever.
    LeaseWithoutExpiry,
    /// Silent after half of its lease.
    ReclaimsEarly,
    /// Beats are answered and not heard.
    DeafToBeats,
    /// Done is answered, and nothing was done.
    ForgetsSettlement,
    /// Accepted is answered, and nothing was kept.
    ForgetsSubmit,
    /// Time makes a job disappear.
    PromoteLosesJob,
    /// A job that is due stays where it is.
    PromoteSkipsJob,
    /// A job is handed to two workers.
    HandsOutTwice,
    /// The best job comes last.
    WorstFirst,
    /// Children do not wait.
    ForgetsParents,
    /// Cancelled is answered, and it runs on.
    CancelIgnored,
    /// What has ended is forgotten at once.
    PrunesEarly,
    /// A full queue takes more.
    DepthIgnored,
}

impl Mutant {
    pub const ALL: [Mutant; 20] = [
        Mutant::NoFenceCheck,
        Mutant::EpochIgnored,
        Mutant::SeatForTwo,
        Mutant::ForgetsGivingUp,
        Mutant::AdvancesBeforeSubmit,
        Mutant::FiresTwice,
        Mutant::VersionIgnored,
        Mutant::LeaseWithoutExpiry,
        Mutant::ReclaimsEarly,
        Mutant::DeafToBeats,
        Mutant::ForgetsSettlement,
        Mutant::ForgetsSubmit,
        Mutant::PromoteLosesJob,
        Mutant::PromoteSkipsJob,
        Mutant::HandsOutTwice,
        Mutant::WorstFirst,
        Mutant::ForgetsParents,
        Mutant::CancelIgnored,
        Mutant::PrunesEarly,
        Mutant::DepthIgnored,
    ];
}
