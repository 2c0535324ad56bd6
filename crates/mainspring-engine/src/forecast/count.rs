//! Counts the fires of schedules by step: as they will run, and as they would with another jitter. Walks at most so many; a
//! schedule that fires many times within a step is counted there in one go.

use std::collections::BTreeMap;
use std::time::Duration;

use mainspring_core::name::ScheduleName;
use mainspring_core::schedule::{Calendar, ScheduleRef, ScheduleView, jitter_of};
use mainspring_core::time::Time;

use super::ForecastMinute;

/// Schedules that are named for one step.
pub(super) const NAMES_MAX: usize = 10;
/// After so many fires of one schedule within a step, the rest of the step is counted in one go.
const DENSE: u64 = 8;
/// What counting in one go costs, against walking.
const COUNTED_PER_FIRE: u64 = 16;
/// Fires of one schedule that are counted in one go.
const COUNTED_MAX: usize = 100_000;

#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) from: Time,
    pub(super) until: Time,
    pub(super) step: Duration,
}

impl Range {
    fn step_of(&self, at: Time) -> Time {
        let step = self.step.as_millis() as u64;
        Time::from_millis(at.as_millis() / step * step)
    }

    /// The last instant of the step that begins here.
    fn end_of(&self, step: Time) -> Time {
        step.after(self.step).before(MOMENT)
    }

    fn contains(&self, at: Time) -> bool {
        self.from <= at && at < self.until
    }
}

const MOMENT: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub(super) struct Count {
    range: Range,
    jitter: Option<Duration>,
    fires_left: u64,
    partial: bool,
    steps: BTreeMap<Time, Step>,
    shaken: BTreeMap<Time, u64>,
}

#[derive(Debug, Default)]
pub(super) struct Step {
    pub(super) fires: u64,
    /// Those that fire most, with how often.
    pub(super) names: Vec<(u64, ScheduleName)>,
}

impl Count {
    pub(super) fn new(range: Range, jitter: Option<Duration>, fires_max: u64) -> Count {
        let (steps, shaken) = (BTreeMap::new(), BTreeMap::new());
        Count { range, jitter, fires_left: fires_max, partial: false, steps, shaken }
    }

    pub(super) fn is_partial(&self) -> bool {
        self.partial
    }

    pub(super) fn steps(&self) -> &BTreeMap<Time, Step> {
        &self.steps
    }

    /// Counts one schedule. One that cannot be read any more will fire nothing.
    pub(super) fn add(&mut self, view: &ScheduleView) {
        let Some(after) = self.begins_after(view) else { return };
        let name = view.schedule.reference();
        let Ok(calendar) = Calendar::compile(&view.schedule.when, &name) else { return };
        let runs_left = view.schedule.max_runs.map_or(u64::MAX, |max| max.saturating_sub(view.standing.runs));
        let mut own = Own { view, name, runs_left, steps: BTreeMap::new() };
        self.walk(&mut own, &calendar, after);
        for (step, fires) in own.steps {
            self.steps.entry(step).or_default().add(fires, &own.name.name);
        }
    }

    /// Everything up to here is over, or happens in a pause.
    fn begins_after(&self, view: &ScheduleView) -> Option<Time> {
        let jittered = self.range.from.before(view.schedule.jitter.max(self.jitter.unwrap_or_default()));
        let begin = view.standing.last.max(jittered.before(MOMENT));
        match &view.standing.pause {
            None => Some(begin),
            Some(pause) => pause.until.map(|until| begin.max(until.before(MOMENT))),
        }
    }

    fn walk(&mut self, own: &mut Own<'_>, calendar: &Calendar, after: Time) {
        let mut last = after;
        let mut run = (Time::ZERO, 0);
        while own.runs_left > 0 {
            let Some(next) = calendar.next(last).filter(|next| next.at < self.range.until) else { return };
            if self.fires_left == 0 {
                self.partial = true;
                return;
            }
            self.fires_left -= 1;
            last = next.at;
            self.fire(own, last, 1);
            let step = self.range.step_of(last);
            run = if run.0 == step { (step, run.1 + 1) } else { (step, 1) };
            if run.1 == DENSE {
                let through = self.range.end_of(step).min(self.range.until.before(MOMENT));
                let rest = calendar.skip(last, through, COUNTED_MAX);
                self.fires_left = self.fires_left.saturating_sub(rest.count / COUNTED_PER_FIRE);
                self.fire(own, last, rest.count.min(own.runs_left));
                last = rest.last.unwrap_or(last);
            }
        }
    }

    /// So many fires, about then.
    fn fire(&mut self, own: &mut Own<'_>, at: Time, count: u64) {
        if count == 0 {
            return;
        }
        own.runs_left -= count.min(own.runs_left);
        let jitter = own.view.schedule.jitter;
        let runs_at = |jitter: Duration| at.after(jitter_of(&own.name, at, jitter));
        let run_at = runs_at(jitter);
        if self.range.contains(run_at) {
            *own.steps.entry(self.range.step_of(run_at)).or_default() += count;
        }
        if let Some(asked) = self.jitter {
            let run_at = runs_at(asked.max(jitter));
            if self.range.contains(run_at) {
                *self.shaken.entry(self.range.step_of(run_at)).or_default() += count;
            }
        }
    }

