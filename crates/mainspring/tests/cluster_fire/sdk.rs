//! Workers of the SDK: they heartbeat, claim, settle and go from node to node by themselves. A handler writes down that it ran; what
//! became of its word only the store knows.

use std::sync::Arc;
use std::time::Duration;

use mainspring_wire::Outcome as Said;
use mainspring_worker::{Client, Context, Outcome, Worker};
use tokio_util::sync::CancellationToken;

use crate::Form;
use crate::book::{Book, Hold};
use crate::produce::{DOOMED, FLAKY, QUEUES, SLOW};
use crate::watch;

const CONCURRENCY: usize = 3;
/// How long handlers take: a slow one, and any other.
const SLOW_FOR: Duration = Duration::from_millis(400);
const QUICK_FOR: Duration = Duration::from_millis(20);

pub async fn work(client: Client, book: Arc<Book>, form: Form, number: u64, stop: CancellationToken) {
    let worker = Worker::new(client)
        .name(format!("sdk-{number}"))
        .concurrency(CONCURRENCY)
        .lease(form.lease)
        .handle_any(move |context| run(context, book.clone()));
    let worker = QUEUES.into_iter().fold(worker, Worker::queue);
    worker.run_until(async move { stop.cancelled().await }).await.expect("no fault makes a server refuse it");
}

async fn run(context: Context, book: Arc<Book>) -> Outcome {
    let (job, fence) = (context.job_id(), context.fence());
    book.deliver(job, fence);
    let from = watch::now();
    let lasts = if context.kind() == SLOW { SLOW_FOR } else { QUICK_FOR };
    tokio::select! {
        () = watch::pause(lasts) => {}
        () = context.stopped() => {}
    }
    book.pages().holds.push(Hold { job, fence, from, until: watch::now() });
    // Every fence is a new number, so that a flaky job does not fail for ever.
    let fails = context.is_stopped() || context.kind() == DOOMED || context.kind() == FLAKY && fence % 2 == 1;
    let (said, outcome) = match fails {
        true => (Said::Failure, Outcome::fail("not this time")),
        false => (Said::Success, Outcome::done(fence)),
    };
    book.doubt(job, fence, said);
    outcome
}
