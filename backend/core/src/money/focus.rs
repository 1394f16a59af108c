//! FOCUS 1.2 (FinOps Open Cost and Usage Specification): a bill's line as a row that any cost tool reads.
//!
//! Own use is `Standard`, a loan is `Dynamic`, idle time has a row of its own, and what others borrowed is a `Credit` of the lender: so
//! the rows add up to the bill. Columns of our own come last and begin with `x_`.

use super::bill::{BillShare, Line};
use super::decimal::{Cost, MICRO_DIGITS, format, micros};
use super::month::Month;
use crate::csv_text::Field;
use chrono::{DateTime, Days, NaiveDate, NaiveTime, SecondsFormat, Utc};

/// The columns, in their order.
pub const COLUMNS: [&str; 56] = [
    "BilledCost",
    "BillingAccountId",
    "BillingAccountName",
    "BillingAccountType",
    "BillingCurrency",
    "BillingPeriodEnd",
    "BillingPeriodStart",
    "ChargeCategory",
    "ChargeClass",
    "ChargeDescription",
    "ChargeFrequency",
    "ChargePeriodEnd",
    "ChargePeriodStart",
    // Always empty: what is consumed is defined by it.
    "CommitmentDiscountStatus",
    "ConsumedQuantity",
    "ConsumedUnit",
    "ContractedCost",
    "ContractedUnitPrice",
    "EffectiveCost",
    "InvoiceId",
    "InvoiceIssuerName",
    "ListCost",
    "ListUnitPrice",
    "PricingCategory",
    "PricingCurrency",
    "PricingCurrencyContractedUnitPrice",
    "PricingCurrencyEffectiveCost",
    "PricingCurrencyListUnitPrice",
    "PricingQuantity",
    "PricingUnit",
    "ProviderName",
    "PublisherName",
    "RegionId",
    "RegionName",
    "ResourceId",
    "ResourceName",
    "ResourceType",
    "ServiceCategory",
    "ServiceName",
    "ServiceSubcategory",
    "SkuId",
    "SkuMeter",
    "SkuPriceDetails",
    "SkuPriceId",
    "SubAccountId",
    "SubAccountName",
    "SubAccountType",
    "Tags",
    "x_Share",
    "x_Queue",
    "x_Kind",
    "x_PriorityClass",
    "x_Lender",
    "x_Borrower",
    "x_IdleHours",
    "x_DownHours",
];

const UNIT: &str = "GPU-Hours";

/// Who bills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issuer {
    /// Provider, publisher and issuer of the invoice are one.
    pub name: String,
    pub account_id: String,
    pub account_name: String,
    pub currency: String,
}

/// The names in a row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    pub pool: String,
    pub team: Option<String>,
    /// The team's slug, by which cost tools group.
    pub team_slug: Option<String>,
    pub queue: Option<String>,
    pub job: Option<String>,
    pub counterparty: Option<String>,
}

