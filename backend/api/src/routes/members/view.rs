//! A role in a team as JSON.

use crate::refs::UserRef;
use chrono::{DateTime, Utc};
use reeve_store::memberships::Member;
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct MemberView {
    user: UserRef,
    /// `viewer`, `member`, `lead` or `approver`.
    role: String,
    created_at: DateTime<Utc>,
}

impl From<Member> for MemberView {
    fn from(row: Member) -> Self {
        let user = UserRef { id: row.user_id, username: row.username, display_name: row.display_name };
        Self { user, role: row.role, created_at: row.created_at }
    }
}
