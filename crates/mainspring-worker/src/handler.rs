//! A handler: an async function from a [`Context`] to how the attempt ended. Here it loses its types, so that many fit in one table.

use std::pin::Pin;
use std::sync::Arc;

use crate::context::Context;
use crate::outcome::{IntoOutcome, Outcome};

/// A handler without its types.
pub(crate) type Handler = Arc<dyn Fn(Context) -> Pin<Box<dyn Future<Output = Outcome> + Send>> + Send + Sync>;

pub(crate) fn boxed<F, Fut>(handler: F) -> Handler
where
    F: Fn(Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoOutcome> + Send + 'static,
{
    Arc::new(move |ctx| {
        let ended = handler(ctx);
        Box::pin(async move { ended.await.into_outcome() })
    })
}
