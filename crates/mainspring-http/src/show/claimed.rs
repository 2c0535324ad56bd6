//! Prints claimed jobs. By hand, because a `RawValue` of the wire type would check the data of every job again: at a
//! hundred thousand jobs a second that is a tenth of a core. The test holds it to the wire type byte for byte.

use std::io::Write as _;

use mainspring_core::job::Claimed;
use mainspring_core::store::Settled;
use mainspring_core::time::Time;
use mainspring_wire::Problem;

use crate::convert::stamp;
use crate::routes::settlements::Words;
use crate::show::{failure, push};

/// The fixed words of one job with its ids and times, rounded up.
const JOB_BYTES: usize = 416;

pub(crate) fn claimed_jobs(jobs: &[Claimed]) -> Vec<u8> {
    let mut answer = Vec::with_capacity(16 + bytes(jobs));
    print_jobs(&mut answer, jobs);
    answer.push(b'}');
    answer
}

/// The same, and what the settlements came to that were sent with the claim.
pub(crate) fn settled_and_claimed(
    words: &Words,
    settled: &[Settled],
    claimed: Result<&[Claimed], &Problem>,
) -> Vec<u8> {
    let jobs = claimed.unwrap_or_default();
    let mut answer = Vec::with_capacity(32 + words.bytes() + bytes(jobs));
    print_jobs(&mut answer, jobs);
    answer.extend_from_slice(b",\"settled\":");
    words.print(&mut answer, settled);
    if let Err(problem) = claimed {
        answer.extend_from_slice(b",\"problem\":");
        push(&mut answer, problem);
    }
    answer.push(b'}');
    answer
}

/// About as long as the list gets.
fn bytes(jobs: &[Claimed]) -> usize {
    let data: usize = jobs.iter().map(|claimed| claimed.job.data.as_str().len()).sum();
    jobs.len() * JOB_BYTES + data
}

/// The beginning of an answer; its end is the caller's.
fn print_jobs(answer: &mut Vec<u8>, jobs: &[Claimed]) {
    answer.extend_from_slice(b"{\"jobs\":[");
    for (at, claimed) in jobs.iter().enumerate() {
        if at > 0 {
            answer.push(b',');
        }
        print(answer, claimed);
    }
    answer.push(b']');
}

/// In the order of `wire::ClaimedJob`. Types, queues, tenants and steps are words that JSON need not escape.
fn print(answer: &mut Vec<u8>, claimed: &Claimed) {
    let Claimed { job, lease, tally, checkpoint, last_error } = claimed;
    answer.extend_from_slice(b"{\"job_id\":");
    push(answer, &job.id.uuid());
    answer.extend_from_slice(b",\"fence\":");
    push(answer, &lease.fence.0);
    answer.extend_from_slice(b",\"type\":\"");
    answer.extend_from_slice(job.kind.as_str().as_bytes());
    answer.extend_from_slice(b"\",\"queue\":\"");
    answer.extend_from_slice(job.queue.as_str().as_bytes());
    answer.extend_from_slice(b"\",\"tenant\":\"");
    answer.extend_from_slice(job.tenant.as_str().as_bytes());
    answer.extend_from_slice(b"\",\"data\":");
    answer.extend_from_slice(job.data.as_str().as_bytes());
    let (attempt, max_attempts, priority) = (tally.attempts, job.max_attempts, job.priority.value());
    write!(answer, ",\"attempt\":{attempt},\"max_attempts\":{max_attempts},\"priority\":{priority}")
        .expect("memory takes all");
    print_time(answer, ",\"run_at\":", Some(job.run_at));
    print_time(answer, ",\"claimed_at\":", Some(lease.claimed_at));
    print_time(answer, ",\"timeout_at\":", lease.timeout_at);
    print_time(answer, ",\"deadline\":", job.deadline);
    if let Some(checkpoint) = checkpoint {
        answer.extend_from_slice(b",\"checkpoint\":");
        answer.extend_from_slice(checkpoint.as_str().as_bytes());
    }
    if let Some(error) = last_error {
        answer.extend_from_slice(b",\"last_error\":");
        push(answer, &failure(error));
    }
    if !job.tags.is_empty() {
        answer.extend_from_slice(b",\"tags\":");
        let tags: Vec<&str> = job.tags.iter().map(|tag| tag.as_str()).collect();
        push(answer, &tags);
    }
    if let Some(place) = &job.workflow {
        answer.extend_from_slice(b",\"workflow_id\":");
        push(answer, &place.workflow.0);
        answer.extend_from_slice(b",\"step\":\"");
        answer.extend_from_slice(place.step.as_str().as_bytes());
        answer.push(b'"');
    }
    answer.push(b'}');
}

