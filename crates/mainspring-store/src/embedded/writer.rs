//! The one thread that writes. Takes every call that is waiting, applies all of them in one transaction, makes it
//! durable, and only then answers. Decides nothing about jobs.

use std::sync::Arc;
use std::thread::JoinHandle;

use mainspring_core::store::{Error, Result};
use tokio::sync::{mpsc, oneshot};

use super::batch::Batch;
use super::mirror::Mirror;
use super::open::Disk;
use super::runway::Runway;
use super::storage;

/// Calls waiting for the writer. The engine gathers requests before they get here, so this is never the limit.
const CALLS_WAITING_MAX: usize = 4_096;
/// Calls in one commit: bounds how long the first one waits for the last.
const CALLS_PER_COMMIT_MAX: usize = 256;

#[derive(Debug)]
pub struct Writer {
    calls: Option<mpsc::Sender<Box<dyn Call>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub fn start(disk: Arc<Disk>, mirror: Mirror) -> std::io::Result<Writer> {
        let (calls, waiting) = mpsc::channel(CALLS_WAITING_MAX);
        let thread = std::thread::Builder::new().name("store-writer".into());
        let runway = Runway::new(&disk.env)?;
        let thread = thread.spawn(move || run(&disk, mirror, runway, waiting))?;
        Ok(Writer { calls: Some(calls), thread: Some(thread) })
    }

    /// Applies `work` and answers once it is durable. An error means that nothing of it happened.
    pub async fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Batch<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.send(work, false).await
    }

    /// The same for work that takes up room for good: refused while there is little left.
    pub async fn with_room<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Batch<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.send(work, true).await
    }

    async fn send<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Batch<'_>) -> Result<T> + Send + 'static,
        needs_room: bool,
    ) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        let call = Box::new(TypedCall { work: Some(work), made: None, reply, needs_room });
        let calls = self.calls.as_ref().expect("the writer lives as long as its store");
        calls.send(call).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

impl Drop for Writer {
    /// Waits for the last commit, so that the directory is free when the store is gone.
    fn drop(&mut self) {
        drop(self.calls.take());
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

fn gone() -> Error {
    Error::Unavailable("the store's writer has stopped".into())
}

/// A call with its answer's type forgotten.
trait Call: Send {
    fn needs_room(&self) -> bool;
    fn apply(&mut self, batch: &mut Batch<'_>) -> Result<()>;
    fn answer(self: Box<Self>, committed: Result<()>);
}

struct TypedCall<T, W> {
    work: Option<W>,
    made: Option<T>,
    reply: oneshot::Sender<Result<T>>,
    needs_room: bool,
}

impl<T: Send, W: FnOnce(&mut Batch<'_>) -> Result<T> + Send> Call for TypedCall<T, W> {
    fn needs_room(&self) -> bool {
        self.needs_room
    }

    fn apply(&mut self, batch: &mut Batch<'_>) -> Result<()> {
        let work = self.work.take().expect("a call is applied once");
        self.made = Some(work(batch)?);
        Ok(())
    }

    fn answer(self: Box<Self>, committed: Result<()>) {
        let TypedCall { made, reply, .. } = *self;
        // Whoever asked may have gone away; what was done stands all the same.
        let _ = reply.send(committed.and_then(|()| made.ok_or_else(gone)));
    }
}

fn run(disk: &Disk, mirror: Mirror, mut runway: Runway, mut waiting: mpsc::Receiver<Box<dyn Call>>) {
    let mut calls: Vec<Box<dyn Call>> = Vec::with_capacity(CALLS_PER_COMMIT_MAX);
    let mut mirror = Some(mirror);
    while let Some(first) = waiting.blocking_recv() {
        calls.push(first);
        while calls.len() < CALLS_PER_COMMIT_MAX
            && let Ok(next) = waiting.try_recv()
        {
            calls.push(next);
        }
        refuse_without_room(disk, &mut calls);
        let committed = commit(disk, &mut mirror, &mut calls);
        calls.drain(..).for_each(|call| call.answer(committed.clone()));
        runway.keep(&disk.env);
    }
}

fn refuse_without_room(disk: &Disk, calls: &mut Vec<Box<dyn Call>>) {
    if !calls.iter().any(|call| call.needs_room()) {
        return;
    }
    if let Err(full) = disk.check_room() {
        calls.extract_if(.., |call| call.needs_room()).for_each(|call| call.answer(Err(full.clone())));
    }
}

/// A mirror whose commit failed is ahead of the disk: it is thrown away, and nothing is applied again before it has been
/// read back from the tables.
fn commit(disk: &Disk, mirror: &mut Option<Mirror>, calls: &mut [Box<dyn Call>]) -> Result<()> {
    let mut current = match mirror.take() {
        Some(current) => current,
        None => disk.load()?,
    };
    let txn = disk.env.write_txn().map_err(storage)?;
    let mut batch = Batch::new(txn, &disk.tables, &mut current);
    for call in calls {
        call.apply(&mut batch)?;
    }
    batch.commit()?;
    *mirror = Some(current);
    Ok(())
}
