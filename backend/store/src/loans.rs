//! Loans: who used whose idle guarantee, when.
//!
//! This module refuses to attribute a loan: the planner does, and its plan is kept as it came.

use crate::connect::Store;
use crate::error::StoreError;
use chrono::{DateTime, Utc};
use reeve_core::id::{PoolId, TeamId};
use uuid::Uuid;

/// One interval of one loan.
#[derive(Debug, Clone)]
pub struct Loan {
    pub id: Uuid,
    pub pool_id: Uuid,
    pub pool_slug: String,
    pub borrower_id: Uuid,
    pub borrower_slug: String,
    pub borrower_name: String,
    pub lender_id: Option<Uuid>,
    pub lender_slug: Option<String>,
    pub lender_name: Option<String>,
    pub gpu_milli: i64,
    pub started_at: DateTime<Utc>,
    pub ended_at: Option<DateTime<Utc>>,
}

/// What a list may be narrowed to.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub pool: Option<PoolId>,
    /// As borrower or lender.
    pub team: Option<TeamId>,
    pub open: Option<bool>,
    /// Only those that overlap this span.
    pub from: Option<DateTime<Utc>>,
    pub to: Option<DateTime<Utc>>,
}

macro_rules! select_loans {
    ($rest:literal $(, $argument:expr)*) => {
        sqlx::query_as!(
            Loan,
            r#"select l.id, l.pool_id, p.slug as pool_slug, l.borrower_team_id as borrower_id,
                      b.slug as borrower_slug, b.name as borrower_name, l.lender_team_id as "lender_id?",
                      e.slug as "lender_slug?", e.name as "lender_name?", l.gpu_milli, l.started_at, l.ended_at
               from loans l join pools p on p.id = l.pool_id join teams b on b.id = l.borrower_team_id
               left join teams e on e.id = l.lender_team_id "# + $rest
            $(, $argument)*
        )
    };
}

/// Newest first.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn list(
    store: &Store,
    filter: &Filter,
    after: Option<Uuid>,
    limit: i64,
) -> Result<Vec<Loan>, StoreError> {
    Ok(select_loans!(
        "where ($1::uuid is null or l.pool_id = $1)
           and ($2::uuid is null or l.borrower_team_id = $2 or l.lender_team_id = $2)
           and ($3::boolean is null or (l.ended_at is null) = $3)
           and ($4::timestamptz is null or l.ended_at is null or l.ended_at > $4)
           and ($5::timestamptz is null or l.started_at < $5)
           and ($6::uuid is null or l.id < $6)
         order by l.id desc limit $7",
        filter.pool.map(|id| id.0),
        filter.team.map(|id| id.0),
        filter.open,
        filter.from,
        filter.to,
        after,
        limit
    )
    .fetch_all(store.pool())
    .await?)
}

/// All open loans of a pool, or of all pools: a lender, a borrower and an amount each.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn open(store: &Store, pool: Option<PoolId>) -> Result<Vec<Loan>, StoreError> {
    Ok(select_loans!(
        "where l.ended_at is null and ($1::uuid is null or l.pool_id = $1)
         order by p.slug, b.slug, e.slug nulls last",
        pool.map(|id| id.0)
    )
    .fetch_all(store.pool())
    .await?)
}
