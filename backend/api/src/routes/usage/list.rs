//! `GET /usage`.

use super::amounts_view::UsageAmounts;
use super::span::{days, refused, seen_teams};
use super::view::{Usage, UsageGroup, UsageRow};
use crate::app::AppState;
use crate::extract::{Caller, Params};
use crate::problem::{Code, Problem, Result};
use axum::Json;
use axum::extract::State;
use chrono::NaiveDate;
use reeve_core::access::Action;
use reeve_core::id::{PoolId, TeamId};
use reeve_core::kind::Kind;
use reeve_core::money::bill::{Amounts, BillShare, Line, LineKey};
use reeve_store::money::names::{self, NameBook};
use reeve_store::money::usage::UsageFilter;
use reeve_store::money::{bills, derive, prices};
use reeve_store::pools;
use serde::Deserialize;
use std::collections::BTreeMap;
use utoipa::IntoParams;
use uuid::Uuid;

/// Most rows of an answer.
const MOST_ROWS: usize = 10_000;
/// Longest span of rows a job.
const MOST_JOB_DAYS: i64 = 31;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct UsageParams {
    /// The first day (UTC).
    #[param(value_type = NaiveDate)]
    from: String,
    /// The day after the last; at most 366 days later.
    #[param(value_type = NaiveDate)]
    to: String,
    /// Any of `day`, `team`, `pool`, `kind`, `priority_class`, `queue`, `job`, separated by commas; `team` when left out. `job` needs
    /// `team`, and at most 31 days.
    group_by: Option<String>,
    /// A team's slug or id, everything below it included.
    team: Option<String>,
    /// A pool's slug or id.
    pool: Option<String>,
    kind: Option<String>,
}

/// GPU-hours and costs, summed as asked for. Rows are of the teams themselves, not summed up the tree.
///
/// Leads see their teams; administrators, finance and auditors everything. Prices are those in force, also for closed months:
/// what was billed then stands in its statement.
#[utoipa::path(get, path = "/api/v1/usage", operation_id = "show_usage", tag = "money", params(UsageParams),
    responses((status = 200, body = Usage)))]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    Params(params): Params<UsageParams>,
) -> Result<Json<Usage>> {
    let teams = seen_teams(&app, &caller, Action::UsageRead, params.team.as_deref()).await?;
    let groups = params.groups()?;
    let filter = params.filter(&app, teams, &groups).await?;
    let book = prices::in_force(&app.store).await?;
    let lines = bills::priced(&app.store, &filter, &book).await?;
    let (rows, totals) = grouped(&groups, &lines);
    let names = NameBook::read(&app.store).await?;
    let jobs: Vec<Uuid> = rows.keys().filter_map(|key| key.job).map(|job| job.0).take(MOST_ROWS).collect();
    let jobs = names::jobs(&app.store, &jobs).await?;
    let progress = derive::progress(&app.store).await?;
    Ok(Json(Usage {
        from: filter.from,
        to: filter.to,
        as_of: progress.map(|(_, derived)| derived),
        settled_until: progress.map(|(settled, _)| settled),
        currency: Some(book.book.currency).filter(|currency| !currency.is_empty()),
        truncated: rows.len() > MOST_ROWS,
        items: rows
            .iter()
            .take(MOST_ROWS)
            .map(|(key, amounts)| UsageRow::new(&groups, key, amounts, &names, &jobs))
            .collect(),
        totals: UsageAmounts::from(&totals),
    }))
}

impl UsageParams {
    fn groups(&self) -> Result<Vec<UsageGroup>> {
        let text = self.group_by.as_deref().unwrap_or("team");
        let groups: std::result::Result<Vec<UsageGroup>, _> =
            text.split(',').map(|word| word.trim().parse()).collect();
        groups.map_err(|error: reeve_core::status::UnknownText| {
            refused("group_by", "unknown_value", &error.to_string())
        })
    }

    async fn filter(
        &self,
        app: &AppState,
        teams: Option<Vec<TeamId>>,
        groups: &[UsageGroup],
    ) -> Result<UsageFilter> {
        let (from, to) = days(&self.from, &self.to)?;
        let by_job = groups.contains(&UsageGroup::Job);
        if by_job && (self.team.is_none() || (to - from).num_days() > MOST_JOB_DAYS) {
            return Err(refused("group_by", "not_together", "job needs team, and at most 31 days"));
        }
        if let Some(Err(error)) = self.kind.as_deref().map(str::parse::<Kind>) {
            return Err(Problem::new(Code::InvalidQuery).error("kind", "unknown_value", error.to_string()));
        }
        let pool = match &self.pool {
            Some(pool) => Some(PoolId(pools::find(&app.store, pool).await?.id)),
            None => None,
        };
        let by_queue = groups.contains(&UsageGroup::Queue);
        Ok(UsageFilter { from, to, teams, pool, kind: self.kind.clone(), by_job, by_queue })
    }
}

/// Lines with what they are not grouped by taken out of their keys, and the sum of all.
fn grouped(groups: &[UsageGroup], lines: &[Line]) -> (BTreeMap<LineKey, Amounts>, Amounts) {
    let by = |group| groups.contains(&group);
    let (mut rows, mut totals) = (BTreeMap::<LineKey, Amounts>::new(), Amounts::default());
    for line in lines {
        let key = line.key;
        let key = LineKey {
            day: if by(UsageGroup::Day) { key.day } else { NaiveDate::MIN },
            pool: if by(UsageGroup::Pool) { key.pool } else { PoolId(Uuid::nil()) },
            team: key.team.filter(|_| by(UsageGroup::Team)),
            share: BillShare::Guaranteed,
            queue: key.queue.filter(|_| by(UsageGroup::Queue)),
            job: key.job.filter(|_| by(UsageGroup::Job)),
            kind: key.kind.filter(|_| by(UsageGroup::Kind)),
            class: key.class.filter(|_| by(UsageGroup::PriorityClass)),
            counterparty: None,
        };
        rows.entry(key).or_default().add(line.key.share, line.micro_hours, line.cost);
        totals.add(line.key.share, line.micro_hours, line.cost);
    }
    (rows, totals)
}
