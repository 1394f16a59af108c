//! Budgets in PostgreSQL: what they allow, what is used of them this month, and approved exceptions.
//!
//! Use is measured by a loop, from the ledger's days, and is as fresh as the ledger. This module refuses to judge: the rule is
//! `reeve-core`'s.

use crate::connect::Store;
use crate::error::StoreError;
use crate::money::prices;
use crate::money::usage::{self, UsageFilter};
use crate::write_tx::{Actor, NewEvent, WriteContext, WriteTx, write_events};
use chrono::{DateTime, NaiveDate, Utc};
use reeve_core::id::{RowId, TeamId, UserId};
use reeve_core::money::bill::{BillShare, Line};
use reeve_core::money::budget::{BudgetState, BudgetUnit, Extra, Standing};
use reeve_core::money::month::Month;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// A budget with its team and its use.
#[derive(Debug, Clone)]
pub struct Budget {
    pub standing: Standing,
    pub team_slug: String,
    pub team_name: String,
    pub note: String,
    pub version: i64,
    /// The month and moment of the figure of use; none = not measured yet.
    pub measured: Option<(NaiveDate, DateTime<Utc>)>,
    /// When the first of the exceptions that hold now ends.
    pub extra_until: Option<DateTime<Utc>>,
}

struct Row {
    id: Uuid,
    team_id: Uuid,
    team_slug: String,
    team_name: String,
    priority_class: Option<String>,
    unit: String,
    amount_micros: i64,
    action: String,
    note: String,
    version: i64,
    month: Option<NaiveDate>,
    used_micros: i64,
    as_of: Option<DateTime<Utc>>,
    extra_micros: i64,
    unlimited: bool,
    extra_until: Option<DateTime<Utc>>,
}

impl TryFrom<Row> for Budget {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        Ok(Self {
            standing: Standing {
                id: row.id,
                team: TeamId(row.team_id),
                class: row.priority_class.map(|class| class.parse()).transpose()?,
                unit: row.unit.parse()?,
                action: row.action.parse()?,
                amount_micros: row.amount_micros,
                used_micros: row.used_micros,
                extra: Extra { micros: row.extra_micros, unlimited: row.unlimited },
            },
            team_slug: row.team_slug,
            team_name: row.team_name,
            note: row.note,
            version: row.version,
            measured: row.month.zip(row.as_of),
            extra_until: row.extra_until,
        })
    }
}

macro_rules! select_budgets {
    ($now:expr, $rest:literal $(, $argument:expr)*) => {{
        let now: DateTime<Utc> = $now;
        sqlx::query_as!(
            Row,
            r#"select b.id, b.team_id, t.slug as team_slug, t.name as team_name, b.priority_class, b.unit,
                      b.amount_micros, b.action, b.note, b.version, u.month as "month?", u.as_of as "as_of?",
                      case when u.month = $2 then u.used_micros else 0 end as "used_micros!",
                      x.extra as "extra_micros!", x.unlimited as "unlimited!", x.until as "extra_until?"
               from budgets b join teams t on t.id = b.team_id left join budget_use u on u.budget_id = b.id
               cross join lateral (
                 select least(coalesce(sum(e.extra_micros), 0), 9223372036854775807)::bigint as extra,
                        coalesce(bool_or(e.extra_micros is null), false) as unlimited, min(e.until) as until
                 from budget_exceptions e where e.budget_id = b.id and e.until > $1
               ) x "# + $rest,
            now,
            Month::of(now.date_naive()).first_day()
            $(, $argument)*
        )
    }};
}

/// Budgets in order of their ids; `teams` = only of these.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn list(
    store: &Store,
    now: DateTime<Utc>,
    teams: Option<&[TeamId]>,
    after: Option<Uuid>,
    limit: i64,
) -> Result<Vec<Budget>, StoreError> {
    let teams: Option<Vec<Uuid>> = teams.map(|teams| teams.iter().map(|team| team.0).collect());
    let rows = select_budgets!(
        now,
        "where ($3::uuid[] is null or b.team_id = any($3)) and ($4::uuid is null or b.id > $4) order by b.id limit $5",
        teams.as_deref(),
        after,
        limit
    )
    .fetch_all(store.pool())
    .await?;
    rows.into_iter().map(Budget::try_from).collect()
}

/// One budget.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn find(store: &Store, now: DateTime<Utc>, id: Uuid) -> Result<Budget, StoreError> {
    select_budgets!(now, "where b.id = $3", id).fetch_one(store.pool()).await?.try_into()
}

/// The same, locked for a change.
///
/// # Errors
/// [`StoreError::NotFound`].
pub async fn lock(tx: &mut WriteTx, id: Uuid) -> Result<Budget, StoreError> {
    select_budgets!(tx.now(), "where b.id = $3 for update of b", id)
        .fetch_one(tx.connection())
        .await?
        .try_into()
}

/// Every budget with its use, for judging submissions.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn standings(store: &Store, now: DateTime<Utc>) -> Result<Vec<Standing>, StoreError> {
    Ok(list(store, now, None, None, i64::MAX).await?.into_iter().map(|budget| budget.standing).collect())
}

