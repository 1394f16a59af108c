//! Listening, and stopping well: no new connections, running requests finish, streams end.

use crate::app::AppState;
use crate::router::router;
use std::net::SocketAddr;
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
    let service = router(state).into_make_service_with_connect_info::<SocketAddr>();
    axum::serve(listener, service)
        .with_graceful_shutdown(async move { shutdown.cancelled().await })
        .await
        .map_err(ServeError)
}
