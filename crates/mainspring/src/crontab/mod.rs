//! Reads crontabs: what a user's `crontab -l` or `/etc/crontab` says, line by line. Asks no server; what cannot be taken over
//! is said, and what is wrong is pointed at by line and column.
//!
//! - `line`: one line: a comment, a variable, or an entry. `command`: what `%` means in it.
//! - `schedule`: an entry as a schedule that does the same. `name`: what it is called.
//! - `zone`: the time zone of this machine, which is the one cron goes by.

mod command;
mod line;
mod name;
mod schedule;
mod zone;

use std::collections::BTreeMap;
use std::fmt;

use line::Line;

pub use schedule::Wishes;
pub use zone::of_this_machine;

/// A longer file is no crontab.
pub const CRONTAB_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Variables that are cron's own and mean nothing here.
const NOT_TAKEN_OVER: [&str; 5] = ["MAILTO", "MAILFROM", "CONTENT_TYPE", "CONTENT_TRANSFER_ENCODING", "CRON_WITHIN"];

/// Where the user stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `crontab -l`: time, command.
    User,
    /// `/etc/crontab` and `/etc/cron.d`: time, user, command.
    System,
}

/// What a crontab says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Crontab {
    pub entries: Vec<Entry>,
    /// What is not taken over, or means something else here.
    pub remarks: Vec<Remark>,
}

/// One line that runs something, with all that holds for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub line: usize,
    /// With one space between the fields.
    pub cron: String,
    /// From `CRON_TZ`, or `TZ`.
    pub zone: Option<String>,
    /// From `RANDOM_DELAY`.
    pub delay_minutes_max: Option<u64>,
    pub user: Option<String>,
    pub command: String,
    pub stdin: Option<String>,
    pub env: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    pub line: usize,
    pub text: String,
}

/// What is wrong, and where: both count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    pub line: usize,
    pub column: usize,
    pub problem: String,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.problem)
    }
}

