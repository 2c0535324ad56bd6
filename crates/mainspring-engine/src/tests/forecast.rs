//! The forecast: what will fire, the herd at midnight, and what a jitter would make of it.

use super::*;
use crate::ForecastAsk;

#[tokio::test]
async fn the_midnight_herd_is_found_and_a_jitter_spreads_it() {
    let world = World::still();
    for n in 0..40 {
        let mut nightly = schedule(&format!("nightly{n}"), seconds(1));
        nightly.when.specs = vec![Spec::Cron("0 0 * * *".into())];
        world.put(nightly).await;
    }
    world.put(schedule("hourly", seconds(3600))).await;
    world.submit(due_in(seconds(90))).await;
    let ask = ForecastAsk {
        tenant: tenant(),
        from: START,
        until: START.after(seconds(7 * 24 * 3600)),
        step: seconds(60),
        jitter: Some(seconds(3600)),
        herds_max: 3,
    };
    let forecast = world.engine.forecast(ask).await.unwrap();
    assert_eq!((forecast.schedules, forecast.jobs, forecast.partial), (7 * 40 + 7 * 24 - 1, 1, false));
    assert_eq!(forecast.herds.len(), 3);
    for herd in &forecast.herds {
        assert_eq!((herd.at.as_millis() % 86_400_000, herd.count, herd.names.len()), (0, 40, 10));
    }
    let (peak, calmer) = (forecast.peak.unwrap(), forecast.peak_with_jitter.unwrap());
    assert_eq!(peak.schedules, 40);
    assert!(calmer.schedules <= 10, "forty over an hour: {calmer:?}");
    let shaken: u64 = forecast.with_jitter.unwrap().iter().map(|minute| minute.schedules).sum();
    assert!(forecast.schedules - shaken <= 41, "only what is moved past the end is not there any more");
}
