//! Why a job is where it is, in a sentence and in facts. `hurdle` speaks for the gates.

use mainspring_core::id::JobId;
use mainspring_core::name::QueueName;
use mainspring_engine::{Explanation, Parent, Reason};
use mainspring_wire::{self as wire, Reason as Said, ReasonParent};

use crate::convert::{stamp, status};
use crate::show::hurdle;

pub(crate) fn explanation(explanation: &Explanation) -> wire::Explanation {
    let job = &explanation.view.job;
    wire::Explanation {
        job_id: job.id.uuid(),
        status: status(explanation.view.status()),
        reasons: explanation.reasons.iter().map(|why| reason(why, job.id, &job.queue)).collect(),
        eta: explanation.eta.map(stamp),
    }
}

fn reason(reason: &Reason, id: JobId, queue: &QueueName) -> Said {
    match reason {
        Reason::WaitsUntil(at) => {
            let until = stamp(*at);
            Said { until: Some(until), ..Said::new(Said::WAITS_UNTIL, format!("its time is {until}")) }
        }
        Reason::JobPaused => {
            let how = format!("mainspring job resume {id}, or POST /v1/jobs/{id}/resume");
            Said::new(Said::JOB_PAUSED, format!("the job is paused; resume it: {how}"))
        }
        Reason::QueuePaused => {
            let in_path = queue.as_str().replace('/', "%2F");
            let how = format!("mainspring queue resume {queue}, or POST /v1/queues/{in_path}/resume");
            Said::new(Said::QUEUE_PAUSED, format!("its queue is paused; resume it: {how}"))
        }
        Reason::Behind { ahead, at_least } => {
            let or_more = if *at_least { " or more" } else { "" };
            let text = match ahead {
                1 => format!("1 job{or_more} of its queue goes first"),
                ahead => format!("{ahead} jobs{or_more} of its queue go first"),
            };
            Said { ahead: Some(*ahead), ahead_at_least: *at_least, ..Said::new(Said::BEHIND, text) }
        }
        Reason::NoWorker { elsewhere: 0 } => {
            Said::new(Said::NO_WORKER, format!("no worker is registered for its queue, {queue}, nor for any other"))
        }
        Reason::NoWorker { elsewhere } => {
            let others = if *elsewhere == 1 { "1 is registered for" } else { "others are registered for" };
            let count = if *elsewhere == 1 { String::new() } else { format!("{elsewhere} ") };
            let text = format!("no worker is registered for its queue, {queue}; {count}{others} other queues");
            Said { count: Some(*elsewhere), ..Said::new(Said::NO_WORKER, text) }
        }
        Reason::Full { gate, running, max, holders } => hurdle::full(gate, *running, *max, holders),
        Reason::NoToken { gate, next_at } => hurdle::no_token(gate, *next_at),
        Reason::Closed { gate, until } => hurdle::closed(gate, *until),
        Reason::BreakerOpen { gate, probe_at } => hurdle::breaker_open(gate, *probe_at),
        Reason::Probing { gate } => hurdle::probing(gate),
        Reason::WaitsFor { parents, count } => {
            let text = match count {
                1 => "it waits for a job that has not ended".to_owned(),
                count => format!("it waits for {count} jobs that have not ended"),
            };
            Said { parents: shown(parents), count: Some(*count), ..Said::new(Said::WAITS_FOR, text) }
        }
        Reason::HeldFor { parents, count } => {
            let what = if *count == 1 { "a job it waits for has" } else { "jobs it waits for have" };
            let text = format!(
                "{what} failed, been cancelled or been forgotten, and it is held for that: retry them, run it all the same \
                 (POST /v1/jobs/{id}/run), or cancel it (POST /v1/jobs/{id}/cancel)"
            );
            Said { parents: shown(parents), count: Some(*count), ..Said::new(Said::HELD_FOR, text) }
        }
        Reason::WaitsForSteps { workflow, unfinished } => {
            let jobs = match unfinished {
                1 => "1 job has".to_owned(),
                unfinished => format!("{unfinished} jobs have"),
            };
            let text = format!("it is the callback of workflow {}, of which {jobs} not ended", workflow.0);
            let said = Said::new(Said::WAITS_FOR_STEPS, text);
            Said { count: Some(*unfinished), workflow_id: Some(workflow.0), ..said }
        }
        Reason::MadeBy { schedule, occurrence } => {
            let occurrence = stamp(*occurrence);
            let said = Said::new(Said::MADE_BY, format!("schedule {schedule} made it, for {occurrence}"));
            Said { schedule_id: Some(schedule.to_string()), occurrence: Some(occurrence), ..said }
        }
        Reason::HeldBy { worker, until } => {
            let until = stamp(*until);
            let text = format!("worker {} holds it, until {until} if it is not heard from", worker.0);
            Said { until: Some(until), worker_id: Some(worker.0), ..Said::new(Said::HELD_BY, text) }
        }
        Reason::CancelAsked => Said::new(Said::CANCEL_REQUESTED, "its worker is told to stop with its next heartbeat"),
        Reason::AttemptsUsedUp { attempts, max } => {
            Said::new(Said::ATTEMPTS_USED_UP, format!("it failed {attempts} times, and max_attempts is {max}"))
        }
        Reason::CrashesUsedUp { crashes, max } => {
            let text = format!("it lost its worker {crashes} times, and max_crashes is {max}");
            Said::new(Said::CRASHES_USED_UP, text)
        }
        Reason::FailedForGood => Said::new(Said::FAILED_FOR_GOOD, "its worker said never to retry it"),
        Reason::Finished => Said::new(Said::FINISHED, "it is done"),
        Reason::Cancelled { reason: Some(why) } => Said::new(Said::CANCELLED, format!("it was cancelled: {why}")),
        Reason::Cancelled { reason: None } => Said::new(Said::CANCELLED, "it was cancelled"),
        Reason::NextUp => Said::new(Said::NEXT_UP, "the next claim of its queue gets it"),
    }
}

