//! Why a gate does not let a job in, in a sentence and in facts; and what a person can do about it, where anything can be done.

use mainspring_core::gate::GateRef;
use mainspring_core::id::JobId;
use mainspring_core::time::Time;
use mainspring_wire::Reason as Said;

use crate::convert::stamp;

pub(super) fn full(gate: &GateRef, running: u64, max: u32, holders: &[JobId]) -> Said {
    let text = match max {
        0 => format!(
            "{gate} lets nothing start, because its concurrency is 0; raise it: mainspring limit set {} --concurrency 1",
            in_shell(gate)
        ),
        max => format!("{gate} is full: {running} of {max} run; it can go when one of them has ended"),
    };
    let holders = holders.iter().map(|job| job.uuid()).collect();
    Said { running: Some(running), max: Some(max.into()), holders, ..at(gate, Said::LIMIT_FULL, text) }
}

pub(super) fn no_token(gate: &GateRef, next_at: Time) -> Said {
    let until = stamp(next_at);
    let text = format!("the rate of {gate} is used up; there is enough of it for this job at {until}");
    Said { until: Some(until), ..at(gate, Said::NO_TOKEN, text) }
}

pub(super) fn closed(gate: &GateRef, until: Time) -> Said {
    let until = stamp(until);
    let text = format!(
        "{gate} is closed until {until}, because a worker was told to come back later; to try before: mainspring limit \
         reopen {}",
        in_shell(gate)
    );
    Said { until: Some(until), ..at(gate, Said::LIMIT_CLOSED, text) }
}

pub(super) fn breaker_open(gate: &GateRef, probe_at: Time) -> Said {
    let until = stamp(probe_at);
    let text = format!(
        "the breaker of {gate} is open, because too many attempts failed; it lets a job probe at {until}; to close it \
         now: mainspring limit reopen {}",
        in_shell(gate)
    );
    Said { until: Some(until), ..at(gate, Said::BREAKER_OPEN, text) }
}

pub(super) fn probing(gate: &GateRef) -> Said {
    let text = format!("too many attempts failed at {gate}, and other jobs are finding out whether it is well again");
    at(gate, Said::BREAKER_PROBING, text)
}

fn at(gate: &GateRef, code: &str, text: String) -> Said {
    Said { limit: Some(gate.gate.text()), ..Said::new(code, text) }
}

/// A key may hold anything.
fn in_shell(gate: &GateRef) -> String {
    let text = gate.gate.text();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | ':' | '/');
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use mainspring_core::gate::GateName;
    use mainspring_core::name::TenantName;

    use super::*;

    fn gate(text: &str) -> GateRef {
        GateRef { tenant: TenantName::default_tenant(), gate: GateName::parse(text).expect("a gate") }
    }

    #[test]
    fn a_full_gate_is_told_with_its_numbers_and_holders() {
        let said = full(&gate("key:customer:42"), 2, 2, &[JobId::MIN]);
        assert_eq!(said.text, "key customer:42 is full: 2 of 2 run; it can go when one of them has ended");
        assert_eq!((said.code.as_str(), said.limit.as_deref()), (Said::LIMIT_FULL, Some("key:customer:42")));
        assert_eq!((said.running, said.max, said.holders), (Some(2), Some(2), vec![JobId::MIN.uuid()]));
        let stopped = full(&gate("queue:mail"), 0, 0, &[]);
        assert!(stopped.text.ends_with("mainspring limit set queue:mail --concurrency 1"), "{}", stopped.text);
    }

    #[test]
    fn what_time_opens_is_told_with_its_time() {
        let at = Time::from_millis(1_796_115_600_000);
        for said in [no_token(&gate("tenant"), at), closed(&gate("key:a"), at), breaker_open(&gate("type:resize"), at)]
        {
            assert_eq!(said.until, Some(stamp(at)), "{said:?}");
            assert!(said.text.contains("2026-12-01T09:00:00.000Z"), "{}", said.text);
        }
        assert!(probing(&gate("type:resize")).text.contains("type resize"));
    }

    #[test]
    fn what_to_type_can_be_pasted_into_a_shell() {
        let at = Time::from_millis(0);
        assert!(closed(&gate("key:host/a:1"), at).text.ends_with("mainspring limit reopen key:host/a:1"));
        assert!(closed(&gate("key:it's two"), at).text.ends_with(r"mainspring limit reopen 'key:it'\''s two'"));
    }
}
