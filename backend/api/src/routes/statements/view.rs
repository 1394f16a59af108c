//! Months, statements and their lines as JSON.

use crate::refs::{PoolRef, QueueRef, TeamRef, UserRef};
use crate::routes::usage::amounts_view::UsageAmounts;
use crate::routes::usage::view::{pool_ref, queue_ref, team_ref};
use chrono::{DateTime, Utc};
use reeve_core::id::TeamId;
use reeve_core::money::bill::{Statement, StatementKey};
use reeve_core::money::decimal::{Cost, MICRO_DIGITS, format, micros};
use reeve_core::money::month::Month;
use reeve_core::text_enum;
use reeve_store::money::bills::Bill;
use reeve_store::money::corrections::Correction;
use reeve_store::money::months::{MonthRow, MonthState, Person};
use reeve_store::money::names::NameBook;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

text_enum! {
    StatementState {
        Open = "open",
        /// One person has proposed to close it.
        Proposed = "proposed",
        Closed = "closed",
    }
}

/// A month as a whole.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MonthView {
    #[schema(example = "2026-11")]
    month: String,
    #[schema(value_type = String)]
    state: StatementState,
    /// Null while nothing has a price.
    currency: Option<String>,
    price_version: i64,
    proposed_by: Option<UserRef>,
    proposed_at: Option<DateTime<Utc>>,
    closed_by: Option<UserRef>,
    closed_at: Option<DateTime<Utc>>,
}

impl MonthView {
    pub(super) fn of(bill: &Bill) -> Self {
        let row = bill.closing.as_ref();
        let currency = Some(bill.prices.book.currency.clone()).filter(|currency| !currency.is_empty());
        Self::new(bill.month, row, currency, bill.prices.version)
    }

    pub(super) fn of_row(row: &MonthRow) -> Self {
        Self::new(row.month, Some(row), Some(row.currency.clone()), row.price_version)
    }

    fn new(month: Month, row: Option<&MonthRow>, currency: Option<String>, price_version: i64) -> Self {
        Self {
            month: month.to_string(),
            state: match row.map(|row| row.state) {
                None => StatementState::Open,
                Some(MonthState::Proposed) => StatementState::Proposed,
                Some(MonthState::Closed) => StatementState::Closed,
            },
            currency,
            price_version,
            proposed_by: row.map(|row| user_ref(&row.proposed_by)),
            proposed_at: row.map(|row| row.proposed_at),
            closed_by: row.and_then(|row| row.closed_by.as_ref()).map(user_ref),
            closed_at: row.and_then(|row| row.closed_at),
        }
    }
}

fn user_ref(person: &Person) -> UserRef {
    UserRef { id: person.id, username: person.username.clone(), display_name: person.display_name.clone() }
}

/// A month in the list of months.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MonthItem {
    #[serde(flatten)]
    pub(super) month: MonthView,
    /// To the cent, over all teams.
    pub(super) total: String,
}

/// A team's sums of a month.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StatementItem {
    /// Null = capacity that is on nobody's bill.
    team: Option<TeamRef>,
    #[serde(flatten)]
    amounts: UsageAmounts,
    corrections: String,
    total_exact: String,
    /// To the cent, halves away from zero: what is paid.
    total: String,
    /// Something has no price.
    unpriced: bool,
}

/// Everybody's sums of a month.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StatementsView {
    #[serde(flatten)]
    pub(super) month: MonthView,
    /// What a closing must quote; only for those who see everything.
    pub(super) digest: Option<String>,
    pub(super) items: Vec<StatementItem>,
    pub(super) total_exact: String,
    pub(super) total: String,
    pub(super) unpriced: bool,
}

