//! Limits over all nodes: rules, gates, and who may go. The questions are the core's ([`mainspring_core::gate`]); here is what they
//! are asked of.
//!
//! - `facts`: which gates a job passes. `house`: the gates that one transaction looks at. `place`: where a job stands when it
//!   comes to be on offer. `streams` and `walk`: what a claim comes upon, and who of it could go. `turns`: whose turn it is.
//! - `command`: what people set. `alarm`: what time opens. `views`: what readers ask.
//!
//! While no rule was ever set and no gate closed, `charter.limits_version` is zero, and none of this is done.
//!
//! Isolation. Whatever takes or ends leases holds [`LOCK`] shared, and a command about gates holds it alone, so that rules
//! do not change under a claim and `running` can be counted from the leases when a rule is set. Beyond that, transactions that
//! enter or leave gates of one tenant take turns by a lock of that tenant, taken after all rows are locked, in one order; gates are
//! read after it. So no limit is exceeded by two nodes at once.

mod alarm;
mod command;
mod facts;
mod house;
mod place;
mod streams;
mod turns;
mod views;
mod walk;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, RwLock};

use mainspring_core::gate::{Reach, Rules};
use mainspring_core::name::{QueueName, TenantName};

pub(super) use alarm::{opened_in, ring};
pub(super) use command::{command, forget_what_rests, rules_for};
pub(super) use facts::Facts;
pub(super) use house::{House, read_gate, read_state};
pub(super) use place::place;
pub(super) use turns::Line;
pub(super) use views::{gates, hurdles};
pub(super) use walk::walk;

use super::error::{Fault, Result, damaged};
use super::packed::unpack;
use super::pipeline::{Step, ask};
use super::pool::Transaction;
use super::submit::tenant;
use crate::embedded::rows::RuleRow;

/// The lock between rules and leases. The number is ours: "limits" in ASCII.
pub(super) const LOCK: i64 = 0x6c69_6d69_7473;
/// The first half of the locks of tenants: "gate".
const TENANT_LOCK: i32 = 0x6761_7465;

/// What a node remembers of limits. None of it has to survive.
#[derive(Debug, Default)]
pub(super) struct Limits {
    rules: RwLock<(i64, Arc<Rules>)>,
    /// Whose turn it is in each queue name.
    pub lines: Mutex<HashMap<QueueName, Line>>,
}

impl Limits {
    /// The version that was read last: a guess at the present one.
    pub fn last_version(&self) -> i64 {
        self.rules.read().expect("nobody panics with it").0
    }

    /// The rules of this version.
    pub async fn rules(&self, txn: &Transaction<'_>, version: i64) -> Result<Arc<Rules>, Fault> {
        {
            let known = self.rules.read().expect("nobody panics with it");
            if known.0 == version {
                return Ok(known.1.clone());
            }
        }
        let rules = Arc::new(read_rules(txn).await?);
        *self.rules.write().expect("nobody panics with it") = (version, rules.clone());
        Ok(rules)
    }
}

/// Every rule there is.
pub(super) async fn read_rules(txn: &Transaction<'_>) -> Result<Rules, Fault> {
    let mut rules = Rules::default();
    for row in ask(txn, include_str!("../sql/limits_rules.sql"), &[]).await? {
        let text: &str = row.get(1);
        let reach = Reach::parse(text).map_err(|error| damaged(format!("a rule for {text:?}: {error}")))?;
        let rule: RuleRow = unpack("rules", row.get(2))?;
        rules.set(tenant(row.get(0))?, reach, rule.rule());
    }
    Ok(rules)
}

/// Keeps rules from changing until we are done. The version is to be read by a later statement.
pub(super) fn share_step() -> Step<'static> {
    Step::new(include_str!("../sql/limits_share.sql"), vec![&LOCK])
}

/// Answers `limits_version`.
pub(super) fn version_step() -> Step<'static> {
    Step::new(include_str!("../sql/limits_version.sql"), Vec::new())
}

/// Waits for our turn at the gates of these tenants. After this, no row is waited for.
pub(super) async fn lock_tenants(txn: &Transaction<'_>, tenants: &BTreeSet<TenantName>) -> Result<(), Fault> {
    let names: Vec<&str> = tenants.iter().map(TenantName::as_str).collect();
    ask(txn, include_str!("../sql/limits_lock_tenants.sql"), &[&TENANT_LOCK, &names]).await?;
    Ok(())
}
