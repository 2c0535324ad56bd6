//! A database of its own for each test, copied from one that is migrated once. It goes when its test does.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{OnceLock, mpsc};
use std::thread;

use tokio_postgres::{Client, NoTls};

use super::Server;
use crate::postgres::{Options, migrate_up};

/// An empty database that goes when this is dropped.
#[derive(Debug)]
pub struct Database {
    name: String,
}

const TEMPLATE: &str = "mainspring_template";
/// Connections of a store in a test: there are many of them at once.
const CONNECTIONS: usize = 8;

impl Database {
    /// With our schema, and nothing in it.
    pub fn new() -> Database {
        Database::copy(TEMPLATE)
    }

    /// Without a schema.
    pub fn bare() -> Database {
        Database::copy("template0")
    }

    fn copy(template: &str) -> Database {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let name = format!("home_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        ask(format!("CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy"));
        Database { name }
    }

    pub fn url(&self) -> String {
        Server::get().url(&self.name)
    }

    pub fn tcp_url(&self) -> String {
        Server::get().tcp_url(&self.name)
    }

    pub fn options(&self) -> Options {
        // The suites look at every job, to the millisecond.
        Options { connections_max: CONNECTIONS, has_buckets: false, ..Options::new(self.url()) }
    }

    /// A connection beside those of the store.
    pub async fn connect(&self) -> Client {
        connect(&self.url()).await
    }
}

impl Default for Database {
    fn default() -> Database {
        Database::new()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        ask(format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
    }
}

struct Ask {
    sql: String,
    done: mpsc::Sender<()>,
}

/// Has the thread that makes and drops databases do this. It has a runtime of its own, so that every test can ask, also
/// one that is being dropped.
fn ask(sql: String) {
    static ASKS: OnceLock<mpsc::Sender<Ask>> = OnceLock::new();
    let asks = ASKS.get_or_init(|| {
        let (asks, asked) = mpsc::channel();
        thread::spawn(move || serve(asked));
        asks
    });
    let (done, wait) = mpsc::channel();
    asks.send(Ask { sql, done }).expect("the thread lives as long as the process");
    wait.recv().expect("databases can be made and dropped; its words are above");
}

fn serve(asked: mpsc::Receiver<Ask>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let server = Server::get();
        let client = connect(&server.url("postgres")).await;
        client.batch_execute(&format!("CREATE DATABASE {TEMPLATE} TEMPLATE template0")).await.expect("it is new");
        migrate_up(&Options::new(server.url(TEMPLATE))).await.expect("a bare database can be migrated");
        // Blocks the runtime between asks, where nothing else is to be done.
        for Ask { sql, done } in asked {
            client.batch_execute(&sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
            // Who asked may be gone.
            done.send(()).ok();
        }
    });
}

impl Server {
    /// A connection to one of its databases; none while it is down.
    pub async fn connect(&self, database: &str) -> Option<Client> {
        try_connect(&self.url(database)).await.ok()
    }
}

async fn connect(url: &str) -> Client {
    try_connect(url).await.expect("the test server answers")
}

async fn try_connect(url: &str) -> Result<Client, tokio_postgres::Error> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(async move { drop(connection.await) });
    Ok(client)
}
