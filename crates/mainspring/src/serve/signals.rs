//! SIGTERM and SIGINT: the first asks for an orderly end, the second ends at once.

use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};

#[derive(Debug)]
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    pub fn listen() -> anyhow::Result<Signals> {
        let terminate = signal(SignalKind::terminate()).context("could not listen for SIGTERM")?;
        let interrupt = signal(SignalKind::interrupt()).context("could not listen for SIGINT")?;
        Ok(Signals { terminate, interrupt })
    }

    /// The name of the next one.
    pub async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }

    /// Whoever sends another one does not want to wait. Nothing that was answered is lost by it.
    pub fn end_at_the_next(mut self) {
        tokio::spawn(async move {
            let signal = self.next().await;
            eprintln!("{signal} again: ending at once");
            std::process::exit(1);
        });
    }
}
