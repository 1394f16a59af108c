//! A month's bill: every line at its price, and its digest, by which two people know that they saw the same.

use super::months::{self, MonthRow};
use super::prices::{self, PriceVersion};
use super::usage::{self, UsageFilter};
use crate::connect::Store;
use crate::error::StoreError;
use reeve_core::id::TeamId;
use reeve_core::money::bill::{Line, with_credits};
use reeve_core::money::decimal::Cost;
use reeve_core::money::month::Month;
use sha2::{Digest, Sha256};

/// A month's lines at the prices that count for it.
#[derive(Debug, Clone)]
pub struct Bill {
    pub month: Month,
    /// None = open.
    pub closing: Option<MonthRow>,
    pub prices: PriceVersion,
    pub lines: Vec<Line>,
}

impl Bill {
    /// A hash over all of it, and the currency.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut hasher = Sha256::new();
        hasher.update(format!("reeve-bill-v1\n{}\n{}\n", self.month, self.prices.book.currency));
        for line in &self.lines {
            hasher.update(format!("{:?}|{}|{:?}\n", line.key, line.micro_hours, line.price_micros));
        }
        hex::encode(hasher.finalize())
    }

    /// What all owe together.
    #[must_use]
    pub fn total(&self) -> Cost {
        self.lines.iter().filter(|line| line.key.team.is_some()).map(|line| line.cost).sum()
    }
}

/// The prices that count for a month: a closed month's are those it was closed with.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn prices_for(store: &Store, month: Month) -> Result<(Option<MonthRow>, PriceVersion), StoreError> {
    let closing = months::find(store, month).await?;
    let prices = match &closing {
        Some(row) if row.is_closed() => prices::version(store, row.price_version).await?,
        _ => prices::in_force(store).await?,
    };
    Ok((closing, prices))
}

/// The whole month's bill, credits included, jobs of a queue together. `teams` narrows it to their own lines.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn month(store: &Store, month: Month, teams: Option<&[TeamId]>) -> Result<Bill, StoreError> {
    let (closing, prices) = prices_for(store, month).await?;
    let filter = UsageFilter {
        from: month.first_day(),
        to: month.next().first_day(),
        teams: teams.map(<[TeamId]>::to_vec),
        pool: None,
        kind: None,
        by_job: false,
        by_queue: true,
    };
    let lines = priced(store, &filter, &prices).await?;
    Ok(Bill { month, closing, prices, lines })
}

/// Lines of a span at a book's prices; a team's own credits stand among them.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn priced(
    store: &Store,
    filter: &UsageFilter,
    prices: &PriceVersion,
) -> Result<Vec<Line>, StoreError> {
    let line = |(key, hours)| Line::priced(key, hours, &prices.book);
    let own: Vec<Line> = usage::lines(store, filter).await?.into_iter().map(line).collect();
    let Some(teams) = &filter.teams else { return Ok(with_credits(own, &prices.book)) };
    let loans: Vec<Line> = usage::lent_by(store, filter).await?.into_iter().map(line).collect();
    let others = loans.len();
    let credits = with_credits(loans, &prices.book).into_iter().skip(others);
    let mine = credits.filter(|line| line.key.team.is_some_and(|team| teams.contains(&team)));
    Ok(own.into_iter().chain(mine).collect())
}
