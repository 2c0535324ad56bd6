//! Compiled calendars of schedules that fired not long ago. Bounded, whatever the number of schedules: what is not here is
//! compiled again, in microseconds.

use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, Mutex};

use mainspring_core::schedule::{BadSchedule, Calendar, Schedule, ScheduleRef, When};

/// Calendars of one generation; two are kept.
const CALENDARS_MAX: usize = 2_048;

#[derive(Debug)]
pub(crate) struct Calendars(Mutex<Shelf>);

/// What was used since the last change of generations, and what was used before that and not since.
#[derive(Debug, Default)]
struct Shelf {
    new: HashMap<ScheduleRef, Arc<Entry>>,
    old: HashMap<ScheduleRef, Arc<Entry>>,
}

#[derive(Debug)]
struct Entry {
    /// What it was compiled from: a schedule that says something else by now is not this one.
    when: When,
    calendar: Arc<Calendar>,
}

impl Calendars {
    pub(crate) fn new() -> Calendars {
        Calendars(Mutex::default())
    }

    pub(crate) fn of(&self, schedule: &Schedule) -> Result<Arc<Calendar>, BadSchedule> {
        let name = schedule.reference();
        if let Some(entry) = self.shelf().find(&name).filter(|entry| entry.when == schedule.when) {
            return Ok(entry.calendar.clone());
        }
        let calendar = Arc::new(Calendar::compile(&schedule.when, &name)?);
        let entry = Entry { when: schedule.when.clone(), calendar: calendar.clone() };
        self.shelf().put(name, Arc::new(entry));
        Ok(calendar)
    }

    fn shelf(&self) -> std::sync::MutexGuard<'_, Shelf> {
        self.0.lock().expect("nobody panics at the shelf")
    }
}

impl Shelf {
    fn find(&mut self, name: &ScheduleRef) -> Option<Arc<Entry>> {
        if let Some(entry) = self.new.get(name) {
            return Some(entry.clone());
        }
        let entry = self.old.remove(name)?;
        self.put(name.clone(), entry.clone());
        Some(entry)
    }

    fn put(&mut self, name: ScheduleRef, entry: Arc<Entry>) {
        if self.new.len() >= CALENDARS_MAX {
            self.old = mem::take(&mut self.new);
        }
        self.new.insert(name, entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainspring_core::name::{ScheduleName, TenantName, TypeName};
    use mainspring_core::schedule::{Catchup, Overlap, Spec, Template};
    use mainspring_core::time::Time;
    use std::time::Duration;

    fn schedule(name: &str, cron: &str) -> Schedule {
        Schedule {
            tenant: TenantName::default_tenant(),
            name: ScheduleName::parse(name).unwrap(),
            when: When::new(vec![Spec::Cron(cron.into())]),
            job: Template::new(TypeName::parse("mail").unwrap()),
            catchup: Catchup::default(),
            overlap: Overlap::Allow,
            jitter: Duration::ZERO,
            max_runs: None,
            pause_on_failure: false,
            note: None,
        }
    }

    #[test]
    fn a_schedule_that_says_something_else_gets_another_calendar() {
        let calendars = Calendars::new();
        let next = |cron: &str| calendars.of(&schedule("a", cron)).unwrap().next(Time::ZERO).unwrap().at;
        assert_eq!(next("0 1 * * *"), Time::from_millis(3_600_000));
        assert_eq!(next("0 2 * * *"), Time::from_millis(7_200_000));
    }

    #[test]
    fn memory_does_not_grow_with_the_number_of_schedules() {
        let calendars = Calendars::new();
        for n in 0..3 * CALENDARS_MAX {
            calendars.of(&schedule(&format!("s{n}"), "@daily")).unwrap();
            calendars.of(&schedule("always", "@daily")).unwrap();
        }
        let shelf = calendars.shelf();
        assert!(shelf.new.len() + shelf.old.len() <= 2 * CALENDARS_MAX);
        assert!(shelf.new.contains_key(&schedule("always", "@daily").reference()), "what is used stays");
    }
}
