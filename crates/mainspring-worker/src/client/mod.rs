//! The client: a cheap handle on one server or on a cluster, one method per call. Never repeats a call that may have been heard,
//! unless it only reads: a call that failed is the caller's to repeat.
//!
//! `base_url` says where, `nodes` which one of several, `call` sends and sorts what comes back; the other files are the calls,
//! named as in the API.

mod base_url;
mod call;
mod nodes;

mod calls;
mod claims;
mod clock;
mod cluster;
mod dead;
mod doctor;
mod events;
mod forecast;
mod health;
mod jobs;
mod limits;
mod queues;
mod schedules;
mod settlements;
mod sse;
mod submit;
mod workers;
mod workflows;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use http_body_util::Full;
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use nodes::Nodes;

pub use events::Events;
pub use schedules::Expect;

use crate::clock::dice;
use crate::error::{Error, Result};

/// How long a call may take, unless [`Client::with_timeout`] says otherwise.
const TIMEOUT_DEFAULT: Duration = Duration::from_secs(30);
const CONNECT_WAIT_MAX: Duration = Duration::from_secs(5);
/// Servers and what stands before them close idle connections after about a minute; ours go first.
const IDLE_MAX: Duration = Duration::from_secs(30);

/// A handle on one server, or on the nodes of a cluster. Cloning it is cheap, and the clones share their connections.
///
/// ```no_run
/// # async fn run() -> mainspring_worker::Result<()> {
/// use mainspring_worker::{Client, wire::NewJob};
///
/// let client = Client::new("http://127.0.0.1:7710")?;
/// let submitted = client.submit(&NewJob::new("send_mail")).await?;
/// println!("{} is {}", submitted.job_id, submitted.status);
/// # Ok(())
/// # }
/// ```
///
/// # Several nodes
///
/// Any node of a cluster can be asked anything, so a client may be given the addresses of several: `http://a:7710,http://b:7710`.
/// It begins with any of them and stays there. When that node does not answer, or answers that it cannot work (502, 503, 504), the
/// next call goes to the next one. Within one call it goes on by itself only where that is safe: if there was no connection, so that nobody
/// has heard the call, or if the call only reads. In all other cases the error is the caller's, who knows whether the call may be
/// repeated: a submit with an idempotency key, a heartbeat, a claim and a settlement may. [`Worker`](crate::Worker) repeats them.
///
/// A claim that waits at a node is given up when another call finds the node silent: a machine that hangs keeps its connections
/// open. Calls find that out after [`Client::with_timeout`], heartbeats of a worker after a third of its lease.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
    timeout: Duration,
    /// Whose calls they are; the server's default tenant if none.
    tenant: Option<HeaderValue>,
}

/// The connections are some 300 bytes of settings and counters by themselves: too much to copy with every clone.
struct Shared {
    http: HttpClient<HttpConnector, Full<Bytes>>,
    nodes: Nodes,
}

impl Client {
    /// A client of the server at this address, such as `http://127.0.0.1:7710`, or of several that share a store, with commas
    /// between their addresses. Connects with the first call.
    ///
    /// ```
    /// use mainspring_worker::Client;
    ///
    /// assert!(Client::new("http://127.0.0.1:7710").is_ok());
    /// let cluster = Client::new("http://10.0.0.1:7710,http://10.0.0.2:7710")?;
    /// assert_eq!(cluster.urls(), ["http://10.0.0.1:7710", "http://10.0.0.2:7710"]);
    /// let error = Client::new("https://jobs.example.com").unwrap_err();
    /// assert!(error.to_string().contains("https"));
    /// # Ok::<_, mainspring_worker::Error>(())
    /// ```
    pub fn new(url: &str) -> Result<Client> {
        let nodes = Nodes::parse(url, dice())?;
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(CONNECT_WAIT_MAX));
        let http = HttpClient::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_MAX)
            .build(connector);
        Ok(Client { shared: Arc::new(Shared { http, nodes }), timeout: TIMEOUT_DEFAULT, tenant: None })
    }

    /// How long a call may take before it counts as unreachable; 30 s unless set. A claim may take its wait on top.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Client {
        self.timeout = timeout;
        self
    }

    /// Whose jobs, queues, schedules and limits the calls are about; the server's default tenant unless set. Until servers ask
    /// for tokens, whoever reaches one can name any tenant.
    ///
    /// ```
    /// use mainspring_worker::Client;
    ///
    /// let client = Client::new("http://127.0.0.1:7710")?.with_tenant("acme")?;
    /// assert_eq!(client.tenant(), Some("acme"));
    /// # Ok::<_, mainspring_worker::Error>(())
    /// ```
    pub fn with_tenant(mut self, tenant: &str) -> Result<Client> {
        let header = HeaderValue::from_str(tenant).ok().filter(|header| header.to_str().is_ok());
        let Some(header) = header.filter(|_| !tenant.is_empty()) else {
            return Err(Error::Address(format!(
                "{tenant:?} is not the name of a tenant: it is letters, digits and . _ - : /"
            )));
        };
        self.tenant = Some(header);
        Ok(self)
    }

    /// Whose calls they are, if that was said.
    pub fn tenant(&self) -> Option<&str> {
        self.tenant.as_ref().and_then(|header| header.to_str().ok())
    }

    /// Where the server is, such as `http://127.0.0.1:7710`; of several, the one that the next call goes to.
    pub fn url(&self) -> &str {
        let nodes = &self.shared.nodes;
        nodes.base(nodes.current()).as_str()
    }

    /// Every address it was given.
    pub fn urls(&self) -> Vec<&str> {
        self.shared.nodes.bases().map(base_url::BaseUrl::as_str).collect()
    }

    /// How long a call may take.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("urls", &self.urls())
            .field("timeout", &self.timeout)
            .field("tenant", &self.tenant())
            .finish()
    }
}
