//! One run of a program: started in its own process group, fed, listened to, and ended in time. Knows nothing of jobs, and
//! leaves nothing running.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, Command};
use tokio_util::sync::CancellationToken;

use crate::clock;
use crate::exec::group::Group;
use crate::exec::tail::{Output, Tail};

/// How long the output may stay open after the program itself has ended. Then what it left running is killed.
const LINGER: Duration = Duration::from_secs(1);

/// What to run.
#[derive(Clone, Debug)]
pub struct Program {
    pub path: OsString,
    pub args: Vec<OsString>,
    /// How long after SIGTERM it is killed.
    pub kill_after: Duration,
}

/// One run of it.
#[derive(Debug)]
pub struct Call<'a> {
    pub stdin: &'a [u8],
    pub env: BTreeMap<String, String>,
    pub timeout: Option<Duration>,
    pub cancel: CancellationToken,
}

#[derive(Debug)]
pub struct Ran {
    pub ending: Ending,
    pub stdout: Output,
    pub stderr: Output,
    pub duration: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Exited {
        code: i32,
    },
    Signalled {
        signal: i32,
    },
    /// We ended it: it took too long.
    TimedOut,
    /// We ended it: somebody asked us to.
    Cancelled,
}

impl Program {
    /// An error means that it did not start.
    pub async fn run(&self, call: Call<'_>) -> io::Result<Ran> {
        let started = clock::instant();
        let mut child = self.command(&call).spawn()?;
        let group = Group::of(&child);
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (mut out, mut err) = (Tail::default(), Tail::default());
        let ended = CancellationToken::new();

        let talk = async {
            let listen_out = async { out.drain(stdout.expect("stdout is piped")).await };
            let listen_err = async { err.drain(stderr.expect("stderr is piped")).await };
            tokio::join!(feed(stdin.expect("stdin is piped"), call.stdin), listen_out, listen_err);
        };
        let talk = async {
            let outstayed = async {
                ended.cancelled().await;
                clock::sleep(LINGER).await;
            };
            tokio::select! {
                () = talk => true,
                () = outstayed => false,
            }
        };
        let supervise = async {
            let ending = self.supervise(&mut child, &group, &call).await;
            ended.cancel();
            ending
        };
        let (ending, heard_all) = tokio::join!(supervise, talk);
        let ending = ending?;
        close(group, ending, heard_all);
        Ok(Ran { ending, stdout: out.output(), stderr: err.output(), duration: started.elapsed() })
    }

    fn command(&self, call: &Call<'_>) -> Command {
        let mut command = Command::new(&self.path);
        command.args(&self.args).envs(&call.env);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0).kill_on_drop(true);
        command
    }

    async fn supervise(&self, child: &mut Child, group: &Group, call: &Call<'_>) -> io::Result<Ending> {
        let too_long = async {
            match call.timeout {
                Some(timeout) => clock::sleep(timeout).await,
                None => std::future::pending().await,
            }
        };
        let ending = tokio::select! {
            status = child.wait() => return Ok(how_it_ended(status?)),
            () = call.cancel.cancelled() => Ending::Cancelled,
            () = too_long => Ending::TimedOut,
        };
        group.ask_to_end();
        if tokio::time::timeout(self.kill_after, child.wait()).await.is_err() {
            group.kill();
            child.wait().await?;
        }
        Ok(ending)
    }
}

/// A group that ended by itself and closed its output is over; signalling its number now could reach a stranger. One that
/// was stopped, or that still has the output open, is killed: its number is taken as long as it has members.
fn close(mut group: Group, ending: Ending, heard_all: bool) {
    let by_itself = matches!(ending, Ending::Exited { .. } | Ending::Signalled { .. });
    if by_itself && heard_all {
        group.is_over();
    }
}

/// A program that does not read its payload is none of our business.
async fn feed(mut stdin: ChildStdin, payload: &[u8]) {
    let _ = stdin.write_all(payload).await;
}

