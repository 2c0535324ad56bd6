//! Words of the wire to words of the core and back, one to one. Checks nothing.

use mainspring_core::job::{ExecutionOutcome, Json, OnFailure};
use mainspring_core::lifecycle::{State, Status};
use mainspring_core::store::Order;
use mainspring_core::time::Time;
use mainspring_engine::EventKind;
use mainspring_wire::{self as wire, RawValue, Timestamp};

pub(crate) fn time(stamp: Timestamp) -> Time {
    Time::from_millis(stamp.as_millis())
}

pub(crate) fn stamp(time: Time) -> Timestamp {
    Timestamp::from_millis(time.as_millis())
}

/// Off the hot path: the text is checked again, because a `RawValue` cannot be made without it.
pub(crate) fn raw(json: &Json) -> Box<RawValue> {
    let made = RawValue::from_string(json.as_str().to_owned());
    // The edge let only JSON in. If the store gives us something else, people should see it as it is.
    made.unwrap_or_else(|_| {
        let text = serde_json::to_string(json.as_str()).expect("a text prints");
        RawValue::from_string(text).expect("a printed text is JSON")
    })
}

pub(crate) fn status(status: Status) -> wire::Status {
    match status {
        Status::Blocked => wire::Status::Blocked,
        Status::Scheduled => wire::Status::Scheduled,
        Status::Retrying => wire::Status::Retrying,
        Status::Pending => wire::Status::Pending,
        Status::Running => wire::Status::Running,
        Status::Dispatched => wire::Status::Dispatched,
        Status::Completed => wire::Status::Completed,
        Status::Failed => wire::Status::Failed,
        Status::Cancelled => wire::Status::Cancelled,
        Status::Paused => wire::Status::Paused,
    }
}

/// What a job that was just taken in is, for its submitter.
pub(crate) fn fresh_status(state: State) -> wire::Status {
    status(Status::of(state, false, Default::default()))
}

pub(crate) fn on_failure(on_failure: OnFailure) -> wire::OnFailure {
    match on_failure {
        OnFailure::Cancel => wire::OnFailure::Cancel,
        OnFailure::Run => wire::OnFailure::Run,
        OnFailure::Hold => wire::OnFailure::Hold,
    }
}

pub(crate) fn order(order: Order) -> wire::Order {
    match order {
        Order::Work => wire::Order::Work,
        Order::Quiet => wire::Order::Quiet,
        Order::Terminate => wire::Order::Terminate,
    }
}

pub(crate) fn order_said(order: wire::Order) -> Order {
    match order {
        wire::Order::Work => Order::Work,
        wire::Order::Quiet => Order::Quiet,
        wire::Order::Terminate => Order::Terminate,
    }
}

pub(crate) fn outcome(outcome: ExecutionOutcome) -> wire::ExecutionOutcome {
    match outcome {
        ExecutionOutcome::Succeeded => wire::ExecutionOutcome::Succeeded,
        ExecutionOutcome::Failed => wire::ExecutionOutcome::Failed,
        ExecutionOutcome::TimedOut => wire::ExecutionOutcome::TimedOut,
        ExecutionOutcome::Crashed => wire::ExecutionOutcome::Crashed,
        ExecutionOutcome::Snoozed => wire::ExecutionOutcome::Snoozed,
        ExecutionOutcome::RateLimited => wire::ExecutionOutcome::RateLimited,
        ExecutionOutcome::Released => wire::ExecutionOutcome::Released,
        ExecutionOutcome::Cancelled => wire::ExecutionOutcome::Cancelled,
    }
}

/// What a settlement came to: a job that goes on says nothing of why, the worker's own word does.
pub(crate) fn settled_as(said: wire::Outcome, state: State) -> wire::SettledAs {
    match (state, said) {
        (State::Succeeded, _) => wire::SettledAs::Completed,
        (State::Dead, _) => wire::SettledAs::Failed,
        (State::Cancelled, _) => wire::SettledAs::Cancelled,
        (_, wire::Outcome::Snooze) => wire::SettledAs::Snoozed,
        (_, wire::Outcome::RateLimited) => wire::SettledAs::RateLimited,
        (_, wire::Outcome::Release) => wire::SettledAs::Released,
        _ => wire::SettledAs::Retrying,
    }
}

