//! The bill as FOCUS: a row a day, job and share; then credits; then corrections booked in the months.

use super::job::Job;
use super::step::ExportError;
use super::table::Table;
use chrono::NaiveDate;
use reeve_core::csv_text::Field;
use reeve_core::id::TeamId;
use reeve_core::money::bill::{Line, with_credits};
use reeve_core::money::decimal::Cost;
use reeve_core::money::focus::{self, Issuer, Names};
use reeve_core::money::month::Month;
use reeve_store::money::names::NameBook;
use reeve_store::money::prices::PriceVersion;
use reeve_store::money::usage::{self, UsageFilter};
use reeve_store::money::{bills, corrections};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

pub(super) async fn write(job: &mut Job<'_>) -> Result<bool, ExportError> {
    let names = NameBook::read(job.store).await?;
    let filter = filter(job);
    let total = usage::count(job.store, &filter).await?;
    let mut books = Books::default();
    let mut table = Table::begin(job.params.format, &focus::COLUMNS, job.params.bom, &mut job.sink).await?;
    let mut after = (filter.from, 0);
    loop {
        let page = usage::page(job.store, &filter, after, Job::PAGE).await?;
        let Some(last) = page.last() else { break };
        after = (last.key.day, last.id);
        let mut rows = Vec::with_capacity(page.len());
        for one in &page {
            let book = books.of(job, one.key.day).await?;
            let line = Line::priced(one.key, one.micro_hours, &book.prices.book);
            let said = Names { job: one.job_name.clone(), ..named(&names, &line) };
            rows.push(focus::row(&book.issuer, &said, &line));
        }
        table.rows(&rows, &mut job.sink).await?;
        if !job.done(rows.len(), total).await? {
            return Ok(false);
        }
    }
    let rows = credits(job, &names, &filter, &mut books).await?;
    table.rows(&rows, &mut job.sink).await?;
    let rows = corrected(job, &names, &filter, &mut books).await?;
    table.rows(&rows, &mut job.sink).await?;
    table.end(&mut job.sink).await?;
    Ok(true)
}

fn filter(job: &Job<'_>) -> UsageFilter {
    UsageFilter {
        from: job.params.from.date_naive(),
        to: job.params.to.date_naive(),
        teams: job.operation.teams.clone(),
        pool: None,
        kind: None,
        by_job: true,
        by_queue: true,
    }
}

fn named(names: &NameBook, line: &Line) -> Names {
    Names {
        pool: names.pool(line.key.pool),
        team: names.name(line.key.team),
        team_slug: names.slug(line.key.team),
        queue: names.queue(line.key.queue),
        job: None,
        counterparty: names.slug(line.key.counterparty),
    }
}

/// What a month is billed by.
struct MonthBook {
    prices: PriceVersion,
    issuer: Issuer,
}

#[derive(Default)]
struct Books(BTreeMap<Month, MonthBook>);

impl Books {
    async fn of(&mut self, job: &Job<'_>, day: NaiveDate) -> Result<&MonthBook, ExportError> {
        match self.0.entry(Month::of(day)) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(new) => {
                let book = Self::read(job, *new.key()).await?;
                Ok(new.insert(book))
            }
        }
    }

    async fn read(job: &Job<'_>, month: Month) -> Result<MonthBook, ExportError> {
        let (_, prices) = bills::prices_for(job.store, month).await?;
        let issuer = Issuer {
            name: "Reeve".to_owned(),
            account_id: "reeve".to_owned(),
            account_name: "Reeve".to_owned(),
            // ISO 4217 has a word for no currency.
            currency: if prices.book.currency.is_empty() {
                "XXX".to_owned()
            } else {
                prices.book.currency.clone()
            },
        };
        Ok(MonthBook { prices, issuer })
    }
}

async fn credits(
    job: &Job<'_>,
    names: &NameBook,
    filter: &UsageFilter,
    books: &mut Books,
) -> Result<Vec<Vec<Field>>, ExportError> {
    let mut rows = Vec::new();
    for (key, hours) in usage::lent_by(job.store, filter).await? {
        let book = books.of(job, key.day).await?;
        let loan = Line::priced(key, hours, &book.prices.book);
        for line in with_credits(vec![loan], &book.prices.book).into_iter().skip(1) {
            rows.push(focus::row(&book.issuer, &named(names, &line), &line));
        }
    }
    Ok(rows)
}

async fn corrected(
    job: &Job<'_>,
    names: &NameBook,
    filter: &UsageFilter,
    books: &mut Books,
) -> Result<Vec<Vec<Field>>, ExportError> {
    let mut rows = Vec::new();
    let mut month = Month::of(filter.from);
    while month.first_day() < filter.to {
        for one in corrections::of_month(job.store, month).await? {
            let team = TeamId(one.team_id);
            if filter.teams.as_ref().is_some_and(|teams| !teams.contains(&team)) {
                continue;
            }
            let book = books.of(job, month.first_day()).await?;
            let said = Names {
                pool: "all".to_owned(),
                team: names.name(Some(team)),
                team_slug: names.slug(Some(team)),
                ..Names::default()
            };
            let cost = Cost(i128::from(one.amount_cents) * 10_000_000_000);
            let corrects = Month::of(one.corrects_month);
            rows.push(focus::correction(&book.issuer, &said, month, corrects, cost, &one.reason));
        }
        month = month.next();
    }
    Ok(rows)
}
