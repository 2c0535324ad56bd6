//! Group commit: requests that come at the same time go to the store in one call. Waits for nobody: when the store is
//! idle a lone request goes at once, and what comes while calls are under way makes up the next one. Calls that are stuck keep nobody
//! from the store: after a while another one starts beside them.
//!
//! A request is never split, and one that is larger than the bound goes alone. Requests of different calls may overtake
//! each other; within a call they keep their order.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mainspring_core::store;
use metrics::Counter;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use crate::error::{Error, Result};
use crate::signal::Listener;

/// The items that may wait, for each request that may wait.
pub const WAITING_ITEMS_PER_REQUEST: usize = 10;
/// How long a request waits for the calls under way before it goes beside them.
pub(crate) const STUCK_AFTER: Duration = Duration::from_millis(50);
/// What a caller is told to wait when it is turned away.
pub const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The bounds of a gather.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Items in one call.
    pub(crate) call_max: usize,
    /// Calls under way at a time that start as soon as there is something for them.
    pub(crate) eager_max: usize,
    /// Calls under way at a time, those included that start because others take long.
    pub(crate) calls_max: usize,
    /// Requests that wait.
    pub(crate) waiting_max: usize,
    /// A request whose caller is gone is not sent: nobody would take its answer.
    pub(crate) drop_abandoned: bool,
}

/// What can be gathered.
pub(crate) trait Item: Sized + Send + 'static {
    /// How much of a call it takes up.
    fn weight(&self) -> usize {
        1
    }

    /// A copy, for calls that the store may refuse because of one item: the requests are then tried one by one.
    fn spare(&self) -> Option<Self> {
        None
    }
}

/// Where callers hand in their requests.
pub(crate) struct Gather<I, A> {
    requests: mpsc::Sender<Request<I, A>>,
    waiting_items: Arc<AtomicUsize>,
    waiting_items_max: usize,
    rejected: Counter,
}

/// The other end: hand it to [`Gathering::run`].
#[derive(Debug)]
pub(crate) struct Gathering<I, A> {
    requests: mpsc::Receiver<Request<I, A>>,
    /// The first that did not fit into the call before.
    left_over: Option<Request<I, A>>,
    waiting_items: Arc<AtomicUsize>,
    bounds: Bounds,
}

#[derive(Debug)]
struct Request<I, A> {
    items: Vec<I>,
    weight: usize,
    reply: oneshot::Sender<Result<Vec<A>>>,
}

/// A gather and its other end. Requests that are turned away are counted in `rejected`.
pub(crate) fn gather<I, A>(bounds: Bounds, rejected: &Counter) -> (Gather<I, A>, Gathering<I, A>) {
    let (sender, receiver) = mpsc::channel(bounds.waiting_max.max(1));
    let waiting_items = Arc::new(AtomicUsize::new(0));
    let gather = Gather {
        requests: sender,
        waiting_items: waiting_items.clone(),
        waiting_items_max: bounds.waiting_max.saturating_mul(WAITING_ITEMS_PER_REQUEST),
        rejected: rejected.clone(),
    };
    (gather, Gathering { requests: receiver, left_over: None, waiting_items, bounds })
}

impl<I, A> fmt::Debug for Gather<I, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gather").field("waiting_items", &self.waiting_items).finish_non_exhaustive()
    }
}

impl<I: Item, A> Gather<I, A> {
    /// One answer for each item, in order. Turned away if too many wait already.
    pub(crate) async fn ask(&self, items: Vec<I>) -> Result<Vec<A>> {
        if items.is_empty() {
            return Ok(vec![]);
        }
        let busy = || {
            self.rejected.increment(1);
            Error::Busy { retry_after: RETRY_AFTER }
        };
        let waiting = self.waiting_items.load(Ordering::Relaxed);
        if waiting > 0 && waiting + items.len() > self.waiting_items_max {
            return Err(busy());
        }
        let permit = self.requests.try_reserve().map_err(|error| match error {
            mpsc::error::TrySendError::Full(()) => busy(),
            mpsc::error::TrySendError::Closed(()) => Error::Closed,
        })?;
        let (request, answer) = self.request(items);
        permit.send(request);
        answer.await.unwrap_or(Err(Error::Closed))
    }

    /// The same for the node's own requests: waits for room instead.
    pub(crate) async fn ask_patiently(&self, items: Vec<I>) -> Result<Vec<A>> {
        let permit = self.requests.reserve().await.map_err(|_| Error::Closed)?;
        let (request, answer) = self.request(items);
        permit.send(request);
        answer.await.unwrap_or(Err(Error::Closed))
    }

    fn request(&self, items: Vec<I>) -> (Request<I, A>, oneshot::Receiver<Result<Vec<A>>>) {
        self.waiting_items.fetch_add(items.len(), Ordering::Relaxed);
        let weight = items.iter().map(I::weight).sum();
        let (reply, answer) = oneshot::channel();
        (Request { items, weight, reply }, answer)
    }
}