/// An expiry is a cancellation to an API user, and a paused queue is a pause without a job.
pub(crate) fn event_kind(kind: EventKind) -> wire::EventKind {
    match kind {
        EventKind::Submitted => wire::EventKind::Submitted,
        EventKind::Ready => wire::EventKind::Ready,
        EventKind::Claimed => wire::EventKind::Claimed,
        EventKind::Started => wire::EventKind::Started,
        EventKind::Completed => wire::EventKind::Completed,
        EventKind::Retrying => wire::EventKind::Retrying,
        EventKind::Failed => wire::EventKind::Failed,
        EventKind::Cancelled | EventKind::Expired => wire::EventKind::Cancelled,
        EventKind::Snoozed => wire::EventKind::Snoozed,
        EventKind::RateLimited => wire::EventKind::RateLimited,
        EventKind::Released => wire::EventKind::Released,
        EventKind::Reclaimed => wire::EventKind::Reclaimed,
        EventKind::Paused | EventKind::QueuePaused => wire::EventKind::Paused,
        EventKind::Resumed | EventKind::QueueResumed => wire::EventKind::Resumed,
        EventKind::Revived => wire::EventKind::Revived,
        EventKind::Updated => wire::EventKind::Updated,
        EventKind::Deleted => wire::EventKind::Deleted,
        EventKind::ScheduleFired => wire::EventKind::ScheduleFired,
        EventKind::ScheduleSkipped => wire::EventKind::ScheduleSkipped,
        EventKind::ScheduleMissed => wire::EventKind::ScheduleMissed,
        EventKind::SchedulePaused => wire::EventKind::SchedulePaused,
        EventKind::ScheduleResumed => wire::EventKind::ScheduleResumed,
        EventKind::ScheduleChanged => wire::EventKind::ScheduleChanged,
        EventKind::ScheduleRemoved => wire::EventKind::ScheduleRemoved,
        EventKind::LimitChanged => wire::EventKind::LimitChanged,
        EventKind::LimitRemoved => wire::EventKind::LimitRemoved,
        EventKind::LimitReopened => wire::EventKind::LimitReopened,
        EventKind::KeyClosed => wire::EventKind::KeyClosed,
        EventKind::BreakerOpened => wire::EventKind::BreakerOpened,
        EventKind::BreakerProbing => wire::EventKind::BreakerProbing,
        EventKind::BreakerClosed => wire::EventKind::BreakerClosed,
        EventKind::Lagged => wire::EventKind::Lagged,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_has_the_same_name_inside_and_outside() {
        for inside in Status::ALL {
            assert_eq!(inside.as_str(), status(inside).as_str());
        }
    }

    #[test]
    fn what_is_no_json_in_the_store_is_shown_as_text() {
        assert_eq!(raw(&Json("{ \"a\": 1 }".into())).get(), "{ \"a\": 1 }");
        assert_eq!(raw(&Json("{\"a".into())).get(), r#""{\"a""#);
    }

    #[test]
    fn a_settlement_is_named_by_what_became_of_the_job() {
        let check = |said, state, expected| assert_eq!(settled_as(said, state), expected);
        check(wire::Outcome::Success, State::Succeeded, wire::SettledAs::Completed);
        check(wire::Outcome::Failure, State::Waiting, wire::SettledAs::Retrying);
        check(wire::Outcome::Failure, State::Ready, wire::SettledAs::Retrying);
        check(wire::Outcome::Failure, State::Dead, wire::SettledAs::Failed);
        check(wire::Outcome::Snooze, State::Waiting, wire::SettledAs::Snoozed);
        check(wire::Outcome::RateLimited, State::Ready, wire::SettledAs::RateLimited);
        check(wire::Outcome::RateLimited, State::Waiting, wire::SettledAs::RateLimited);
        check(wire::Outcome::RateLimited, State::Cancelled, wire::SettledAs::Cancelled);
        check(wire::Outcome::Release, State::Ready, wire::SettledAs::Released);
        check(wire::Outcome::Release, State::Cancelled, wire::SettledAs::Cancelled);
    }
}
