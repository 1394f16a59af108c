//! A workload rule as JSON.

use crate::refs::{TeamRef, UserRef};
use chrono::{DateTime, Utc};
use reeve_core::identity::Condition;
use reeve_store::workload_rules::WorkloadRule;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct WorkloadRuleView {
    id: Uuid,
    slug: String,
    name: String,
    issuer: String,
    audience: String,
    /// All must hold.
    conditions: Vec<ConditionView>,
    team: TeamRef,
    role: String,
    scopes: Vec<String>,
    /// How long the access lasts.
    token_secs: i32,
    /// `enabled` or `disabled`.
    state: String,
    /// Owns what is done by the rule.
    service_user: UserRef,
    last_used_at: Option<DateTime<Utc>>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
    version: i64,
}

/// What must be true of a claim: `equals` or `matches`.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConditionView {
    /// A top-level claim, or a JSON pointer that begins with `/`.
    #[schema(example = "repository")]
    pub(crate) claim: String,
    /// Exactly this; one item of a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) equals: Option<String>,
    /// Like this, where `*` stands for any characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) matches: Option<String>,
}

impl From<Condition> for ConditionView {
    fn from(condition: Condition) -> Self {
        match condition {
            Condition::Equals { claim, equals } => Self { claim, equals: Some(equals), matches: None },
            Condition::Matches { claim, matches } => Self { claim, equals: None, matches: Some(matches) },
        }
    }
}

impl From<WorkloadRule> for WorkloadRuleView {
    fn from(row: WorkloadRule) -> Self {
        let conditions: Vec<Condition> = serde_json::from_value(row.conditions).unwrap_or_default();
        let (username, id) = (row.service_username, row.service_user_id);
        Self {
            id: row.id,
            slug: row.slug,
            service_user: UserRef { id, username, display_name: row.name.clone() },
            name: row.name,
            issuer: row.issuer,
            audience: row.audience,
            conditions: conditions.into_iter().map(ConditionView::from).collect(),
            team: TeamRef { id: row.team_id, slug: row.team_slug, name: row.team_name },
            role: row.role,
            scopes: row.scopes,
            token_secs: row.token_secs,
            state: row.state,
            last_used_at: row.last_used_at,
            created_at: row.created_at,
            updated_at: row.updated_at,
            version: row.version,
        }
    }
}
