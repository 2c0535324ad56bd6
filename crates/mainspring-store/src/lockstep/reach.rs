//! Holds the drawn scripts to account: an ordinary run must reach every kind of answer, or lockstep would agree about
//! nothing. For tests alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use mainspring_core::gate::GateState;
use mainspring_core::seats::Term;
use mainspring_core::store::{ClaimAnswer, GateView, Pulse, Settled, Submitted, Views};
use mainspring_core::time::Time;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use super::past::Past;
use super::perform::{Answer, Player, perform};
use super::script::{Call, Script};
use super::words::{J, START, T};
use super::{CASES_DEFAULT, draw};
use crate::memory::Memory;

/// How often each of these must come up in an ordinary run.
const OFTEN: usize = 10;

const KINDS: &str = "
    submit/Blocked submit/Waiting submit/Ready submit/Running submit/Succeeded submit/Dead submit/Cancelled
    submit/Duplicate submit/Mismatch submit/QueueFull submit/UnknownParent submit/FailedParent
    promote/ready promote/upcoming promote/cancelled promote/several-cancelled promote/due promote/more-due
    claim/jobs claim/several claim/UnknownWorker claim/Quiet go-on/jobs
    pulse/Unknown pulse/Alive pulse/held pulse/cancel pulse/lost pulse/released
    Started/Held Started/Stale Checkpoint/Held Checkpoint/Stale
    claim/turns held/Full held/NoToken held/ClosedUntil held/BreakerOpen held/Probing held/several
    news/Opened news/Closed news/closed-key Close/Applied Close/Stale
    SetLimit/Done ClearLimit/Done ClearLimit/Missing ReopenGates/Done ReopenGates/Missing
    gates/some gates/of-pattern gates/of-no-rule hurdles/some hurdles/holders hurdles/none
    Succeed/Applied Retry/Applied Snooze/Applied Release/Applied Bury/Applied Cancel/Applied
    Succeed/Stale Retry/Stale Snooze/Stale Release/Stale Bury/Stale Cancel/Stale
    Succeed/awaited Bury/awaited Cancel/awaited
    reclaim/Crash reclaim/Timeout reclaim/again reclaim/expired reclaim/silent
    RunNow/Done RunNow/Refused RunNow/Missing Pause/Done Pause/Refused Resume/Done Resume/Refused
    Cancel/Done Cancel/Asked Cancel/Refused Revive/Done Revive/Refused Delete/Done Delete/Refused
    Update/Done Update/Refused Update/Missing PauseQueue/Done ResumeQueue/Done SetAging/Done SetMaxDepth/Done
    Order/Done Order/Missing
    Put/Done Put/Lost Put/Refused Move/Done Move/Lost Move/Refused Gone/Done Gone/Lost
    schedule/some schedules/some ledger/some agenda/some workflow/some workflow/callback workflow/over
    promote/refused reclaim/deposed prune/deposed Put/Deposed Move/Deposed
    seats/taken seats/held-by-another seats/epoch-2 roll/nodes Assign/Done Assign/Deposed
    prune/jobs prune/keys prune/rows get/some get/none find/some executions/some ahead/some queues/some workers/some";

/// A worker that is done with one job has the next.
const GOING_ON: [&str; 2] = ["Succeed/Applied", "claim/jobs"];

#[test]
fn an_ordinary_run_reaches_every_kind_of_answer() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let mut runner = TestRunner::deterministic();
    let mut seen = BTreeMap::new();
    for _ in 0..CASES_DEFAULT {
        let script = draw::scripts().new_tree(&mut runner).expect("a script").current();
        for kind in runtime.block_on(reached(&script)) {
            *seen.entry(kind).or_insert(0) += 1;
        }
    }
    let count = |kind: &str| seen.get(kind).copied().unwrap_or(0);
    let rare: Vec<_> = KINDS.split_whitespace().map(|kind| (kind, count(kind))).filter(|(_, n)| *n < OFTEN).collect();
    assert!(rare.is_empty(), "{rare:?} come up too rarely of {seen:#?}");
}

async fn reached(script: &Script) -> Vec<String> {
    let (store, mut now, mut kinds) = (Memory::new(), START, Vec::new());
    let (mut past, mut taken_back) = (Past::default(), BTreeSet::new());
    for call in &script.0 {
        if let Call::Clock(span) = call {
            now = span.from(now);
        }
        let player = Player { store: &store, seats: Some(&store) };
        let answer = perform(player, now, call, &past).await;
        kinds.extend(kinds_of(call, &answer));
        if matches!(answer, Answer::Reclaimed { .. }) {
            for lease in answer.leases() {
                let before = past.leases.iter().rfind(|before| before.job == lease.job);
                kinds.extend(before.filter(|before| taken_back.contains(*before)).map(|_| "reclaim/again".to_owned()));
                taken_back.insert(lease);
            }
        }
        if matches!(answer, Answer::Claimed(_) | Answer::SettledAndClaimed(..)) {
            kinds.extend(held_back(&store, now).await);
        }
        past.note(now, call, &answer);
    }
    kinds
}

