//! The price book in a document: a list for people, compared entry by entry. A price is text, since JSON's numbers are floats;
//! a number that YAML reads is taken as it was written.

use anyhow::{Context, ensure};
use reeve_core::money::decimal::{MICRO_DIGITS, format, parse_micros};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Book {
    currency: String,
    prices: Vec<Price>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Price {
    pool: String,
    share: String,
    #[serde(default)]
    priority_class: Option<String>,
    valid_from: String,
    price_per_gpu_hour: Value,
}

const ANY: &str = "any";

/// The book as fields that can be compared: each entry by what it is for.
pub(super) fn comparable(book: &Value) -> anyhow::Result<Map<String, Value>> {
    let book: Book = serde_json::from_value(book.clone()).context("prices")?;
    let mut prices = Map::new();
    for price in book.prices {
        let class = price.priority_class.as_deref().unwrap_or(ANY);
        let place = format!("{} {} {class} {}", price.pool, price.share, price.valid_from);
        let text = match &price.price_per_gpu_hour {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let micros = parse_micros(&text)
            .with_context(|| format!("prices: {place}: {text} is no price: a decimal, six places at most"))?;
        let exact = format(i128::from(micros), MICRO_DIGITS, 2);
        ensure!(prices.insert(place.clone(), json!(exact)).is_none(), "prices: {place}: named twice");
    }
    Ok(Map::from_iter([
        ("currency".to_owned(), json!(book.currency)),
        ("prices".to_owned(), Value::Object(prices)),
    ]))
}

/// The same as the list that people write and the server takes.
pub(super) fn listed(fields: &Map<String, Value>) -> Value {
    let prices: Vec<Value> = fields
        .get("prices")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(place, price)| {
            let mut words = place.split(' ');
            let (pool, share) = (words.next()?, words.next()?);
            let (class, valid_from) = (words.next()?, words.next()?);
            let class = (class != ANY).then_some(class);
            Some(json!({
                "pool": pool, "share": share, "priority_class": class, "valid_from": valid_from,
                "price_per_gpu_hour": price,
            }))
        })
        .collect();
    json!({"currency": fields.get("currency"), "prices": prices})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_book_is_the_same_however_its_prices_are_written() {
        let book = json!({"currency": "CNY", "prices": [
            {"pool": "p", "share": "loan", "valid_from": "2026-01-01", "price_per_gpu_hour": 2.5},
            {"pool": "p", "share": "guaranteed", "priority_class": "high", "valid_from": "2026-01-01", "price_per_gpu_hour": "3"},
        ]});
        let fields = comparable(&book).expect("a book");
        assert_eq!(
            fields["prices"],
            json!({"p loan any 2026-01-01": "2.50", "p guaranteed high 2026-01-01": "3.00"})
        );
        let listed = listed(&fields);
        assert_eq!(comparable(&listed).expect("a book"), fields);
        assert_eq!(listed["prices"].as_array().expect("a list").len(), 2);
        let twice = json!({"currency": "CNY", "prices": [book["prices"][0], book["prices"][0]]});
        assert!(comparable(&twice).expect_err("twice").to_string().contains("named twice"));
        let unknown = json!({"currency": "CNY", "price": []});
        assert!(comparable(&unknown).is_err());
    }
}
