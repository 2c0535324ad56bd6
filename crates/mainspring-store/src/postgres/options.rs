//! What a PostgreSQL store is told: where the database is and how it is reached. Connects to nothing.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

/// Where a store is, and how much of the server it takes.
#[derive(Clone, PartialEq, Eq)]
pub struct Options {
    /// `postgres://user:password@host:port/database?sslmode=verify-full`, as libpq writes it.
    pub url: String,
    /// In place of the one in the address, so that it need not be there.
    pub password: Option<String>,
    /// How many connections this node opens at most, beside the one that listens.
    pub connections_max: usize,
    /// Whether history is kept in buckets of time that are dropped whole, so that a job may be kept for a while longer than was
    /// asked. Without, it is forgotten to the millisecond, row by row.
    pub has_buckets: bool,
    /// How long others may have to wait for a node that froze in the middle of its transactions; the server has ended all of them
    /// then. No longer than a term: whoever takes its seats over waits for them too.
    pub frozen_max: Duration,
}

/// The password stays out of logs.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = without_password(&self.url);
        let connections_max = &self.connections_max;
        f.debug_struct("Options").field("url", &url).field("connections_max", connections_max).finish_non_exhaustive()
    }
}

impl Options {
    pub const CONNECTIONS_DEFAULT: usize = 16;
    pub const CONNECTIONS_MIN: usize = 2;

    pub fn new(url: impl Into<String>) -> Options {
        Options {
            url: url.into(),
            password: None,
            connections_max: Self::CONNECTIONS_DEFAULT,
            has_buckets: true,
            frozen_max: FROZEN_MAX_DEFAULT,
        }
    }

    /// Whether this is written like the address of a PostgreSQL database.
    pub fn is_address(text: &str) -> bool {
        SCHEMES.iter().any(|scheme| text.starts_with(scheme))
    }
}

const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// How long connecting may take.
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// A dead peer is noticed within about three of these.
const KEEPALIVE: Duration = Duration::from_secs(5);
/// No statement of ours takes this long; one that does is given up, and the caller may repeat it.
const STATEMENT_MAX: Duration = Duration::from_secs(60);
/// How long a row may be held by somebody else before a call is given up.
const LOCK_MAX: Duration = Duration::from_secs(20);
/// As long as a term is by default.
const FROZEN_MAX_DEFAULT: Duration = Duration::from_secs(10);
/// How long a transaction of somebody who migrates may do nothing.
const IDLE_IN_TRANSACTION_MAX: Duration = Duration::from_secs(30);

/// The hot tables change their size faster than statistics can follow, so plans are not left to guesses: by index, in its order, in
/// nested loops, is right for every verb. (A plan from when a table was empty sorted all that was due to find the first of it, a
/// thousand times over.) Answers are durable whatever the server's default is.
const SESSION: &str = "-c search_path=mainspring -c default_transaction_isolation=read\\ committed \
    -c synchronous_commit=on -c jit=off -c plan_cache_mode=force_generic_plan -c enable_seqscan=off \
    -c enable_bitmapscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c enable_memoize=off";

/// How far the server's certificate is looked at. As in libpq.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verify {
    /// Encrypted, but by anybody: `prefer` and `require`.
    Nothing,
    /// Signed by somebody we trust: `verify-ca`, and `require` with a root certificate.
    Chain,
    /// … and it is the host we asked for: `verify-full`.
    Full,
}

