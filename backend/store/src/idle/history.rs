//! How long ended jobs paused, by team and kind.

use crate::connect::Store;
use crate::error::StoreError;
use crate::row::{count, word};
use reeve_core::id::TeamId;
use reeve_core::idle::UsualPauses;
use reeve_core::kind::Kind;
use std::collections::BTreeMap;
use uuid::Uuid;

/// What is known, by whose it is: a team's, or (without one) everybody's.
pub type Histories = BTreeMap<(Option<TeamId>, Kind), UsualPauses>;

/// All of it: a row for each team and kind at most.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn load(store: &Store) -> Result<Histories, StoreError> {
    let rows = sqlx::query!("select team_id, kind, counts from usual_pauses").fetch_all(store.pool()).await?;
    rows.into_iter()
        .map(|row| {
            let counts = row.counts.into_iter().map(count).collect::<Result<Vec<u64>, _>>()?;
            Ok(((row.team_id.map(Into::into), word(&row.kind)?), UsualPauses::from_counts(counts)))
        })
        .collect()
}

/// Adds the jobs that have ended since, at most `limit`, each once, whoever asks. Answers how many there were.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn learn(store: &Store, limit: i64) -> Result<usize, StoreError> {
    let mut tx = store.pool().begin().await?;
    let ended = sqlx::query!(
        r#"with ended as (
               select j.id, j.team_id, j.kind from jobs j
               where j.state in ('succeeded', 'failed', 'cancelled')
                 and exists (select from run_pauses p where p.job_id = j.id and not p.counted)
               order by j.id limit $1
           ), counted as (
               update run_pauses p set counted = true from ended e
               where p.job_id = e.id and not p.counted
               returning p.job_id, p.longest_pause_secs
           )
           select e.team_id, e.kind, max(c.longest_pause_secs) as "longest_secs!"
           from ended e join counted c on c.job_id = e.id group by e.id, e.team_id, e.kind"#,
        limit
    )
    .fetch_all(&mut *tx)
    .await?;
    let mut new: Histories = BTreeMap::new();
    for row in &ended {
        let kind: Kind = word(&row.kind)?;
        for whose in [Some(TeamId(row.team_id)), None] {
            new.entry((whose, kind)).or_default().add(row.longest_secs);
        }
    }
    for ((team, kind), pauses) in new {
        add(&mut tx, team.map(|team| team.0), kind, &pauses).await?;
    }
    tx.commit().await?;
    Ok(ended.len())
}

async fn add(
    connection: &mut sqlx::PgConnection,
    team: Option<Uuid>,
    kind: Kind,
    pauses: &UsualPauses,
) -> Result<(), StoreError> {
    let counts: Vec<i64> =
        pauses.counts().iter().map(|&jobs| i64::try_from(jobs).unwrap_or(i64::MAX)).collect();
    sqlx::query!(
        "insert into usual_pauses as u (team_id, kind, counts) values ($1, $2, $3)
         on conflict on constraint usual_pauses_key do update set counts = (
             select array_agg(coalesce(o.n, 0) + coalesce(a.n, 0) order by coalesce(o.i, a.i))
             from unnest(u.counts) with ordinality as o(n, i)
             full join unnest(excluded.counts) with ordinality as a(n, i) on a.i = o.i)",
        team,
        kind.as_str(),
        &counts
    )
    .execute(connection)
    .await?;
    Ok(())
}
