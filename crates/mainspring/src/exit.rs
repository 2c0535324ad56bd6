//! How the program ends: the exit codes, and which error gets which. Prints what is wrong and what to do about it.

use std::io;
use std::process::ExitCode;

use mainspring_store::moving::MoveError;
use mainspring_store::postgres::{LoadError, OpenError};
use mainspring_worker::Error as ClientError;

const REFUSED: u8 = 1;
const USAGE: u8 = 2;
/// As `diff` and others have it for "there is a difference, and no trouble".
const DIFFERS: u8 = 2;
const UNREACHABLE: u8 = 3;
const NOT_FOUND: u8 = 4;
const ENDED_BADLY: u8 = 5;
const AILING: u8 = 6;

/// For `--help`.
pub const HELP: &str = "\
Exit codes:
  0  done
  1  refused: the server, the machine or the store said no
  2  usage: a flag, an argument or the configuration is wrong; with --dry-run: something would change
  3  unreachable: no server or database there, or it cannot answer now; try later
  4  not found: there is no such job, schedule, queue, limit or worker
  5  the job that was waited for failed or was cancelled
  6  doctor: something is worse than a notice";

/// The command line or the configuration is wrong in a way that only shows when it is read as a whole.
#[derive(Debug)]
pub struct Usage(pub String);

/// The job that was waited for did not complete.
#[derive(Debug)]
pub struct EndedBadly(pub String);

/// A dry run found something to change. No error, and its exit code says so.
#[derive(Debug)]
pub struct Differs;

/// The doctor found something that is worse than a notice. No error, and its exit code says so.
#[derive(Debug)]
pub struct Ailing;

impl std::fmt::Display for Ailing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("something is worse than a notice")
    }
}

impl std::fmt::Display for Differs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("something would change")
    }
}

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::fmt::Display for EndedBadly {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Ailing {}
impl std::error::Error for Differs {}
impl std::error::Error for Usage {}
impl std::error::Error for EndedBadly {}

pub fn report(error: &anyhow::Error) -> ExitCode {
    // `mainspring job list | head -1` is not an error.
    let gone = error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe);
    if gone {
        return ExitCode::SUCCESS;
    }
    if error.is::<Differs>() {
        return ExitCode::from(DIFFERS);
    }
    if error.is::<Ailing>() {
        return ExitCode::from(AILING);
    }
    eprintln!("error: {}", say(error));
    if let Some(hint) = hint(error) {
        eprintln!("hint: {hint}");
    }
    ExitCode::from(code(error))
}

/// The error and its causes, each once: some errors say their cause themselves.
fn say(error: &anyhow::Error) -> String {
    error.chain().fold(String::new(), |said, cause| {
        let cause = cause.to_string();
        let cause = cause.trim_end();
        match said.as_str() {
            "" => cause.to_owned(),
            told if told.ends_with(cause) => said,
            told => format!("{told}: {cause}"),
        }
    })
}

fn code(error: &anyhow::Error) -> u8 {
    if error.is::<Usage>() {
        return USAGE;
    }
    if error.is::<EndedBadly>() {
        return ENDED_BADLY;
    }
    let opening = error.downcast_ref::<MoveError>().and_then(|error| match error {
        MoveError::Target(LoadError::Open(error)) => Some(error),
        _ => None,
    });
    match error.downcast_ref::<OpenError>().or(opening) {
        Some(OpenError::BadAddress(_) | OpenError::BadRoots(_)) => return USAGE,
        Some(OpenError::Unreachable { .. }) => return UNREACHABLE,
        _ => {}
    }
    match error.downcast_ref::<ClientError>() {
        Some(ClientError::Address(_)) => USAGE,
        Some(error) if error.problem().is_some_and(|problem| problem.status == 404) => NOT_FOUND,
        Some(ClientError::Unreachable { .. } | ClientError::Busy { .. } | ClientError::Protocol { .. }) => UNREACHABLE,
        _ => REFUSED,
    }
}

fn hint(error: &anyhow::Error) -> Option<String> {
    match error.downcast_ref::<ClientError>()? {
        ClientError::Unreachable { .. } => {
            Some("start a server with `mainspring serve`, or name another with --server or MAINSPRING_SERVER".into())
        }
        ClientError::Protocol { .. } => Some("is it a Mainspring server, and of this version?".into()),
        ClientError::Busy { retry_after: Some(after), .. } => Some(format!("try again in {after:?}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use anyhow::Context;
    use mainspring_wire::{Problem, problem};

    use super::*;

    fn problem(kind: &str) -> Box<Problem> {
        let status = if [problem::NOT_FOUND, problem::UNKNOWN_WORKER].contains(&kind) { 404 } else { 0 };
        Box::new(Problem { kind: kind.into(), status, ..Problem::default() })
    }

    #[test]
    fn every_cause_is_said_once() {
        let disk = || io::Error::other("no room");
        assert_eq!(say(&anyhow::Error::from(disk()).context("could not write")), "could not write: no room");
        assert_eq!(say(&anyhow::Error::from(disk()).context("could not write: no room")), "could not write: no room");
        let twice = anyhow::Error::from(disk()).context("could not write: no room").context("could not start");
        assert_eq!(say(&twice), "could not start: could not write: no room");
        assert_eq!(say(&anyhow::anyhow!("a file\n")), "a file");
    }

    #[test]
    fn each_error_has_its_exit_code() {
        let check = |error: anyhow::Error, expected: u8| assert_eq!(code(&error), expected, "{error}");
        check(anyhow::anyhow!("anything"), 1);
        check(Usage("u".into()).into(), 2);
        check(EndedBadly("e".into()).into(), 5);
        check(OpenError::Unreachable { place: "d on h".into(), why: "refused".into() }.into(), 3);
        check(OpenError::Older { place: "d on h".into(), behind: 1 }.into(), 1);
        check(ClientError::Address("a".into()).into(), 2);
        check(ClientError::Refused(problem(problem::CONFLICT)).into(), 1);
        check(ClientError::Refused(problem(problem::NOT_FOUND)).into(), 4);
        check(ClientError::Refused(problem(problem::UNKNOWN_WORKER)).into(), 4);
        check(ClientError::Broken(problem(problem::INTERNAL)).into(), 1);
        check(ClientError::Busy { retry_after: None, problem: problem(problem::UNAVAILABLE) }.into(), 3);
        let unreachable = ClientError::Unreachable { call: "GET".into(), source: "refused".into() };
        check(anyhow::Error::from(unreachable).context("could not list"), 3);
        let wrapped: anyhow::Result<()> = Err(Usage("u".into())).context("more");
        check(wrapped.expect_err("is one"), 2);
    }
}