fn how_it_ended(status: std::process::ExitStatus) -> Ending {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Exited { code },
        (None, signal) => Ending::Signalled { signal: signal.unwrap_or(0) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Program {
        Program { path: "sh".into(), args: vec!["-c".into(), script.into()], kill_after: Duration::from_millis(200) }
    }

    fn call(stdin: &[u8]) -> Call<'_> {
        Call { stdin, env: BTreeMap::new(), timeout: None, cancel: CancellationToken::new() }
    }

    #[tokio::test]
    async fn the_payload_goes_in_and_the_output_comes_out() {
        let mut call = call(b"{\"to\":\"you\"}");
        call.env.insert("MAINSPRING_JOB_ID".into(), "7".into());
        let ran = sh("cat; echo id=$MAINSPRING_JOB_ID >&2; exit 3").run(call).await.expect("sh starts");
        assert_eq!(ran.ending, Ending::Exited { code: 3 });
        assert_eq!((ran.stdout.text.as_str(), ran.stderr.text.as_str()), ("{\"to\":\"you\"}", "id=7\n"));
    }

    #[tokio::test]
    async fn a_program_that_ignores_a_large_payload_still_ends() {
        let payload = vec![b'1'; 1 << 20];
        let ran = sh("exec 0<&-; exit 0").run(call(&payload)).await.expect("sh starts");
        assert_eq!(ran.ending, Ending::Exited { code: 0 });
    }

    #[tokio::test]
    async fn more_output_than_is_kept_does_not_block_the_program() {
        let ran = sh("head -c 300000 /dev/zero; echo end").run(call(b"")).await.expect("sh starts");
        assert_eq!(ran.ending, Ending::Exited { code: 0 });
        assert!(ran.stdout.text.ends_with("\0end\n"));
        assert_eq!(ran.stdout.cut_bytes + ran.stdout.text.len() as u64, 300_004);
    }

    #[tokio::test]
    async fn a_program_that_does_not_exist_did_not_start() {
        let program = Program { path: "/no/such/program".into(), args: vec![], kill_after: Duration::ZERO };
        assert_eq!(program.run(call(b"")).await.expect_err("cannot start").kind(), io::ErrorKind::NotFound);
    }

    #[tokio::test]
    async fn a_signal_is_told_from_an_exit() {
        let ran = sh("kill -9 $$").run(call(b"")).await.expect("sh starts");
        assert_eq!(ran.ending, Ending::Signalled { signal: 9 });
    }

    #[tokio::test]
    async fn a_timeout_ends_the_program_and_keeps_what_it_said() {
        let call = Call { timeout: Some(Duration::from_millis(300)), ..call(b"") };
        let ran = sh("echo began; sleep 600").run(call).await.expect("sh starts");
        assert_eq!(ran.ending, Ending::TimedOut);
        assert_eq!(ran.stdout.text, "began\n");
        assert!(ran.duration < Duration::from_secs(60));
    }

    #[tokio::test]
    async fn a_timeout_ends_the_whole_group_even_if_it_ignores_the_signal() {
        let call = Call { timeout: Some(Duration::from_millis(300)), ..call(b"") };
        let script = "trap '' TERM; (trap '' TERM; sleep 600) & echo $!; wait";
        let ran = sh(script).run(call).await.expect("sh starts");
        assert_eq!(ran.ending, Ending::TimedOut);
        wait_until_gone(ran.stdout.text.trim()).await;
    }

    #[tokio::test]
    async fn a_cancel_ends_the_program() {
        let cancel = CancellationToken::new();
        let call = Call { cancel: cancel.clone(), ..call(b"") };
        let program = sh("sleep 600");
        let (ran, ()) = tokio::join!(program.run(call), async { cancel.cancel() });
        assert_eq!(ran.expect("sh starts").ending, Ending::Cancelled);
    }

    #[tokio::test]
    async fn what_a_program_leaves_running_is_killed() {
        let ran = sh("sleep 600 & echo $!").run(call(b"")).await.expect("sh starts");
        assert_eq!(ran.ending, Ending::Exited { code: 0 });
        wait_until_gone(ran.stdout.text.trim()).await;
    }

    #[tokio::test]
    async fn a_run_that_is_dropped_kills_its_group() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let pid_file = folder.path().join("pid");
        let script = format!("sleep 600 & echo $! > {0}.new; mv {0}.new {0}; wait", pid_file.display());
        let program = sh(&script);
        let started = async {
            while !pid_file.exists() {
                clock::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::select! {
            _ = program.run(call(b"")) => panic!("it sleeps"),
            () = started => {}
        }
        wait_until_gone(std::fs::read_to_string(&pid_file).expect("it was written").trim()).await;
    }

    /// Killed processes are reaped by init in its own time; a zombie counts as gone.
    async fn wait_until_gone(pid: &str) {
        let alive = || {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            !status.is_empty() && !status.contains("State:\tZ")
        };
        assert!(pid.parse::<u32>().is_ok(), "{pid:?} is no process");
        let gone = async {
            while alive() {
                clock::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), gone).await.expect("the process is gone");
    }
}