/// A line: the days of one price together.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StatementLine {
    pool: PoolRef,
    queue: Option<QueueRef>,
    kind: Option<String>,
    priority_class: Option<String>,
    /// `guaranteed`, `loan`, `idle`, `down` or `lent`.
    share: String,
    /// Of a loan: whose guarantee it was, null = nobody's.
    lender: Option<TeamRef>,
    /// Of what was lent: who borrowed it.
    borrower: Option<TeamRef>,
    gpu_hours: String,
    /// Null = there is no price.
    price_per_gpu_hour: Option<String>,
    /// Quantity times price, exactly; a credit is negative.
    cost: String,
}

/// A correction of a closed month.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CorrectionView {
    id: Uuid,
    team: TeamRef,
    /// The month that was wrong.
    corrects_month: String,
    /// The month in which it is booked.
    month: String,
    amount: String,
    currency: String,
    reason: String,
    created_by: UserRef,
    created_at: DateTime<Utc>,
}

/// One team's statement.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StatementView {
    #[serde(flatten)]
    pub(super) head: MonthView,
    team: TeamRef,
    lines: Vec<StatementLine>,
    corrections: Vec<CorrectionView>,
    amounts: UsageAmounts,
    total_exact: String,
    total: String,
    unpriced: bool,
}

/// Cents as a cost.
pub(super) fn cents(cents: i64) -> Cost {
    Cost(i128::from(cents) * 10_000_000_000)
}

pub(super) fn corrected(corrections: &[Correction], team: Option<TeamId>) -> Cost {
    let own = corrections.iter().filter(|one| Some(TeamId(one.team_id)) == team);
    own.map(|one| cents(one.amount_cents)).sum()
}

pub(super) fn item(
    team: Option<TeamId>,
    statement: &Statement,
    corrections: Cost,
    names: &NameBook,
) -> StatementItem {
    let total = statement.amounts.cost() + corrections;
    StatementItem {
        team: team_ref(names, team),
        amounts: (&statement.amounts).into(),
        corrections: corrections.exact(),
        total_exact: total.exact(),
        total: total.to_the_cent(),
        unpriced: statement.unpriced,
    }
}

pub(super) fn statement(
    bill: &Bill,
    team: TeamRef,
    statement: &Statement,
    corrections: Vec<Correction>,
    names: &NameBook,
) -> StatementView {
    let total = statement.amounts.cost() + corrected(&corrections, Some(TeamId(team.id)));
    StatementView {
        head: MonthView::of(bill),
        lines: statement.lines.iter().map(|(key, sum)| line(key, *sum, names)).collect(),
        corrections: corrections.into_iter().map(CorrectionView::from).collect(),
        amounts: (&statement.amounts).into(),
        total_exact: total.exact(),
        total: total.to_the_cent(),
        unpriced: statement.unpriced,
        team,
    }
}

fn line(key: &StatementKey, (hours, cost): (i64, Cost), names: &NameBook) -> StatementLine {
    use reeve_core::money::bill::BillShare;
    let other = team_ref(names, key.counterparty);
    let (lender, borrower) = if key.share == BillShare::Lent { (None, other) } else { (other, None) };
    StatementLine {
        pool: pool_ref(names, key.pool),
        queue: queue_ref(names, key.queue),
        kind: key.kind.map(|kind| kind.to_string()),
        priority_class: key.class.map(|class| class.to_string()),
        share: key.share.to_string(),
        lender,
        borrower,
        gpu_hours: micros(i128::from(hours)),
        price_per_gpu_hour: key.price_micros.map(|price| format(i128::from(price), MICRO_DIGITS, 2)),
        cost: cost.exact(),
    }
}

impl From<Correction> for CorrectionView {
    fn from(found: Correction) -> Self {
        Self {
            id: found.id,
            team: TeamRef { id: found.team_id, slug: found.team_slug, name: found.team_name },
            corrects_month: Month::of(found.corrects_month).to_string(),
            month: Month::of(found.month).to_string(),
            amount: cents(found.amount_cents).to_the_cent(),
            currency: found.currency,
            reason: found.reason,
            created_by: UserRef {
                id: found.created_by,
                username: found.username,
                display_name: found.display_name,
            },
            created_at: found.created_at,
        }
    }
}
