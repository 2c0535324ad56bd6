//! An entry as a schedule that does the same: fires when cron would, in the zone cron would, once, whether or not the run before
//! has ended.

use mainspring_wire::{Catchup, CatchupMode, NewSchedule, ScheduledJob, Span};

use super::{Crontab, Entry, name};
use crate::exec::{SHELL_TYPE, ShellCommand};

/// What whoever imports may say about it.
#[derive(Clone, Debug)]
pub struct Wishes {
    pub prefix: String,
    pub queue: String,
    /// Of lines without `CRON_TZ`.
    pub zone: String,
    /// Cron forgets what it missed.
    pub catchup: CatchupMode,
    pub note: String,
}

impl Crontab {
    /// One schedule for each entry, by name.
    pub fn schedules(&self, wishes: &Wishes) -> anyhow::Result<Vec<NewSchedule>> {
        let names = name::names(&self.entries, &wishes.prefix);
        self.entries.iter().zip(names).map(|(entry, name)| entry.schedule(name, wishes)).collect()
    }
}

impl Entry {
    fn schedule(&self, name: String, wishes: &Wishes) -> anyhow::Result<NewSchedule> {
        // A queue for each user, so that nothing runs as somebody else because one worker serves all.
        let queue = match &self.user {
            Some(user) => format!("{}.{user}", wishes.queue),
            None => wishes.queue.clone(),
        };
        let command = ShellCommand { command: self.command.clone(), stdin: self.stdin.clone(), env: self.env.clone() };
        Ok(NewSchedule {
            schedule_id: Some(name),
            cron: Some(self.cron.clone()),
            timezone: Some(self.zone.clone().unwrap_or_else(|| wishes.zone.clone())),
            jitter: self.delay_minutes_max.filter(|minutes| *minutes > 0).map(|minutes| Span::from_secs(minutes * 60)),
            catchup: Some(Catchup::from(wishes.catchup)),
            note: Some(wishes.note.clone()),
            job: ScheduledJob {
                kind: SHELL_TYPE.to_owned(),
                queue: Some(queue),
                data: Some(serde_json::value::to_raw_value(&command)?),
                // Cron does not try again.
                max_attempts: Some(1),
                ..ScheduledJob::default()
            },
            ..NewSchedule::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crontab::{Form, read};

    #[test]
    fn an_entry_becomes_a_schedule_that_does_what_cron_did() {
        let text = "PATH=/bin\nRANDOM_DELAY=5\n30 2 * * * root  mail ops%hello\n";
        let wishes = Wishes {
            prefix: "cron.".into(),
            queue: "cron".into(),
            zone: "Europe/Berlin".into(),
            catchup: CatchupMode::None,
            note: "imported from crontab".into(),
        };
        let crontab = read(text, Form::System).expect("a crontab");
        let schedules = crontab.schedules(&wishes).expect("schedules");
        let mut json = serde_json::to_value(&schedules[0]).expect("it prints");
        let name = json.as_object_mut().and_then(|schedule| schedule.remove("schedule_id")).expect("it has a name");
        assert!(name.as_str().is_some_and(|name| name.starts_with("cron.mail-ops-")), "{name}");
        let expected = serde_json::json!({
            "cron": "30 2 * * *", "timezone": "Europe/Berlin", "jitter": "5m", "catchup": "none", "note": "imported from crontab",
            "job": {
                "type": "shell", "queue": "cron.root", "max_attempts": 1,
                "data": { "command": "mail ops", "stdin": "hello\n", "env": { "PATH": "/bin" } }
            }
        });
        assert_eq!(json, expected);
    }
}
