//! Loans: who borrows from whom, as intervals. Each change of an amount closes one and opens another.

use super::apply::Applier;
use crate::error::StoreError;
use crate::write_tx::NewEvent;
use reeve_core::id::RowId;
use reeve_core::schedule::plan::Loan;
use reeve_core::units::MilliGpu;
use serde_json::json;
use std::collections::BTreeMap;
use uuid::Uuid;

type Key = (Uuid, Uuid, Option<Uuid>);

/// Makes the open intervals equal to the plan's loans; answers how many (borrower, lender) pairs changed.
pub(super) async fn write(applier: &mut Applier<'_>, loans: &[Loan]) -> Result<usize, StoreError> {
    let mut wanted: BTreeMap<Key, i64> = BTreeMap::new();
    for loan in loans.iter().filter(|loan| loan.milli > MilliGpu::ZERO) {
        *wanted.entry((loan.pool.0, loan.borrower.0, loan.lender.map(|team| team.0))).or_default() +=
            loan.milli.0;
    }
    let open = sqlx::query!(
        "select id, pool_id, borrower_team_id, lender_team_id, gpu_milli from loans where ended_at is null"
    )
    .fetch_all(&mut *applier.connection)
    .await?;
    let (mut closing, mut before) = (Vec::new(), BTreeMap::new());
    for row in open {
        let key = (row.pool_id, row.borrower_team_id, row.lender_team_id);
        if wanted.get(&key) == Some(&row.gpu_milli) {
            wanted.remove(&key);
        } else {
            closing.push(row.id);
            before.insert(key, row.gpu_milli);
        }
    }
    if closing.is_empty() && wanted.is_empty() {
        return Ok(0);
    }
    close(applier, &closing).await?;
    open_new(applier, &wanted).await?;
    let changed: std::collections::BTreeSet<Key> = before.keys().chain(wanted.keys()).copied().collect();
    for &(pool, borrower, lender) in &changed {
        let key = (pool, borrower, lender);
        let amount = |milli: Option<&i64>| json!({"gpu_milli": milli.copied().unwrap_or(0)});
        let event = NewEvent::new("loan.changed", "loan", borrower)
            .team(Some(borrower.into()))
            .before(amount(before.get(&key)))
            .after(amount(wanted.get(&key)))
            .detail(json!({"pool_id": pool, "borrower_team_id": borrower, "lender_team_id": lender}));
        applier.events.push(event);
    }
    Ok(changed.len())
}

async fn close(applier: &mut Applier<'_>, ids: &[Uuid]) -> Result<(), StoreError> {
    sqlx::query!(
        "update loans set ended_at = greatest($2, started_at) where id = any($1) and ended_at is null",
        ids,
        applier.now
    )
    .execute(&mut *applier.connection)
    .await?;
    Ok(())
}

async fn open_new(applier: &mut Applier<'_>, wanted: &BTreeMap<Key, i64>) -> Result<(), StoreError> {
    let (mut ids, mut pools, mut borrowers) = (Vec::new(), Vec::new(), Vec::new());
    let (mut lenders, mut millis) = (Vec::new(), Vec::new());
    for (&(pool, borrower, lender), &milli) in wanted {
        ids.push(RowId::mint(applier.now).0);
        pools.push(pool);
        borrowers.push(borrower);
        lenders.push(lender);
        millis.push(milli);
    }
    sqlx::query!(
        "insert into loans (id, pool_id, borrower_team_id, lender_team_id, gpu_milli, started_at)
         select n.id, n.pool, n.borrower, n.lender, n.milli, $6
         from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::bigint[])
           as n(id, pool, borrower, lender, milli)",
        &ids,
        &pools,
        &borrowers,
        &lenders as &[Option<Uuid>],
        &millis,
        applier.now
    )
    .execute(&mut *applier.connection)
    .await?;
    Ok(())
}
