//! What a store promises to whoever asks how much falls due when.

use std::time::Duration;

use mainspring_core::job::Job;
use mainspring_core::store::*;
use mainspring_core::time::Time;

use super::stage::*;

const DAY: u64 = 24 * 3600 * 1000;

pub async fn waiting_jobs_are_counted_by_the_step_they_fall_due_in(stage: Stage) {
    stage.accept(at(0), vec![due(1, 1000), due(2, 1999), due(3, 2000), due(4, 5500), due(5, 40 * DAY)]).await;
    let stage = stage.reopen().await;
    let agenda = stage.store.agenda(ask(0, 41 * DAY)).await.expect("agenda");
    assert_eq!(agenda.due, [(at(1000), 2), (at(2000), 1), (at(5000), 1), (at(40 * DAY), 1)]);
    assert!(!agenda.partial);
}

pub async fn an_agenda_begins_with_its_first_instant_and_ends_before_its_last(stage: Stage) {
    stage.accept(at(0), vec![due(1, 1499), due(2, 1500), due(3, 2000), due(4, 2999), due(5, 3000)]).await;
    let agenda = stage.store.agenda(ask(1500, 3000)).await.expect("agenda");
    assert_eq!(agenda.due, [(at(1000), 1), (at(2000), 2)], "a step is named by its start, also where it is cut");
    let far = 30 * DAY;
    stage.accept(at(0), vec![due(6, far - 1), due(7, far), due(8, far + 1)]).await;
    let agenda = stage.store.agenda(ask(far, far + 1)).await.expect("agenda");
    assert_eq!(agenda.due, [(at(far), 1)]);
    assert_eq!(stage.store.agenda(ask(3000, 3000)).await.expect("agenda"), Agenda::default());
    assert_eq!(stage.store.agenda(ask(3000, 10)).await.expect("agenda"), Agenda::default());
}

pub async fn only_what_waits_for_its_time_is_on_the_agenda(stage: Stage) {
    let jobs = vec![job(1), due(2, 1000), due(3, 1000), due(4, 1000), due(5, 1000), due(6, 1000)];
    stage.accept(at(0), jobs).await;
    stage.accept(at(0), vec![Job { run_at: at(1000), ..child(7, &[6]) }]).await;
    stage.command(at(0), id(2), JobCommand::Pause).await;
    stage.command(at(0), id(3), cancel()).await;
    stage.command(at(0), id(4), JobCommand::RunNow).await;
    let agenda = stage.store.agenda(ask(0, DAY)).await.expect("agenda");
    assert_eq!(agenda.due, [(at(1000), 2)], "not Ready, paused, ended, or Blocked");
    stage.promote(at(1000)).await;
    assert_eq!(stage.store.agenda(ask(0, DAY)).await.expect("agenda").due, []);
}

pub async fn a_failure_stays_where_it_is_an_agenda_is_of_one_tenant_or_of_all(stage: Stage) {
    stage.accept(at(0), vec![due(1, 1000), Job { tenant: tenant("other"), ..due(2, 1000) }]).await;
    let count = async |tenant| {
        let agenda = stage.store.agenda(AgendaAsk { tenant, ..ask(0, DAY) }).await.expect("agenda");
        agenda.due.iter().map(|(_, count)| count).sum::<u64>()
    };
    assert_eq!(count(None).await, 2);
    assert_eq!(count(Some(tenant("other"))).await, 1);
    assert_eq!(count(Some(tenant("nobody"))).await, 0);
}

pub async fn limits_are_named_an_agenda_looks_at_no_more_than_it_was_asked_and_says_so(stage: Stage) {
    stage.accept(at(0), (1..=10).map(|number| due(number, 1000 * u64::from(number))).collect()).await;
    for jobs_max in 0..=10 {
        let agenda = stage.store.agenda(AgendaAsk { jobs_max, ..ask(0, DAY) }).await.expect("agenda");
        let count: u64 = agenda.due.iter().map(|(_, count)| count).sum();
        assert!(count <= jobs_max, "{agenda:?}");
        assert_eq!(agenda.partial, jobs_max < 10, "{agenda:?}");
    }
}

pub async fn an_agenda_reaches_to_the_last_instant_there_is(stage: Stage) {
    let last = Time::from_millis(Time::MAX.as_millis() - 1);
    stage.accept(at(0), vec![Job { run_at: last, ..job(1) }]).await;
    let ask = AgendaAsk { until: Time::MAX, step: Duration::ZERO, ..ask(0, 0) };
    assert_eq!(
        stage.store.agenda(ask).await.expect("agenda").due,
        [(last, 1)],
        "no step is shorter than a millisecond"
    );
}

/// In steps of a second.
fn ask(from_ms: u64, until_ms: u64) -> AgendaAsk {
    let step = Duration::from_secs(1);
    AgendaAsk { tenant: None, from: at(from_ms), until: at(until_ms), step, jobs_max: 1000 }
}

fn due(number: u32, ms: u64) -> Job {
    Job { run_at: at(ms), ..job(number) }
}
