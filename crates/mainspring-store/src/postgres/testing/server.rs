//! One throw-away PostgreSQL server for this process. It is started by the first who asks and ends with the process,
//! however that ends: a shell holds the other end of a pipe, and when the pipe closes it stops the server and removes
//! its directory.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

/// How often another port is tried when the one that was free a moment ago is not.
const STARTS_MAX: usize = 5;

#[derive(Debug)]
pub struct Server {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    /// Its standard input is what keeps the server alive.
    _keeper: Child,
}

/// How a server is made to go down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Transactions are rolled back, connections closed, everything is written.
    Fast,
    /// A crash: its processes go at once, and the next start recovers from the log.
    Immediate,
}

/// The user that PostgreSQL runs as if we are root, which it refuses to be.
struct User {
    id: u32,
    group: u32,
}

/// A disk in memory, where there is one: nothing of a test need outlive it.
const MEMORY_DISK: &str = "/dev/shm";
/// What the databases of a whole run may take. Containers often have far less there.
const ROOM_BYTES_MIN: u64 = 2 << 30;

fn is_roomy(folder: &str) -> bool {
    rustix::fs::statvfs(folder).is_ok_and(|disk| disk.f_bavail * disk.f_frsize >= ROOM_BYTES_MIN)
}

impl Server {
    /// The server of this process.
    pub fn get() -> &'static Server {
        static SERVER: OnceLock<Server> = OnceLock::new();
        SERVER.get_or_init(Server::start)
    }

    /// One of its own, for a test that stops it or starts it anew.
    pub fn start() -> Server {
        let programs = programs();
        let user = user();
        let folder = tempfile::Builder::new()
            .prefix("mainspring-postgres-")
            .tempdir_in(if is_roomy(MEMORY_DISK) { MEMORY_DISK.into() } else { std::env::temp_dir() })
            .expect("a directory for the server")
            .keep();
        if let Some(user) = &user {
            chown(&folder, Some(user.id), Some(user.group)).expect("root may give a directory away");
        }
        initialize(&programs, &folder, user.as_ref());
        for _ in 0..STARTS_MAX {
            let port = free_port();
            if let Some(keeper) = keep(&programs, &folder, user.as_ref(), port) {
                return Server { programs, folder, port, _keeper: keeper };
            }
        }
        let log = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
        panic!("the PostgreSQL server in {} does not start:\n{log}", folder.display());
    }

    /// The address of one of its databases, through a socket in the file system.
    pub fn url(&self, database: &str) -> String {
        format!("postgres:///{database}?host={}&port={}&user=postgres", self.folder.display(), self.port)
    }

    /// The same through TCP, where TLS is spoken.
    pub fn tcp_url(&self, database: &str) -> String {
        format!("postgres://postgres@localhost:{}/{database}", self.port)
    }

    /// Goes down and comes up again, with the same data at the same address. Returns when it takes connections. Not for the server of
    /// the process, on which other tests are at work.
    pub fn restart(&self, stop: Stop) {
        let mode = match stop {
            Stop::Fast => "--mode=fast",
            Stop::Immediate => "--mode=immediate",
        };
        // What it is started with is remembered in its directory. Its output goes to its log, or we would wait for its end.
        let done = run_as(&self.programs.join("pg_ctl"), user().as_ref())
            .arg(format!("--pgdata={}/data", self.folder.display()))
            .arg(format!("--log={}/log", self.folder.display()))
            .args([mode, "--wait", "restart"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()
            .expect("pg_ctl is beside initdb");
        assert!(done.success(), "the server in {} does not come up again: {done}", self.folder.display());
    }

    /// What signed its certificate: itself, for the host `localhost`.
    pub fn root_certificate(&self) -> PathBuf {
        self.folder.join("server.crt")
    }
}

/// Where `initdb` and its kind are: on the PATH, or where Debian puts them, the newest first.
fn programs() -> PathBuf {
    let on_path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&on_path).collect();
    let version = |folder: &PathBuf| folder.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok());
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<PathBuf> = versions.map(|entry| entry.path()).collect();
    versions.sort_by_key(|folder| std::cmp::Reverse(version(folder)));
    folders.extend(versions.into_iter().map(|folder| folder.join("bin")));
    let found = folders.into_iter().find(|folder| folder.join("initdb").exists());
    found.expect("PostgreSQL is not installed: run scripts/test.sh, or `apt-get install postgresql`")
}

fn user() -> Option<User> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let users = std::fs::read_to_string("/etc/passwd").expect("every system has its users");
    let line = users.lines().find(|line| line.starts_with("postgres:"));
    let fields: Vec<&str> = line.expect("the package postgresql makes the user postgres").split(':').collect();
    let number = |at: usize| fields[at].parse().expect("a user has a number");
    Some(User { id: number(2), group: number(3) })
}

fn run_as(program: &Path, user: Option<&User>) -> Command {
    let mut command = Command::new(program);
    if let Some(user) = user {
        command.uid(user.id).gid(user.group);
    }
    command.current_dir("/");
    command
}

/// Sorts as people do, not as bytes do, so that a query that forgot to say `COLLATE "C"` is found out.
fn initialize(programs: &Path, folder: &Path, user: Option<&User>) {
    let made = run_as(&programs.join("initdb"), user)
        .args(["--username=postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"])
        .args(["--locale-provider=icu", "--icu-locale=en-US", "--no-instructions", "--pgdata"])
        .arg(folder.join("data"))
        .output()
        .expect("initdb was found");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    for (name, text) in [("server.crt", include_str!("server.crt")), ("server.key", include_str!("server.key"))] {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("the directory is ours");
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&path, permissions).expect("the file is ours");
        if let Some(user) = user {
            chown(&path, Some(user.id), Some(user.group)).expect("root may give a file away");
        }
    }
}

/// Nothing in these tests survives the machine, so nothing has to reach a disk.
const SETTINGS: &str = "fsync=off full_page_writes=off max_connections=300 shared_buffers=64MB wal_level=minimal \
    max_wal_senders=0 ssl=on listen_addresses=localhost log_min_messages=warning";

const KEEPER: &str = r#"
trap '' INT TERM HUP
"$1"/pg_ctl --pgdata="$2"/data --log="$2"/log --options="$3" --wait start >/dev/null || exit 1
echo started
read -r _
"$1"/pg_ctl --pgdata="$2"/data --mode=fast --wait stop >/dev/null
rm -rf "$2"
"#;

fn keep(programs: &Path, folder: &Path, user: Option<&User>, port: u16) -> Option<Child> {
    let place = folder.display();
    let mut options = format!(
        "-c port={port} -c unix_socket_directories={place} -c ssl_cert_file={place}/server.crt \
         -c ssl_key_file={place}/server.key"
    );
    for setting in SETTINGS.split_whitespace() {
        options.push_str(&format!(" -c {setting}"));
    }
    let mut keeper = run_as(Path::new("/bin/sh"), user)
        .args(["-c", KEEPER, "keeper"])
        .args([programs, folder])
        .arg(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("every system has a shell");
    let mut line = String::new();
    let said = keeper.stdout.take().expect("it is piped");
    BufReader::new(said).read_line(&mut line).expect("the shell speaks text");
    (line == "started\n").then_some(keeper)
}

fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("there is a free port");
    listener.local_addr().expect("it listens").port()
}
