//! `GET /operations/{id}/result`: the file, streamed piece by piece.

use super::load::load;
use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::{Problem, Result};
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures::stream::try_unfold;
use reeve_core::access::Action;
use reeve_store::{StoreError, operations};

/// The file that came of it.
#[utoipa::path(get, path = "/api/v1/operations/{id}/result", operation_id = "fetch_operation_result", tag = "operations",
    params(("id" = String, Path)), responses((status = 200, content_type = "application/octet-stream", body = String)))]
pub(crate) async fn result(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response> {
    let found = load(&app, &caller, &id, Action::OperationRead).await?;
    let file = found.file.ok_or_else(Problem::not_found)?;
    let (store, id) = (app.store.clone(), found.id);
    let stream = try_unfold(0, move |seq| {
        let store = store.clone();
        async move {
            let bytes = operations::chunk(&store, id, seq).await?;
            Ok::<_, StoreError>(bytes.map(|bytes| (Bytes::from(bytes), seq + 1)))
        }
    });
    let mut response = Body::from_stream(stream).into_response();
    let headers = response.headers_mut();
    let disposition = format!("attachment; filename=\"{}\"", file.name);
    for (name, value) in [
        (header::CONTENT_TYPE, file.content_type),
        (header::CONTENT_DISPOSITION, disposition),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (header::CONTENT_LENGTH, file.bytes.to_string()),
    ] {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
    Ok(response)
}
