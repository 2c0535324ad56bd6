//! What the store holds at one instant: its own order of things, whatever the clocks of nodes say. Only looks.

use std::sync::Arc;
use std::time::Duration;

use mainspring_store::postgres::testing;
use tokio_util::sync::CancellationToken;

use crate::book::Book;
use crate::watch;

const LOOK_EVERY: Duration = Duration::from_millis(20);
const HELD_BY_KEY: &str = "SELECT job.concurrency_key, count(*) FROM mainspring.leases JOIN mainspring.jobs job USING (id) \
     WHERE job.concurrency_key IS NOT NULL GROUP BY job.concurrency_key";

/// Looks until it is told to stop, and again after each restart.
pub async fn look(database: Arc<testing::Server>, book: Arc<Book>, stop: CancellationToken) {
    while !stop.is_cancelled() {
        watch::pause(LOOK_EVERY).await;
        let Some(sql) = database.connect("postgres").await else { continue };
        while let Ok(rows) = sql.query(HELD_BY_KEY, &[]).await {
            book.look(rows.iter().map(|row| (row.get(0), row.get(1))));
            watch::pause(LOOK_EVERY).await;
            if stop.is_cancelled() {
                return;
            }
        }
    }
}

/// When all is over, nothing is held, and no gate believes that something is.
pub async fn nothing_is_held(database: &testing::Server) {
    let sql = database.connect("postgres").await.expect("the fire is over");
    for left in ["SELECT count(*) FROM mainspring.leases", "SELECT count(*) FROM mainspring.gates WHERE running <> 0"] {
        let count: i64 = sql.query_one(left, &[]).await.expect("a count").get(0);
        assert_eq!(count, 0, "{left}");
    }
}
