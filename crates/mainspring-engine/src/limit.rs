//! Limits: what a person sets, removes and reopens, and how they stand. Checks every bound; lets nobody in: the store does.

use std::collections::BTreeSet;
use std::sync::Arc;

use mainspring_core::gate::{BadRule, GateName, Reach, Rule};
use mainspring_core::name::{QueueName, QueueRef, TenantName};
use mainspring_core::store::{self, Command, Commanded, GateCommand, GateView};

use crate::error::Result;
use crate::node::Node;

/// Tenants that are asked for their limits when a node starts. With more of them it takes for granted that there are some.
const TENANTS_ASKED_MAX: usize = 1_000;

/// What became of a limit that was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitSet {
    Created,
    Replaced,
    /// It said the same before.
    Unchanged,
}

/// Why a limit cannot be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadLimit {
    #[error(transparent)]
    Rule(#[from] BadRule),
    #[error(
        "a limit on `{reach}` that limits nothing; set concurrency, rate, breaker or, on `tenant`, weight; to lift what \
         is set, delete the limit"
    )]
    Empty { reach: String },
}

impl Node {
    pub(crate) async fn limits(&self, tenant: &TenantName) -> Result<Vec<GateView>> {
        Ok(self.store.gates(tenant, self.clock.now()).await?)
    }

    pub(crate) async fn limit(&self, tenant: &TenantName, reach: &Reach) -> Result<Option<GateView>> {
        Ok(self.limits(tenant).await?.into_iter().find(|view| view.reach == *reach))
    }

    pub(crate) async fn set_limit(self: &Arc<Node>, tenant: TenantName, reach: Reach, rule: Rule) -> Result<LimitSet> {
        check(&reach, &rule)?;
        // Somebody may set it in between: the answer then tells of what was there before both.
        let set = match self.limit(&tenant, &reach).await?.and_then(|view| view.rule) {
            Some((by, same)) if by == reach && same == rule => return Ok(LimitSet::Unchanged),
            Some((by, _)) if by == reach => LimitSet::Replaced,
            _ => LimitSet::Created,
        };
        self.command(vec![Command::Gate { tenant, reach, what: GateCommand::Set(rule) }]).await?;
        Ok(set)
    }

    /// Whether there was such a limit.
    pub(crate) async fn clear_limit(self: &Arc<Node>, tenant: TenantName, reach: Reach) -> Result<bool> {
        self.at_gates(tenant, reach, GateCommand::Clear).await
    }

    /// Whether there was anything to reopen.
    pub(crate) async fn reopen_limit(self: &Arc<Node>, tenant: TenantName, reach: Reach) -> Result<bool> {
        self.at_gates(tenant, reach, GateCommand::Reopen).await
    }

    async fn at_gates(self: &Arc<Node>, tenant: TenantName, reach: Reach, what: GateCommand) -> Result<bool> {
        let answers = self.command(vec![Command::Gate { tenant, reach, what }]).await?;
        Ok(answers == [Commanded::Done])
    }

    /// The queues in which a change at the gates of these tenants may let something go.
    pub(crate) async fn behind_gates(&self, tenants: BTreeSet<TenantName>) -> store::Result<Vec<QueueRef>> {
        let mut queues = vec![];
        for tenant in tenants {
            let views = self.store.queues(Some(&tenant)).await?;
            let ready = views.into_iter().filter(|view| view.counts.ready > 0 && !view.paused);
            queues.extend(ready.map(|view| view.queue));
        }
        Ok(queues)
    }

    /// Finds out whether the store has limits. One that another node sets later shows by what it does.
    pub(crate) async fn learn_limits(&self) -> Result<()> {
        let queues = self.store.queues(None).await?;
        let tenants: BTreeSet<TenantName> = queues.into_iter().map(|view| view.queue.tenant).collect();
        let mut limited = tenants.len() > TENANTS_ASKED_MAX;
        for tenant in tenants.iter().take(TENANTS_ASKED_MAX) {
            limited = limited || !self.limits(tenant).await?.is_empty();
        }
        if limited {
            self.gated.note();
        }
        Ok(())
    }
}

/// Every bound, for a gate or for each of many.
fn check(reach: &Reach, rule: &Rule) -> std::result::Result<(), BadLimit> {
    if rule.is_empty() {
        return Err(BadLimit::Empty { reach: reach.text() });
    }
    let checked = match reach {
        Reach::One(gate) => rule.check(gate),
        // No pattern reaches a tenant, and what may be set elsewhere is the same for every gate.
        Reach::Each { .. } => rule.check(&GateName::Queue(QueueName::default_queue())),
    };
    checked.map_err(|bad| match bad {
        BadRule::WeightBesideTenant { .. } => BadRule::WeightBesideTenant { gate: reach.text() }.into(),
        bad => bad.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(reach: &str, rule: Rule) -> String {
        let reach = Reach::parse(reach).expect("a reach");
        check(&reach, &rule).expect_err("is refused").to_string()
    }

    #[test]
    fn a_limit_is_refused_with_the_field_or_the_advice() {
        let help = "set concurrency, rate, breaker or, on `tenant`, weight; to lift what is set, delete the limit";
        assert_eq!(
            refused("queue:mail", Rule::default()),
            format!("a limit on `queue:mail` that limits nothing; {help}")
        );
        let weight = Rule { weight: Some(2), ..Rule::default() };
        for reach in ["key:customer:*", "queue:mail"] {
            let text = refused(reach, weight);
            assert!(text.ends_with(&format!("can only be set on `tenant`, not on `{reach}`")), "{text}");
        }
        let many = Rule { concurrency: Some(u32::MAX), ..Rule::default() };
        assert!(refused("type:*", many).starts_with("concurrency is 4294967295; it must be 0 to "));
        assert_eq!(check(&Reach::One(GateName::Tenant), &weight), Ok(()));
    }
}