    pub(super) fn minutes(&self, jobs: &[(Time, u64)]) -> Vec<ForecastMinute> {
        join(self.steps.iter().map(|(&at, step)| (at, step.fires)), jobs)
    }

    pub(super) fn shaken_minutes(&self, jobs: &[(Time, u64)]) -> Vec<ForecastMinute> {
        join(self.shaken.iter().map(|(&at, &fires)| (at, fires)), jobs)
    }
}

/// One schedule, while it is counted.
struct Own<'a> {
    view: &'a ScheduleView,
    name: ScheduleRef,
    runs_left: u64,
    steps: BTreeMap<Time, u64>,
}

impl Step {
    fn add(&mut self, fires: u64, name: &ScheduleName) {
        self.fires += fires;
        let place = self.names.partition_point(|(others, _)| *others >= fires);
        if place < NAMES_MAX {
            self.names.insert(place, (fires, name.clone()));
            self.names.truncate(NAMES_MAX);
        }
    }
}

fn join(fires: impl Iterator<Item = (Time, u64)>, jobs: &[(Time, u64)]) -> Vec<ForecastMinute> {
    let mut minutes: BTreeMap<Time, ForecastMinute> =
        fires.map(|(at, schedules)| (at, ForecastMinute { at, schedules, jobs: 0 })).collect();
    for &(at, jobs) in jobs {
        minutes.entry(at).or_insert(ForecastMinute { at, ..ForecastMinute::default() }).jobs += jobs;
    }
    minutes.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainspring_core::name::{TenantName, TypeName};
    use mainspring_core::schedule::{Catchup, Overlap, Pause, PausedBy, Schedule, Spec, Template, When, create};

    const NOW: Time = Time::from_millis(1_800_000_000_000);
    const HOUR: Duration = Duration::from_secs(3600);
    const MINUTE: Duration = Duration::from_secs(60);

    fn view(name: &str, spec: Spec) -> ScheduleView {
        let schedule = Schedule {
            tenant: TenantName::default_tenant(),
            name: ScheduleName::parse(name).unwrap(),
            when: When::new(vec![spec]),
            job: Template::new(TypeName::parse("mail").unwrap()),
            catchup: Catchup::default(),
            overlap: Overlap::Allow,
            jitter: Duration::ZERO,
            max_runs: None,
            pause_on_failure: false,
            note: None,
        };
        let standing = create(&schedule, NOW).unwrap();
        ScheduleView { schedule, standing, version: 1 }
    }

    fn every(seconds: u64) -> ScheduleView {
        view("often", Spec::Every { every: Duration::from_secs(seconds), anchor: Some(NOW) })
    }

    fn counted(views: &[ScheduleView], jitter: Option<Duration>, fires_max: u64) -> Count {
        let range = Range { from: NOW, until: NOW.after(HOUR), step: MINUTE };
        let mut count = Count::new(range, jitter, fires_max);
        views.iter().for_each(|view| count.add(view));
        count
    }

    fn total(count: &Count) -> u64 {
        count.steps.values().map(|step| step.fires).sum()
    }

    #[test]
    fn what_fires_within_the_range_is_counted_once_however_dense() {
        for (seconds, expected) in [(1, 3_599), (7, 514), (60, 59), (90, 39), (3600, 0)] {
            let count = counted(&[every(seconds)], None, 1_000_000);
            assert_eq!((total(&count), count.is_partial()), (expected, false), "every {seconds} s");
        }
        let seconds = counted(&[view("cron", Spec::Cron("* * * * * *".into()))], None, 1_000_000);
        assert_eq!(total(&seconds), 3_599);
    }

    #[test]
    fn what_is_paused_or_over_does_not_fire() {
        let pause = |until| Some(Pause { note: String::new(), since: NOW, until, by: PausedBy::Person });
        let mut paused = every(60);
        paused.standing.pause = pause(None);
        assert_eq!(total(&counted(&[paused.clone()], None, 1_000)), 0);
        paused.standing.pause = pause(Some(NOW.after(HOUR / 2)));
        assert_eq!(total(&counted(&[paused], None, 1_000)), 30);
        let mut three_left = every(60);
        (three_left.schedule.max_runs, three_left.standing.runs) = (Some(5), 2);
        assert_eq!(total(&counted(&[three_left], None, 1_000)), 3);
    }

    #[test]
    fn past_its_bound_a_forecast_is_partial_and_says_so() {
        let count = counted(&[every(60), every(60)], None, 80);
        assert!(count.is_partial());
        assert_eq!(total(&count), 80);
    }

    #[test]
    fn a_jitter_moves_every_fire_as_it_would_be_moved() {
        let at = view("herd", Spec::Cron("30 * * * *".into()));
        let jitter = Duration::from_secs(600);
        let count = counted(std::slice::from_ref(&at), Some(jitter), 1_000);
        let own = at.standing.next.unwrap();
        let moved = own.after(jitter_of(&at.schedule.reference(), own, jitter));
        assert_eq!(count.shaken.into_iter().collect::<Vec<_>>(), [(count.range.step_of(moved), 1)]);
        let jittered = ScheduleView { schedule: Schedule { jitter, ..at.schedule.clone() }, ..at };
        let count = counted(&[jittered], None, 1_000);
        assert_eq!(count.steps.keys().copied().collect::<Vec<_>>(), [count.range.step_of(moved)]);
    }
}
