//! A join token as JSON; never with its secret.

use crate::refs::PoolRef;
use chrono::{DateTime, Utc};
use reeve_store::join_tokens::JoinToken;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct JoinTokenView {
    pub id: Uuid,
    pub hint: String,
    pub pool: PoolRef,
    pub max_uses: i32,
    pub uses: i32,
    pub created_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
    pub revoked_at: Option<DateTime<Utc>>,
}

impl From<JoinToken> for JoinTokenView {
    fn from(token: JoinToken) -> Self {
        Self {
            id: token.id,
            hint: token.hint,
            pool: PoolRef { id: token.pool_id, slug: token.pool_slug },
            max_uses: token.max_uses,
            uses: token.uses,
            created_at: token.created_at,
            expires_at: token.expires_at,
            revoked_at: token.revoked_at,
        }
    }
}
