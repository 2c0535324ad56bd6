//! Why a job is where it is, in a sentence and in facts.

use mainspring_core::id::JobId;
use mainspring_core::name::QueueName;
use mainspring_engine::{Explanation, Reason};
use mainspring_wire::{self as wire, Reason as Said};

use crate::convert::{stamp, status};

pub(crate) fn explanation(explanation: &Explanation) -> wire::Explanation {
    let job = &explanation.view.job;
    wire::Explanation {
        job_id: job.id.uuid(),
        status: status(explanation.view.status()),
        reasons: explanation.reasons.iter().map(|why| reason(why, job.id, &job.queue)).collect(),
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
        Reason::NoWorker => Said::new(Said::NO_WORKER, "no worker is registered for its queue"),
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

#[cfg(test)]
mod tests {
    use mainspring_core::id::WorkerId;
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
}