impl<I: Item, A: Send + 'static> Gathering<I, A> {
    /// Gathers until `closing` says so, and then finishes what was handed in. `stuck` is over when calls under way are waited for no
    /// longer.
    pub(crate) async fn run<C, F, W>(mut self, call: C, mut closing: Listener, stuck: impl Fn() -> W + Send)
    where
        C: Fn(Vec<I>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = store::Result<Vec<A>>> + Send + 'static,
        W: Future<Output = ()> + Send,
    {
        let slots = Slots::new(&self.bounds);
        loop {
            let waiting_items = self.waiting_items.clone();
            let slot = slots.take(&stuck, move || waiting_items.load(Ordering::Relaxed) > 0).await;
            let first = match self.left_over.take() {
                Some(request) => request,
                None => tokio::select! {
                    biased;
                    request = self.requests.recv() => match request {
                        Some(request) => request,
                        None => break,
                    },
                    () = closing.raised() => {
                        self.requests.close();
                        match self.requests.recv().await {
                            Some(request) => request,
                            None => break,
                        }
                    }
                },
            };
            let batch = self.fill(first);
            if !batch.is_empty() {
                let call = call.clone();
                tokio::spawn(async move {
                    answer(batch, call).await;
                    drop(slot);
                });
            }
        }
        slots.all_free().await;
    }

    /// Everything that waits and fits.
    fn fill(&mut self, first: Request<I, A>) -> Vec<Request<I, A>> {
        let mut batch = Vec::new();
        let mut weight = 0;
        let mut next = Some(first);
        while let Some(request) = next {
            if !batch.is_empty() && weight + request.weight > self.bounds.call_max {
                self.left_over = Some(request);
                break;
            }
            self.waiting_items.fetch_sub(request.items.len(), Ordering::Relaxed);
            if !(self.bounds.drop_abandoned && request.reply.is_closed()) {
                weight += request.weight;
                batch.push(request);
            }
            next = self.requests.try_recv().ok();
        }
        batch
    }
}

/// Who may make a call.
struct Slots {
    eager: Arc<Semaphore>,
    eager_max: u32,
    spare: Arc<Semaphore>,
    spare_max: u32,
}

impl Slots {
    fn new(bounds: &Bounds) -> Slots {
        let eager_max = bounds.eager_max.clamp(1, bounds.calls_max.max(1));
        let spare_max = bounds.calls_max.saturating_sub(eager_max);
        Slots {
            eager: Arc::new(Semaphore::new(eager_max)),
            eager_max: eager_max as u32,
            spare: Arc::new(Semaphore::new(spare_max)),
            spare_max: spare_max as u32,
        }
    }

    async fn take<W: Future<Output = ()>>(
        &self,
        stuck: impl Fn() -> W,
        is_waited_for: impl Fn() -> bool,
    ) -> OwnedSemaphorePermit {
        let spare = async {
            if self.spare_max == 0 {
                return std::future::pending().await;
            }
            loop {
                stuck().await;
                if is_waited_for() {
                    return self.spare.clone().acquire_owned().await;
                }
            }
        };
        let slot = tokio::select! {
            biased;
            slot = self.eager.clone().acquire_owned() => slot,
            slot = spare => slot,
        };
        slot.expect("nobody closes the slots")
    }

    /// The last calls are over.
    async fn all_free(&self) {
        let _ = self.eager.acquire_many(self.eager_max).await;
        let _ = self.spare.acquire_many(self.spare_max).await;
    }
}

/// Makes the call and gives each request its own part of the answer.
async fn answer<I: Item, A, C, F>(mut batch: Vec<Request<I, A>>, call: C)
where
    C: Fn(Vec<I>) -> F,
    F: Future<Output = store::Result<Vec<A>>>,
{
    if let [_] = batch[..] {
        let Request { items, reply, .. } = batch.remove(0);
        let _ = reply.send(call(items).await.map_err(Error::Store));
        return;
    }
    let mut items = Vec::with_capacity(batch.iter().map(|request| request.items.len()).sum());
    let mut parts = Vec::with_capacity(batch.len());
    for request in batch {
        let spare: Option<Vec<I>> = request.items.iter().map(I::spare).collect();
        parts.push(Part { len: request.items.len(), spare, reply: request.reply });
        items.extend(request.items);
    }
    match call(items).await {
        Ok(answers) => share_out(answers, parts),
        Err(error) => {
            for Part { spare, reply, .. } in parts {
                // One item is at fault and nothing happened: tried alone, the others go through.
                let answer = match (&error, spare) {
                    (store::Error::Invalid(_), Some(items)) => call(items).await,
                    _ => Err(error.clone()),
                };
                let _ = reply.send(answer.map_err(Error::Store));
            }
        }
    }
}

/// What is left of a request once its items have gone into a call.
struct Part<I, A> {
    len: usize,
    spare: Option<Vec<I>>,
    reply: oneshot::Sender<Result<Vec<A>>>,
}

fn share_out<I, A>(answers: Vec<A>, parts: Vec<Part<I, A>>) {
    let mut answers = answers.into_iter();
    for part in parts {
        let own: Vec<A> = answers.by_ref().take(part.len).collect();
        debug_assert_eq!(own.len(), part.len, "a store answers every item");
        // A caller that is gone does not take its answer; what it says has happened all the same.
        let _ = part.reply.send(Ok(own));
    }
}

#[cfg(test)]
#[path = "gather_tests.rs"]
mod tests;
