//! The question as JSON.

use crate::routes::jobs::body::SubmitJob;
use reeve_core::policy::Policy;
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// What to imagine; all at once, in this order.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskWhatIf {
    /// 1 to 100.
    pub(super) changes: Vec<WhatIfChange>,
}

/// One imagined change: exactly one field.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WhatIfChange {
    /// A job is submitted.
    Submit(Box<SubmitJob>),
    /// A live job gets another priority class.
    Priority(WhatIfPriority),
    /// A team's quota in a pool becomes this; drain is not imagined.
    Quota(WhatIfQuota),
    /// The policy becomes this document, as `GET /policy` shows it.
    #[schema(value_type = Object)]
    Policy(Box<Policy>),
    Node(WhatIfNode),
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WhatIfPriority {
    pub(super) job: Uuid,
    /// `critical`, `high`, `normal`, `low` or `scavenger`; ceilings are not asked.
    pub(super) priority: String,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WhatIfQuota {
    /// Slug or id.
    pub(super) team: String,
    /// Slug or id.
    pub(super) pool: String,
    #[schema(minimum = 0, maximum = 1000000)]
    pub(super) guaranteed_gpus: i64,
    /// Null or left out = no limit.
    pub(super) borrow_limit_gpus: Option<i64>,
    /// Null or left out = all.
    pub(super) lend_limit_gpus: Option<i64>,
    /// 1 when left out.
    pub(super) weight: Option<i64>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WhatIfNode {
    /// Name or id.
    pub(super) node: String,
    /// `lost`, `cordoned`, `draining` or `ready`.
    pub(super) state: String,
}
