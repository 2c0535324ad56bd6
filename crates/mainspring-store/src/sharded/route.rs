//! Asks for each item the database that it belongs to, and puts the answers back in order. Waits as long as that database does:
//! nobody else waits with it.

use std::sync::Arc;

use futures_util::future::join_all;
use mainspring_core::placement::Shard;
use mainspring_core::store::Result;

use super::Sharded;
use super::database::Database;

impl Sharded {
    /// Every database is asked once, with its items in their order, all at the same time.
    pub(super) async fn route<I, A, F>(
        &self,
        items: Vec<I>,
        shard: impl Fn(&I) -> Shard,
        call: impl Fn(Arc<Database>, Vec<I>) -> F,
    ) -> Result<Vec<A>>
    where
        F: Future<Output = Result<Vec<A>>>,
    {
        let count = items.len();
        let mut parts: Vec<(Vec<usize>, Vec<I>)> = self.databases.iter().map(|_| Default::default()).collect();
        for (place, item) in items.into_iter().enumerate() {
            let (places, items) = &mut parts[shard(&item).index()];
            places.push(place);
            items.push(item);
        }
        let asked = self.databases.iter().zip(parts).filter(|(_, (places, _))| !places.is_empty());
        let calls = asked.map(|(database, (places, items))| {
            let call = call(database.clone(), items);
            async move { (places, call.await) }
        });
        let mut answers: Vec<Option<A>> = std::iter::repeat_with(|| None).take(count).collect();
        // All of them to their end: what one has begun is not broken off because another failed.
        for (places, part) in join_all(calls).await {
            for (place, answer) in places.into_iter().zip(part?) {
                answers[place] = Some(answer);
            }
        }
        Ok(answers.into_iter().map(|answer| answer.expect("a store answers every item")).collect())
    }
}
