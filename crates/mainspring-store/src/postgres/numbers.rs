//! Numbers that stand for words in the tables: one place, both directions. The migration lists them too.

use mainspring_core::id::JobId;
use mainspring_core::job::{ExecutionOutcome, OnFailure};
use mainspring_core::lifecycle::State;
use mainspring_core::segment::Segments;
use mainspring_core::store::{Error, Order};
use mainspring_core::time::Time;
use mainspring_core::verdict::Cause;

use super::error::damaged;

/// An enum of the core and the numbers its words have in the tables.
macro_rules! numbered {
    ($to:ident, $from:ident: $core:ident { $($name:ident = $number:literal),+ $(,)? }) => {
        pub(super) fn $to(core: $core) -> i16 {
            match core {
                $($core::$name => $number),+
            }
        }

        pub(super) fn $from(number: i16) -> Result<$core, Error> {
            match number {
                $($number => Ok($core::$name),)+
                other => Err(damaged(format!("{other} where a {} should be", stringify!($core)))),
            }
        }
    };
}

numbered!(of_state, state: State {
    Blocked = 0, Waiting = 1, Ready = 2, Running = 3, Succeeded = 4, Dead = 5, Cancelled = 6,
});
numbered!(of_outcome, outcome: ExecutionOutcome {
    Succeeded = 0, Failed = 1, TimedOut = 2, Crashed = 3, Snoozed = 4, Released = 5, Cancelled = 6, RateLimited = 7,
});

/// Why a lease was taken back. `reclaim_leases.sql` writes the numbers.
pub(super) fn cause(number: i16) -> Result<Cause, Error> {
    match number {
        1 => Ok(Cause::Timeout),
        2 => Ok(Cause::Crash),
        other => Err(damaged(format!("{other} where a Cause should be"))),
    }
}

numbered!(of_on_failure, on_failure: OnFailure { Cancel = 0, Run = 1, Hold = 2 });
numbered!(of_order, order: Order { Work = 0, Quiet = 1, Terminate = 2 });

/// What is known of a job without reading its record, one bit each.
pub(super) mod marks {
    /// There is a row in `notes`.
    pub const NOTED: i16 = 1;
    /// It belongs to a workflow, which counts it.
    pub const MEMBER: i16 = 2;
    /// It is the callback of its workflow, which does not count it.
    pub const CALLBACK: i16 = 4;
    /// There may be rows in `executions`.
    pub const TRIED: i16 = 8;
    /// It shares limits by a key.
    pub const KEYED: i16 = 16;
}

pub(super) fn ms(at: Time) -> i64 {
    // 48 bits fit.
    at.as_millis() as i64
}

pub(super) fn time(ms: i64) -> Time {
    Time::from_millis(u64::try_from(ms).unwrap_or_default())
}

pub(super) fn segment(id: JobId) -> i16 {
    i16::from(id.segment().index())
}

pub(super) fn segments(asked: Segments) -> Vec<i16> {
    asked.iter().map(|segment| i16::from(segment.index())).collect()
}

/// PostgreSQL has no zero byte in its texts. What people and workers say freely may have one; it is shown, not refused.
pub(super) fn text(said: &str) -> String {
    said.replace('\0', "␀")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_reads_back_as_its_word() {
        for word in State::ALL {
            assert_eq!(state(of_state(word)).unwrap(), word);
        }
        for number in 0..8 {
            assert_eq!(of_outcome(outcome(number).unwrap()), number);
        }
        for number in 0..3 {
            assert_eq!(of_on_failure(on_failure(number).unwrap()), number);
            assert_eq!(of_order(order(number).unwrap()), number);
        }
        assert!(matches!(state(7), Err(Error::Damaged(why)) if why.contains("7 where a State should be")));
    }

    #[test]
    fn a_zero_byte_is_shown_not_refused() {
        assert_eq!(text("a\0b"), "a␀b");
    }
}
