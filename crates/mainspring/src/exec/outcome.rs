//! What a run of a program means for its job. Pure: a run in, an outcome out.

use std::time::Duration;

use mainspring_worker::{Failure, Outcome, StopReason};
use serde::Serialize;

use crate::exec::runner::{Ending, Ran};
use crate::exec::tail::Output;

/// `EX_TEMPFAIL` of sysexits.h: the job comes again later, without using up an attempt.
const EXIT_LATER: i32 = 75;
/// What qmail calls a hard failure: the job is a dead letter at once.
const EXIT_NEVER: i32 = 100;

pub const EXIT_CODES_HELP: &str = "\
The program gets the job's data as JSON on stdin, and in its environment
MAINSPRING_JOB_ID, _FENCE, _TYPE, _QUEUE, _TENANT, _ATTEMPT, _MAX_ATTEMPTS, _SERVER and,
where the attempt before saved one, _CHECKPOINT. Its exit code is the result:
  0      completed; output tails and duration are kept as the result
  75     not now: comes again after --later, using up no attempt
  100    never: a dead letter at once
  other  failed: tried again as the job's retry policy says
What it leaves running in its process group is killed when it ends.";

/// The result of a completed job.
#[derive(Debug, Serialize)]
struct Completed {
    exit_code: i32,
    duration_ms: u64,
    stdout: String,
    stderr: String,
    /// How much of each output is not shown.
    #[serde(skip_serializing_if = "is_zero")]
    stdout_cut_bytes: u64,
    #[serde(skip_serializing_if = "is_zero")]
    stderr_cut_bytes: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// `stop` is why the run was asked to end, if it was; `later` is how long "not now" is.
pub fn outcome(ran: Ran, stop: Option<StopReason>, later: Duration) -> Outcome {
    let failure = |message: String, kind: &str| Failure::new(message).kind(kind).detail(detail(&ran));
    let took = format!("{:.1} s", ran.duration.as_secs_f64());
    match (ran.ending, stop) {
        (Ending::Exited { code: code @ 0 }, _) => Outcome::done(Completed {
            exit_code: code,
            duration_ms: u64::try_from(ran.duration.as_millis()).unwrap_or(u64::MAX),
            stdout_cut_bytes: ran.stdout.cut_bytes,
            stderr_cut_bytes: ran.stderr.cut_bytes,
            stdout: ran.stdout.text,
            stderr: ran.stderr.text,
        }),
        (Ending::Exited { code: EXIT_LATER }, _) => Outcome::Snooze(later),
        (Ending::Exited { code: EXIT_NEVER }, _) => {
            let message = format!("the program exited with code {EXIT_NEVER} after {took}: never retry");
            Outcome::Fail(failure(message, "ExitCode").never_retry())
        }
        (Ending::Exited { code }, _) => {
            Outcome::Fail(failure(format!("the program exited with code {code} after {took}"), "ExitCode"))
        }
        (Ending::Signalled { signal }, _) => {
            Outcome::Fail(failure(format!("the program was ended by signal {signal} after {took}"), "Signal"))
        }
        (Ending::Cancelled, Some(StopReason::ShuttingDown)) => Outcome::Release,
        (Ending::TimedOut, _) | (Ending::Cancelled, Some(StopReason::TimedOut)) => {
            Outcome::Fail(failure(format!("the program was ended after {took}: it took too long"), "Timeout"))
        }
        (Ending::Cancelled, _) => {
            Outcome::Fail(failure(format!("the program was ended after {took}: it was asked to stop"), "Cancelled"))
        }
    }
}

/// Both tails under their headings; stderr first, because the end is what gets cut and stderr tells more.
fn detail(ran: &Ran) -> String {
    let section = |name: &str, output: &Output| match (output.text.is_empty(), output.cut_bytes) {
        (true, _) => String::new(),
        (false, 0) => format!("{name}:\n{}\n", output.text.trim_end()),
        (false, cut) => format!("{name} ({cut} bytes before this):\n{}\n", output.text.trim_end()),
    };
    section("stderr", &ran.stderr) + &section("stdout", &ran.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATER: Duration = Duration::from_secs(30);

    fn ran(ending: Ending) -> Ran {
        let output = |text: &str, cut_bytes| Output { text: text.into(), cut_bytes };
        let duration = Duration::from_millis(1234);
        Ran { ending, stdout: output("out\n", 0), stderr: output("err\n", 7), duration }
    }

    fn failed(ending: Ending, stop: Option<StopReason>) -> Failure {
        match outcome(ran(ending), stop, LATER) {
            Outcome::Fail(failure) => failure,
            other => panic!("{ending:?} is {other:?}"),
        }
    }

    #[test]
    fn exit_code_0_completes_with_the_output_as_result() {
        let Outcome::Done(Some(result)) = outcome(ran(Ending::Exited { code: 0 }), None, LATER) else {
            panic!("it completed")
        };
        assert_eq!(
            result.get(),
            r#"{"exit_code":0,"duration_ms":1234,"stdout":"out\n","stderr":"err\n","stderr_cut_bytes":7}"#
        );
    }

    #[test]
    fn exit_code_75_comes_again_later_and_100_never() {
        let snoozed = outcome(ran(Ending::Exited { code: 75 }), None, LATER);
        assert!(matches!(snoozed, Outcome::Snooze(LATER)), "{snoozed:?}");
        assert!(failed(Ending::Exited { code: 100 }, None).retries_never());
        assert!(!failed(Ending::Exited { code: 1 }, None).retries_never());
    }

    #[test]
    fn a_failure_says_how_it_ended_and_shows_the_tails() {
        let check = |ending, stop, message: &str, kind: &str| {
            let failure = failed(ending, stop);
            assert_eq!(failure.error().message, message);
            assert_eq!(failure.error().kind.as_deref(), Some(kind));
            assert_eq!(failure.error().detail.as_deref(), Some("stderr (7 bytes before this):\nerr\nstdout:\nout\n"));
        };
        check(Ending::Exited { code: 3 }, None, "the program exited with code 3 after 1.2 s", "ExitCode");
        check(Ending::Signalled { signal: 11 }, None, "the program was ended by signal 11 after 1.2 s", "Signal");
        let too_long = "the program was ended after 1.2 s: it took too long";
        check(Ending::TimedOut, None, too_long, "Timeout");
        check(Ending::Cancelled, Some(StopReason::TimedOut), too_long, "Timeout");
        let asked = "the program was ended after 1.2 s: it was asked to stop";
        check(Ending::Cancelled, Some(StopReason::Cancelled), asked, "Cancelled");
    }

    #[test]
    fn a_worker_that_shuts_down_gives_the_attempt_back() {
        let given_back = outcome(ran(Ending::Cancelled), Some(StopReason::ShuttingDown), LATER);
        assert!(matches!(given_back, Outcome::Release), "{given_back:?}");
    }
}
