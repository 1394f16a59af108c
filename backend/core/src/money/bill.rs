//! The bill: a day's use at that day's prices, and sums of it that are the sums of their lines.
//!
//! A line's cost is its quantity times its price, exactly. Nothing is rounded here: a total is, once, where it is shown.

use super::decimal::Cost;
use super::price::{PriceBook, PricedShare};
use crate::id::{JobId, PoolId, QueueId, TeamId};
use crate::kind::Kind;
use crate::priority::PriorityClass;
use crate::text_enum;
use chrono::NaiveDate;
use std::collections::BTreeMap;

text_enum! {
    /// What a line is for.
    BillShare {
        Guaranteed = "guaranteed",
        Loan = "loan",
        Idle = "idle",
        Down = "down",
        /// A lender's credit for what others borrowed. It mirrors their loan lines and is no capacity of its own.
        Lent = "lent",
    }
}

/// What a line is about; everything that a price may depend on is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineKey {
    pub day: NaiveDate,
    pub pool: PoolId,
    /// On whose bill; none = nobody's.
    pub team: Option<TeamId>,
    pub share: BillShare,
    pub queue: Option<QueueId>,
    pub job: Option<JobId>,
    pub kind: Option<Kind>,
    pub class: Option<PriorityClass>,
    /// Of a loan: whose guarantee it was. Of what was lent: who borrowed it.
    pub counterparty: Option<TeamId>,
}

/// A line with its price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    pub key: LineKey,
    /// Millionths of a GPU-hour.
    pub micro_hours: i64,
    /// Millionths of the currency; none = the book has no price for it.
    pub price_micros: Option<i64>,
    pub cost: Cost,
}

impl Line {
    /// The line at the book's price of its day. What is out of reach costs nothing; what is nobody's is told at its price and
    /// owed by nobody.
    #[must_use]
    pub fn priced(key: LineKey, micro_hours: i64, book: &PriceBook) -> Self {
        let share = match key.share {
            BillShare::Guaranteed => Some(PricedShare::Guaranteed),
            BillShare::Loan => Some(PricedShare::Loan),
            BillShare::Idle => Some(PricedShare::Idle),
            BillShare::Lent => Some(PricedShare::Lent),
            BillShare::Down => None,
        };
        let price = match share {
            Some(share) => book.price(key.pool, share, key.class, key.day),
            None => Some(0),
        };
        let cost = Cost(i128::from(micro_hours) * i128::from(price.unwrap_or(0)));
        let cost = if key.share == BillShare::Lent { -cost } else { cost };
        Self { key, micro_hours, price_micros: price, cost }
    }

    /// The lender's side of a loan from a team: by day, pool, class and the two teams.
    #[must_use]
    pub fn lent_key(&self) -> Option<LineKey> {
        let lender = self.key.counterparty?;
        (self.key.share == BillShare::Loan).then_some(LineKey {
            team: Some(lender),
            share: BillShare::Lent,
            queue: None,
            job: None,
            kind: None,
            counterparty: self.key.team,
            ..self.key
        })
    }

    /// Nothing says what it costs. A missing price for credits or idle time is a policy, not a gap.
    #[must_use]
    pub const fn is_unpriced(&self) -> bool {
        self.price_micros.is_none() && matches!(self.key.share, BillShare::Guaranteed | BillShare::Loan)
    }
}

/// Lines and, for each loan, the lender's credit.
#[must_use]
pub fn with_credits(lines: Vec<Line>, book: &PriceBook) -> Vec<Line> {
    let mut credits: BTreeMap<LineKey, i64> = BTreeMap::new();
    for line in &lines {
        if let Some(key) = line.lent_key() {
            *credits.entry(key).or_default() += line.micro_hours;
        }
    }
    let credits = credits.into_iter().map(|(key, micro_hours)| Line::priced(key, micro_hours, book));
    lines.into_iter().chain(credits).collect()
}

/// Quantities and costs, a share each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amounts {
    pub guaranteed_micro_hours: i64,
    pub loan_micro_hours: i64,
    pub lent_micro_hours: i64,
    pub idle_micro_hours: i64,
    pub down_micro_hours: i64,
    pub guaranteed_cost: Cost,
    pub loan_cost: Cost,
    /// Zero or less.
    pub lent_credit: Cost,
    pub idle_cost: Cost,
}

