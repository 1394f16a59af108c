//! `reeve check`: what must hold over the whole database. It refuses to repair.

use crate::config::Settings;
use crate::output::Output;
use reeve_core::clock::{Clock, SystemClock};
use reeve_store::{ConnectOptions, Store, audit_state};
use std::process::ExitCode;

pub(crate) async fn run(settings: &Settings, output: Output) -> anyhow::Result<ExitCode> {
    let store = Store::connect(&ConnectOptions::new(settings.database_url()?)).await?;
    let found = audit_state::check_database(&store, SystemClock.now()).await;
    store.close().await;
    let violations = found?;
    if output.is_json() {
        output.json(&serde_json::json!({"violations": violations}))?;
    } else if violations.is_empty() {
        println!("no violation");
    } else {
        violations.iter().for_each(|violation| println!("{violation}"));
    }
    Ok(if violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