/// An address that was understood.
#[derive(Clone, Debug)]
pub(super) struct Address {
    pub config: Config,
    pub verify: Verify,
    /// Whom we trust; what the system trusts if it is left out.
    pub root_certificate: Option<PathBuf>,
    /// Settings of the session that the address itself gives.
    said: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAddress {
    #[error("the address of the store does not begin with postgres://")]
    Scheme,
    #[error("sslmode={0} is not one of disable, allow, prefer, require, verify-ca, verify-full")]
    SslMode(String),
    #[error("the address of the store cannot be read: {0}; write postgres://user:password@host:port/database")]
    Unreadable(String),
}

impl Address {
    pub fn parse(url: &str) -> Result<Address, BadAddress> {
        if !Options::is_address(url) {
            return Err(BadAddress::Scheme);
        }
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let mut ssl_mode = "prefer".to_owned();
        let mut root_certificate = None;
        let mut rest = Vec::new();
        for part in query.split('&').filter(|part| !part.is_empty()) {
            match part.split_once('=') {
                Some(("sslmode", mode)) => ssl_mode = mode.to_owned(),
                Some(("sslrootcert", path)) => root_certificate = Some(PathBuf::from(unescaped(path))),
                _ => rest.push(part),
            }
        }
        let (mode, verify) = match ssl_mode.as_str() {
            "disable" => (SslMode::Disable, Verify::Nothing),
            "allow" | "prefer" => (SslMode::Prefer, Verify::Nothing),
            "require" if root_certificate.is_none() => (SslMode::Require, Verify::Nothing),
            "require" | "verify-ca" => (SslMode::Require, Verify::Chain),
            "verify-full" => (SslMode::Require, Verify::Full),
            _ => return Err(BadAddress::SslMode(ssl_mode)),
        };
        let mut config: Config = format!("{base}?{}", rest.join("&"))
            .parse()
            .map_err(|error: tokio_postgres::Error| BadAddress::Unreadable(reason(&error)))?;
        config.ssl_mode(mode);
        settle(&mut config);
        let said = config.get_options().map(str::to_owned);
        config.options(session(LOCK_MAX, IDLE_IN_TRANSACTION_MAX, said.as_deref()));
        Ok(Address { config, verify, root_certificate, said })
    }

    /// The same, for connections that carry jobs. When a node freezes, some of its transactions hold locks and others stand in
    /// line for them, and each of these gets its turn and lets it pass. The first half of the time bounds how long one stands in line, the second how
    /// long it holds. With 16 connections in line and the idle time alone bounded, to 2 s, a frozen node held up all others for 25 s.
    pub fn giving_way(&self, frozen_max: Duration) -> Address {
        let mut address = self.clone();
        address.config.options(session(frozen_max / 2, frozen_max / 2, self.said.as_deref()));
        address
    }

    /// Which database on which host, without the password.
    pub fn place(&self) -> String {
        let hosts = self.config.get_hosts().iter().map(|host| match host {
            tokio_postgres::config::Host::Tcp(name) => name.clone(),
            tokio_postgres::config::Host::Unix(path) => path.display().to_string(),
        });
        let hosts: Vec<String> = hosts.collect();
        let database = self.config.get_dbname().or(self.config.get_user()).unwrap_or_default();
        format!("{database} on {}", hosts.join(", "))
    }
}

/// What every connection of ours has, unless the address says otherwise.
fn settle(config: &mut Config) {
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_MAX);
    }
    if config.get_application_name().is_none() {
        config.application_name("mainspring");
    }
    config.keepalives_idle(KEEPALIVE).keepalives_interval(KEEPALIVE).keepalives_retries(3);
}

/// The settings of a session. What the address says comes last and wins.
fn session(lock_max: Duration, idle_in_transaction_max: Duration, said: Option<&str>) -> String {
    let spans = [
        ("statement_timeout", STATEMENT_MAX),
        ("lock_timeout", lock_max),
        ("idle_in_transaction_session_timeout", idle_in_transaction_max),
    ];
    let spans = spans.map(|(name, span)| format!("-c {name}={}", span.as_millis())).join(" ");
    format!("{SESSION} {spans} {}", said.unwrap_or_default())
}

fn reason(error: &tokio_postgres::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), |cause| cause.to_string())
}