/// A day's line as a row.
#[must_use]
pub fn row(issuer: &Issuer, names: &Names, line: &Line) -> Vec<Field> {
    let key = &line.key;
    let credit = key.share == BillShare::Lent;
    let category = if credit { "Credit" } else { "Usage" };
    let hours = micros(i128::from(line.micro_hours));
    let mut cells = Cells::new(issuer, Month::of(key.day));
    cells.cost(line.cost);
    cells.set("ChargeCategory", Field::text(category));
    cells.set("ChargeDescription", Field::text(description(names, line)));
    cells.set("ChargeFrequency", Field::text("Usage-Based"));
    cells.period(key.day);
    if !credit {
        let price = Field::Number(format(i128::from(line.price_micros.unwrap_or(0)), MICRO_DIGITS, 2));
        for name in ["ConsumedQuantity", "PricingQuantity"] {
            cells.set(name, Field::Number(hours.clone()));
        }
        for name in ["ConsumedUnit", "PricingUnit"] {
            cells.set(name, Field::text(UNIT));
        }
        for name in [
            "ContractedUnitPrice",
            "ListUnitPrice",
            "PricingCurrencyContractedUnitPrice",
            "PricingCurrencyListUnitPrice",
        ] {
            cells.set(name, price.clone());
        }
        let pricing = if key.share == BillShare::Loan { "Dynamic" } else { "Standard" };
        cells.set("PricingCategory", Field::text(pricing));
        let class = key.class.map_or("any", |class| class.as_str());
        cells.set("SkuId", Field::text(format!("{}/{}", names.pool, key.share)));
        cells.set("SkuMeter", Field::text("GPU time"));
        let details = format!(r#"{{"x_PriorityClass":"{class}","x_Share":"{}"}}"#, key.share);
        cells.set("SkuPriceDetails", Field::text(details));
        cells.set("SkuPriceId", Field::text(format!("{}/{}/{class}", names.pool, key.share)));
    }
    if let Some(job) = key.job {
        cells.set("ResourceId", Field::text(job.to_string()));
        cells.set("ResourceName", Field::maybe(names.job.clone()));
        cells.set("ResourceType", Field::text("Job"));
    }
    cells.service(&names.pool);
    cells.team(names);
    cells.set("x_Share", Field::text(key.share.as_str()));
    cells.set("x_Queue", Field::maybe(names.queue.clone()));
    cells.set("x_Kind", Field::maybe(key.kind.map(|kind| kind.as_str())));
    cells.set("x_PriorityClass", Field::maybe(key.class.map(|class| class.as_str())));
    match key.share {
        BillShare::Loan => cells.set("x_Lender", Field::maybe(names.counterparty.clone())),
        BillShare::Lent => cells.set("x_Borrower", Field::maybe(names.counterparty.clone())),
        BillShare::Idle => cells.set("x_IdleHours", Field::Number(hours)),
        BillShare::Down => cells.set("x_DownHours", Field::Number(hours)),
        BillShare::Guaranteed => {}
    }
    cells.0
}

/// A correction of a closed month, booked in `month`.
#[must_use]
pub fn correction(
    issuer: &Issuer,
    names: &Names,
    month: Month,
    corrects: Month,
    cost: Cost,
    reason: &str,
) -> Vec<Field> {
    let mut cells = Cells::new(issuer, month);
    cells.cost(cost);
    cells.set("ChargeCategory", Field::text("Adjustment"));
    cells.set("ChargeDescription", Field::text(format!("Correction of {corrects}: {reason}")));
    cells.set("ChargeFrequency", Field::text("One-Time"));
    cells.set("ChargePeriodStart", at(month.begins_at()));
    cells.set("ChargePeriodEnd", at(month.ends_at()));
    cells.service(&names.pool);
    cells.team(names);
    cells.set("x_Share", Field::text("correction"));
    cells.0
}

fn description(names: &Names, line: &Line) -> String {
    let pool = &names.pool;
    let other = names.counterparty.as_deref().unwrap_or("nobody's share");
    match line.key.share {
        BillShare::Guaranteed => format!("GPU time in {pool}, inside the guarantee"),
        BillShare::Loan => format!("GPU time in {pool}, on loan from {other}"),
        BillShare::Idle if line.key.team.is_some() => format!("Guarantee in {pool} that nobody used"),
        BillShare::Idle => format!("Capacity of {pool} that nobody was guaranteed and nobody used"),
        BillShare::Down => format!("Capacity of {pool} that was out of reach"),
        BillShare::Lent => format!("Credit for GPU time in {pool}, lent to {other}"),
    }
}

fn at(moment: DateTime<Utc>) -> Field {
    Field::text(moment.to_rfc3339_opts(SecondsFormat::Secs, true))
}

/// A row being filled.
struct Cells(Vec<Field>);

impl Cells {
    fn new(issuer: &Issuer, month: Month) -> Self {
        let mut cells = Self(vec![Field::Empty; COLUMNS.len()]);
        cells.set("BillingAccountId", Field::text(&issuer.account_id));
        cells.set("BillingAccountName", Field::text(&issuer.account_name));
        cells.set("BillingAccountType", Field::text("Installation"));
        cells.set("BillingCurrency", Field::text(&issuer.currency));
        cells.set("PricingCurrency", Field::text(&issuer.currency));
        cells.set("BillingPeriodStart", at(month.begins_at()));
        cells.set("BillingPeriodEnd", at(month.ends_at()));
        cells.set("InvoiceId", Field::text(format!("{}-{month}", issuer.account_id)));
        for name in ["InvoiceIssuerName", "ProviderName", "PublisherName"] {
            cells.set(name, Field::text(&issuer.name));
        }
        cells.set("Tags", Field::text("{}"));
        cells
    }

    fn set(&mut self, name: &str, field: Field) {
        if let Some(index) = COLUMNS.iter().position(|column| *column == name) {
            self.0[index] = field;
        }
    }

    fn cost(&mut self, cost: Cost) {
        // Prices and bills have one currency; the standard asks for both all the same.
        for name in
            ["BilledCost", "ContractedCost", "EffectiveCost", "ListCost", "PricingCurrencyEffectiveCost"]
        {
            self.set(name, Field::Number(cost.exact()));
        }
    }

    fn period(&mut self, day: NaiveDate) {
        let begin = |day: NaiveDate| at(day.and_time(NaiveTime::MIN).and_utc());
        self.set("ChargePeriodStart", begin(day));
        self.set("ChargePeriodEnd", begin(day.checked_add_days(Days::new(1)).unwrap_or(day)));
    }

    fn service(&mut self, pool: &str) {
        self.set("ServiceCategory", Field::text("Compute"));
        self.set("ServiceName", Field::text("GPU capacity"));
        self.set("ServiceSubcategory", Field::text("Other (Compute)"));
        self.set("RegionId", Field::text(pool));
        self.set("RegionName", Field::text(pool));
    }

    fn team(&mut self, names: &Names) {
        if names.team_slug.is_some() {
            self.set("SubAccountId", Field::maybe(names.team_slug.clone()));
            self.set("SubAccountName", Field::maybe(names.team.clone()));
            self.set("SubAccountType", Field::text("Team"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{PoolId, TeamId};
    use crate::money::bill::LineKey;
    use crate::money::decimal::parse;
    use std::collections::BTreeSet;
    use uuid::Uuid;

    fn cell<'a>(row: &'a [Field], name: &str) -> &'a Field {
        &row[COLUMNS.iter().position(|column| *column == name).expect(name)]
    }

    #[test]
    fn quantity_times_price_is_the_cost_and_columns_are_named_once() {
        assert_eq!(COLUMNS.iter().collect::<BTreeSet<_>>().len(), COLUMNS.len());
        let issuer = Issuer {
            name: "Reeve".to_owned(),
            account_id: "reeve".to_owned(),
            account_name: "Reeve".to_owned(),
            currency: "CNY".to_owned(),
        };
        let names = Names { pool: "h100".to_owned(), ..Names::default() };
        let key = LineKey {
            day: "2026-12-31".parse().expect("a day"),
            pool: PoolId(Uuid::nil()),
            team: Some(TeamId(Uuid::nil())),
            share: BillShare::Loan,
            queue: None,
            job: None,
            kind: None,
            class: None,
            counterparty: None,
        };
        let (hours, price) = (1_234_567, 2_500_001);
        let line = Line {
            key,
            micro_hours: hours,
            price_micros: Some(price),
            cost: Cost(i128::from(hours) * i128::from(price)),
        };
        let row = row(&issuer, &names, &line);
        let number = |name| match cell(&row, name) {
            Field::Number(text) => parse(text, 12).expect(text),
            other => panic!("{name}: {other:?}"),
        };
        let product = number("PricingQuantity") * number("ListUnitPrice") / 10_i128.pow(12);
        assert_eq!(number("BilledCost"), product);
        assert_eq!(cell(&row, "ChargePeriodEnd"), &Field::text("2027-01-01T00:00:00Z"));
        assert_eq!(cell(&row, "BillingPeriodEnd"), &Field::text("2027-01-01T00:00:00Z"));
        assert_eq!(cell(&row, "PricingCategory"), &Field::text("Dynamic"));
    }
}