/// By what the jobs are held back that were left behind.
async fn held_back(store: &Memory, now: Time) -> Vec<String> {
    let (mut kinds, mut seen) = (Vec::new(), Vec::new());
    for (tenant, job) in T::all().flat_map(|tenant| J::all().map(move |job| (tenant, job))) {
        let hurdles = store.hurdles(&tenant.name(), job.id(), now).await.expect("hurdles");
        seen.extend(hurdles);
    }
    for hurdles in &seen {
        let reasons = hurdles.iter().flat_map(|hurdle| &hurdle.reasons);
        kinds.extend(reasons.map(|reason| format!("held/{}", word(reason))));
        kinds.extend((hurdles.len() > 1).then(|| "held/several".to_owned()));
    }
    kinds
}

fn kinds_of(call: &Call, answer: &Answer) -> Vec<String> {
    let when = |kind: &str, yes: bool| yes.then(|| kind.to_owned());
    match (call, answer) {
        (_, Answer::Submitted(answers)) => answers.iter().map(submit_kind).collect(),
        (_, Answer::Promoted { ready, cancelled, due, more_due, upcoming, refused, .. }) => [
            when("promote/refused", !refused.is_empty()),
            when("promote/ready", !ready.is_empty()),
            when("promote/upcoming", !upcoming.is_empty()),
            when("promote/cancelled", !cancelled.is_empty()),
            when("promote/several-cancelled", cancelled.len() > 1),
            when("promote/due", !due.is_empty()),
            when("promote/more-due", *more_due),
        ]
        .into_iter()
        .flatten()
        .collect(),
        (_, Answer::Claimed(answers)) => answers.iter().flat_map(claim_kinds).collect(),
        (_, Answer::Pulses(pulses)) => pulses.iter().flat_map(pulse_kinds).collect(),
        (Call::Report(reports), Answer::Holds(holds)) => {
            pairs(reports.iter().map(|(_, words)| word(words)), holds.iter().map(word))
        }
        (Call::SettleAndClaim(_, _), Answer::SettledAndClaimed(settled, claimed)) => {
            let kinds = [kinds_of(call, settled), kinds_of(call, claimed)].concat();
            let goes_on = GOING_ON.iter().all(|kind| kinds.iter().any(|other| other == kind));
            kinds.into_iter().chain(when("go-on/jobs", goes_on)).collect()
        }
        (Call::Settle(ends) | Call::SettleAndClaim(ends, _), Answer::Settled(settled)) => {
            let awaited = |settled: &&Settled| matches!(settled, Settled::Applied { awaited: true, .. });
            let mut kinds = pairs(ends.iter().map(|(_, end)| word(end)), settled.iter().map(word));
            let awaited = ends.iter().zip(settled).filter(|(_, settled)| awaited(settled));
            kinds.extend(awaited.map(|((_, end), _)| format!("{}/awaited", word(end))));
            kinds.extend(settled.iter().flat_map(news_kinds));
            kinds
        }
        (Call::Turn(turns), Answer::Turned(answers)) => {
            pairs(turns.iter().map(|turn| word(&turn.to)), answers.iter().map(word))
        }
        (Call::Command(wishes), Answer::Commanded(answers)) => pairs(wishes.iter().map(word), answers.iter().map(word)),
        (_, Answer::Reclaimed { leases, expired, silent, deposed }) => {
            let causes = leases.iter().map(|taken| format!("reclaim/{:?}", taken.cause));
            causes
                .chain(when("reclaim/expired", !expired.is_empty()))
                .chain(when("reclaim/silent", !silent.is_empty()))
                .chain(when("reclaim/deposed", *deposed))
                .collect()
        }
        (_, Answer::Pruned { jobs, keys, rows, deposed }) => {
            let kinds = [("prune/jobs", jobs), ("prune/keys", keys), ("prune/rows", rows)];
            let kinds = kinds.into_iter().filter_map(|(kind, count)| when(kind, *count > 0));
            kinds.chain(when("prune/deposed", *deposed)).collect()
        }
        (Call::Seat(node, _), Answer::Terms(terms)) => [
            when("seats/taken", terms.iter().any(|term| term.holder == node.id())),
            when("seats/held-by-another", terms.iter().any(|term| term.holder != node.id())),
            when("seats/epoch-2", terms.iter().any(|term| term.epoch > 1)),
        ]
        .into_iter()
        .flatten()
        .collect(),
        (_, Answer::Rolled(roll)) => [
            when("seats/given-up", roll.terms.iter().any(Term::is_given_up)),
            when("roll/nodes", roll.nodes.len() > 1),
            when("roll/assigned", !roll.assigned.is_empty()),
        ]
        .into_iter()
        .flatten()
        .collect(),
        (_, Answer::Assigned(assigned)) => vec![format!("Assign/{assigned:?}")],
        (_, Answer::Views(views)) => {
            views.iter().map(|view| if view.is_some() { "get/some" } else { "get/none" }.to_owned()).collect()
        }
        (_, Answer::Found(views)) => when("find/some", !views.is_empty()).into_iter().collect(),
        (_, Answer::Executions(executions)) => when("executions/some", !executions.is_empty()).into_iter().collect(),
        (_, Answer::Ahead(ahead)) => when("ahead/some", ahead.is_some_and(|ahead| ahead > 0)).into_iter().collect(),
        (_, Answer::Queues(queues)) => when("queues/some", !queues.is_empty()).into_iter().collect(),
        (_, Answer::Schedule(schedule)) => when("schedule/some", schedule.is_some()).into_iter().collect(),
        (_, Answer::Schedules(schedules)) => when("schedules/some", schedules.len() > 1).into_iter().collect(),
        (_, Answer::Ledger(rows)) => when("ledger/some", rows.len() > 1).into_iter().collect(),
        (_, Answer::Agenda(due)) => when("agenda/some", !due.is_empty()).into_iter().collect(),
        (_, Answer::Workflow(Some(view))) => [
            when("workflow/some", true),
            when("workflow/callback", view.callback.is_some()),
            when("workflow/over", view.unfinished() == 0),
        ]
        .into_iter()
        .flatten()
        .collect(),
        (_, Answer::Gates(views)) => {
            let is_own = |view: &GateView| view.rule.as_ref().map(|(reach, _)| *reach == view.reach);
            [
                when("gates/some", views.iter().any(|view| view.state != GateState::default())),
                when("gates/of-pattern", views.iter().any(|view| is_own(view) == Some(false))),
                when("gates/of-no-rule", views.iter().any(|view| is_own(view).is_none())),
            ]
            .into_iter()
            .flatten()
            .collect()
        }
        (_, Answer::Hurdles(hurdles)) => [
            when("hurdles/some", hurdles.as_ref().is_some_and(|hurdles| !hurdles.is_empty())),
            when("hurdles/holders", hurdles.iter().flatten().any(|hurdle| !hurdle.holders.is_empty())),
            when("hurdles/none", hurdles.as_ref().is_some_and(|hurdles| hurdles.is_empty())),
        ]
        .into_iter()
        .flatten()
        .collect(),
        (_, Answer::Workers(workers)) => when("workers/some", !workers.is_empty()).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// By where the job is, if it was taken in.
fn submit_kind(answer: &Submitted) -> String {
    match answer {
        Submitted::Accepted { state, .. } => format!("submit/{state:?}"),
        other => format!("submit/{}", word(other)),
    }
}

fn news_kinds(settled: &Settled) -> Vec<String> {
    let Settled::Applied { gates: Some(news), .. } = settled else { return Vec::new() };
    let changes = news.breakers.iter().map(|(_, change)| format!("news/{}", word(change)));
    changes.chain(news.closed.iter().map(|_| "news/closed-key".to_owned())).collect()
}

fn claim_kinds(answer: &ClaimAnswer) -> Vec<String> {
    let kinds = match answer {
        ClaimAnswer::Jobs(jobs) if jobs.iter().any(|claimed| claimed.job.tenant != jobs[0].job.tenant) => {
            "claim/jobs claim/several claim/turns"
        }
        ClaimAnswer::Jobs(jobs) if jobs.len() > 1 => "claim/jobs claim/several",
        ClaimAnswer::Jobs(jobs) if jobs.len() == 1 => "claim/jobs",
        ClaimAnswer::Jobs(_) => "claim/none",
        ClaimAnswer::UnknownWorker => "claim/UnknownWorker",
        ClaimAnswer::Quiet => "claim/Quiet",
    };
    kinds.split(' ').map(str::to_owned).collect()
}

fn pulse_kinds(pulse: &Pulse) -> Vec<String> {
    let Pulse::Alive { held, cancel, lost, released, .. } = pulse else { return vec!["pulse/Unknown".into()] };
    let found = [
        ("pulse/Alive", true),
        ("pulse/held", *held > 0),
        ("pulse/cancel", !cancel.is_empty()),
        ("pulse/lost", !lost.is_empty()),
        ("pulse/released", !released.is_empty()),
    ];
    found.into_iter().filter(|(_, yes)| *yes).map(|(kind, _)| kind.to_owned()).collect()
}

fn pairs(asked: impl Iterator<Item = String>, answered: impl Iterator<Item = String>) -> Vec<String> {
    asked.zip(answered).map(|(asked, answered)| format!("{asked}/{answered}")).collect()
}

/// The name of a variant.
fn word(value: &impl Debug) -> String {
    let text = format!("{value:?}");
    text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned()
}
