//! A budget as JSON.

use crate::problem::Fields;
use crate::refs::TeamRef;
use chrono::{DateTime, Utc};
use reeve_core::money::budget::BudgetAction;
use reeve_core::money::decimal::{MICRO_DIGITS, format, micros, parse_micros};
use reeve_core::money::month::Month;
use reeve_store::budgets::{Budget, Terms};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// A budget and what is used of it this month.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BudgetView {
    id: Uuid,
    /// It counts for everything below the team.
    team: TeamRef,
    /// Null = every class.
    priority_class: Option<String>,
    unit: String,
    /// A month; a decimal.
    amount: String,
    action: String,
    note: String,
    version: i64,
    used: String,
    /// What the month will have used if it goes on so.
    forecast: String,
    /// Of the amount with exceptions.
    percent: i64,
    state: String,
    /// Added by exceptions that hold now; null = as much as it takes.
    extra: Option<String>,
    /// When the first of those exceptions ends; null = none holds.
    extra_until: Option<DateTime<Utc>>,
    month: String,
    /// When use was last measured; null = not yet.
    as_of: Option<DateTime<Utc>>,
}

pub(crate) fn view(found: &Budget, now: DateTime<Utc>) -> BudgetView {
    let standing = &found.standing;
    let month = Month::of(now.date_naive());
    let passed = (now - month.begins_at()).num_seconds();
    let whole = (month.ends_at() - month.begins_at()).num_seconds();
    let amount = |value: i64| format(i128::from(value), MICRO_DIGITS, 0);
    BudgetView {
        id: standing.id,
        team: TeamRef { id: standing.team.0, slug: found.team_slug.clone(), name: found.team_name.clone() },
        priority_class: standing.class.map(|class| class.to_string()),
        unit: standing.unit.to_string(),
        amount: amount(standing.amount_micros),
        action: standing.action.to_string(),
        note: found.note.clone(),
        version: found.version,
        used: micros(i128::from(standing.used_micros)),
        forecast: micros(i128::from(standing.forecast_micros(passed, whole))),
        percent: standing.percent(),
        state: standing.state().to_string(),
        extra: (!standing.extra.unlimited).then(|| amount(standing.extra.micros)),
        extra_until: found.extra_until,
        month: month.to_string(),
        as_of: found.measured.map(|(_, at)| at),
    }
}

/// The terms that a body gives, or what is wrong with them.
pub(super) fn terms(amount: &str, action: &str, note: &str, fields: &mut Fields) -> Option<Terms> {
    fields.text("/note", note, 0, 500);
    let micros = parse_micros(amount).filter(|micros| *micros >= 0);
    if micros.is_none() {
        fields.add("/amount", "invalid_decimal", "zero or more, with at most six digits after the point");
    }
    let action = fields.word::<BudgetAction>("/action", action);
    Some(Terms { amount_micros: micros?, action: action?.as_str(), note: note.to_owned() })
}
