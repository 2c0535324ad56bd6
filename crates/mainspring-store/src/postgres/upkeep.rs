//! Keeps the hot tables small: vacuums them, folds their counts together, and renews what cannot be vacuumed (see [`super::renew`]),
//! after so much work, not after so much time. Changes nothing that anybody can see.
//!
//! Claims read the head of `ready`, and what was taken from there stays in the way until it is vacuumed: over 2,000,000 jobs the
//! raw design fell from 89,000 to 30,000 a second without this, and stayed flat with it. Autovacuum comes once a minute at best.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::error::{Result, sorted};
use super::pipeline::ask;
use super::pool::{Pool, transact};
use super::renew::renew;

/// After so many dead rows.
const WEAR_MAX: u64 = 100_000;
/// What a transaction wears beside the rows it says: its rows of counts, and what it does to indexes.
const WEAR_OF_ONE: u64 = 16;
/// Rows of counts that are folded at once.
const FOLD_ROWS_MAX: i64 = 100_000;

#[derive(Debug, Default)]
pub(super) struct Upkeep {
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    worn: AtomicU64,
    is_busy: AtomicBool,
}

impl Upkeep {
    /// A transaction left so many dead rows behind. From time to time this starts the upkeep, beside whatever goes on.
    pub fn wear(&self, pool: &Pool, rows: usize) {
        let wear = rows as u64 + WEAR_OF_ONE;
        let worn = self.state.worn.fetch_add(wear, Ordering::Relaxed) + wear;
        if worn < WEAR_MAX || self.state.is_busy.swap(true, Ordering::AcqRel) {
            return;
        }
        let (pool, state) = (pool.clone(), Arc::clone(&self.state));
        state.worn.store(0, Ordering::Relaxed);
        tokio::spawn(async move {
            if let Err(error) = tend(&pool).await {
                // The next one makes up for it, and autovacuum stands behind.
                tracing::warn!(%error, "could not vacuum the hot tables");
            }
            state.is_busy.store(false, Ordering::Release);
        });
    }
}

/// Folds and vacuums now.
pub(super) async fn tend(pool: &Pool) -> Result<()> {
    transact!(pool, |txn| {
        ask(&txn, include_str!("sql/fold_counts.sql"), &[&FOLD_ROWS_MAX]).await?;
    });
    let connection = pool.get().await?;
    connection.batch_execute(include_str!("sql/vacuum_hot.sql")).await.map_err(|error| sorted(&error))?;
    drop(connection);
    renew(pool).await.map(drop)
}