/// Each active team with everything above it, itself first.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn team_paths(store: &Store) -> Result<BTreeMap<TeamId, Vec<TeamId>>, StoreError> {
    let rows = sqlx::query!(
        r#"with recursive path(team, ancestor, depth) as (
             select id, id, 0 from teams where state = 'active'
             union all
             select path.team, t.parent_id, depth + 1 from path join teams t on t.id = path.ancestor
             where t.parent_id is not null
           )
           select team as "team!", ancestor as "ancestor!" from path order by team, depth"#
    )
    .fetch_all(store.pool())
    .await?;
    let mut paths: BTreeMap<TeamId, Vec<TeamId>> = BTreeMap::new();
    for row in rows {
        paths.entry(TeamId(row.team)).or_default().push(TeamId(row.ancestor));
    }
    Ok(paths)
}

/// What may be said of a budget.
#[derive(Debug, Clone)]
pub struct Terms {
    pub amount_micros: i64,
    pub action: &'static str,
    pub note: String,
}

impl Terms {
    fn as_json(&self) -> serde_json::Value {
        json!({"amount_micros": self.amount_micros, "action": self.action, "note": self.note})
    }
}

/// Makes a budget.
///
/// # Errors
/// [`StoreError::Duplicate`] when the team has one for this class and unit.
pub async fn create(
    tx: &mut WriteTx,
    team: TeamId,
    class: Option<&'static str>,
    unit: BudgetUnit,
    terms: &Terms,
    by: UserId,
) -> Result<Uuid, StoreError> {
    let id = RowId::mint(tx.now()).0;
    sqlx::query!(
        "insert into budgets (id, team_id, priority_class, unit, amount_micros, action, note, created_by, created_at,
                              updated_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)",
        id,
        team.0,
        class,
        unit.as_str(),
        terms.amount_micros,
        terms.action,
        terms.note,
        by.0,
        tx.now()
    )
    .execute(tx.connection())
    .await?;
    let mut after = terms.as_json();
    after["priority_class"] = class.into();
    after["unit"] = unit.as_str().into();
    tx.record(NewEvent::new("budget.created", "budget", id).team(team).after(after));
    Ok(id)
}

/// Changes the budget that was read.
///
/// # Errors
/// [`StoreError::Conflict`] when it is another version.
pub async fn edit(tx: &mut WriteTx, before: &Budget, terms: &Terms) -> Result<(), StoreError> {
    let standing = &before.standing;
    let changed = sqlx::query!(
        "update budgets set amount_micros = $3, action = $4, note = $5, version = version + 1, updated_at = $6
         where id = $1 and version = $2",
        standing.id,
        before.version,
        terms.amount_micros,
        terms.action,
        terms.note,
        tx.now()
    )
    .execute(tx.connection())
    .await?;
    if changed.rows_affected() != 1 {
        return Err(StoreError::Conflict);
    }
    let was =
        json!({"amount_micros": standing.amount_micros, "action": standing.action, "note": before.note});
    let event = NewEvent::new("budget.changed", "budget", standing.id).team(standing.team);
    tx.record(event.before(was).after(terms.as_json()));
    Ok(())
}

/// Removes the budget that was read, with its exceptions.
///
/// # Errors
/// [`StoreError::Conflict`] when it is another version.
pub async fn delete(tx: &mut WriteTx, before: &Budget) -> Result<(), StoreError> {
    let standing = &before.standing;
    let gone =
        sqlx::query!("delete from budgets where id = $1 and version = $2", standing.id, before.version)
            .execute(tx.connection())
            .await?;
    if gone.rows_affected() != 1 {
        return Err(StoreError::Conflict);
    }
    let was =
        json!({"amount_micros": standing.amount_micros, "action": standing.action, "unit": standing.unit});
    tx.record(NewEvent::new("budget.deleted", "budget", standing.id).team(standing.team).before(was));
    Ok(())
}

/// An approved exception from a budget.
#[derive(Debug, Clone)]
pub struct NewException<'a> {
    pub budget_id: Uuid,
    pub team: TeamId,
    pub until: DateTime<Utc>,
    /// Added to the amount, in millionths of the budget's unit; `None` = as much as it takes.
    pub extra_micros: Option<i64>,
    pub reason: &'a str,
    pub granted_by: Option<UserId>,
    /// By which it was asked for.
    pub escalation_id: Option<Uuid>,
}

/// Grants it: from now on submissions see the larger budget.
///
/// # Errors
/// [`StoreError::Reference`] when there is no such budget.
pub async fn grant_exception(tx: &mut WriteTx, new: &NewException<'_>) -> Result<Uuid, StoreError> {
    let id = RowId::mint(tx.now()).0;
    sqlx::query!(
        "insert into budget_exceptions (id, budget_id, extra_micros, until, reason, granted_by, created_at, escalation_id)
         values ($1, $2, $3, $4, $5, $6, $7, $8)",
        id,
        new.budget_id,
        new.extra_micros,
        new.until,
        new.reason,
        new.granted_by.map(|by| by.0),
        tx.now(),
        new.escalation_id
    )
    .execute(tx.connection())
    .await?;
    let event = NewEvent::new("budget.exception_granted", "budget", new.budget_id).team(new.team);
    tx.record(event.after(json!({
        "exception_id": id, "escalation_id": new.escalation_id, "extra_micros": new.extra_micros, "until": new.until,
        "reason": new.reason,
    })));
    Ok(id)
}

