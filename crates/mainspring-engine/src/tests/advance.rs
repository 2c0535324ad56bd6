//! The virtual clock: what falls due on the way happens at its own time.

use mainspring_core::schedule::{ClockTimes, DstGap, DstOverlap, Exclusion, MonthDays, Reason, Weekdays, When as Rule};

use super::*;
use crate::{Advanced, SystemClock, VirtualClock};

async fn advance(world: &World, by: Duration) {
    let to = world.now().after(by);
    assert_eq!(world.engine.advance(to).await.unwrap(), Advanced::Done { now: to });
    assert_eq!(world.now(), to);
}

#[tokio::test]
async fn jobs_and_schedules_on_the_way_fire_at_their_own_times() {
    let world = World::running().await;
    let at = world.put(schedule("often", seconds(600))).await;
    let mut events = world.engine.events();
    let job = world.submit(due_in(seconds(1_234))).await;
    advance(&world, seconds(7_200)).await;
    let rows = world.ledger(&at).await;
    let expected: Vec<Time> = (1..=12).map(|n| START.after(seconds(n * 600))).collect();
    assert_eq!(rows.iter().map(|row| row.occurrence).collect::<Vec<_>>(), expected);
    assert_eq!(rows.iter().map(|row| row.at).collect::<Vec<_>>(), expected, "each at its own time");
    assert_eq!(world.state(job).await, State::Ready);
    let ready_at = loop {
        let event = events.next().await.expect("the node runs");
        if event.kind == crate::EventKind::Ready {
            break event.at;
        }
    };
    assert_eq!(ready_at, START.after(seconds(1_234)));
}

#[tokio::test]
async fn leases_and_retries_follow_the_clock() {
    let world = World::running().await;
    let id = world.submit(draft()).await;
    let claimed = world.claim_now(world.worker().await).await;
    advance(&world, seconds(29)).await;
    assert_eq!(world.state(id).await, State::Running);
    advance(&world, seconds(3_600)).await;
    let standing = world.view(id).await.unwrap().standing;
    assert_eq!((standing.state, standing.tally.crashes), (State::Ready, 1));
    assert_eq!(standing.ready_at, START.after(seconds(35)), "taken back after 30 s, tried again 5 s later");
    assert_eq!(world.settle(&claimed[0], failed()).await, Settled::Stale);
}

#[tokio::test]
async fn a_claim_that_waits_is_served_on_the_way() {
    let world = World::running().await;
    let worker = world.worker().await;
    let id = world.submit(due_in(seconds(20))).await;
    let claim = world.waiting(ask(worker, seconds(60))).await;
    advance(&world, seconds(25)).await;
    let claimed = claim.await.unwrap();
    assert_eq!((claimed[0].job.id, claimed[0].lease.claimed_at), (id, START.after(seconds(20))));
}

#[tokio::test]
async fn the_clock_goes_forward_only_and_only_where_it_is_virtual() {
    let world = World::running().await;
    let back = world.engine.advance(START.before(ms(1))).await.unwrap();
    assert_eq!(back, Advanced::Backwards { now: START });
    assert!(world.engine.clock().is_virtual);

    let parts = Parts { clock: Arc::new(SystemClock), ..Ground::new().parts() };
    let real = Engine::start(parts, Settings::default()).await.unwrap();
    assert_eq!(real.advance(Time::MAX).await.unwrap(), Advanced::NotVirtual);
    assert!(!real.clock().is_virtual);
}

#[tokio::test]
async fn a_worker_against_a_standing_clock_does_not_wait_for_ever() {
    let parts = Parts { clock: Arc::new(VirtualClock::new(START)), ..Ground::new().parts() };
    let engine = Engine::start(parts, Settings::default()).await.unwrap();
    let worker = engine.register(tenant(), WorkerInfo::default(), None).await.unwrap().worker;
    assert_eq!(jobs(engine.claim(ask(worker, ms(5))).await.unwrap()), []);
    assert_eq!(engine.now(), START);
}

const ZONES: [&str; 10] = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "America/Sao_Paulo",
    "Australia/Lord_Howe",
    "Asia/Kathmandu",
    "Pacific/Apia",
    "Africa/Casablanca",
    "America/St_Johns",
    "Asia/Tehran",
];

/// One of each sort, in every zone, under changing policies.
fn mixed() -> Vec<Schedule> {
    let at = |text| ClockTimes::parse(text).unwrap();
    let specs = [
        Spec::Cron("30 2 * * *".into()),
        Spec::Cron("H H * * mon-fri".into()),
        Spec::Every { every: seconds(11 * 3600), anchor: None },
        Spec::Daily { at: at("01:30, 23:59:30") },
        Spec::Weekly { days: Weekdays::parse("sun").unwrap(), at: at("02:15") },
        Spec::Monthly { days: MonthDays::parse("1, last").unwrap(), at: at("00:00") },
        Spec::Rrule("FREQ=MONTHLY;BYDAY=2TU;BYHOUR=2;BYMINUTE=30;BYSECOND=0".into()),
    ];
    let mut schedules = vec![];
    for (z, zone) in ZONES.into_iter().enumerate() {
        for (s, spec) in specs.iter().enumerate() {
            let exclude = match s {
                0 => vec![Exclusion::Weekdays(Weekdays::parse("sat").unwrap())],
                _ => vec![],
            };
            let when = Rule {
                zone: zone.into(),
                dst_gap: [DstGap::Shift, DstGap::Skip][(z + s) % 2],
                dst_overlap: [DstOverlap::First, DstOverlap::Last, DstOverlap::Both][(z + s) % 3],
                exclude,
                ..Rule::new(vec![spec.clone()])
            };
            let whole = schedule(&format!("{zone}-{s}"), seconds(1));
            // Nobody works here: what is not wanted any more must go.
            let job = Template { expires_in: Some(seconds(3600)), ..whole.job };
            schedules.push(Schedule { when, job, ..whole });
        }
    }
    schedules
}

#[tokio::test]
async fn a_preview_equals_what_fires_for_a_year_of_mixed_schedules_in_ten_zones() {
    let ground = Ground::new();
    let year = seconds(366 * 24 * 3600);
    let settings = Settings { ledger_retention: year * 2, ..Settings::default() };
    let engine = Engine::start(ground.parts(), settings).await.unwrap();
    let world = World { ground, engine };
    for schedule in mixed() {
        world.put(schedule).await;
    }
    advance(&world, year).await;
    let (mut fires, mut dropped) = (0, 0);
    for schedule in mixed() {
        let calendar = schedule.compile().unwrap();
        let next = |before: &Time| calendar.next(*before).map(|next| next.at);
        let preview: Vec<Time> =
            std::iter::successors(Some(START), next).skip(1).take_while(|&at| at <= START.after(year)).collect();
        let rows = world.ledger(&schedule.reference()).await;
        let (by_dst, fired): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.what == What::Skipped(Reason::Dst));
        assert_eq!(fired.iter().map(|row| row.occurrence).collect::<Vec<_>>(), preview, "{}", schedule.name);
        assert!(fired.iter().all(|row| matches!(row.what, What::Fired { late_ms: 0, .. })), "{}", schedule.name);
        fires += preview.len();
        dropped += by_dst.len();
    }
    assert!(fires > 10_000, "a year of them: {fires}");
    assert!(dropped > 0, "somewhere the clocks jumped over one");
}
