//! What is read over all tenants, merged. What is read of one tenant needs one database, and is asked in `mod.rs`.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use mainspring_core::store::{Agenda, AgendaAsk, Ailment, QueueView, Result, Severity};
use mainspring_core::time::Time;

use super::Sharded;

impl Sharded {
    pub(super) async fn queues_of_all(&self) -> Result<Vec<QueueView>> {
        let lists = self.ask_all(|database| async move { database.store.queues(None).await }).await?;
        let mut queues: Vec<QueueView> = lists.some().flatten().collect();
        queues.sort_by(|one, other| one.queue.cmp(&other.queue));
        Ok(queues)
    }

    /// One after the other, because together they may look at no more than `jobs_max`.
    pub(super) async fn agenda_of_all(&self, ask: AgendaAsk) -> Result<Agenda> {
        let mut due: BTreeMap<Time, u64> = BTreeMap::new();
        let (mut partial, mut jobs_max, mut answered, mut failed) = (false, ask.jobs_max, false, None);
        for database in self.databases.iter() {
            let part = AgendaAsk { jobs_max, ..ask.clone() };
            let agenda = match database.down() {
                Some(why) => Err(why),
                None => database.patiently(database.store.agenda(part)).await,
            };
            match agenda {
                Ok(agenda) => {
                    answered = true;
                    partial |= agenda.partial;
                    for (at, count) in agenda.due {
                        *due.entry(at).or_default() += count;
                        jobs_max = jobs_max.saturating_sub(count);
                    }
                }
                Err(error) => {
                    partial = true;
                    failed.get_or_insert(error);
                }
            }
        }
        match failed {
            Some(error) if !answered => Err(error),
            _ => Ok(Agenda { due: due.into_iter().collect(), partial }),
        }
    }

    /// What ails each of them; one that does not answer is the ailment.
    pub(super) async fn ailments_of_all(&self, now: Time) -> Result<Vec<Ailment>> {
        let asked = self.databases.iter().map(|database| async move {
            let answer = match database.down() {
                Some(why) => Err(why),
                None => database.patiently(database.store.ailments(now)).await,
            };
            answer.unwrap_or_else(|why| {
                vec![Ailment {
                    name: "database",
                    severity: Severity::Critical,
                    what: format!("does not answer, and its tenants stand still: {why}"),
                    place: database.store.describe(),
                    remedy: "bring it up again; nothing that it holds is lost, and the other databases go on"
                        .to_owned(),
                }]
            })
        });
        Ok(join_all(asked).await.into_iter().flatten().collect())
    }
}