/// Reads all of it; every bad line is told, not only the first.
pub fn read(text: &str, form: Form) -> Result<Crontab, Vec<BadLine>> {
    if text.len() > CRONTAB_BYTES_MAX {
        let problem =
            format!("the file has {} bytes, and {CRONTAB_BYTES_MAX} are allowed: is it a crontab?", text.len());
        return Err(vec![BadLine { line: 1, column: 1, problem }]);
    }
    let mut crontab = Crontab::default();
    let mut env = BTreeMap::new();
    let mut bad = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let mut remark = |text: String| crontab.remarks.push(Remark { line, text });
        match line::read(text, form) {
            Ok(Line::Nothing) => {}
            Ok(Line::Variable { name, .. }) if NOT_TAKEN_OVER.contains(&name.as_str()) => {
                remark(format!("{name} is not taken over: failed jobs are found with `mainspring dead list`"));
            }
            Ok(Line::Variable { name, value }) => drop(env.insert(name, value)),
            Ok(Line::AtReboot) => {
                remark("@reboot is not supported: start it with the machine's own services".to_owned());
            }
            Ok(Line::Entry(entry)) => {
                entry.remarks().into_iter().for_each(&mut remark);
                match entry.with(line, &env) {
                    Ok(entry) => crontab.entries.push(entry),
                    Err(wrong) => bad.push(wrong),
                }
            }
            Err((column, problem)) => bad.push(BadLine { line, column, problem }),
        }
    }
    if bad.is_empty() { Ok(crontab) } else { Err(bad) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(text: &str, form: Form) -> Vec<Entry> {
        read(text, form).unwrap_or_else(|bad| panic!("{bad:?}")).entries
    }

    #[test]
    fn a_crontab_is_read_with_its_variables() {
        let text = "# m h dom mon dow command\n\nSHELL = /bin/bash\nMAILTO=ops\nGREETING=\"hello you\"\n\
            */5  *\t* * * echo $GREETING\nCRON_TZ=Europe/Berlin\nRANDOM_DELAY=7\n@daily /usr/bin/backup --all  \n";
        let crontab = read(text, Form::User).expect("it is a crontab");
        let [first, second] = &crontab.entries[..] else { panic!("{crontab:?}") };
        assert_eq!((first.line, first.cron.as_str(), first.command.as_str()), (6, "*/5 * * * *", "echo $GREETING"));
        assert_eq!(
            first.env,
            BTreeMap::from([("SHELL".into(), "/bin/bash".into()), ("GREETING".into(), "hello you".into())])
        );
        assert_eq!((&first.zone, first.delay_minutes_max), (&None, None));
        assert_eq!((second.cron.as_str(), second.command.as_str()), ("@daily", "/usr/bin/backup --all"));
        assert_eq!((second.zone.as_deref(), second.delay_minutes_max), (Some("Europe/Berlin"), Some(7)));
        assert!(!second.env.contains_key("CRON_TZ") && !second.env.contains_key("RANDOM_DELAY"));
        assert_eq!(crontab.remarks.len(), 1);
        assert_eq!(crontab.remarks[0].line, 4);
        assert!(crontab.remarks[0].text.starts_with("MAILTO is not taken over"));
    }

    #[test]
    fn a_system_crontab_names_the_user() {
        let entries =
            entries("17 * * * *  root  cd / && run-parts /etc/cron.hourly\n@weekly www-data true\n", Form::System);
        let users: Vec<_> = entries.iter().map(|entry| (entry.user.as_deref(), entry.command.as_str())).collect();
        assert_eq!(users, [(Some("root"), "cd / && run-parts /etc/cron.hourly"), (Some("www-data"), "true")]);
    }

    #[test]
    fn tz_holds_for_the_times_and_for_the_program_unless_cron_tz_says_otherwise() {
        let zones = |text: &str| {
            let entry = entries(text, Form::User).pop().expect("an entry");
            (entry.zone, entry.env.get("TZ").cloned())
        };
        assert_eq!(zones("TZ=Asia/Tokyo\n0 1 * * * x\n"), (Some("Asia/Tokyo".into()), Some("Asia/Tokyo".into())));
        let both = zones("CRON_TZ=Asia/Tokyo\nTZ=UTC\n0 1 * * * x\n");
        assert_eq!(both, (Some("Asia/Tokyo".into()), Some("UTC".into())));
    }

    #[test]
    fn what_is_not_supported_is_said_and_the_rest_goes_on() {
        let crontab = read("@reboot /sbin/thing\n0 0 */2 * 1 both\n1 2 3 4 5 fine\n", Form::User).expect("it is read");
        assert_eq!(crontab.entries.len(), 2);
        let remarks: Vec<_> = crontab.remarks.iter().map(|remark| (remark.line, remark.text.as_str())).collect();
        assert_eq!(remarks.len(), 2);
        assert!(remarks[0].1.contains("@reboot is not supported") && remarks[0].0 == 1, "{remarks:?}");
        assert!(remarks[1].1.contains("either") && remarks[1].0 == 2, "{remarks:?}");
    }

    #[test]
    fn every_bad_line_is_pointed_at() {
        let check = |text: &str, form: Form, expected: &[&str]| {
            let bad: Vec<String> = read(text, form).expect_err("is bad").iter().map(ToString::to_string).collect();
            assert_eq!(bad.len(), expected.len(), "{bad:?}");
            for (bad, expected) in bad.iter().zip(expected) {
                assert!(bad.starts_with(expected), "{bad:?} is not {expected:?}");
            }
        };
        check("0 25 * * * x\n\n61 * * * * y\n", Form::User, &["1:3: ", "3:1: "]);
        check("  0 0 * * MON-XYZ  z", Form::User, &["1:15: "]);
        check("* * * *\n", Form::User, &["1:8: an entry has five fields"]);
        check("0 0 * * *\n", Form::User, &["1:10: there is no command"]);
        check("0 0 * * * root\n", Form::System, &["1:15: there is no command"]);
        check("@often x\n", Form::User, &["1:1: "]);
        check("CRON_TZ=Europe/Nowhere\n0 0 * * * x\n", Form::User, &["2:1: the time zone"]);
        check("RANDOM_DELAY=soon\n0 0 * * * x\n", Form::User, &["2:1: RANDOM_DELAY"]);
        check("A=\"open\n", Form::User, &["1:3: "]);
    }

    #[test]
    fn a_file_past_the_bound_is_refused_whole() {
        let comments = |bytes: usize| "#".repeat(bytes);
        assert!(read(&comments(CRONTAB_BYTES_MAX), Form::User).is_ok());
        let bad = read(&comments(CRONTAB_BYTES_MAX + 1), Form::User).expect_err("is too long");
        assert!(bad[0].problem.contains("are allowed"), "{bad:?}");
    }
}
