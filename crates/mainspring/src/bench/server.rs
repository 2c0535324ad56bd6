//! The server a bench starts for itself: this very executable, in a folder of its own, on a free port, gone afterwards. Also
//! what it used of the machine. Only `serve` knows how to serve.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};

use crate::clock;
use crate::serve::ADDRESS_LABEL;
use crate::store_kind::StoreKind;

/// No start takes longer, whatever the backlog.
const START_WAIT_MAX: Duration = Duration::from_secs(300);
const STOP_WAIT_MAX: Duration = Duration::from_secs(60);

#[derive(Clone, Debug)]
pub struct Options {
    pub store: StoreKind,
    /// Where the folder is made; the machine's temporary folder if nothing is said.
    pub within: Option<PathBuf>,
}

#[derive(Debug)]
pub struct OwnServer {
    store: StoreKind,
    dir: TempDir,
    child: Child,
    pub address: SocketAddr,
}

/// What a process used so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usage {
    pub cpu_seconds: f64,
    /// Resident memory of its own: without the page cache that the store's map shares.
    pub rss_anon_bytes: u64,
}

/// How a server is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Asked,
    Killed,
}

impl OwnServer {
    pub async fn start(options: &Options) -> anyhow::Result<OwnServer> {
        let mut builder = tempfile::Builder::new();
        let dir = match &options.within {
            Some(within) => {
                std::fs::create_dir_all(within)?;
                builder.prefix("mainspring-bench-").tempdir_in(within)
            }
            None => builder.prefix("mainspring-bench-").tempdir(),
        };
        let dir = dir.context("could not make a folder for the server")?;
        let (child, address) = spawn(&options.store, dir.path()).await?;
        Ok(OwnServer { store: options.store.clone(), dir, child, address })
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Ends it, starts it again on the same folder, and answers how long the start took until it was ready.
    pub async fn restart(&mut self, end: End) -> anyhow::Result<Duration> {
        self.end(end).await?;
        let started = clock::instant();
        (self.child, self.address) = spawn(&self.store, self.dir.path()).await?;
        Ok(started.elapsed())
    }

    pub async fn end(&mut self, end: End) -> anyhow::Result<()> {
        let signal = match end {
            End::Asked => Signal::TERM,
            End::Killed => Signal::KILL,
        };
        kill_process(self.pid()?, signal).context("could not signal the server")?;
        let ended = tokio::time::timeout(STOP_WAIT_MAX, self.child.wait());
        let status = ended.await.map_err(|_| anyhow!("the server did not end within {STOP_WAIT_MAX:?}"))??;
        if end == End::Asked && !status.success() {
            bail!("the server ended with {status}");
        }
        Ok(())
    }

    pub fn usage(&self) -> anyhow::Result<Usage> {
        usage_of(&self.pid()?.as_raw_nonzero().to_string())
    }

    fn pid(&self) -> anyhow::Result<Pid> {
        let id = self.child.id().and_then(|id| i32::try_from(id).ok());
        id.and_then(Pid::from_raw).ok_or_else(|| anyhow!("the server has ended"))
    }
}

/// What this process used so far.
pub fn own_usage() -> anyhow::Result<Usage> {
    usage_of("self")
}

fn usage_of(pid: &str) -> anyhow::Result<Usage> {
    let read = |file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}"));
    let (stat, status) = (read("stat")?, read("status")?);
    parse_usage(&stat, &status).ok_or_else(|| anyhow!("/proc/{pid} could not be understood"))
}

async fn spawn(store: &StoreKind, dir: &Path) -> anyhow::Result<(Child, SocketAddr)> {
    let program = std::env::current_exe().context("could not find this program")?;
    let stores = match store {
        StoreKind::Embedded => vec!["embedded"],
        StoreKind::Memory => vec!["memory"],
        StoreKind::Postgres(addresses) => addresses.iter().map(String::as_str).collect(),
    };
    let mut command = Command::new(program);
    command.args(["serve", "--listen", "127.0.0.1:0", "--log-level", "warn", "--data-dir"]).arg(dir);
    for store in stores {
        command.args(["--store", store]);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().context("could not start the server")?;
    let stderr = child.stderr.take().expect("stderr is piped");
    let mut lines = BufReader::new(stderr).lines();
    let address = tokio::time::timeout(START_WAIT_MAX, address(&mut lines))
        .await
        .map_err(|_| anyhow!("the server was not ready within {START_WAIT_MAX:?}"))??;
    tokio::spawn(pass_on(lines));
    Ok((child, address))
}

async fn address(lines: &mut Lines<BufReader<ChildStderr>>) -> anyhow::Result<SocketAddr> {
    let mut said = String::new();
    while let Some(line) = lines.next_line().await? {
        if let Some(url) = line.trim().strip_prefix(ADDRESS_LABEL) {
            let address = url.trim().trim_start_matches("http://");
            return address.parse().with_context(|| format!("{line:?} has no address"));
        }
        said.push_str(&line);
        said.push('\n');
    }
    bail!("the server ended before it was ready:\n{said}")
}

/// What the server logs while it is measured is worth seeing. It says little at level `warn`.
async fn pass_on(mut lines: Lines<BufReader<ChildStderr>>) {
    while let Ok(Some(line)) = lines.next_line().await {
        let banner = line.starts_with(' ') || line.is_empty();
        if !banner {
            eprintln!("server: {line}");
        }
    }
}

/// `stat` has the name in brackets, which may hold anything; the fields are counted from behind it.
fn parse_usage(stat: &str, status: &str) -> Option<Usage> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    let rss = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    let rss_kib: u64 = rss.trim().strip_suffix("kB")?.trim().parse().ok()?;
    let ticks = rustix::param::clock_ticks_per_second();
    Some(Usage { cpu_seconds: (user + system) as f64 / ticks as f64, rss_anon_bytes: rss_kib * 1024 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_read_from_proc() {
        let stat = "77 (a ) b) S 1 77 77 0 -1 4194560 1 2 3 4 250 50 0 0 20 0 9 0 1 2 3";
        let usage = parse_usage(stat, "Name:\tx\nRssAnon:\t    2048 kB\nRssFile:\t 9 kB\n").expect("it is understood");
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        assert_eq!(usage, Usage { cpu_seconds: 300.0 / ticks, rss_anon_bytes: 2 << 20 });
        assert_eq!(parse_usage(stat, "Name:\tx\n"), None);
        assert_eq!(parse_usage("77", "RssAnon:\t 1 kB"), None);
    }

    #[test]
    fn our_own_usage_is_understood() {
        assert!(own_usage().expect("it is understood").rss_anon_bytes > 0);
    }
}
