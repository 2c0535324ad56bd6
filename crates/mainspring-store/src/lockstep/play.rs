//! Plays a script on the reference and on a store, and stops where they differ.

use std::fmt::Write;
use std::sync::Arc;

use mainspring_core::placement::Placement;
use mainspring_core::seats::Seats;
use mainspring_core::store::Store;
use mainspring_core::time::Time;

use super::housed::{housed, loosely};
use super::past::Past;
use super::perform::{Answer, Player, perform};
use super::script::{Call, Script};
use super::seats::N;
use super::words::{F, J, S, START, T, Who};
use crate::home::Home;
use crate::memory::Memory;

/// Both stores, as they are played.
struct Pair {
    reference: Memory,
    placement: Placement,
    subject: Arc<dyn Store>,
    /// Those of the subject; without them, neither has any.
    seats: Option<Arc<dyn Seats>>,
    /// The two agree on it, or the play is over.
    past: Past,
}

/// Every answer the same, and at the end everything that can be read; else what differs.
pub async fn play(script: &Script, home: &mut dyn Home) -> Result<(), String> {
    let placement = home.placement();
    let script = &housed(script, placement);
    let is_one = placement == Placement::ONE;
    let reference = if is_one { Memory::new() } else { Memory::counting_apart(placement) };
    let subject = home.open().await;
    // Databases lose and win their seats one by one, which one store cannot: those are conformance's.
    let seats = |home: &dyn Home| if is_one { home.seats() } else { None };
    let mut pair = Pair { reference, placement, subject, seats: seats(home), past: Past::default() };
    let mut now = START;
    for (at, call) in script.0.iter().enumerate() {
        match call {
            Call::Clock(span) => now = span.from(now),
            Call::Reopen => {
                pair.send_nodes_away(now).await;
                pair.seats = None;
                pair.subject = home.reopen(pair.subject).await;
                pair.seats = seats(home);
                pair.reference.forget_turns();
            }
            _ => {}
        }
        let differs = |how| format!("at {now:?} the stores differ in call {} of the script, {call:?}:\n{how}", at + 1);
        pair.compare(now, call).await.map_err(differs)?;
    }
    for call in everything() {
        let differs = |how| format!("after the script the stores differ in {call:?}:\n{how}");
        pair.compare(now, &call).await.map_err(differs)?;
    }
    Ok(())
}

impl Pair {
    /// A store that only one process opens forgets its nodes with it, and one that many share does not: both go first.
    async fn send_nodes_away(&self, now: Time) {
        let Some(seats) = &self.seats else { return };
        for node in N::all() {
            self.reference.leave(now, node.id()).await.expect("the reference always answers");
            seats.leave(now, node.id()).await.expect("a store that is open lets nodes go");
        }
    }

    async fn compare(&mut self, now: Time, call: &Call) -> Result<(), String> {
        let keeper = self.seats.as_ref().map(|_| &self.reference as &dyn Seats);
        let reference = Player { store: &self.reference, seats: keeper };
        let subject = Player { store: &*self.subject, seats: self.seats.as_deref() };
        let expected = loosely(perform(reference, now, call, &self.past).await, self.placement);
        let answer = loosely(perform(subject, now, call, &self.past).await, self.placement);
        if answer != expected {
            return Err(difference(&expected, &answer));
        }
        self.past.note(now, call, &answer);
        Ok(())
    }
}

/// More workflows than nearly every script has.
const WORKFLOWS: usize = 6;

/// The questions whose answers are all that a reader can know.
pub fn everything() -> Vec<Call> {
    let find = |tenant| Call::Find {
        tenant,
        statuses: Vec::new(),
        queue: None,
        kind: None,
        tag: None,
        schedule: None,
        workflow: None,
        limit: 5,
    };
    let mut calls: Vec<Call> = vec![Call::Workers, Call::Queues(None), Call::Roll];
    for tenant in T::all() {
        calls.push(find(tenant));
        calls.push(Call::Queues(Some(tenant)));
        calls.push(Call::Schedules { tenant, limit: 2 });
        calls.extend(S::all().map(|schedule| Call::Ledger { tenant, schedule, limit: 2 }));
        calls.extend((0..WORKFLOWS).map(|back| Call::Workflow(tenant, F(back))));
        calls.push(Call::Gates(tenant));
        calls.extend(J::all().map(|job| Call::Hurdles(tenant, Who::Any(job))));
        calls.push(Call::Get(tenant, J::all().map(Who::Any).collect()));
        calls.extend(J::all().map(|job| Call::Executions(tenant, Who::Any(job))));
        calls.extend(J::all().map(|job| Call::Ahead(tenant, Who::Any(job), 100)));
    }
    calls
}

/// The lines in which two answers differ, with what is the same before and after them left out.
fn difference(expected: &Answer, answer: &Answer) -> String {
    const AROUND: usize = 3;
    let (expected, answer) = (format!("{expected:#?}"), format!("{answer:#?}"));
    let (expected, answer): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), answer.lines().collect());
    let same = expected.iter().zip(&answer).take_while(|(one, other)| one == other).count();
    let shorter = expected.len().min(answer.len()) - same;
    let tail =
        expected.iter().rev().zip(answer.iter().rev()).take(shorter).take_while(|(one, other)| one == other).count();

    let mut text = String::new();
    let mut put = |mark: &str, lines: &[&str]| {
        for line in lines {
            writeln!(text, "  {mark} {line}").expect("a string takes all");
        }
    };
    put(" ", &expected[same.saturating_sub(AROUND)..same]);
    put("memory ", &expected[same..expected.len() - tail]);
    put("subject", &answer[same..answer.len() - tail]);
    put(" ", &expected[expected.len() - tail..][..tail.min(AROUND)]);
    text
}
