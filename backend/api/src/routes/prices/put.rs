//! `PUT /prices`.

use super::view::{PriceBookView, PriceEntry, view};
use crate::app::AppState;
use crate::extract::{Caller, IfMatch, Json};
use crate::problem::{Code, Fields, Problem, Result};
use crate::reply::versioned;
use axum::extract::State;
use axum::response::Response;
use reeve_core::access::{Action, Resource};
use reeve_core::id::PoolId;
use reeve_core::money::decimal::parse_micros;
use reeve_core::money::price::{MOST_PRICES, Price, PriceBook, PricedShare};
use reeve_core::priority::PriorityClass;
use reeve_store::money::names::NameBook;
use reeve_store::money::prices;
use reeve_store::{StoreError, pools};
use serde::Deserialize;
use std::collections::HashMap;
use utoipa::ToSchema;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PutPrices {
    /// ISO 4217: three capital letters.
    #[schema(example = "CNY")]
    currency: String,
    prices: Vec<PriceEntry>,
}

/// Puts a price book in force. What holds before the end of the last closed month may not change.
#[utoipa::path(put, path = "/api/v1/prices", operation_id = "put_prices", tag = "money", request_body = PutPrices,
    responses((status = 200, body = PriceBookView)))]
pub(crate) async fn put(
    State(app): State<AppState>,
    caller: Caller,
    if_match: IfMatch,
    Json(body): Json<PutPrices>,
) -> Result<Response> {
    app.allow(&caller, Action::PriceEdit, &Resource::Installation).await?;
    let before = prices::in_force(&app.store).await?;
    if_match.require(before.version)?;
    let book = checked(&app, &body).await?;
    if let Some(open_from) = prices::open_from(&app.store).await?
        && !before.book.agrees_before(&book, open_from)
    {
        return Err(Problem::new(Code::MonthClosed)
            .detail(format!("months before {open_from} are closed: their prices and currency stay"))
            .param("open_from", open_from.to_string()));
    }
    let mut tx = app.begin(&caller).await?;
    match prices::put(&mut tx, &before, &book, caller.actor.id).await {
        Ok(_) => tx.commit().await?,
        Err(StoreError::Duplicate { .. }) => return Err(Problem::new(Code::StaleVersion)),
        Err(other) => return Err(other.into()),
    }
    let after = prices::in_force(&app.store).await?;
    let names = NameBook::read(&app.store).await?;
    Ok(versioned(after.version, &view(after, &names)))
}

async fn checked(app: &AppState, body: &PutPrices) -> Result<PriceBook> {
    let mut fields = Fields::new();
    let currency = &body.currency;
    if currency.len() != 3 || !currency.bytes().all(|byte| byte.is_ascii_uppercase()) {
        fields.add("/currency", "invalid_value", "three capital letters, as ISO 4217 has them");
    }
    fields.range("/prices", i64::try_from(body.prices.len()).unwrap_or(i64::MAX), 0, MOST_PRICES as i64);
    fields.done()?;
    let mut pools = HashMap::new();
    for entry in &body.prices {
        if !pools.contains_key(entry.pool.as_str()) {
            let found = match pools::find(&app.store, &entry.pool).await {
                Ok(pool) => Some(PoolId(pool.id)),
                Err(StoreError::NotFound) => None,
                Err(other) => return Err(other.into()),
            };
            pools.insert(entry.pool.as_str(), found);
        }
    }
    let mut fields = Fields::new();
    let prices = body.prices.iter().enumerate();
    let prices: Vec<Option<Price>> =
        prices.map(|(index, entry)| price(index, entry, &pools, &mut fields)).collect();
    fields.done()?;
    let book = PriceBook { currency: currency.clone(), prices: prices.into_iter().flatten().collect() };
    let mut fields = Fields::new();
    for (index, field, code, detail) in book.faults() {
        fields.add(format!("/prices/{index}/{field}"), code, detail);
    }
    fields.done()?;
    Ok(book)
}

fn price(
    index: usize,
    entry: &PriceEntry,
    pools: &HashMap<&str, Option<PoolId>>,
    fields: &mut Fields,
) -> Option<Price> {
    let at = |field: &str| format!("/prices/{index}/{field}");
    let pool = pools.get(entry.pool.as_str()).copied().flatten();
    if pool.is_none() {
        fields.add(at("pool"), "unknown_pool", "there is no such pool");
    }
    let share = fields.word::<PricedShare>(&at("share"), &entry.share);
    let class = match &entry.priority_class {
        Some(text) => fields.word::<PriorityClass>(&at("priority_class"), text).map(Some),
        None => Some(None),
    };
    let micros = parse_micros(&entry.price_per_gpu_hour);
    if micros.is_none() {
        let detail = "a decimal with at most six digits after the point";
        fields.add(at("price_per_gpu_hour"), "invalid_decimal", detail);
    }
    Some(Price {
        pool: pool?,
        share: share?,
        priority_class: class?,
        valid_from: entry.valid_from,
        price_micros: micros?,
    })
}
