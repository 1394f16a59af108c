//! Loans as JSON.

use crate::refs::{PoolRef, TeamRef};
use chrono::{DateTime, Utc};
use reeve_core::units::MilliGpu;
use reeve_store::loans::Loan;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct LoanView {
    pub id: Uuid,
    pub pool: PoolRef,
    pub borrower: TeamRef,
    /// Whose idle guarantee it is; null = capacity that nobody's guarantee covers.
    pub lender: Option<TeamRef>,
    pub gpus: f64,
    pub started_at: DateTime<Utc>,
    pub ended_at: Option<DateTime<Utc>>,
}

/// Who borrows how much from whom, now.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct LoanMatrix {
    /// Null = all pools together.
    pub pool: Option<PoolRef>,
    pub as_of: DateTime<Utc>,
    pub cells: Vec<LoanCell>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct LoanCell {
    pub lender: Option<TeamRef>,
    pub borrower: TeamRef,
    pub gpus: f64,
}

/// Both teams of a loan: the lender, if any, and the borrower.
pub(crate) fn teams(loan: &Loan) -> (Option<TeamRef>, TeamRef) {
    let lender = match (loan.lender_id, &loan.lender_slug, &loan.lender_name) {
        (Some(id), Some(slug), Some(name)) => Some(TeamRef { id, slug: slug.clone(), name: name.clone() }),
        _ => None,
    };
    let borrower =
        TeamRef { id: loan.borrower_id, slug: loan.borrower_slug.clone(), name: loan.borrower_name.clone() };
    (lender, borrower)
}

impl From<Loan> for LoanView {
    fn from(loan: Loan) -> Self {
        let (lender, borrower) = teams(&loan);
        Self {
            id: loan.id,
            pool: PoolRef { id: loan.pool_id, slug: loan.pool_slug },
            borrower,
            lender,
            gpus: MilliGpu(loan.gpu_milli).as_gpus(),
            started_at: loan.started_at,
            ended_at: loan.ended_at,
        }
    }
}
