//! The editable part of a queue, as it comes in.

use crate::problem::{Fields, Result};
use reeve_core::kind::Kind;
use reeve_core::queue::{QueueOrder, QueueState};
use reeve_store::queues::QueueTerms;

const MOST: i64 = 1_000_000;

/// Fields of a create or an edit; what is `None` stays.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) name: Option<String>,
    pub(super) order: Option<String>,
    pub(super) state: Option<String>,
    pub(super) allowed_kinds: Option<Option<Vec<String>>>,
    pub(super) max_running_jobs: Option<Option<i64>>,
    pub(super) max_running_jobs_per_user: Option<Option<i64>>,
    pub(super) max_running_gpus: Option<Option<i64>>,
}

/// What a queue without any word said is.
pub(super) fn defaults(name: &str) -> QueueTerms {
    QueueTerms {
        name: name.to_owned(),
        order: QueueOrder::FifoWithBackfill,
        state: QueueState::Open,
        allowed_kinds: None,
        max_running_jobs: None,
        max_running_jobs_per_user: None,
        max_running_gpus: None,
    }
}

/// The terms with the changes; every wrong field is added to `fields`.
pub(super) fn apply(mut terms: QueueTerms, changes: Changes, mut fields: Fields) -> Result<QueueTerms> {
    if let Some(name) = changes.name {
        fields.text("/name", &name, 1, 100);
        terms.name = name;
    }
    if let Some(order) = changes.order.and_then(|order| fields.word("/order", &order)) {
        terms.order = order;
    }
    if let Some(state) = changes.state.and_then(|state| fields.word("/state", &state)) {
        terms.state = state;
    }
    if let Some(kinds) = changes.allowed_kinds {
        terms.allowed_kinds = kinds.map(|kinds| known_kinds(&kinds, &mut fields));
    }
    let limits = [
        ("/max_running_jobs", changes.max_running_jobs, &mut terms.max_running_jobs),
        (
            "/max_running_jobs_per_user",
            changes.max_running_jobs_per_user,
            &mut terms.max_running_jobs_per_user,
        ),
        ("/max_running_gpus", changes.max_running_gpus, &mut terms.max_running_gpus),
    ];
    for (pointer, change, limit) in limits {
        if let Some(change) = change {
            if let Some(value) = change {
                fields.range(pointer, value, 0, MOST);
            }
            *limit = change.and_then(|value| i32::try_from(value).ok());
        }
    }
    fields.done()?;
    Ok(terms)
}

fn known_kinds(kinds: &[String], fields: &mut Fields) -> Vec<String> {
    if kinds.is_empty() {
        fields.add("/allowed_kinds", "empty", "name at least one kind, or null for every kind");
    }
    let mut known: Vec<String> = Vec::new();
    for (index, kind) in kinds.iter().enumerate().take(100) {
        if let Some(kind) = fields.word::<Kind>(&format!("/allowed_kinds/{index}"), kind)
            && !known.iter().any(|have| have == kind.as_str())
        {
            known.push(kind.as_str().to_owned());
        }
    }
    known
}
