//! How far a virtual clock is to be moved.

use mainspring_core::time::Time;
use mainspring_wire::{Advance, Span};

use crate::ask::FieldError;
use crate::convert::time;
use crate::limits::ADVANCE_MAX;

/// To where. A time that has passed is for the engine to refuse: it knows what its clock shows by then.
pub(crate) fn advance(said: Advance, now: Time) -> Result<Time, FieldError> {
    let (field, to) = match (said.by, said.to) {
        (Some(by), None) => ("by", now.after(by.into())),
        (None, Some(to)) => ("to", time(to)),
        (Some(_), Some(_)) => return Err(FieldError::invalid("to", "by and to both say how far: give one of them")),
        (None, None) => return Err(FieldError::invalid("by", "say how far: give by, such as 1h, or to, a time")),
    };
    if to > now.after(ADVANCE_MAX) {
        let message = format!("goes further than {} in one request: go there in several", Span::from(ADVANCE_MAX));
        return Err(FieldError::invalid(field, message).limited("advance_max_seconds", ADVANCE_MAX.as_secs()));
    }
    Ok(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time::from_millis(1_796_115_600_000);

    #[test]
    fn a_clock_goes_by_a_span_or_to_an_instant() {
        let check = |json: &str, expected: Result<u64, &str>| {
            let moved = advance(serde_json::from_str(json).expect("is read"), NOW);
            let moved = moved.map(|to| to.as_millis() - NOW.as_millis()).map_err(|error| error.field.into_owned());
            assert_eq!(moved, expected.map_err(str::to_owned), "{json}");
        };
        check(r#"{"by":"1h"}"#, Ok(3_600_000));
        check(r#"{"by":0}"#, Ok(0));
        check(r#"{"to":"2026-12-01T09:00:01Z"}"#, Ok(1_000));
        check(r#"{"by":"400d"}"#, Ok(400 * 86_400_000));
        check(r#"{"by":"401d"}"#, Err("by"));
        check(r#"{"to":"2029-01-01T00:00:00Z"}"#, Err("to"));
        check(r#"{"by":"1h","to":0}"#, Err("to"));
        check("{}", Err("by"));
    }
}
