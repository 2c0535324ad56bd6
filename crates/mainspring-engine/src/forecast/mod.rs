//! What will fire when: over all schedules of a tenant and its waiting jobs, minute by minute, the herds among them, and
//! what a jitter would make of it. Reads and counts; changes nothing.

mod count;
mod herd;

use std::time::Duration;

use mainspring_core::name::{ScheduleName, TenantName};
use mainspring_core::store::{AgendaAsk, ScheduleQuery};
use mainspring_core::time::Time;

use count::{Count, Range};

use crate::error::{Error, Result};
use crate::node::Node;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForecastAsk {
    pub tenant: TenantName,
    pub from: Time,
    /// Not included; at most [`FORECAST_SPAN_MAX`] after `from`.
    pub until: Time,
    /// Counted from the epoch, and at least a second.
    pub step: Duration,
    /// What if every schedule had at least this jitter?
    pub jitter: Option<Duration>,
    pub herds_max: usize,
}

/// How far a forecast looks.
pub const FORECAST_SPAN_MAX: Duration = Duration::from_secs(7 * 24 * 3600);
/// The finest that a forecast tells apart.
pub const FORECAST_STEP_MIN: Duration = Duration::from_secs(1);
/// Fires that are looked at; with more the forecast is partial.
pub const FORECAST_FIRES_MAX: u64 = 2_000_000;
/// Waiting jobs that are looked at; with more the forecast is partial.
pub const FORECAST_JOBS_MAX: u64 = 5_000_000;
/// Schedules that are read at a time.
const PAGE_SCHEDULES: usize = 500;

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Forecast {
    /// Steps in which something falls due, in order.
    pub minutes: Vec<ForecastMinute>,
    /// The largest first.
    pub herds: Vec<Herd>,
    /// The same with the jitter that was asked about.
    pub with_jitter: Option<Vec<ForecastMinute>>,
    /// The fullest step.
    pub peak: Option<ForecastMinute>,
    pub peak_with_jitter: Option<ForecastMinute>,
    /// How many fires and waiting jobs were counted.
    pub schedules: u64,
    pub jobs: u64,
    /// There was more than is counted here.
    pub partial: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ForecastMinute {
    pub at: Time,
    /// Fires of schedules.
    pub schedules: u64,
    /// Jobs that wait for this time.
    pub jobs: u64,
}

/// Many schedules that fire in the same step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Herd {
    pub at: Time,
    pub count: u64,
    /// Some of them, those that fire most often first.
    pub names: Vec<ScheduleName>,
}

impl Node {
    pub(crate) async fn forecast(&self, ask: ForecastAsk) -> Result<Forecast> {
        let range = Range {
            from: ask.from,
            until: ask.until.min(ask.from.after(FORECAST_SPAN_MAX)),
            step: ask.step.max(FORECAST_STEP_MIN),
        };
        let fires = self.count_fires(&ask.tenant, range, ask.jitter).await?;
        let agenda = AgendaAsk {
            tenant: Some(ask.tenant),
            from: range.from,
            until: range.until,
            step: range.step,
            jobs_max: FORECAST_JOBS_MAX,
        };
        let agenda = self.store.agenda(agenda).await?;

        let minutes = fires.minutes(&agenda.due);
        let with_jitter = ask.jitter.map(|_| fires.shaken_minutes(&agenda.due));
        Ok(Forecast {
            herds: herd::find(&fires, ask.herds_max),
            peak: peak(&minutes),
            peak_with_jitter: with_jitter.as_deref().and_then(peak),
            schedules: minutes.iter().map(|minute| minute.schedules).sum(),
            jobs: minutes.iter().map(|minute| minute.jobs).sum(),
            partial: fires.is_partial() || agenda.partial,
            minutes,
            with_jitter,
        })
    }

    /// Page by page, beside the threads that answer requests.
    async fn count_fires(&self, tenant: &TenantName, range: Range, jitter: Option<Duration>) -> Result<Count> {
        let mut count = Count::new(range, jitter, FORECAST_FIRES_MAX);
        let mut above = None;
        loop {
            let query = ScheduleQuery { tenant: tenant.clone(), above, limit: PAGE_SCHEDULES };
            let page = self.store.schedules(query).await?;
            let counting = tokio::task::spawn_blocking(move || {
                page.schedules.iter().for_each(|view| count.add(view));
                count
            });
            count = counting.await.map_err(|_| Error::Closed)?;
            match page.next {
                Some(next) if !self.closing.is_raised() => above = Some(next),
                _ => return Ok(count),
            }
        }
    }
}

/// The fullest, the earliest of those.
fn peak(minutes: &[ForecastMinute]) -> Option<ForecastMinute> {
    let weight = |minute: &ForecastMinute| minute.schedules + minute.jobs;
    minutes.iter().copied().reduce(|most, next| if weight(&next) > weight(&most) { next } else { most })
}
