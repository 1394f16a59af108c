//! A price book as JSON: pools by their slugs, prices as decimals.

use crate::refs::UserRef;
use chrono::{DateTime, NaiveDate, Utc};
use reeve_core::money::decimal::{MICRO_DIGITS, format};
use reeve_store::money::names::NameBook;
use reeve_store::money::prices::PriceVersion;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A price.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PriceEntry {
    /// A pool's slug.
    pub(crate) pool: String,
    /// `guaranteed`, `loan`, `idle`, or `lent`: what a lender is credited.
    pub(crate) share: String,
    /// Null or left out = every class that has no price of its own.
    pub(crate) priority_class: Option<String>,
    /// The first day (UTC) on which it holds.
    pub(crate) valid_from: NaiveDate,
    /// At most six decimals.
    #[schema(example = "2.50")]
    pub(crate) price_per_gpu_hour: String,
}

/// The price book.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PriceBookView {
    /// 0 = nothing was set yet.
    version: i64,
    /// ISO 4217; empty while nothing was set.
    currency: String,
    prices: Vec<PriceEntry>,
    created_by: Option<UserRef>,
    created_at: Option<DateTime<Utc>>,
}

pub(super) fn view(found: PriceVersion, names: &NameBook) -> PriceBookView {
    let entry = |price: &reeve_core::money::price::Price| PriceEntry {
        pool: names.pool(price.pool),
        share: price.share.to_string(),
        priority_class: price.priority_class.map(|class| class.to_string()),
        valid_from: price.valid_from,
        price_per_gpu_hour: format(i128::from(price.price_micros), MICRO_DIGITS, 2),
    };
    PriceBookView {
        version: found.version,
        currency: found.book.currency.clone(),
        prices: found.book.prices.iter().map(entry).collect(),
        created_by: found.created_by.map(|(id, username, display_name)| UserRef {
            id,
            username,
            display_name,
        }),
        created_at: found.created_at,
    }
}
