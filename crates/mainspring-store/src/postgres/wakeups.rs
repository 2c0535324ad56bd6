//! Hints between nodes by `LISTEN` and `NOTIFY`. Promises nothing: while its connection is lost a node hears nothing and is not
//! heard, and polling stands behind.
//!
//! One connection of its own listens and speaks. It never speaks inside of a transaction that carries jobs: a commit that
//! notifies takes a lock that all such commits of the server share, and would have them wait for each other's disks. What
//! comes while a notification is under way goes out together with the next.

mod hints;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use mainspring_core::wakeups::{Wakeup, Wakeups};
use tokio::sync::{Mutex as AsyncMutex, Notify, mpsc, watch};
use tokio::task::AbortHandle;
use tokio_postgres::{AsyncMessage, Client, Error};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::error::said;
use super::options::Address;
use hints::{Outbox, read};

pub(super) const CHANNEL: &str = "mainspring";
/// How many calls a node may be behind in listening before it misses some.
const BEHIND_MAX: usize = 1024;
const RECONNECT_PAUSE: Duration = Duration::from_millis(500);
/// What comes so soon after a hint that was sent goes together: under load a hint for each call would cost as much as the call.
const HINTS_PAUSE: Duration = Duration::from_millis(10);

/// The wakeups of one node.
#[derive(Debug)]
pub struct PostgresWakeups {
    shared: Arc<Shared>,
    heard: AsyncMutex<mpsc::Receiver<Vec<Wakeup>>>,
    /// How often it has begun to listen.
    begun: watch::Receiver<u64>,
    task: AbortHandle,
}

#[derive(Debug)]
struct Shared {
    outbox: Mutex<Outbox>,
    /// There is something in the outbox.
    filled: Notify,
}

impl Shared {
    fn put(&self, hints: Vec<Wakeup>) {
        self.outbox.lock().expect("nobody panics with it").put(hints);
        self.filled.notify_one();
    }

    fn take(&self) -> Outbox {
        std::mem::take(&mut *self.outbox.lock().expect("nobody panics with it"))
    }
}

impl PostgresWakeups {
    pub(super) fn start(address: Address, tls: MakeRustlsConnect) -> PostgresWakeups {
        let shared = Arc::new(Shared { outbox: Mutex::default(), filled: Notify::new() });
        let (hear, heard) = mpsc::channel(BEHIND_MAX);
        let (begin, begun) = watch::channel(0);
        let line = Line { address, tls, shared: shared.clone(), hear, begin };
        let task = tokio::spawn(line.hold()).abort_handle();
        PostgresWakeups { shared, heard: AsyncMutex::new(heard), begun, task }
    }

    /// Waits until it has begun to hear others so often: once, and once more for each connection that it lost.
    pub async fn listening(&self, times: u64) {
        let mut begun = self.begun.clone();
        // Its sender goes only with the task, which goes only with us.
        begun.wait_for(|begun| *begun >= times).await.expect("the task lives as long as we do");
    }
}

impl Drop for PostgresWakeups {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[async_trait]
impl Wakeups for PostgresWakeups {
    async fn wake(&self, hints: Vec<Wakeup>) {
        if !hints.is_empty() {
            self.shared.put(hints);
        }
    }

    async fn wakes(&self) -> Vec<Wakeup> {
        match self.heard.lock().await.recv().await {
            Some(hints) => hints,
            None => std::future::pending().await,
        }
    }
}

/// The connection, held for as long as the node lives.
struct Line {
    address: Address,
    tls: MakeRustlsConnect,
    shared: Arc<Shared>,
    hear: mpsc::Sender<Vec<Wakeup>>,
    begin: watch::Sender<u64>,
}

impl Line {
    async fn hold(self) {
        loop {
            let why = match self.session().await {
                Ok(()) => "the server closed the connection".into(),
                Err(error) => said(&error),
            };
            tracing::warn!("hints of other nodes are not heard, polling stands in: {why}");
            pause(RECONNECT_PAUSE).await;
        }
    }

    async fn session(&self) -> Result<(), Error> {
        let (client, mut connection) = self.address.config.connect(self.tls.clone()).await?;
        let mut messages = stream::poll_fn(move |cx| connection.poll_message(cx));
        let (name, own) = watch::channel(0);
        let listen = async {
            while let Some(message) = messages.next().await {
                if let AsyncMessage::Notification(said) = message? {
                    self.heard(*own.borrow(), said.process_id(), said.payload());
                }
            }
            Ok(())
        };
        // Listening also drives the connection, so both go on at once.
        tokio::select! {
            ended = listen => ended,
            ended = self.speak(&client, name) => ended,
        }
    }

    fn heard(&self, own: i32, from: i32, payload: &str) {
        if own == from {
            return;
        }
        let hints = read(payload);
        if !hints.is_empty() && self.hear.try_send(hints).is_err() {
            tracing::debug!("hints of other nodes are lost: this one is {BEHIND_MAX} behind");
        }
    }

    async fn speak(&self, client: &Client, name: watch::Sender<i32>) -> Result<(), Error> {
        // A hint need not survive the server.
        client.batch_execute(&format!("SET synchronous_commit = off; LISTEN {CHANNEL}")).await?;
        let own = client.query_one("SELECT pg_backend_pid()", &[]).await?;
        name.send_replace(own.get(0));
        self.begin.send_modify(|begun| *begun += 1);
        let notify = client.prepare("SELECT pg_notify($1, said) FROM unnest($2::text[]) AS said").await?;
        loop {
            self.shared.filled.notified().await;
            let payloads = self.shared.take().payloads();
            if !payloads.is_empty() {
                client.query(&notify, &[&CHANNEL, &payloads]).await?;
                pause(HINTS_PAUSE).await;
            }
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "hints and lost connections can wait; nothing is decided by it")]
async fn pause(time: Duration) {
    tokio::time::sleep(time).await;
}
