//! `mainspring serve`: listens, opens the store, starts the engine, opens the door, and closes all of it in order. Decides nothing about
//! jobs.
//!
//! - `guard`: what it refuses to start with. `parts`: the store and what goes with it.
//! - `log`, `files`, `signals`: what a process owes its machine. `banner`: what a person sees when it is ready.

mod banner;
mod files;
mod guard;
mod log;
mod parts;
mod signals;

use std::net::SocketAddr;

use anyhow::Context;
use mainspring_engine::{Engine, Settings};
use mainspring_http::{Options, router};
use tokio::net::TcpListener;

use crate::config::Config;
use crate::store_kind::StoreKind;

pub use banner::ADDRESS_LABEL;
pub use log::start as start_log;
pub use parts::postgres_options;
pub use signals::Signals;

pub async fn serve(config: Config) -> anyhow::Result<()> {
    start_log(&config.log)?;
    guard::check(&config)?;
    files::raise_limit();
    // Before the engine, which counts into it from its first breath.
    mainspring_http::metrics::install();
    let mut signals = Signals::listen()?;

    // Before the store: a server that cannot listen must not leave a data directory behind.
    let listener = TcpListener::bind(config.server.listen).await.with_context(|| {
        format!("could not listen on {}; choose another address with --listen", config.server.listen)
    })?;
    let address = listener.local_addr()?;
    let opened = parts::open(&config.store, config.server.virtual_clock, config.server.term.into()).await?;
    let parts::Opened { parts, placement, shards } = opened;
    let store = parts.store.describe();
    let settings = Settings { placement, shards, ..settings(&config, address) };
    let engine = Engine::start(parts, settings).await.context("could not start the engine")?;
    banner::show(&config, address, &store);

    let stopping = engine.clone();
    let shutdown = async move {
        let signal = signals.next().await;
        tracing::info!("{signal}: finishing what is under way; a second signal ends it at once");
        signals.end_at_the_next();
        stopping.shutdown().await;
    };
    let door = router(engine.clone(), Options { version: env!("CARGO_PKG_VERSION").into(), ..Options::default() });
    let served = mainspring_http::serve(listener, door, shutdown).await;
    // Also when serving failed: what was accepted is finished either way.
    engine.shutdown().await;
    served.with_context(|| format!("could not go on serving on {address}"))?;
    tracing::info!("stopped");
    Ok(())
}

fn settings(config: &Config, address: SocketAddr) -> Settings {
    Settings {
        lease_default: config.workers.lease.into(),
        retention: config.jobs.retention.into(),
        dead_retention: config.jobs.dead_retention.into(),
        term: config.server.term.into(),
        roles: config.server.roles.0,
        address: Some(address.to_string()),
        version: env!("CARGO_PKG_VERSION").into(),
        joins_calls: !matches!(config.store.kind, StoreKind::Postgres(_)),
        gather_eager_max: calls_at_once(&config.store.kind),
        ..Settings::default()
    }
}

/// How many calls of a sort are under way at a time, unless they are stuck. The embedded store joins them into one commit by itself;
/// PostgreSQL makes the more work of them the more there are: 16 took it twice the processor time that one or two take.
fn calls_at_once(store: &StoreKind) -> usize {
    match store {
        StoreKind::Postgres(_) => 1,
        StoreKind::Embedded | StoreKind::Memory => Settings::default().gather_eager_max,
    }
}
