//! Budgets of high-priority GPU-hours: what a team, with those below it, may use in a calendar month (UTC) at class high
//! and above, and what it has used. This module refuses to stop anything: policies look at the figures.

use crate::connect::Store;
use crate::error::StoreError;
use crate::write_tx::{NewEvent, WriteTx};
use chrono::{DateTime, Utc};
use reeve_core::id::TeamId;
use serde_json::json;
use uuid::Uuid;

/// A budget with its month's figures, in milli-GPU-seconds where not named otherwise.
#[derive(Debug, Clone)]
pub struct PriorityBudget {
    pub team_id: Uuid,
    pub team_slug: String,
    pub team_name: String,
    pub gpu_hours: i64,
    /// Granted on top by active exceptions.
    pub exception_gpu_hours: i64,
    /// By usage so far this month.
    pub used_milli_secs: i64,
    /// What approved and active escalations may still use.
    pub committed_milli_secs: i64,
    pub month: String,
    pub version: i64,
}

impl PriorityBudget {
    /// What is left; negative = overdrawn.
    #[must_use]
    pub fn remaining_milli_secs(&self) -> i64 {
        let all = self.gpu_hours.saturating_add(self.exception_gpu_hours).saturating_mul(3_600_000);
        all.saturating_sub(self.used_milli_secs).saturating_sub(self.committed_milli_secs)
    }
}

macro_rules! select_budgets {
    ($rest:literal $(, $argument:expr)*) => {
        sqlx::query_as!(
            PriorityBudget,
            r#"with month as (
                 select date_trunc('month', $1::timestamptz at time zone 'utc') at time zone 'utc' as begins
               )
               select b.team_id, t.slug as team_slug, t.name as team_name, b.gpu_hours, b.version,
                      to_char($1::timestamptz at time zone 'utc', 'YYYY-MM') as "month!",
                      (select coalesce(sum((e.granted ->> 'gpu_hours')::bigint), 0)::bigint from escalations e
                       where e.asks_for = 'budget' and e.budget_id is null and e.state = 'active' and e.team_id = b.team_id
                         and e.expires_at > $1) as "exception_gpu_hours!",
                      (select coalesce(sum(u.gpu_milli * extract(epoch from
                                least(coalesce(u.ended_at, $1), $1) - greatest(u.started_at, month.begins))), 0)::bigint
                       from usage_intervals u
                       where u.priority_class in ('high', 'critical') and u.team_id = any(tree.ids)
                         and (u.ended_at is null or u.ended_at > month.begins) and u.started_at < $1)
                        as "used_milli_secs!",
                      (select coalesce(sum(e.gpu_milli * case
                                when e.state = 'active' then greatest(extract(epoch from e.expires_at - $1), 0)
                                else (e.granted ->> 'duration_secs')::bigint end), 0)::bigint
                       from escalations e
                       where e.asks_for = 'priority' and e.state in ('approved', 'active')
                         and e.granted ->> 'level' in ('high', 'critical') and e.team_id = any(tree.ids))
                        as "committed_milli_secs!"
               from month, priority_budgets b join teams t on t.id = b.team_id and t.state = 'active',
               lateral (with recursive tree as (
                          select b.team_id as id
                          union
                          select c.id from teams c join tree on c.parent_id = tree.id
                        ) select array_agg(id) as ids from tree) as tree "# + $rest
            $(, $argument)*
        )
    };
}

/// Budgets by team slug, after one; of one team only, if it is named; of these only, where not everything is readable.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn list(
    store: &Store,
    team: Option<TeamId>,
    readable: Option<&[TeamId]>,
    after: Option<String>,
    now: DateTime<Utc>,
    limit: i64,
) -> Result<Vec<PriorityBudget>, StoreError> {
    let readable: Option<Vec<Uuid>> = readable.map(|teams| teams.iter().map(|team| team.0).collect());
    Ok(select_budgets!(
        "where ($2::uuid is null or b.team_id = $2) and ($3::uuid[] is null or b.team_id = any($3))
           and ($4::text is null or t.slug > $4) order by t.slug limit $5",
        now,
        team.map(|id| id.0),
        readable.as_deref(),
        after,
        limit
    )
    .fetch_all(store.pool())
    .await?)
}

/// The budget that counts for a team: its own, or the nearest above it.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn of_team(
    store: &Store,
    team: TeamId,
    now: DateTime<Utc>,
) -> Result<Option<PriorityBudget>, StoreError> {
    Ok(select_budgets!(
        "where b.team_id = (with recursive up(id, parent_id, depth) as (
                              select id, parent_id, 0 from teams where id = $2
                              union all
                              select t.id, t.parent_id, up.depth + 1 from teams t join up on t.id = up.parent_id
                              where up.depth < 100
                            )
                            select up.id from up join priority_budgets o on o.team_id = up.id
                            order by up.depth limit 1)",
        now,
        team.0
    )
    .fetch_optional(store.pool())
    .await?)
}

/// A team's own budget: its hours and version, locked until the transaction ends.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn lock(tx: &mut WriteTx, team: TeamId) -> Result<Option<(i64, i64)>, StoreError> {
    let row =
        sqlx::query!("select gpu_hours, version from priority_budgets where team_id = $1 for update", team.0)
            .fetch_optional(tx.connection())
            .await?;
    Ok(row.map(|row| (row.gpu_hours, row.version)))
}

/// Sets a budget that is new (`before` none) or was seen as `before` (hours, version).
///
/// # Errors
/// [`StoreError::Duplicate`] when somebody else created it, [`StoreError::Conflict`] when it changed meanwhile.
pub async fn put(
    tx: &mut WriteTx,
    team: TeamId,
    before: Option<(i64, i64)>,
    gpu_hours: i64,
) -> Result<(), StoreError> {
    let now = tx.now();
    let done = match before {
        None => {
            sqlx::query!(
                "insert into priority_budgets (team_id, gpu_hours, created_at, updated_at) values ($1, $2, $3, $3)",
                team.0,
                gpu_hours,
                now
            )
            .execute(tx.connection())
            .await?
        }
        Some((_, version)) => {
            sqlx::query!(
                "update priority_budgets set gpu_hours = $2, version = version + 1, updated_at = $3
                 where team_id = $1 and version = $4",
                team.0,
                gpu_hours,
                now,
                version
            )
            .execute(tx.connection())
            .await?
        }
    };
    if done.rows_affected() != 1 {
        return Err(StoreError::Conflict);
    }
    let mut event = NewEvent::new("priority_budget.set", "priority_budget", team.0)
        .team(team)
        .after(json!({"gpu_hours": gpu_hours}));
    if let Some((gpu_hours, _)) = before {
        event = event.before(json!({"gpu_hours": gpu_hours}));
    }
    tx.record(event);
    Ok(())
}

/// Takes a budget away: the team is then limited by those above it, if at all.
///
/// # Errors
/// [`StoreError::Conflict`] when it changed meanwhile.
pub async fn delete(
    tx: &mut WriteTx,
    team: TeamId,
    (gpu_hours, version): (i64, i64),
) -> Result<(), StoreError> {
    let done =
        sqlx::query!("delete from priority_budgets where team_id = $1 and version = $2", team.0, version)
            .execute(tx.connection())
            .await?;
    if done.rows_affected() != 1 {
        return Err(StoreError::Conflict);
    }
    let event = NewEvent::new("priority_budget.deleted", "priority_budget", team.0);
    tx.record(event.team(team).before(json!({"gpu_hours": gpu_hours})));
    Ok(())
}
