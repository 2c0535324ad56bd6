//! Keeps some written space ahead of the tables, so that a small commit overwrites instead of making the file longer. A
//! file that grows has its inode synced with every commit: on ext4 that is 0.1 to 0.3 ms of some 0.6. Large commits
//! outrun it, and do not need it.

use std::fs::File;
use std::os::unix::fs::FileExt;

use heed::{Env, WithoutTls};

/// Written at a time.
const CHUNK_BYTES: u64 = 1 << 20;
/// More is written when there is less than this ahead …
const AHEAD_BYTES_MIN: u64 = 256 << 10;
/// … and the last commit grew the tables by no more than this.
const GROWTH_BYTES_MAX: u64 = 256 << 10;

const PAGE_BYTES: u64 = 4096;

#[derive(Debug)]
pub struct Runway {
    file: File,
    zeros: Vec<u8>,
    used: u64,
    end: u64,
}

impl Runway {
    pub fn new(env: &Env<WithoutTls>) -> std::io::Result<Runway> {
        let file = File::options().write(true).open(env.path().join("data.mdb"))?;
        let end = file.metadata()?.len().next_multiple_of(PAGE_BYTES);
        Ok(Runway { file, zeros: vec![0; CHUNK_BYTES as usize], used: used(env), end })
    }

    /// Called by the writer between two transactions: nothing else writes to the file, and everything past the last page
    /// is nobody's.
    pub fn keep(&mut self, env: &Env<WithoutTls>) {
        let used = used(env);
        let growth = used.saturating_sub(std::mem::replace(&mut self.used, used));
        self.end = self.end.max(used);
        if growth == 0 || growth > GROWTH_BYTES_MAX || self.end - used >= AHEAD_BYTES_MIN {
            return;
        }
        match self.file.write_all_at(&self.zeros, self.end) {
            Ok(()) => self.end += CHUNK_BYTES,
            // Only speed is lost; a disk that is full tells the next commit.
            Err(error) => tracing::debug!(%error, "could not write ahead of the store"),
        }
    }
}

fn used(env: &Env<WithoutTls>) -> u64 {
    (env.info().last_page_number as u64 + 1) * PAGE_BYTES
}
