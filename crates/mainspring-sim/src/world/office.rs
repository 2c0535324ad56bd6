//! How those outside reach the nodes: any that answers, and sometimes none does. A request may not arrive, and an answer may be
//! lost; whoever asked does not know which.

use std::time::Duration;

use mainspring_engine::{Engine, Result};

use super::{Chance, World};

/// How long anybody waits for an answer.
const PATIENCE: Duration = Duration::from_secs(8);

/// Nobody answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost;

impl World {
    /// Asks a node that is drawn.
    pub async fn ask<T, F: Future<Output = Result<T>>>(
        &self,
        chance: &Chance,
        call: impl FnOnce(Engine) -> F,
    ) -> std::result::Result<Result<T>, Lost> {
        let (engine, life) = chance.pick(&self.nodes).engine().ok_or(Lost)?;
        let bad = !self.weather.is_clear();
        if bad && chance.percent(2) {
            return Err(Lost);
        }
        let answer = async {
            life.awake().await;
            let answer = call(engine).await;
            life.awake().await;
            answer
        };
        let answer = tokio::time::timeout(PATIENCE, async {
            tokio::select! {
                biased;
                () = life.over() => Err(Lost),
                answer = answer => Ok(answer),
            }
        });
        let answer = answer.await.unwrap_or(Err(Lost))?;
        if bad && chance.percent(2) { Err(Lost) } else { Ok(answer) }
    }
}
