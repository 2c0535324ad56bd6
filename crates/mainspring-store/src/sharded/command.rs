//! What people ask: of jobs, queues and gates where their tenant lives; of workers everywhere, because any database may have one.

use mainspring_core::name::TenantName;
use mainspring_core::store::{Command, Commanded, Result};
use mainspring_core::time::Time;

use super::Sharded;

impl Sharded {
    pub(super) async fn command_routed(&self, now: Time, commands: Vec<Command>) -> Result<Vec<Commanded>> {
        let is_routed: Vec<bool> = commands.iter().map(|command| tenant_of(command).is_some()).collect();
        let (routed, of_workers): (Vec<Command>, Vec<Command>) =
            commands.into_iter().partition(|command| tenant_of(command).is_some());
        let home = |command: &Command| self.placement.home(tenant_of(command).expect("those without were taken out"));
        let routed = self
            .route(routed, home, |database, commands| async move { database.store.command(now, commands).await })
            .await?;
        let (mut routed, mut of_workers) =
            (routed.into_iter(), self.command_workers(now, of_workers).await?.into_iter());
        let answer = |is_routed: bool| if is_routed { routed.next() } else { of_workers.next() };
        Ok(is_routed.into_iter().map(answer).map(|answer| answer.expect("one answer for each command")).collect())
    }

    /// Missing only where nobody knows the worker.
    async fn command_workers(&self, now: Time, commands: Vec<Command>) -> Result<Vec<Commanded>> {
        if commands.is_empty() {
            return Ok(Vec::new());
        }
        let answers = self
            .ask_all(|database| {
                let commands = commands.clone();
                async move { database.store.command(now, commands).await }
            })
            .await?;
        let nobody = vec![Commanded::Missing; commands.len()];
        Ok(answers.some().fold(nobody, |known, answers| {
            let known = known.into_iter().zip(answers);
            known.map(|(known, answer)| if known == Commanded::Missing { answer } else { known }).collect()
        }))
    }
}

fn tenant_of(command: &Command) -> Option<&TenantName> {
    match command {
        Command::Job { tenant, .. } | Command::Gate { tenant, .. } => Some(tenant),
        Command::Queue { queue, .. } => Some(&queue.tenant),
        Command::Worker { .. } => None,
    }
}
