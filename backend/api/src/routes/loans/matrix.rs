//! `GET /loans/matrix`.

use super::view::{LoanCell, LoanMatrix, teams};
use crate::app::AppState;
use crate::extract::{Caller, List};
use crate::problem::Result;
use crate::refs::PoolRef;
use axum::Json;
use axum::extract::State;
use reeve_core::access::{Action, Resource};
use reeve_core::id::PoolId;
use reeve_core::units::MilliGpu;
use reeve_store::loans::{self, Loan};
use reeve_store::pools;
use serde::Deserialize;
use std::collections::BTreeMap;
use utoipa::IntoParams;
use uuid::Uuid;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct MatrixFilter {
    /// A pool's slug or id; all pools together when left out.
    pool: Option<String>,
}

/// Who borrows how much from whom, now.
#[utoipa::path(get, path = "/api/v1/loans/matrix", operation_id = "show_loan_matrix", tag = "loans", params(MatrixFilter),
    responses((status = 200, body = LoanMatrix)))]
pub(crate) async fn matrix(
    State(app): State<AppState>,
    caller: Caller,
    list: List<MatrixFilter>,
) -> Result<Json<LoanMatrix>> {
    app.allow(&caller, Action::LoanRead, &Resource::Installation).await?;
    let pool = match &list.filter.pool {
        Some(name) => Some(pools::find(&app.store, name).await?),
        None => None,
    };
    let open = loans::open(&app.store, pool.as_ref().map(|pool| PoolId(pool.id))).await?;
    Ok(Json(LoanMatrix {
        pool: pool.map(|pool| PoolRef { id: pool.id, slug: pool.slug }),
        as_of: app.clock.now(),
        cells: cells(&open),
    }))
}

fn cells(open: &[Loan]) -> Vec<LoanCell> {
    let mut sums: BTreeMap<(Option<Uuid>, Uuid), (MilliGpu, &Loan)> = BTreeMap::new();
    for loan in open {
        sums.entry((loan.lender_id, loan.borrower_id)).or_insert((MilliGpu::ZERO, loan)).0 +=
            MilliGpu(loan.gpu_milli);
    }
    sums.into_values()
        .map(|(milli, loan)| {
            let (lender, borrower) = teams(loan);
            LoanCell { lender, borrower, gpus: milli.as_gpus() }
        })
        .collect()
}
