//! Several nodes at once on what is not the walk of a job: schedules, commands, retention.

use mainspring_core::lifecycle::State;
use mainspring_core::store::{Command, Commanded, Counts, Prune, Store, Turned, Views};

use super::Postgres;
use super::testing::Database;
use crate::conformance::stage::{at, cancel, id, job, nothing, put, tenant};

async fn nodes(database: &Database, count: usize) -> Vec<Postgres> {
    let mut nodes = Vec::new();
    for _ in 0..count {
        nodes.push(Postgres::open(&database.options()).await.unwrap());
    }
    nodes
}

#[tokio::test]
async fn every_occurrence_makes_one_job_of_nodes_that_turn_one_schedule_at_once_one_does() {
    let database = Database::new();
    let nodes = nodes(&database, 4).await;
    let mut expect = None;
    // First it is made, then moved: both ways, all but one are told what the one made of it.
    for _ in 0..5 {
        let turned =
            futures_util::future::join_all(nodes.iter().map(|node| node.turn(at(0), vec![put("hourly", expect)])));
        let turned: Vec<Turned> = turned.await.into_iter().map(|answers| answers.unwrap().remove(0)).collect();
        let done: Vec<u64> = turned
            .iter()
            .filter_map(|turned| match turned {
                Turned::Done { version, .. } => Some(*version),
                _ => None,
            })
            .collect();
        assert_eq!(done.len(), 1, "{turned:?}");
        expect = Some(done[0]);
        assert_eq!(
            turned.iter().filter(|turned| **turned == Turned::Lost { version: expect }).count(),
            3,
            "{turned:?}"
        );
    }
}

#[tokio::test]
async fn nodes_that_prune_at_once_forget_each_job_once() {
    const JOBS: u32 = 120;
    let database = Database::new();
    let nodes = nodes(&database, 4).await;
    nodes[0].submit(at(0), (1..=JOBS).map(job).collect()).await.unwrap();
    let command = |number| Command::Job { tenant: tenant("default"), id: id(number), what: cancel() };
    nodes[0].command(at(0), (1..=JOBS).map(command).collect()).await.unwrap();
    let ask = Prune { ended_before: at(1), limit: 20, ..nothing() };
    let prune = async |node: &Postgres| {
        let mut jobs = 0;
        loop {
            let pruned = node.prune(at(1), ask).await.unwrap();
            jobs += pruned.jobs;
            if !pruned.more {
                return jobs;
            }
        }
    };
    let pruned: u64 = futures_util::future::join_all(nodes.iter().map(prune)).await.into_iter().sum();
    assert_eq!(pruned, u64::from(JOBS));
    assert_eq!(nodes[0].queues(None).await.unwrap()[0].counts, Counts::default());
}

#[tokio::test]
async fn of_nodes_that_pause_and_cancel_the_same_jobs_at_once_every_job_has_one_end() {
    const JOBS: u32 = 60;
    let database = Database::new();
    let nodes = nodes(&database, 4).await;
    nodes[0].submit(at(0), (1..=JOBS).map(job).collect()).await.unwrap();
    let what = [mainspring_core::store::JobCommand::Pause, cancel()];
    let command = async |at_node: usize| {
        // Each in an order of its own.
        let mut numbers: Vec<u32> = (1..=JOBS).collect();
        numbers.rotate_left(at_node * 15);
        let command =
            |number| Command::Job { tenant: tenant("default"), id: id(number), what: what[at_node % 2].clone() };
        nodes[at_node].command(at(1), numbers.into_iter().map(command).collect()).await.unwrap()
    };
    let answers = futures_util::future::join_all((0..4).map(command)).await;
    for at_node in [1, 3] {
        let fine =
            |answer: &Commanded| matches!(answer, Commanded::Done | Commanded::Refused { state: State::Cancelled, .. });
        assert!(answers[at_node].iter().all(fine), "{:?}", answers[at_node]);
    }
    let ended = answers[1].iter().chain(&answers[3]).filter(|answer| **answer == Commanded::Done).count();
    assert_eq!(ended as u32, JOBS, "each was cancelled once");
    let counts = nodes[0].queues(None).await.unwrap()[0].counts;
    assert_eq!(counts, Counts { cancelled: JOBS.into(), ..Counts::default() });
}
