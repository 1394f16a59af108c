//! `GET /audit/keys`: the public keys that checkpoints were signed with.

use crate::app::AppState;
use crate::extract::Caller;
use crate::problem::Result;
use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Utc};
use reeve_core::access::{Action, Resource};
use reeve_store::audit::checkpoint;
use reeve_store::audit::export::KeyLine;
use serde::Serialize;
use utoipa::ToSchema;

/// A public key.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AuditKeyView {
    /// The first 16 hexadecimal digits of its SHA-256.
    key_id: String,
    /// Ed25519, base64 of 32 bytes.
    public_key: String,
    created_at: DateTime<Utc>,
    /// The key before it, which vouches for it.
    endorsed_by: Option<String>,
    /// Base64.
    endorsement: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AuditKeys {
    items: Vec<AuditKeyView>,
}

/// Every key that ever signed, oldest first.
#[utoipa::path(get, path = "/api/v1/audit/keys", operation_id = "list_audit_keys", tag = "audit",
    responses((status = 200, body = AuditKeys)))]
pub(crate) async fn keys(State(app): State<AppState>, caller: Caller) -> Result<Json<AuditKeys>> {
    app.allow(&caller, Action::OverviewRead, &Resource::Installation).await?;
    let keys = checkpoint::keys(&app.store).await?;
    let view = |line: KeyLine| AuditKeyView {
        key_id: line.key_id,
        public_key: line.public_key,
        created_at: line.created_at,
        endorsed_by: line.endorsed_by,
        endorsement: line.endorsement,
    };
    Ok(Json(AuditKeys { items: keys.iter().map(KeyLine::from).map(view).collect() }))
}
