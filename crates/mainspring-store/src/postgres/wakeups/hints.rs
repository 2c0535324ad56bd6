//! Hints as the text of notifications, and what waits to be said. Knows no connection.
//!
//! One hint a line: `ready TENANT QUEUE COUNT`, `due MILLISECONDS` or `seats`. Names hold no spaces. Lines that are not understood are
//! passed over, so that a newer node may say more.

use std::collections::{BTreeMap, BTreeSet};

use mainspring_core::name::{QueueName, QueueRef, TenantName};
use mainspring_core::time::Time;
use mainspring_core::wakeups::Wakeup;

/// PostgreSQL refuses a payload of 8000 bytes.
const PAYLOAD_BYTES_MAX: usize = 7_900;
/// How many instants are kept to be said: the nearest ones.
const DUE_MAX: usize = 1_000;

/// What is to be said, each thing once.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    ready: BTreeMap<QueueRef, u64>,
    due: BTreeSet<Time>,
    seats: bool,
}

impl Outbox {
    pub fn put(&mut self, hints: Vec<Wakeup>) {
        for hint in hints {
            match hint {
                Wakeup::Ready { queue, count } => {
                    let said = self.ready.entry(queue).or_insert(0);
                    *said = said.saturating_add(count);
                }
                Wakeup::Seats => self.seats = true,
                Wakeup::Due { at } => {
                    self.due.insert(at);
                    if self.due.len() > DUE_MAX {
                        self.due.pop_last();
                    }
                }
            }
        }
    }

    /// As few as they fit in.
    pub fn payloads(&self) -> Vec<String> {
        let ready = self.ready.iter().map(|(queue, count)| format!("ready {} {} {count}", queue.tenant, queue.queue));
        let due = self.due.iter().map(|at| format!("due {}", at.as_millis()));
        let mut payloads: Vec<String> = Vec::new();
        let seats = self.seats.then(|| "seats".to_owned());
        for line in ready.chain(due).chain(seats) {
            match payloads.last_mut() {
                Some(payload) if payload.len() + 1 + line.len() <= PAYLOAD_BYTES_MAX => {
                    payload.push('\n');
                    payload.push_str(&line);
                }
                _ => payloads.push(line),
            }
        }
        payloads
    }
}

pub(super) fn read(payload: &str) -> Vec<Wakeup> {
    payload.lines().filter_map(read_line).collect()
}

fn read_line(line: &str) -> Option<Wakeup> {
    let words: Vec<&str> = line.split(' ').collect();
    match words[..] {
        ["ready", tenant, queue, count] => {
            let queue = QueueRef { tenant: TenantName::parse(tenant).ok()?, queue: QueueName::parse(queue).ok()? };
            Some(Wakeup::Ready { queue, count: count.parse().ok()? })
        }
        ["seats"] => Some(Wakeup::Seats),
        ["due", at] => Some(Wakeup::Due { at: Time::from_millis(at.parse().ok()?) }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ready(name: &str, count: u64) -> Wakeup {
        let queue = QueueRef { tenant: TenantName::default_tenant(), queue: QueueName::parse(name).expect("a name") };
        Wakeup::Ready { queue, count }
    }

    fn due(ms: u64) -> Wakeup {
        Wakeup::Due { at: Time::from_millis(ms) }
    }

    #[test]
    fn hints_are_said_once_and_read_back() {
        let mut outbox = Outbox::default();
        outbox.put(vec![ready("b", 1), due(7), ready("a", 2)]);
        outbox.put(vec![ready("b", 3), Wakeup::Seats, due(7), Wakeup::Seats]);
        assert_eq!(outbox.payloads(), ["ready default a 2\nready default b 4\ndue 7\nseats"]);
        assert_eq!(read(&outbox.payloads()[0]), [ready("a", 2), ready("b", 4), due(7), Wakeup::Seats]);
    }

    #[test]
    fn limits_are_named_no_payload_is_longer_than_the_server_takes() {
        let names: Vec<String> = (0..500).map(|n| format!("{n:0>100}")).collect();
        let mut outbox = Outbox::default();
        outbox.put(names.iter().map(|name| ready(name, u64::MAX)).collect());
        let payloads = outbox.payloads();
        assert!(payloads.iter().all(|payload| payload.len() <= PAYLOAD_BYTES_MAX), "{}", payloads.len());
        assert_eq!(payloads.iter().map(|payload| read(payload).len()).sum::<usize>(), 500);
    }

    #[test]
    fn limits_are_named_of_too_many_instants_the_nearest_are_said() {
        let mut outbox = Outbox::default();
        outbox.put((0..=DUE_MAX as u64).rev().map(due).collect());
        let said: Vec<Wakeup> = outbox.payloads().iter().flat_map(|payload| read(payload)).collect();
        assert_eq!(said.len(), DUE_MAX);
        assert_eq!(said[0], due(0));
        assert!(!said.contains(&due(DUE_MAX as u64)));
    }

    #[test]
    fn what_is_not_understood_is_passed_over() {
        assert_eq!(read("dance\nready a\nready a b c\ndue soon\ndue 1\n"), [due(1)]);
    }
}