/// Ends the exception that an escalation gave, at `at`. One that is over by itself, or whose budget is gone, needs no end.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn end_exception_of(
    tx: &mut WriteTx,
    escalation: Uuid,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    let ended = sqlx::query!(
        "update budget_exceptions e set until = $2 from budgets b
         where e.escalation_id = $1 and e.until > $2 and b.id = e.budget_id returning e.id, e.budget_id, b.team_id",
        escalation,
        at
    )
    .fetch_optional(tx.connection())
    .await?;
    if let Some(ended) = ended {
        let event = NewEvent::new("budget.exception_revoked", "budget", ended.budget_id);
        tx.record(
            event
                .team(TeamId(ended.team_id))
                .detail(json!({"exception_id": ended.id, "escalation_id": escalation})),
        );
    }
    Ok(())
}

/// Measures this month's use of every budget, and says once a month when one is nearly or wholly used up. Answers how many
/// there are.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn measure(store: &Store, now: DateTime<Utc>) -> Result<usize, StoreError> {
    let budgets = list(store, now, None, None, i64::MAX).await?;
    if budgets.is_empty() {
        return Ok(0);
    }
    let month = Month::of(now.date_naive());
    let filter = UsageFilter {
        from: month.first_day(),
        to: month.next().first_day(),
        teams: None,
        pool: None,
        kind: None,
        by_job: false,
        by_queue: false,
    };
    let prices = prices::in_force(store).await?;
    let lines: Vec<Line> = usage::lines(store, &filter)
        .await?
        .into_iter()
        .map(|(key, hours)| Line::priced(key, hours, &prices.book))
        .filter(|line| matches!(line.key.share, BillShare::Guaranteed | BillShare::Loan))
        .collect();
    let paths = team_paths(store).await?;
    let count = budgets.len();
    for budget in budgets {
        let below: BTreeSet<TeamId> = paths
            .iter()
            .filter(|(_, path)| path.contains(&budget.standing.team))
            .map(|(team, _)| *team)
            .chain([budget.standing.team])
            .collect();
        let used = used(&budget.standing, &below, &lines);
        keep(store, &budget, month, used, now).await?;
    }
    Ok(count)
}

fn used(standing: &Standing, below: &BTreeSet<TeamId>, lines: &[Line]) -> i64 {
    let concerned = lines.iter().filter(|line| {
        line.key.team.is_some_and(|team| below.contains(&team))
            && standing.class.is_none_or(|class| line.key.class == Some(class))
    });
    match standing.unit {
        BudgetUnit::GpuHours => concerned.map(|line| line.micro_hours).sum(),
        BudgetUnit::Money => {
            let cost: i128 = concerned.map(|line| line.cost.0).sum();
            i64::try_from(cost / 1_000_000).unwrap_or(i64::MAX)
        }
    }
}

/// Writes the figure; what people should hear is written with it, once.
async fn keep(
    store: &Store,
    budget: &Budget,
    month: Month,
    used_micros: i64,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let standing = Standing { used_micros, ..budget.standing };
    let state = standing.state();
    let mut tx = store.pool().begin().await?;
    let told = sqlx::query_scalar!(
        "select told from budget_use where budget_id = $1 and month = $2 for update",
        standing.id,
        month.first_day()
    )
    .fetch_optional(&mut *tx)
    .await?
    .flatten();
    let news = match (state, told.as_deref()) {
        (BudgetState::Exceeded, None | Some("near")) => Some("exceeded"),
        (BudgetState::Near, None) => Some("near"),
        _ => None,
    };
    sqlx::query!(
        "insert into budget_use (budget_id, month, used_micros, as_of, told) values ($1, $2, $3, $4, $5)
         on conflict (budget_id) do update set month = excluded.month, used_micros = excluded.used_micros,
           as_of = excluded.as_of, told = excluded.told",
        standing.id,
        month.first_day(),
        used_micros,
        now,
        news.or(told.as_deref())
    )
    .execute(&mut *tx)
    .await?;
    if let Some(news) = news {
        let action = if news == "exceeded" { "budget.exceeded" } else { "budget.near" };
        let event = NewEvent::new(action, "budget", standing.id).team(standing.team).detail(json!({
            "month": month.to_string(), "unit": standing.unit, "amount_micros": standing.amount_micros,
            "used_micros": used_micros, "action": standing.action, "priority_class": standing.class,
        }));
        let context = WriteContext { actor: Actor::system("budgets"), request_id: None, now };
        write_events(&mut tx, &context, &[event]).await?;
    }
    tx.commit().await?;
    store.signals().wake_sealer();
    Ok(())
}
