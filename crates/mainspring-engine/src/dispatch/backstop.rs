//! Looks behind the wakes: for hints that were lost, and for what nobody announces. Claims nothing itself.

use std::sync::Arc;
use std::time::Duration;

use mainspring_core::time::Time;

use crate::actor::Actor;
use crate::error::Result;
use crate::node::Node;

/// Every line that somebody stands in is looked at so often.
const BACKSTOP_EVERY: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(crate) struct Backstop {
    node: Arc<Node>,
}

impl Backstop {
    pub(crate) fn new(node: Arc<Node>) -> Backstop {
        Backstop { node }
    }
}

impl Actor for Backstop {
    const NAME: &'static str = "backstop";

    async fn tick(&mut self, now: Time) -> Result<Time> {
        self.node.poll.probe_all(&self.node);
        Ok(now.after(BACKSTOP_EVERY))
    }
}
