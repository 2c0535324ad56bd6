//! Three `mainspring serve` on one database, each at an address that it keeps over its deaths.

use std::time::Duration;

use mainspring_store::postgres::testing;
use mainspring_worker::Client;

use crate::Form;
use crate::harness::Server;

pub const NODES: usize = 3;

pub struct Nodes {
    servers: Vec<Server>,
    /// What those said who are gone.
    past: Vec<String>,
    _dir: tempfile::TempDir,
}

impl Nodes {
    pub fn start(database: &testing::Server, form: Form) -> Nodes {
        let dir = tempfile::tempdir().expect("a directory");
        let (store, term) = (database.url("postgres"), format!("{}ms", form.term.as_millis()));
        let flags = ["--store", &store, "--term", &term, "--log-level", "info"];
        let servers = (0..NODES).map(|_| Server::start_with(&dir.path().join("unused"), &flags)).collect();
        Nodes { servers, past: Vec::new(), _dir: dir }
    }

    /// A client that knows all of them.
    pub fn client(&self, timeout: Duration) -> Client {
        let urls: Vec<&str> = self.servers.iter().map(|server| server.url.as_str()).collect();
        Client::new(&urls.join(",")).expect("addresses").with_timeout(timeout)
    }

    /// A client of this one alone.
    pub fn client_of(&self, node: usize, timeout: Duration) -> Client {
        Client::new(&self.servers[node].url).expect("an address").with_timeout(timeout)
    }

    /// Where it listens, as the cluster shows it.
    pub fn address(&self, node: usize) -> &str {
        self.servers[node].url.strip_prefix("http://").expect("a server speaks http")
    }

    pub fn signal(&self, node: usize, signal: rustix::process::Signal) {
        self.servers[node].process.signal(signal);
    }

    /// `kill -9`, and a new one in its place.
    pub fn replace(&mut self, node: usize) {
        self.servers[node].kill();
        self.again(node);
    }

    /// Waits for the end of one that was told to go.
    pub fn drained(&mut self, node: usize) {
        let status = self.servers[node].process.wait();
        assert!(status.success(), "a drained node ends well, not with {status}: {}", self.servers[node].process.said());
    }

    /// A new one in the place of one that is gone.
    pub fn again(&mut self, node: usize) {
        self.past.push(self.servers[node].process.said_by_now().to_owned());
        self.servers[node].restart_in_place();
    }

    /// Everything that they have said.
    pub fn logs(&mut self) -> String {
        let now: Vec<&str> = self.servers.iter_mut().map(|server| server.process.said_by_now()).collect();
        let past = self.past.iter().map(String::as_str);
        past.chain(now).collect::<Vec<_>>().join("\n——\n")
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("what the nodes said:\n{}", self.logs());
        }
    }
}
