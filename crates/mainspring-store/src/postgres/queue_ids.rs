//! Which number a queue has in the tables. A queue never goes, so what was read once is remembered for good; what a
//! transaction of ours has just made is not, because that may still be undone.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::RwLock;

use deadpool_postgres::GenericClient;
use mainspring_core::name::{QueueName, QueueRef, TenantName};
use mainspring_core::store::Error;

use super::error::{Fault, Result, damaged};
use super::pipeline::ask;
use super::pool::Transaction;

#[derive(Debug, Default)]
pub(super) struct QueueIds {
    known: RwLock<Known>,
}

#[derive(Debug, Default)]
struct Known {
    ids: HashMap<QueueRef, i32>,
    refs: HashMap<i32, QueueRef>,
    /// Were seen to take only so many jobs.
    bounded: HashSet<i32>,
}

impl QueueIds {
    /// The numbers of those of these queues that there are. To be called before the transaction makes any.
    pub async fn find(
        &self,
        client: &impl GenericClient,
        asked: &BTreeSet<QueueRef>,
    ) -> Result<HashMap<QueueRef, i32>, Fault> {
        let mut found = HashMap::new();
        let mut unknown = Vec::new();
        {
            let known = self.known.read().expect("nobody panics with it");
            for queue in asked {
                match known.ids.get(queue) {
                    Some(id) => drop(found.insert(queue.clone(), *id)),
                    None => unknown.push(queue),
                }
            }
        }
        if !unknown.is_empty() {
            let (tenants, names) = texts(&unknown);
            let rows = ask(client, include_str!("sql/queues_by_name.sql"), &[&tenants, &names]).await?;
            let mut known = self.known.write().expect("nobody panics with it");
            for row in rows {
                let queue = queue_ref(row.get(1), row.get(2))?;
                known.ids.insert(queue.clone(), row.get(0));
                known.refs.insert(row.get(0), queue.clone());
                found.insert(queue, row.get(0));
            }
        }
        Ok(found)
    }

    /// Makes queues that there are not, unless they would be too many.
    pub async fn make(
        &self,
        txn: &Transaction<'_>,
        queues: &BTreeSet<QueueRef>,
    ) -> Result<HashMap<QueueRef, i32>, Fault> {
        let (tenants, names) = texts(&queues.iter().collect::<Vec<_>>());
        let rows = ask(txn, include_str!("sql/queues_make.sql"), &[&tenants, &names]).await?;
        rows.iter().map(|row| Ok((queue_ref(row.get(1), row.get(2))?, row.get(0)))).collect()
    }

    /// These take only so many jobs: from now on nobody here writes to them without a look.
    pub fn note_bounded(&self, ids: impl Iterator<Item = i32>) {
        self.known.write().expect("nobody panics with it").bounded.extend(ids);
    }

    pub fn were_bounded<'a>(&self, mut ids: impl Iterator<Item = &'a i32>) -> bool {
        let known = self.known.read().expect("nobody panics with it");
        ids.any(|id| known.bounded.contains(id))
    }

    /// Whether there is room for so many more.
    pub async fn has_room_for(&self, txn: &Transaction<'_>, new: usize, queues_max: usize) -> Result<(), Fault> {
        if new == 0 {
            return Ok(());
        }
        let rows = ask(txn, include_str!("sql/queues_count.sql"), &[]).await?;
        let there = usize::try_from(rows[0].get::<_, i64>(0)).unwrap_or_default();
        if there + new > queues_max {
            return Err(Fault::Store(Error::Invalid(format!(
                "there are {there} queues, {new} more would be past the limit of {queues_max}"
            ))));
        }
        Ok(())
    }

    /// The names of these numbers, in a transaction that makes no queues. Each was read from a table, so there is one.
    pub async fn names(
        &self,
        client: &impl GenericClient,
        ids: impl IntoIterator<Item = i32>,
    ) -> Result<HashMap<i32, QueueRef>, Fault> {
        let names = self.names_here(client, ids).await?;
        if names.keys().any(|id| !self.known.read().expect("nobody panics with it").refs.contains_key(id)) {
            let mut known = self.known.write().expect("nobody panics with it");
            for (id, queue) in &names {
                known.ids.insert(queue.clone(), *id);
                known.refs.insert(*id, queue.clone());
            }
        }
        Ok(names)
    }

    /// The same in any transaction; nothing new is remembered.
    pub async fn names_here(
        &self,
        client: &impl GenericClient,
        ids: impl IntoIterator<Item = i32>,
    ) -> Result<HashMap<i32, QueueRef>, Fault> {
        let mut found = HashMap::new();
        let mut unknown = BTreeSet::new();
        {
            let known = self.known.read().expect("nobody panics with it");
            for id in ids {
                match known.refs.get(&id) {
                    Some(queue) => drop(found.insert(id, queue.clone())),
                    None => drop(unknown.insert(id)),
                }
            }
        }
        if !unknown.is_empty() {
            let asked: Vec<i32> = unknown.iter().copied().collect();
            for row in ask(client, include_str!("sql/queues_by_id.sql"), &[&asked]).await? {
                found.insert(row.get(0), queue_ref(row.get(1), row.get(2))?);
            }
            if let Some(id) = unknown.iter().find(|id| !found.contains_key(id)) {
                return Err(damaged(format!("jobs of queue {id}, which does not exist")).into());
            }
        }
        Ok(found)
    }
}

fn texts(queues: &[&QueueRef]) -> (Vec<String>, Vec<String>) {
    queues.iter().map(|queue| (queue.tenant.as_str().to_owned(), queue.queue.as_str().to_owned())).unzip()
}

pub(super) fn queue_ref(tenant: &str, name: &str) -> Result<QueueRef> {
    let bad = |error| damaged(format!("queue {name:?} of tenant {tenant:?}: {error}"));
    Ok(QueueRef { tenant: TenantName::parse(tenant).map_err(bad)?, queue: QueueName::parse(name).map_err(bad)? })
}
