//! Rows into a table: by `unnest` while they are few, so that they travel with other statements in one round trip, and by
//! `COPY` once they are many, which costs the server about half as much a row. Decides nothing but the way.

use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{ToSql, Type};

use super::error::Fault;
use super::pipeline::{Params, Step};
use super::pool::Transaction;

/// From so many rows on, what COPY saves is more than its two round trips cost.
pub(super) const COPY_ROWS_MIN: usize = 64;

/// One column of many rows: an array for `unnest`, cell by cell for `COPY`.
pub(super) trait Column: Sync {
    fn array(&self) -> &(dyn ToSql + Sync);
    fn cell(&self, row: usize) -> &(dyn ToSql + Sync);
}

impl<T: ToSql + Sync> Column for Vec<T>
where
    Vec<T>: ToSql,
{
    fn array(&self) -> &(dyn ToSql + Sync) {
        self
    }

    fn cell(&self, row: usize) -> &(dyn ToSql + Sync) {
        &self[row]
    }
}

/// How rows come into one table.
#[derive(Debug)]
pub(super) struct Way {
    pub unnest: &'static str,
    pub copy: &'static str,
    /// Of the columns, in the order of both statements.
    pub types: &'static [Type],
}

/// Rows for one table.
pub(super) struct Insert<'a> {
    pub way: &'static Way,
    pub rows: usize,
    pub columns: Vec<&'a dyn Column>,
}

impl<'a> Insert<'a> {
    /// Writes many rows now; few go along with the steps that are to come.
    pub async fn write(self, txn: &Transaction<'_>, steps: &mut Vec<Step<'a>>) -> Result<(), Fault> {
        if self.is_large() {
            return self.copy(txn).await;
        }
        steps.extend(self.step());
        Ok(())
    }

    pub fn is_large(&self) -> bool {
        self.rows >= COPY_ROWS_MIN
    }

    /// For few rows; nothing for none.
    pub fn step(&self) -> Option<Step<'a>> {
        (self.rows > 0).then(|| Step::new(self.way.unnest, self.arrays()))
    }

    /// The columns, whole.
    pub fn arrays(&self) -> Params<'a> {
        self.columns.iter().map(|column| column.array()).collect()
    }

    /// For many.
    pub async fn copy(&self, txn: &Transaction<'_>) -> Result<(), Fault> {
        let statement = txn.prepare_cached(self.way.copy).await?;
        let writer = BinaryCopyInWriter::new(txn.copy_in(&statement).await?, self.way.types);
        let mut writer = std::pin::pin!(writer);
        let mut cells = Vec::with_capacity(self.columns.len());
        for row in 0..self.rows {
            cells.clear();
            cells.extend(self.columns.iter().map(|column| column.cell(row)));
            writer.as_mut().write(&cells).await?;
        }
        writer.finish().await?;
        Ok(())
    }
}
