//! The Mainspring binary: serve, ask, bench.

fn main() {}
