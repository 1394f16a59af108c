//! A webhook as JSON. Its secret is shown once, and a robot's address never whole.

use crate::refs::{TeamRef, UserRef};
use chrono::{DateTime, Utc};
use reeve_store::webhooks::Webhook;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct WebhookView {
    id: Uuid,
    name: String,
    /// Null = the whole installation's.
    team: Option<TeamRef>,
    /// `webhook`, `feishu`, `dingtalk`, `wecom` or `slack`.
    kind: String,
    /// A robot's is a secret: only its host is shown.
    url: String,
    has_secret: bool,
    /// Actions, or prefixes with `.*`; empty = every event for a webhook, what concerns people for a robot.
    event_types: Vec<String>,
    /// `en` or `zh-CN`: what a robot speaks.
    locale: String,
    /// `enabled` or `disabled`.
    state: String,
    /// `gone` (its receiver said 410) or `by_hand`.
    disabled_reason: Option<String>,
    failing_since: Option<DateTime<Utc>>,
    /// Right to ten seconds.
    last_delivered_at: Option<DateTime<Utc>>,
    created_by: Option<UserRef>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
    version: i64,
}

/// With the secret, for the only time.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CreatedWebhook {
    /// Signs what is sent; null for a robot without one, and for one whose secret you gave.
    #[schema(example = "whsec_…")]
    pub(crate) secret: Option<String>,
    #[serde(flatten)]
    pub(crate) view: WebhookView,
}

impl From<Webhook> for WebhookView {
    fn from(row: Webhook) -> Self {
        let team = match (row.team_id, row.team_slug, row.team_name) {
            (Some(id), Some(slug), Some(name)) => Some(TeamRef { id, slug, name }),
            _ => None,
        };
        let created_by = match (row.created_by, row.created_by_username, row.created_by_name) {
            (Some(id), Some(username), Some(display_name)) => Some(UserRef { id, username, display_name }),
            _ => None,
        };
        Self {
            id: row.id,
            name: row.name,
            team,
            url: if row.kind == "webhook" { row.url } else { masked(&row.url) },
            kind: row.kind,
            has_secret: row.secret.is_some(),
            event_types: row.event_types,
            locale: row.locale,
            state: row.state,
            disabled_reason: row.disabled_reason,
            failing_since: row.failing_since,
            last_delivered_at: row.last_delivered_at,
            created_by,
            created_at: row.created_at,
            updated_at: row.updated_at,
            version: row.version,
        }
    }
}

/// Scheme and host.
fn masked(url: &str) -> String {
    let host = reqwest::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
    format!("https://{}/…", host.unwrap_or_default())
}
