//! Listening, and stopping well: no new connections, running requests finish, streams end.

use crate::app::AppState;
use crate::router::router;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Why the server stopped by itself.
#[derive(Debug, thiserror::Error)]
#[error("the listener failed")]
pub struct ServeError(#[source] std::io::Error);

/// Serves until `shutdown` is cancelled and running requests are done.
///
/// # Errors
/// [`ServeError`] when the listener breaks.
pub async fn serve(
    mut state: AppState,
    listener: TcpListener,
    shutdown: CancellationToken,
) -> Result<(), ServeError> {
    state.shutdown = shutdown.clone();
    let counting = tokio::spawn(write_denials(state.clone()));
    let service = router(state).into_make_service_with_connect_info::<SocketAddr>();
    let served = axum::serve(listener, service)
        .with_graceful_shutdown(async move { shutdown.cancelled().await })
        .await
        .map_err(ServeError);
    match &served {
        // A panic in it is told by the runtime.
        Ok(()) => drop(counting.await),
        Err(_) => counting.abort(),
    }
    served
}

/// Every minute the counts of denied attempts, and all that is left at the end.
async fn write_denials(state: AppState) {
    loop {
        let over = tokio::select! {
            () = tokio::time::sleep(Duration::from_secs(60)) => false,
            () = state.shutdown.cancelled() => true,
        };
        if let Err(problem) = state.flush_denials(over).await {
            tracing::warn!(?problem, "counts of denied attempts were not written");
        }
        if over {
            return;
        }
    }
}
