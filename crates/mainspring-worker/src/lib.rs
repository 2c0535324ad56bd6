//! The Rust SDK: a typed client and a worker.
