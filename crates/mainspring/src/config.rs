//! What the server is told: flag over `MAINSPRING_SECTION__KEY` over TOML file over default. Opens nothing but the file;
//! whether the values make sense together is asked by `serve`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use figment::Figment;
use figment::error::Kind;
use figment::providers::{Env, Format, Toml};
use mainspring_store::embedded::Options;
use mainspring_store::postgres;
use mainspring_wire::Span;
use serde::{Deserialize, Serialize};

use crate::roles::Roles;
use crate::size::Size;
use crate::store_kind::StoreKind;
use crate::virtual_clock::VirtualClock;

const ENV_PREFIX: &str = "MAINSPRING_";

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    pub server: Server,
    pub store: Store,
    pub jobs: Jobs,
    pub workers: Workers,
    pub log: Log,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Server {
    pub listen: SocketAddr,
    /// Take requests from other machines although there are no tokens and no TLS.
    pub allow_remote: bool,
    /// Time stands still until somebody advances it: for users' tests.
    pub virtual_clock: VirtualClock,
    /// What this node does.
    pub roles: Roles,
    /// How long a node may be silent before others take over what it was doing.
    pub term: Span,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Store {
    pub kind: StoreKind,
    /// Holds the password of a PostgreSQL store; empty if the address has it or none is needed.
    pub password_file: PathBuf,
    /// How many connections to PostgreSQL this node opens at most.
    pub connections: usize,
    pub data_dir: PathBuf,
    /// How large the store may grow.
    pub max_size: Size,
    /// How much of it is kept free for settling and deleting when it is full for submits.
    pub reserve: Size,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Jobs {
    /// How long completed and cancelled jobs are kept.
    pub retention: Span,
    /// How long dead letters are kept.
    pub dead_retention: Span,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Workers {
    /// How long a worker may be silent, unless it asks for something else.
    pub lease: Span,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    pub format: LogFormat,
    /// A level, or directives such as `info,mainspring_engine=debug`.
    pub level: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people
    #[default]
    Text,
    /// One object a line
    Json,
}

impl Default for Server {
    fn default() -> Server {
        let listen = SocketAddr::from(([127, 0, 0, 1], 7710));
        Server {
            listen,
            allow_remote: false,
            virtual_clock: VirtualClock::Off,
            roles: Roles::default(),
            term: mainspring_engine::Settings::default().term.into(),
        }
    }
}

impl Default for Store {
    fn default() -> Store {
        Store {
            kind: StoreKind::Embedded,
            password_file: PathBuf::new(),
            connections: postgres::Options::CONNECTIONS_DEFAULT,
            data_dir: "mainspring-data".into(),
            max_size: Size(Options::MAX_BYTES_DEFAULT),
            reserve: Size(Options::RESERVE_BYTES_DEFAULT),
        }
    }
}

impl Default for Jobs {
    fn default() -> Jobs {
        let settings = mainspring_engine::Settings::default();
        Jobs { retention: settings.retention.into(), dead_retention: settings.dead_retention.into() }
    }
}

impl Default for Workers {
    fn default() -> Workers {
        Workers { lease: mainspring_engine::Settings::default().lease_default.into() }
    }
}

impl Default for Log {
    fn default() -> Log {
        Log { format: LogFormat::Text, level: "info".into() }
    }
}

/// What was said on the command line.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Flags {
    /// Where to listen; port 0 takes a free one [default: 127.0.0.1:7710]
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
    /// Take requests from other machines although there are no tokens and no TLS yet
    #[arg(long)]
    pub allow_remote: bool,
    /// For tests: time stands still, at START or at now, until `mainspring clock advance` moves it
    #[arg(long, value_name = "START", num_args = 0..=1, require_equals = true, default_missing_value = "now")]
    pub virtual_clock: Option<VirtualClock>,
    /// What this node does, of api, scheduler and dispatcher [default: all]
    #[arg(long, value_name = "ROLES")]
    pub roles: Option<Roles>,
    /// How long this node may be silent before others take over its segments [default: 10s]
    #[arg(long, value_name = "DURATION")]
    pub term: Option<Span>,
    /// Who remembers the jobs: embedded, memory, or postgres://user@host/database; given more than once, tenants are spread over
    /// the databases [default: embedded]
    #[arg(long, value_name = "STORE")]
    pub store: Vec<StoreKind>,
    /// Where the embedded store lives [default: mainspring-data]
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// How large the embedded store may grow [default: 1TiB]
    #[arg(long, value_name = "SIZE")]
    pub max_size: Option<Size>,
    /// How long completed and cancelled jobs are kept [default: 1d]
    #[arg(long, value_name = "DURATION")]
    pub retention: Option<Span>,
    /// How long dead letters are kept [default: 30d]
    #[arg(long, value_name = "DURATION")]
    pub dead_retention: Option<Span>,
    /// How long a worker may be silent before its jobs go to others [default: 30s]
    #[arg(long, value_name = "DURATION")]
    pub lease: Option<Span>,
    /// How the log is written [default: text]
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
    /// What is logged: a level, or directives such as `info,mainspring_engine=debug` [default: info]
    #[arg(long, value_name = "LEVEL")]
    pub log_level: Option<String>,
}

impl Config {
    pub fn load(file: Option<&Path>, flags: &Flags) -> anyhow::Result<Config> {
        let mut figment = Figment::new();
        if let Some(file) = file {
            figment = figment.merge(Toml::file_exact(file));
        }
        // Names without a section, such as MAINSPRING_SERVER, are the client's.
        let env = Env::prefixed(ENV_PREFIX).filter(|name| name.as_str().contains("__")).split("__");
        flags.over(figment.merge(env).extract().map_err(|error| anyhow!(say(&error)))?)
    }
}

impl Flags {
    fn over(&self, mut config: Config) -> anyhow::Result<Config> {
        fn set<T: Clone>(value: &mut T, flag: &Option<T>) {
            if let Some(flag) = flag {
                *value = flag.clone();
            }
        }
        config.server.allow_remote |= self.allow_remote;
        set(&mut config.server.listen, &self.listen);
        set(&mut config.server.virtual_clock, &self.virtual_clock);
        set(&mut config.server.roles, &self.roles);
        set(&mut config.server.term, &self.term);
        set(&mut config.store.kind, &StoreKind::together(self.store.clone()).map_err(|why| anyhow!("--store: {why}"))?);
        set(&mut config.store.data_dir, &self.data_dir);
        set(&mut config.store.max_size, &self.max_size);
        set(&mut config.jobs.retention, &self.retention);
        set(&mut config.jobs.dead_retention, &self.dead_retention);
        set(&mut config.workers.lease, &self.lease);
        set(&mut config.log.format, &self.log_format);
        set(&mut config.log.level, &self.log_level);
        Ok(config)
    }
}

/// What is wrong, where, and what to do. Only the first of several errors: the next run shows the next.
fn say(error: &figment::Error) -> String {
    // What the parser says ends with a new line.
    describe(error).trim_end().to_owned()
}

fn describe(error: &figment::Error) -> String {
    let from_env = error.metadata.as_ref().is_some_and(|metadata| metadata.name.contains("environment"));
    let mut path: Vec<&str> = error.path.iter().map(String::as_str).collect();
    if let Kind::UnknownField(field, _) = &error.kind
        && path.last() != Some(&field.as_str())
    {
        path.push(field);
    }
    let key = match from_env {
        true => format!("{ENV_PREFIX}{}", path.join("__").to_uppercase()),
        false => path.join("."),
    };
    let place = match error.metadata.as_ref().and_then(|metadata| metadata.source.as_ref()) {
        Some(source) => format!("{source}"),
        None if from_env => "the environment".into(),
        None => "the configuration".into(),
    };
    match &error.kind {
        Kind::UnknownField(_, known) => {
            format!("unknown key `{key}` in {place}: expected one of {}", known.join(", "))
        }
        kind if key.is_empty() => format!("could not read {place}: {kind}"),
        kind => format!("bad value for `{key}` in {place}: {kind}"),
    }
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
