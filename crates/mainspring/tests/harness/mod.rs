//! Real processes for tests: a server on a free port with a folder of its own, and the program itself as its client. Nothing
//! outlives the test: what is dropped is killed.

#![allow(dead_code, reason = "each test program uses its part of it")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// No start and no end of a process takes longer, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program under test, away from the settings of whoever runs the tests.
pub fn mainspring() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mainspring"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("MAINSPRING_") {
            command.env_remove(name);
        }
    }
    command
}

/// A process that is killed when it is dropped, and whose stderr can be read line by line while it runs.
pub struct Process {
    child: Child,
    lines: Receiver<String>,
    said: String,
}

impl Process {
    pub fn start(command: &mut Command) -> Process {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let stderr = BufReader::new(child.stderr.take().expect("stderr is piped"));
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Process { child, lines, said: String::new() }
    }

    /// The first line on stderr from here on that `wanted` answers something for.
    pub fn wait_for_line<T>(&mut self, wanted: impl Fn(&str) -> Option<T>) -> T {
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => {
                    self.said.push_str(&line);
                    self.said.push('\n');
                    if let Some(found) = wanted(&line) {
                        return found;
                    }
                }
                Err(RecvTimeoutError::Timeout) => panic!("the line did not come; so far:\n{}", self.said),
                Err(RecvTimeoutError::Disconnected) => panic!("the process ended; it said:\n{}", self.said),
            }
        }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        let id = i32::try_from(self.child.id()).expect("process numbers are small");
        let pid = rustix::process::Pid::from_raw(id).expect("a process has a number");
        rustix::process::kill_process(pid, signal).expect("the process is there");
    }

    /// Waits for the end. The lines end when the process has.
    pub fn wait(&mut self) -> ExitStatus {
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => {
                    self.said.push_str(&line);
                    self.said.push('\n');
                }
                Err(RecvTimeoutError::Disconnected) => return self.child.wait().expect("it can be waited for"),
                Err(RecvTimeoutError::Timeout) => panic!("the process did not end; it said:\n{}", self.said),
            }
        }
    }

    /// Everything on stderr that was read so far.
    pub fn said(&self) -> &str {
        &self.said
    }

    /// Everything on stderr until now.
    pub fn said_by_now(&mut self) -> &str {
        while let Ok(line) = self.lines.try_recv() {
            self.said.push_str(&line);
            self.said.push('\n');
        }
        &self.said
    }

    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A server on the embedded store.
pub struct Server {
    pub process: Process,
    pub url: String,
    dir: PathBuf,
    flags: Vec<String>,
}

impl Server {
    /// Starts on a folder, and answers when it is ready.
    pub fn start(dir: &Path) -> Server {
        Server::start_with(dir, &[])
    }

    pub fn start_with(dir: &Path, flags: &[&str]) -> Server {
        Server::start_at("127.0.0.1:0", dir, flags)
    }

    fn start_at(address: &str, dir: &Path, flags: &[&str]) -> Server {
        let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let mut command = mainspring();
        command.args(["serve", "--listen", address, "--data-dir"]).arg(dir).args(&flags);
        let mut process = Process::start(&mut command);
        let url = process.wait_for_line(|line| Some(line.trim().strip_prefix("address")?.trim().to_owned()));
        Server { process, url, dir: dir.to_owned(), flags }
    }

    /// `kill -9`.
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// SIGTERM, and the end.
    pub fn terminate(&mut self) -> ExitStatus {
        self.process.signal(rustix::process::Signal::TERM);
        self.process.wait()
    }

    /// The same folder again, in a new process at a new address. The old one must be gone.
    pub fn restart(&mut self) {
        let flags: Vec<&str> = self.flags.iter().map(String::as_str).collect();
        *self = Server::start_with(&self.dir, &flags);
    }

    /// As [`Server::restart`], at the address of the old one: those who were given it find the new one there.
    pub fn restart_in_place(&mut self) {
        let flags: Vec<&str> = self.flags.iter().map(String::as_str).collect();
        let address = self.url.strip_prefix("http://").expect("a server speaks http").to_owned();
        *self = Server::start_at(&address, &self.dir, &flags);
    }

    /// The client commands, pointed at this server.
    pub fn client(&self, args: &[&str]) -> Command {
        let mut command = mainspring();
        command.env("MAINSPRING_SERVER", &self.url).args(args);
        command
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        Ran::from(self.client(args).output().expect("the program runs"))
    }

    pub fn run_with_stdin(&self, args: &[&str], stdin: &str) -> Ran {
        let mut command = self.client(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        child.stdin.take().expect("stdin is piped").write_all(stdin.as_bytes()).expect("it reads");
        Ran::from(child.wait_with_output().expect("the program ends"))
    }

    /// Runs with `-o json`; it must succeed.
    pub fn json(&self, args: &[&str]) -> Value {
        let ran = self.run(&[args, &["-o", "json"]].concat()).succeeded();
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{args:?}: {error}: {}", ran.stdout))
    }

    /// A worker that runs a shell script for each job of a queue.
    pub fn worker(&self, queue: &str, script: &str) -> Process {
        let args = ["worker", "--exec", "sh", "--queue", queue, "--concurrency", "2", "--later", "100ms"];
        let mut command = self.client(&args);
        Process::start(command.args(["--kill-after", "500ms", "--", "-c", script]))
    }
}

/// How a client command ended.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Ran {
    #[track_caller]
    pub fn succeeded(self) -> Ran {
        assert_eq!(self.code, 0, "{self:?}");
        self
    }

    #[track_caller]
    pub fn failed_with(self, code: i32, words: &str) -> Ran {
        assert_eq!(self.code, code, "{self:?}");
        assert!(self.stderr.contains(words), "{words:?} is not in {:?}", self.stderr);
        self
    }

    /// Whether some line of stdout holds all these words.
    #[track_caller]
    pub fn shows(self, words: &[&str]) -> Ran {
        let line = self.stdout.lines().find(|line| words.iter().all(|word| line.contains(word)));
        assert!(line.is_some(), "no line has {words:?} in\n{}", self.stdout);
        self
    }
}
