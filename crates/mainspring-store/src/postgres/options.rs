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
        Options { url: url.into(), password: None, connections_max: Self::CONNECTIONS_DEFAULT, has_buckets: true }
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
/// A node that was frozen in the middle of a transaction must not hold its rows for longer.
const IDLE_IN_TRANSACTION_MAX: Duration = Duration::from_secs(30);

/// The hot tables change their size faster than statistics can follow, so plans are not left to guesses: by index, in
/// nested loops, is right for every verb. Answers are durable whatever the server's default is.
const SESSION: &str = "-c search_path=mainspring -c default_transaction_isolation=read\\ committed \
    -c synchronous_commit=on -c jit=off -c plan_cache_mode=force_generic_plan -c enable_seqscan=off \
    -c enable_hashjoin=off -c enable_mergejoin=off -c enable_memoize=off";

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
        Ok(Address { config, verify, root_certificate })
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
    let ms = |span: Duration| span.as_millis();
    let mut options = String::from(SESSION);
    let spans = [
        ("statement_timeout", STATEMENT_MAX),
        ("lock_timeout", LOCK_MAX),
        ("idle_in_transaction_session_timeout", IDLE_IN_TRANSACTION_MAX),
    ];
    for (name, span) in spans {
        options.push_str(&format!(" -c {name}={}", ms(span)));
    }
    if let Some(said) = config.get_options() {
        // What the address says comes last and wins.
        options.push_str(&format!(" {said}"));
    }
    config.options(options);
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
