//! What an entry's schedule is called: the same as long as its command is the same, wherever in the file it stands.

use std::collections::BTreeMap;

use mainspring_core::limits;
use sha2::{Digest, Sha256};

use super::Entry;

/// Of the command, so much is in the name; the rest is in its fingerprint.
const WORDS_CHARS_MAX: usize = 40;
const FINGERPRINT_CHARS: usize = 8;
/// Room for the fingerprint, the words and the number of a name.
const PREFIX_CHARS_MAX: usize = limits::NAME_BYTES_MAX - WORDS_CHARS_MAX - FINGERPRINT_CHARS - 16;

/// One name for each entry, in their order. The same command twice has a number behind it the second time.
pub fn names(entries: &[Entry], prefix: &str) -> Vec<String> {
    let prefix: String = prefix.chars().take(PREFIX_CHARS_MAX).collect();
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let mut name = |entry: &Entry| {
        let name = format!("{prefix}{}", name_of(entry));
        let times = seen.entry(name.clone()).or_default();
        *times += 1;
        if *times == 1 { name } else { format!("{name}.{times}") }
    };
    entries.iter().map(&mut name).collect()
}

fn name_of(entry: &Entry) -> String {
    let mut words = String::new();
    for letter in entry.command.chars() {
        match letter.is_ascii_alphanumeric() || letter == '.' {
            true => words.push(letter.to_ascii_lowercase()),
            false if words.ends_with('-') || words.is_empty() => {}
            false => words.push('-'),
        }
        if words.len() == WORDS_CHARS_MAX {
            break;
        }
    }
    let words = words.trim_end_matches('-');
    let separator = if words.is_empty() { "" } else { "-" };
    format!("{words}{separator}{}", fingerprint(entry))
}

fn fingerprint(entry: &Entry) -> String {
    let mut hash = Sha256::new();
    for part in [entry.user.as_deref(), Some(&entry.command), entry.stdin.as_deref()] {
        hash.update([u8::from(part.is_some())]);
        hash.update(part.unwrap_or_default());
        hash.update([0]);
    }
    let hex: String = hash.finalize().iter().take(FINGERPRINT_CHARS / 2).map(|byte| format!("{byte:02x}")).collect();
    hex
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crontab::{Form, read};

    fn names_of(text: &str) -> Vec<String> {
        names(&read(text, Form::User).expect("a crontab").entries, "cron.")
    }

    #[test]
    fn a_name_follows_from_the_command_alone() {
        let [backup, report] = &names_of("0 3 * * * /usr/bin/backup --all\n5 4 * * * report\n")[..] else {
            panic!("there are two")
        };
        assert!(backup.starts_with("cron.usr-bin-backup-all-") && backup.len() == "cron.usr-bin-backup-all-".len() + 8);
        assert_eq!(
            names_of("5 4 * * * report\n# moved\n59 1 * * MON /usr/bin/backup --all\n"),
            [report.clone(), backup.clone()]
        );
        assert_ne!(names_of("0 3 * * * report%x"), names_of("0 3 * * * report"));
    }

    #[test]
    fn the_same_command_twice_has_two_names() {
        let names = names_of("0 3 * * * x\n0 4 * * * y\n0 5 * * * x\n");
        assert_eq!(names[2], format!("{}.2", names[0]));
    }

    #[test]
    fn every_name_is_one_that_a_schedule_may_have() {
        let long = "x".repeat(5000);
        for command in ["/", "ä ö ü", &long, "[ -x /usr/sbin/anacron ] || true", "../a//b"] {
            let entries = read(&format!("0 3 * * * {command}\n"), Form::User).expect("a crontab").entries;
            for prefix in ["cron.", &long] {
                let name = names(&entries, prefix).pop().expect("one");
                mainspring_core::name::ScheduleName::parse(&name).unwrap_or_else(|bad| panic!("{name}: {bad}"));
            }
        }
    }
}
