//! What will fire when.

use mainspring_core::time::Time;
use mainspring_engine::{Forecast, ForecastMinute, Herd};
use mainspring_wire as wire;

use crate::convert::stamp;

pub(crate) fn forecast(forecast: &Forecast, from: Time, until: Time) -> wire::Forecast {
    wire::Forecast {
        from: stamp(from),
        until: stamp(until),
        schedules: forecast.schedules,
        jobs: forecast.jobs,
        minutes: forecast.minutes.iter().map(minute).collect(),
        peak: forecast.peak.as_ref().map(minute),
        herds: forecast.herds.iter().map(herd).collect(),
        with_jitter: forecast.with_jitter.as_ref().map(|minutes| minutes.iter().map(minute).collect()),
        peak_with_jitter: forecast.peak_with_jitter.as_ref().map(minute),
        partial: forecast.partial,
    }
}

fn minute(minute: &ForecastMinute) -> wire::ForecastMinute {
    wire::ForecastMinute { at: stamp(minute.at), schedules: minute.schedules, jobs: minute.jobs }
}

fn herd(herd: &Herd) -> wire::Herd {
    wire::Herd {
        at: stamp(herd.at),
        count: herd.count,
        schedules: herd.names.iter().map(ToString::to_string).collect(),
    }
}