fn shown(parents: &[Parent]) -> Vec<ReasonParent> {
    parents.iter().map(|one| ReasonParent { job_id: one.id.uuid(), status: one.status.map(status) }).collect()
}

#[cfg(test)]
mod tests {
    use mainspring_core::id::{WorkerId, WorkflowId};
    use mainspring_core::lifecycle::Status;
    use mainspring_core::time::Time;
    use uuid::Uuid;

    use super::*;

    fn said(why: &Reason) -> Said {
        reason(why, JobId::MIN, &QueueName::parse("mail/eu").expect("a name"))
    }

    #[test]
    fn what_was_paused_is_said_with_how_to_resume_it() {
        let id = JobId::MIN;
        let text = format!("the job is paused; resume it: mainspring job resume {id}, or POST /v1/jobs/{id}/resume");
        assert_eq!(said(&Reason::JobPaused).text, text);
        let text =
            "its queue is paused; resume it: mainspring queue resume mail/eu, or POST /v1/queues/mail%2Feu/resume";
        assert_eq!(said(&Reason::QueuePaused).text, text);
    }

    #[test]
    fn a_reason_carries_its_facts_beside_its_sentence() {
        let until = Time::from_millis(1_796_115_600_000);
        let held = said(&Reason::HeldBy { worker: WorkerId(Uuid::nil()), until });
        assert_eq!((held.code.as_str(), held.until), (Said::HELD_BY, Some(stamp(until))));
        assert_eq!(held.worker_id, Some(Uuid::nil()));
        assert!(held.text.contains("2026-12-01T09:00:00.000Z"), "{}", held.text);

        let behind = said(&Reason::Behind { ahead: 10_000, at_least: true });
        assert_eq!((behind.ahead, behind.ahead_at_least), (Some(10_000), true));
        assert_eq!(behind.text, "10000 jobs or more of its queue go first");
        assert_eq!(said(&Reason::Behind { ahead: 1, at_least: false }).text, "1 job of its queue goes first");
    }

    #[test]
    fn what_it_waits_for_is_named_and_counted() {
        let parents =
            vec![Parent { id: JobId::MIN, status: Some(Status::Running) }, Parent { id: JobId::MIN, status: None }];
        let waits = said(&Reason::WaitsFor { parents: parents.clone(), count: 30 });
        assert_eq!((waits.code.as_str(), waits.count, waits.parents.len()), (Said::WAITS_FOR, Some(30), 2));
        assert_eq!(waits.parents[1].status, None);
        let held = said(&Reason::HeldFor { parents, count: 1 });
        assert!(held.text.contains(&format!("POST /v1/jobs/{}/run", JobId::MIN)), "{}", held.text);
        let steps = said(&Reason::WaitsForSteps { workflow: WorkflowId(Uuid::nil()), unfinished: 1 });
        assert!(steps.text.ends_with("of which 1 job has not ended"), "{}", steps.text);
    }

    #[test]
    fn nobody_there_is_told_from_nobody_for_this_queue() {
        assert!(said(&Reason::NoWorker { elsewhere: 0 }).text.ends_with("nor for any other"));
        let one = "no worker is registered for its queue, mail/eu; 1 is registered for other queues";
        assert_eq!(said(&Reason::NoWorker { elsewhere: 1 }).text, one);
        let some = "no worker is registered for its queue, mail/eu; 3 others are registered for other queues";
        assert_eq!(said(&Reason::NoWorker { elsewhere: 3 }).text, some);
    }
}