fn print_time(answer: &mut Vec<u8>, name: &str, time: Option<Time>) {
    if let Some(time) = time {
        answer.extend_from_slice(name.as_bytes());
        push(answer, &stamp(time));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mainspring_core::id::{Fence, JobId, WorkerId, WorkflowId};
    use mainspring_core::job::{Failure, Job, Json, Keys, Lease, Membership, Role, Tally};
    use mainspring_core::name::{QueueName, StepName, Tag, TenantName, TypeName};
    use mainspring_core::rank::Priority;
    use mainspring_core::retry::RetryPolicy;
    use mainspring_wire::{self as wire, ClaimAnswer};
    use uuid::Uuid;

    use super::*;
    use crate::problem::Refusal;
    use crate::routes::settlements::accepted;

    fn claimed(full: bool) -> Claimed {
        let at = Time::from_millis(1_796_115_600_123);
        let step = StepName::parse("resize/1").expect("a name");
        let place = Membership { workflow: WorkflowId(Uuid::from_u128(9)), step, role: Role::Step };
        let job = Job {
            id: JobId::from(Uuid::from_u128(0x0198_0000_0000_7000_8000_0000_0000_0001)),
            tenant: TenantName::default_tenant(),
            queue: QueueName::parse("post/eu:1.a_b-c").expect("a name"),
            kind: TypeName::parse("mail").expect("a name"),
            data: Json(r#"{ "a": [1, 2.50], "ä": "\u0041" }"#.into()),
            priority: Priority::new(-7).expect("in range"),
            submitted_at: at,
            run_at: at,
            deadline: full.then_some(at),
            expires_at: None,
            retry: RetryPolicy::default(),
            max_attempts: 3,
            max_crashes: 5,
            timeout: full.then_some(Duration::from_secs(1)),
            tags: if full { vec![Tag::parse("a \"quoted\" tag").expect("a tag")] } else { vec![] },
            idempotency: None,
            depends_on: vec![],
            workflow: full.then(|| Box::new(place)),
            origin: None,
            keys: Keys::default(),
        };
        let lease = Lease {
            fence: Fence(u64::MAX),
            worker: WorkerId(Uuid::nil()),
            claimed_at: at,
            started_at: None,
            timeout_at: full.then_some(at),
            cancel_asked: None,
        };
        let last_error = full.then(|| Failure { kind: Some("IO".into()), ..Failure::new("line\nbreak \"q\"") });
        let checkpoint = full.then(|| Json("[ 3 ]".into()));
        Claimed { job, lease, tally: Tally { attempts: 2, failures: 1, crashes: 0 }, checkpoint, last_error }
    }

    #[test]
    fn claimed_jobs_are_printed_as_the_wire_type_prints_them() {
        for jobs in [vec![], vec![claimed(false)], vec![claimed(true), claimed(false)]] {
            let printed = String::from_utf8(claimed_jobs(&jobs)).expect("is text");
            let read: ClaimAnswer = serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"));
            assert_eq!(read.jobs.len(), jobs.len());
            assert_eq!(serde_json::to_string(&read).expect("prints"), printed);
        }
    }

    #[test]
    fn settled_and_claimed_are_printed_as_the_wire_type_prints_them() {
        let ends = [1, 2].map(|fence| wire::Settlement::new(Uuid::from_u128(7), fence, wire::Outcome::Success)).into();
        let words = accepted(ends, &TenantName::default_tenant()).expect("both are good").words;
        let settled = [Settled::Stale, Settled::Stale];
        let jobs = [claimed(true), claimed(false)];
        let problem = Refusal::unknown_worker().at("worker_id").0;
        for claimed in [Ok(&jobs[..]), Ok(&[]), Err(&*problem)] {
            let printed = String::from_utf8(settled_and_claimed(&words, &settled, claimed)).expect("is text");
            let read: ClaimAnswer = serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"));
            assert_eq!((read.jobs.len(), read.settled.len()), (claimed.map_or(0, <[_]>::len), 2));
            assert_eq!(read.problem.as_ref(), claimed.err());
            assert_eq!(serde_json::to_string(&read).expect("prints"), printed);
        }
    }
}
