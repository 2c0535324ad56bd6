//! The log: stderr, as text or as one JSON object a line.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;

use crate::config::{Log, LogFormat};
use crate::exit::Usage;

/// Call it once.
pub fn start(log: &Log) -> Result<(), Usage> {
    let filter = EnvFilter::builder().parse(&log.level).map_err(|error| {
        Usage(format!("log.level is {:?}: {error}; expected error, warn, info, debug or trace", log.level))
    })?;
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match log.format {
        LogFormat::Json => subscriber.json().flatten_event(true).init(),
        LogFormat::Text => subscriber.with_ansi(std::io::stderr().is_terminal()).init(),
    }
    Ok(())
}