impl Amounts {
    pub fn add(&mut self, share: BillShare, micro_hours: i64, cost: Cost) {
        match share {
            BillShare::Guaranteed => {
                self.guaranteed_micro_hours += micro_hours;
                self.guaranteed_cost += cost;
            }
            BillShare::Loan => {
                self.loan_micro_hours += micro_hours;
                self.loan_cost += cost;
            }
            BillShare::Idle => {
                self.idle_micro_hours += micro_hours;
                self.idle_cost += cost;
            }
            BillShare::Lent => {
                self.lent_micro_hours += micro_hours;
                self.lent_credit += cost;
            }
            BillShare::Down => self.down_micro_hours += micro_hours,
        }
    }

    /// What is owed.
    #[must_use]
    pub fn cost(&self) -> Cost {
        self.guaranteed_cost + self.loan_cost + self.lent_credit + self.idle_cost
    }
}

/// A month's line: like a day's, the days of one price together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct StatementKey {
    pub pool: PoolId,
    pub share: BillShare,
    pub queue: Option<QueueId>,
    pub kind: Option<Kind>,
    pub class: Option<PriorityClass>,
    pub counterparty: Option<TeamId>,
    pub price_micros: Option<i64>,
}

/// A statement: its lines in order, their sum, and whether something had no price.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statement {
    pub lines: BTreeMap<StatementKey, (i64, Cost)>,
    pub amounts: Amounts,
    pub unpriced: bool,
}

/// One statement a team; `None` = what is on nobody's bill.
#[must_use]
pub fn statements(lines: &[Line]) -> BTreeMap<Option<TeamId>, Statement> {
    let mut by_team: BTreeMap<Option<TeamId>, Statement> = BTreeMap::new();
    for line in lines {
        let statement = by_team.entry(line.key.team).or_default();
        let key = StatementKey {
            pool: line.key.pool,
            share: line.key.share,
            queue: line.key.queue,
            kind: line.key.kind,
            class: line.key.class,
            counterparty: line.key.counterparty,
            price_micros: line.price_micros,
        };
        let sum = statement.lines.entry(key).or_default();
        sum.0 += line.micro_hours;
        sum.1 += line.cost;
        statement.amounts.add(line.key.share, line.micro_hours, line.cost);
        statement.unpriced |= line.is_unpriced();
    }
    by_team
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::price::Price;
    use uuid::Uuid;

    fn key(day: &str, team: u128, share: BillShare, counterparty: Option<u128>) -> LineKey {
        let id = |number| TeamId(Uuid::from_u128(number));
        LineKey {
            day: day.parse().expect("a day"),
            pool: PoolId(Uuid::from_u128(9)),
            team: Some(id(team)),
            share,
            queue: None,
            job: Some(JobId(Uuid::from_u128(5))),
            kind: Some(Kind::Training),
            class: Some(PriorityClass::Normal),
            counterparty: counterparty.map(id),
        }
    }

    #[test]
    fn a_statement_is_the_sum_of_its_lines_and_credits_mirror_loans() {
        let price = |share, from: &str, micros| Price {
            pool: PoolId(Uuid::from_u128(9)),
            share,
            priority_class: None,
            valid_from: from.parse().expect("a day"),
            price_micros: micros,
        };
        let book = PriceBook {
            currency: "CNY".to_owned(),
            prices: vec![
                price(PricedShare::Loan, "2026-01-01", 1_000_003),
                price(PricedShare::Loan, "2026-01-02", 2_000_000),
                price(PricedShare::Lent, "2026-01-01", 500_000),
            ],
        };
        let lines = [
            (key("2026-01-01", 1, BillShare::Loan, Some(2)), 1_500_001),
            (key("2026-01-02", 1, BillShare::Loan, Some(2)), 1_000_000),
            (key("2026-01-02", 1, BillShare::Guaranteed, None), 7),
        ];
        let lines = lines.map(|(key, hours)| Line::priced(key, hours, &book)).to_vec();
        let statements = statements(&with_credits(lines, &book));
        let borrower = &statements[&Some(TeamId(Uuid::from_u128(1)))];
        // 1.500001 × 1.000003 + 1 × 2.
        assert_eq!(borrower.amounts.cost().exact(), "3.500005500003");
        assert_eq!(borrower.lines.len(), 3, "a price a line");
        assert!(borrower.unpriced, "nobody said what a guaranteed hour costs");
        let lender = &statements[&Some(TeamId(Uuid::from_u128(2)))];
        assert_eq!(lender.amounts.lent_micro_hours, 2_500_001);
        assert_eq!(lender.amounts.cost().exact(), "-1.2500005");
        assert!(!lender.unpriced);
    }
}
