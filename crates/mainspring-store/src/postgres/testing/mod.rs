//! A PostgreSQL for tests: one throw-away server a process, a database for each test. Never in a shipped program.

mod database;
#[cfg(any(test, feature = "conformance"))]
mod home;
mod server;

pub use database::Database;
#[cfg(any(test, feature = "conformance"))]
pub use home::PostgresHome;
pub use server::{Server, Stop};
