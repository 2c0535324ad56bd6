//! Workers over several databases: listed once each, and made known as guests where they have been forgotten.

use std::collections::BTreeMap;
use std::sync::Arc;

use mainspring_core::id::WorkerId;
use mainspring_core::store::{Beat, BeatKind, Claim, Command, Order, Result, WorkerView};
use mainspring_core::time::Time;

use super::Sharded;
use super::database::Database;

impl Sharded {
    /// As the database of its tenant has it, with what it holds in all of them. If that one is down, as any other has it.
    pub(super) async fn workers_of_all(&self) -> Result<Vec<WorkerView>> {
        let lists = self.ask_all(|database| async move { database.store.workers().await }).await?;
        let answered: Vec<bool> = lists.0.iter().map(Option::is_some).collect();
        let mut workers: BTreeMap<WorkerId, (bool, WorkerView)> = BTreeMap::new();
        for (shard, list) in self.placement.shards().zip(lists.0) {
            for view in list.into_iter().flatten() {
                let is_home = self.placement.home(&view.tenant) == shard;
                match workers.get_mut(&view.id) {
                    None => drop(workers.insert(view.id, (is_home, view))),
                    Some((_, known)) if !is_home => known.held += view.held,
                    Some(known) => *known = (true, WorkerView { held: known.1.held + view.held, ..view }),
                }
            }
        }
        // One that its own database has written off is only a guest who has not been shown out yet.
        let is_there =
            |(is_home, view): &(bool, WorkerView)| *is_home || !answered[self.placement.home(&view.tenant).index()];
        Ok(workers.into_values().filter(is_there).map(|(_, view)| view).collect())
    }

    /// Registers the workers of these claims in a database that does not know them, as their own database knows them. Nothing
    /// comes of it if that one does not either, or is down.
    pub(super) async fn welcome(&self, now: Time, database: &Arc<Database>, claims: &[&Claim]) -> Result<()> {
        let known = self.workers_of_all().await?;
        let asked =
            |view: &&WorkerView| claims.iter().any(|claim| claim.worker == view.id && claim.tenant == view.tenant);
        let guests: Vec<&WorkerView> = known.iter().filter(asked).collect();
        let register = |view: &&WorkerView| Beat {
            worker: view.id,
            tenant: view.tenant.clone(),
            kind: BeatKind::Register { info: view.info.clone(), lease: view.lease },
        };
        database.store.heartbeat(now, guests.iter().map(register).collect()).await?;
        let told = guests.iter().filter(|view| view.order != Order::Work);
        let orders: Vec<Command> = told.map(|view| Command::Worker { id: view.id, order: view.order }).collect();
        if !orders.is_empty() {
            database.store.command(now, orders).await?;
        }
        Ok(())
    }
}
