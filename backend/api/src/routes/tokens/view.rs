//! An API token as JSON.

use chrono::{DateTime, Utc};
use reeve_store::tokens::ApiToken;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct TokenView {
    id: Uuid,
    name: String,
    /// Its first characters.
    hint: String,
    scopes: Vec<String>,
    /// Null = every team of its user.
    team_ids: Option<Vec<Uuid>>,
    created_at: DateTime<Utc>,
    expires_at: Option<DateTime<Utc>>,
    last_used_at: Option<DateTime<Utc>>,
    revoked_at: Option<DateTime<Utc>>,
}

impl From<ApiToken> for TokenView {
    fn from(token: ApiToken) -> Self {
        Self {
            id: token.id,
            name: token.name,
            hint: token.hint,
            scopes: token.scopes,
            team_ids: token.team_ids,
            created_at: token.created_at,
            expires_at: token.expires_at,
            last_used_at: token.last_used_at,
            revoked_at: token.revoked_at,
        }
    }
}
