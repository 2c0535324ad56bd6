//! The Mainspring binary: serve, ask, bench. Starts the runtime and says how it ended; every command is a room of its own.

mod apply;
mod bench;
mod cli;
mod clock;
mod commands;
mod config;
mod crontab;
mod exec;
mod exit;
mod migrate;
mod migrate_store;
mod output;
mod roles;
mod serve;
mod size;
mod store_kind;
mod virtual_clock;

use std::process::ExitCode;

use clap::Parser;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match cli::Cli::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => exit::report(&error),
    }
}
