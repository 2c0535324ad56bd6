//! Asks every database that is up, at the same time. Those that fail are left out of the answer.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use mainspring_core::store::{Error, Result};

use super::Sharded;
use super::database::{Database, PATIENCE_MAX};

/// What the databases said, by shard; `None` where one did not answer.
#[derive(Debug)]
pub(super) struct Answers<T>(pub Vec<Option<T>>);

impl<T> Answers<T> {
    /// Of those that answered, in the order of shards.
    pub fn some(self) -> impl Iterator<Item = T> {
        self.0.into_iter().flatten()
    }
}

impl Sharded {
    /// An error if none answers, or if one says that the call itself is wrong.
    pub(super) async fn ask_all<T, F>(&self, call: impl Fn(Arc<Database>) -> F) -> Result<Answers<T>>
    where
        F: Future<Output = Result<T>>,
    {
        self.ask_some(|database| Some(call(database))).await
    }

    /// The same of those only for which there is a call.
    pub(super) async fn ask_some<T, F>(&self, call: impl Fn(Arc<Database>) -> Option<F>) -> Result<Answers<T>>
    where
        F: Future<Output = Result<T>>,
    {
        self.ask_within(PATIENCE_MAX, call).await
    }

    /// The same, waiting for so long.
    pub(super) async fn ask_within<T, F>(
        &self,
        patience: Duration,
        call: impl Fn(Arc<Database>) -> Option<F>,
    ) -> Result<Answers<T>>
    where
        F: Future<Output = Result<T>>,
    {
        let asked = self.databases.iter().map(|database| async {
            let call = call(database.clone())?;
            Some(match database.down() {
                Some(why) => Err(why),
                None => database.within(patience, call).await,
            })
        });
        let (mut answers, mut failed) = (Vec::new(), None);
        for answer in join_all(asked).await {
            match answer {
                Some(Err(error @ Error::Invalid(_))) => return Err(error),
                Some(Err(error)) => {
                    failed.get_or_insert(error);
                    answers.push(None);
                }
                Some(Ok(answer)) => answers.push(Some(answer)),
                None => answers.push(None),
            }
        }
        match failed {
            Some(error) if answers.iter().all(Option::is_none) => Err(error),
            _ => Ok(Answers(answers)),
        }
    }

    /// What the first that is up says.
    pub(super) async fn ask_first<T, F>(&self, call: impl Fn(Arc<Database>) -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        let mut failed = None;
        for database in self.databases.iter() {
            let answer = match database.down() {
                Some(why) => Err(why),
                None => database.patiently(call(database.clone())).await,
            };
            match answer {
                Ok(answer) => return Ok(answer),
                Err(error) => failed = Some(failed.unwrap_or(error)),
            }
        }
        Err(failed.expect("there is at least one database"))
    }
}
