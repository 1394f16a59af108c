//! The price book: what a GPU-hour costs, by pool, share and class, from which day on.
//!
//! It refuses to guess: what no price covers has none, and the bill says so.

use crate::id::PoolId;
use crate::priority::PriorityClass;
use crate::text_enum;
use chrono::NaiveDate;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Highest price: a million a GPU-hour, in millionths.
pub const MOST_MICROS: i64 = 1_000_000_000_000;
/// Most entries of a book.
pub const MOST_PRICES: usize = 5_000;

text_enum! {
    /// What is priced.
    PricedShare {
        Guaranteed = "guaranteed",
        Loan = "loan",
        /// Paid for a guarantee that nobody used.
        Idle = "idle",
        /// Credited to the lender.
        Lent = "lent",
    }
}

/// A price.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Price {
    pub pool: PoolId,
    pub share: PricedShare,
    /// `None` = every class that has no price of its own.
    pub priority_class: Option<PriorityClass>,
    /// The first day, in UTC, on which it holds; until a later one of the same kind does.
    pub valid_from: NaiveDate,
    /// Millionths of the currency for a GPU-hour.
    pub price_micros: i64,
}

/// All prices, in one currency.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriceBook {
    /// ISO 4217; empty while there is no book.
    pub currency: String,
    pub prices: Vec<Price>,
}

/// What is wrong with an entry: its index, the field, a code and a sentence.
pub type PriceFault = (usize, &'static str, &'static str, String);

impl PriceBook {
    /// The price on a day: the class's own before the general one, the latest of these.
    #[must_use]
    pub fn price(
        &self,
        pool: PoolId,
        share: PricedShare,
        class: Option<PriorityClass>,
        day: NaiveDate,
    ) -> Option<i64> {
        self.prices
            .iter()
            .filter(|price| price.pool == pool && price.share == share && price.valid_from <= day)
            .filter(|price| price.priority_class.is_none() || price.priority_class == class)
            .max_by_key(|price| (price.priority_class.is_some(), price.valid_from))
            .map(|price| price.price_micros)
    }

    /// What no book may hold.
    #[must_use]
    pub fn faults(&self) -> Vec<PriceFault> {
        let mut faults = Vec::new();
        let mut seen = BTreeSet::new();
        for (index, price) in self.prices.iter().enumerate() {
            if !(0..=MOST_MICROS).contains(&price.price_micros) {
                faults.push((index, "price_per_gpu_hour", "out_of_range", "0 to 1000000".to_owned()));
            }
            if price.share == PricedShare::Idle && price.priority_class.is_some() {
                let why = "idle capacity has no class".to_owned();
                faults.push((index, "priority_class", "not_together", why));
            }
            if !seen.insert((price.pool, price.share, price.priority_class, price.valid_from)) {
                faults.push((
                    index,
                    "valid_from",
                    "duplicate",
                    "an entry before says the same day".to_owned(),
                ));
            }
        }
        faults
    }

    /// Whether on every day before `day` both books have the same prices and currency.
    #[must_use]
    pub fn agrees_before(&self, other: &Self, day: NaiveDate) -> bool {
        let before = |book: &Self| -> BTreeSet<Price> {
            book.prices.iter().filter(|price| price.valid_from < day).cloned().collect()
        };
        self.currency == other.currency && before(self) == before(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn day(text: &str) -> NaiveDate {
        text.parse().expect("a day")
    }

    fn entry(share: PricedShare, class: Option<PriorityClass>, from: &str, micros: i64) -> Price {
        let pool = PoolId(Uuid::from_u128(1));
        Price { pool, share, priority_class: class, valid_from: day(from), price_micros: micros }
    }

    #[test]
    fn the_classs_own_price_counts_and_of_these_the_latest() {
        use PricedShare::{Guaranteed, Idle, Loan};
        let low = Some(PriorityClass::Low);
        let book = PriceBook {
            currency: "CNY".to_owned(),
            prices: vec![
                entry(Guaranteed, None, "2026-01-01", 10),
                entry(Guaranteed, None, "2026-03-01", 12),
                entry(Guaranteed, low, "2026-02-01", 7),
                entry(Idle, None, "2026-01-01", 3),
            ],
        };
        let pool = PoolId(Uuid::from_u128(1));
        for (share, class, on, expected) in [
            (Guaranteed, None, "2025-12-31", None),
            (Guaranteed, low, "2026-01-15", Some(10)),
            (Guaranteed, low, "2026-02-01", Some(7)),
            (Guaranteed, low, "2026-03-15", Some(7)),
            (Guaranteed, Some(PriorityClass::High), "2026-03-01", Some(12)),
            (Loan, None, "2026-03-01", None),
            (Idle, None, "2026-03-01", Some(3)),
        ] {
            assert_eq!(book.price(pool, share, class, day(on)), expected, "{share} {class:?} {on}");
        }
        assert_eq!(book.price(PoolId(Uuid::from_u128(2)), Guaranteed, None, day("2026-03-01")), None);
        assert!(book.faults().is_empty());
        let twice = PriceBook { prices: [book.prices.clone(), book.prices.clone()].concat(), ..book.clone() };
        assert_eq!(twice.faults().len(), 4);
        let mut later = book.clone();
        later.prices.push(entry(Loan, None, "2026-04-01", 1));
        assert!(
            book.agrees_before(&later, day("2026-04-01")) && !book.agrees_before(&later, day("2026-05-01"))
        );
    }
}
