//! The client: a cheap handle on one server, one method per call. Never retries: a call that failed is the caller's to repeat.
//!
//! `base_url` says where, `call` sends and sorts what comes back; the other files are the calls, named as in the API.

mod base_url;
mod call;

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

use base_url::BaseUrl;

pub use events::Events;
pub use schedules::Expect;

use crate::error::{Error, Result};

/// How long a call may take, unless [`Client::with_timeout`] says otherwise.
const TIMEOUT_DEFAULT: Duration = Duration::from_secs(30);
const CONNECT_WAIT_MAX: Duration = Duration::from_secs(5);
/// Servers and what stands before them close idle connections after about a minute; ours go first.
const IDLE_MAX: Duration = Duration::from_secs(30);

/// A handle on one server. Cloning it is cheap, and the clones share their connections.
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
    base: BaseUrl,
}

impl Client {
    /// A client of the server at this address, such as `http://127.0.0.1:7710`. Connects with the first call.
    ///
    /// ```
    /// use mainspring_worker::Client;
    ///
    /// assert!(Client::new("http://127.0.0.1:7710").is_ok());
    /// let error = Client::new("https://jobs.example.com").unwrap_err();
    /// assert!(error.to_string().contains("https"));
    /// ```
    pub fn new(url: &str) -> Result<Client> {
        let base = BaseUrl::parse(url)?;
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(CONNECT_WAIT_MAX));
        let http = HttpClient::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_MAX)
            .build(connector);
        Ok(Client { shared: Arc::new(Shared { http, base }), timeout: TIMEOUT_DEFAULT, tenant: None })
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

    /// Where the server is, such as `http://127.0.0.1:7710`.
    pub fn url(&self) -> &str {
        self.shared.base.as_str()
    }

    /// How long a call may take.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("url", &self.url())
            .field("timeout", &self.timeout)
            .field("tenant", &self.tenant())
            .finish()
    }
}
