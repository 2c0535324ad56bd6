//! The usual way for a worker program to be told to end: Ctrl-C, or SIGTERM from whatever supervises it.

/// Ends at Ctrl-C or SIGTERM. For [`Worker::run_until`](crate::Worker::run_until).
pub async fn shutdown_signal() {
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => {
            if let Err(error) = interrupted {
                tracing::warn!(%error, "cannot listen for Ctrl-C");
                std::future::pending::<()>().await;
            }
        }
        () = terminated() => {}
    }
}

#[cfg(unix)]
async fn terminated() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut signals) => drop(signals.recv().await),
        Err(error) => {
            tracing::warn!(%error, "cannot listen for SIGTERM");
            std::future::pending().await
        }
    }
}

#[cfg(not(unix))]
async fn terminated() {
    std::future::pending().await
}