/// `%2F` to `/`. What is not written like that stays as it is.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, more @ ..] = rest {
        let code = match (first, more) {
            (b'%', [high, low, ..]) => {
                std::str::from_utf8(&[*high, *low]).ok().and_then(|hex| u8::from_str_radix(hex, 16).ok())
            }
            _ => None,
        };
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &more[2..] } else { more };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// `postgres://user:…@host/database`.
pub fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return "…".into() };
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) => {
            format!("{}@{host}", user.split_once(':').map_or(user.to_owned(), |(user, _)| format!("{user}:…")))
        }
        None => authority.to_owned(),
    };
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let shown = |part: &str| if part.starts_with("password=") { "password=…".to_owned() } else { part.to_owned() };
    let query: Vec<String> = query.split('&').filter(|part| !part.is_empty()).map(shown).collect();
    let mark = if query.is_empty() { "" } else { "?" };
    format!("{scheme}://{authority}{path}{mark}{}", query.join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ssl_modes_mean_what_libpq_means() {
        let check = |query: &str, mode: SslMode, verify: Verify| {
            let address = Address::parse(&format!("postgres://u:p@h:1/d?{query}")).expect("an address");
            assert_eq!((address.config.get_ssl_mode(), address.verify), (mode, verify), "{query}");
        };
        check("", SslMode::Prefer, Verify::Nothing);
        check("sslmode=disable", SslMode::Disable, Verify::Nothing);
        check("sslmode=allow", SslMode::Prefer, Verify::Nothing);
        check("application_name=a&sslmode=require", SslMode::Require, Verify::Nothing);
        check("sslmode=require&sslrootcert=/a", SslMode::Require, Verify::Chain);
        check("sslmode=verify-ca", SslMode::Require, Verify::Chain);
        check("sslmode=verify-full&sslrootcert=%2Fa%20b", SslMode::Require, Verify::Full);
    }

    #[test]
    fn what_is_escaped_in_an_address_is_read() {
        let address = Address::parse("postgres://u:p%40@h/d?sslrootcert=%2Fa%20b%").expect("an address");
        assert_eq!(address.root_certificate, Some("/a b%".into()));
        assert_eq!(address.config.get_password(), Some(&b"p@"[..]));
        assert_eq!(address.place(), "d on h");
    }

    #[test]
    fn waiting_for_a_frozen_node_is_bounded_unless_the_address_says_otherwise() {
        let settings = |url: &str| {
            let address = Address::parse(url).expect("an address").giving_way(Duration::from_secs(8));
            address.config.get_options().expect("it has settings").to_owned()
        };
        let plain = settings("postgres://h/d");
        assert!(plain.contains("-c lock_timeout=4000 -c idle_in_transaction_session_timeout=4000"), "{plain}");
        let said = settings("postgres://h/d?options=-c%20lock_timeout%3D7");
        assert!(said.ends_with(" -c lock_timeout=7"), "{said}");
    }

    #[test]
    fn a_bad_address_is_refused_with_advice() {
        let refused = |url: &str, words: &str| {
            let said = Address::parse(url).expect_err("is refused").to_string();
            assert!(said.contains(words), "{url}: {said}");
        };
        refused("mysql://h/d", "postgres://");
        refused("postgres://h/d?sslmode=maybe", "verify-full");
        refused("postgres://h:port/d", "postgres://user:password@host:port/database");
        refused("postgres://h/d?sslcert=x", "sslcert");
    }

    #[test]
    fn a_password_is_never_shown() {
        let check = |url: &str, shown: &str| {
            assert_eq!(without_password(url), shown);
            assert!(!format!("{:?}", Options::new(url)).contains("secret"), "{url}");
        };
        check("postgres://u:secret@h:1/d?sslmode=require", "postgres://u:…@h:1/d?sslmode=require");
        check("postgres://h/d?password=secret&user=u", "postgres://h/d?password=…&user=u");
        check("postgres://u@h", "postgres://u@h");
        check("secret", "…");
    }
}
