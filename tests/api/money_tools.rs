//! What tests of money have in common.

use reeve_core::clock::{Clock, SharedClock};
use reeve_tests::TestApp;
use reeve_tests::client::Client;
use reeve_tests::world::POOL;
use serde_json::{Value, json};
use std::sync::Arc;

/// Settles the ledger up to now, and measures budgets.
pub(crate) async fn ledger(app: &TestApp) {
    while reeve_worker::ledger::step(app.store(), app.clock.now()).await.expect("settled").again {}
}

pub(crate) fn price_book() -> Value {
    let price = |share: &str, price: &str| json!({"pool": POOL, "share": share, "valid_from": "2026-01-01", "price_per_gpu_hour": price});
    json!({"currency": "CNY", "prices":
        [price("guaranteed", "2.5"), price("loan", "1.25"), price("idle", "1"), price("lent", "0.5")]})
}

pub(crate) async fn put_prices(app: &TestApp) {
    app.user("finance").put("/prices", price_book()).if_match(0).await.expect(200);
}

/// Lets the exports be made, and fetches this one's file.
pub(crate) async fn export(app: &TestApp, who: &Client, path: &str) -> Vec<u8> {
    let clock: SharedClock = Arc::new(app.clock.clone());
    while reeve_worker::export::step::step(app.store(), &clock).await.expect("made").is_some() {}
    who.get(&format!("{path}/result")).await.expect(200).body.to_vec()
}
