//! The policy as JSON.

use crate::refs::UserRef;
use chrono::{DateTime, Utc};
use reeve_core::policy::Policy;
use reeve_store::policy::PolicyInForce;
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct PolicyView {
    /// 0 = the product's defaults.
    version: i64,
    #[schema(value_type = Object)]
    document: Policy,
    created_by: Option<UserRef>,
    created_at: Option<DateTime<Utc>>,
}

impl From<PolicyInForce> for PolicyView {
    fn from(policy: PolicyInForce) -> Self {
        let created_by = policy.created_by.map(|id| UserRef {
            id,
            username: policy.created_by_username.unwrap_or_default(),
            display_name: policy.created_by_name.unwrap_or_default(),
        });
        Self { version: policy.version, document: policy.document, created_by, created_at: policy.created_at }
    }
}
