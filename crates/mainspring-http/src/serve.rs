//! Listens and answers until it is told to stop. Knows no route.

use std::future::Future;
use std::io;

use axum::Router;
use axum::serve::ListenerExt;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::{limits, metrics};

/// Serves until `shutdown` is done, then lets open requests end for up to [`limits::SHUTDOWN_WAIT_MAX`]. Waiting claims
/// and event streams end when the engine shuts down, so shut it down before, or as part of, `shutdown`.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    // An answer is one small packet: Nagle would hold it back for the client's acknowledgement.
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "could not set TCP_NODELAY");
        }
    });
    let (stopping, stopped) = oneshot::channel();
    let serving = axum::serve(listener, router).with_graceful_shutdown(async move {
        shutdown.await;
        // The receiver is gone only if serving has failed already.
        let _ = stopping.send(());
    });
    tokio::select! {
        served = serving.into_future() => served,
        () = overdue(stopped) => {
            tracing::warn!("some requests were still open after {:?}; leaving them", limits::SHUTDOWN_WAIT_MAX);
            Ok(())
        }
        () = metrics::keep_up() => Ok(()),
    }
}

#[allow(clippy::disallowed_methods, reason = "the one wait of the door: how long open requests may go on")]
async fn overdue(stopped: oneshot::Receiver<()>) {
    if stopped.await.is_err() {
        std::future::pending::<()>().await;
    }
    tokio::time::sleep(limits::SHUTDOWN_WAIT_MAX).await;
}
