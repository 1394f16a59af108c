//! A month's statements: their lines, corrections, and a total each.

use super::job::Job;
use super::step::ExportError;
use super::table::Table;
use reeve_core::csv_text::Field;
use reeve_core::id::TeamId;
use reeve_core::money::bill::{Statement, StatementKey, statements};
use reeve_core::money::decimal::{Cost, MICRO_DIGITS, format, micros};
use reeve_store::money::names::NameBook;
use reeve_store::money::{bills, corrections};
use std::collections::BTreeMap;

const COLUMNS: [&str; 15] = [
    "month",
    "team",
    "line",
    "pool",
    "queue",
    "kind",
    "priority_class",
    "share",
    "counterparty",
    "gpu_hours",
    "price_per_gpu_hour",
    "cost",
    "currency",
    "state",
    "reason",
];

/// What was put right, and why.
type Corrections = Vec<(Cost, String)>;

pub(super) async fn write(job: &mut Job<'_>) -> Result<bool, ExportError> {
    let month = job.params.month();
    let teams = job.operation.teams.clone();
    let bill = bills::month(job.store, month, teams.as_deref()).await?;
    let names = NameBook::read(job.store).await?;
    let closed = bill.closing.as_ref().is_some_and(|row| row.is_closed());
    let head = Head {
        month: month.to_string(),
        currency: bill.prices.book.currency.clone(),
        state: if closed { "closed" } else { "open" },
    };
    let mut by_team: BTreeMap<Option<TeamId>, (Statement, Corrections)> = statements(&bill.lines)
        .into_iter()
        .map(|(team, statement)| (team, (statement, Vec::new())))
        .collect();
    for correction in corrections::of_month(job.store, month).await? {
        let team = TeamId(correction.team_id);
        if teams.as_ref().is_none_or(|teams| teams.contains(&team)) {
            let cost = Cost(i128::from(correction.amount_cents) * 10_000_000_000);
            let why =
                format!("correction of {}: {}", correction.corrects_month.format("%Y-%m"), correction.reason);
            by_team.entry(Some(team)).or_default().1.push((cost, why));
        }
    }
    let total =
        by_team.values().map(|(statement, more)| statement.lines.len() + more.len() + 1).sum::<usize>();
    let total = i64::try_from(total).unwrap_or(i64::MAX);
    let mut table = Table::begin(job.params.format, &COLUMNS, job.params.bom, &mut job.sink).await?;
    for (team, (statement, more)) in by_team {
        let rows = head.team(&names, team, &statement, more);
        table.rows(&rows, &mut job.sink).await?;
        if !job.done(rows.len(), total).await? {
            return Ok(false);
        }
    }
    table.end(&mut job.sink).await?;
    Ok(true)
}

struct Head {
    month: String,
    currency: String,
    state: &'static str,
}

impl Head {
    fn team(
        &self,
        names: &NameBook,
        team: Option<TeamId>,
        statement: &Statement,
        more: Corrections,
    ) -> Vec<Vec<Field>> {
        let mut rows: Vec<Vec<Field>> = statement
            .lines
            .iter()
            .map(|(key, (hours, cost))| self.line(names, team, key, *hours, *cost))
            .collect();
        let mut total = statement.amounts.cost();
        for (cost, why) in more {
            total += cost;
            rows.push(self.row(names, team, "correction", cost.exact(), Field::text(why)));
        }
        // What people pay: rounded once.
        rows.push(self.row(names, team, "total", total.to_the_cent(), Field::Empty));
        rows
    }

    fn row(
        &self,
        names: &NameBook,
        team: Option<TeamId>,
        line: &str,
        cost: String,
        reason: Field,
    ) -> Vec<Field> {
        let mut row = vec![Field::Empty; COLUMNS.len()];
        row[0] = Field::text(&self.month);
        row[1] = Field::maybe(names.slug(team));
        row[2] = Field::text(line);
        row[11] = Field::Number(cost);
        row[12] = Field::text(&self.currency);
        row[13] = Field::text(self.state);
        row[14] = reason;
        row
    }

    fn line(
        &self,
        names: &NameBook,
        team: Option<TeamId>,
        key: &StatementKey,
        hours: i64,
        cost: Cost,
    ) -> Vec<Field> {
        let mut row = self.row(names, team, "use", cost.exact(), Field::Empty);
        row[3] = Field::text(names.pool(key.pool));
        row[4] = Field::maybe(names.queue(key.queue));
        row[5] = Field::maybe(key.kind.map(|kind| kind.as_str()));
        row[6] = Field::maybe(key.class.map(|class| class.as_str()));
        row[7] = Field::text(key.share.as_str());
        row[8] = Field::maybe(names.slug(key.counterparty));
        row[9] = Field::Number(micros(i128::from(hours)));
        if let Some(price) = key.price_micros {
            row[10] = Field::Number(format(i128::from(price), MICRO_DIGITS, 2));
        }
        row
    }
}
