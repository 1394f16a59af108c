//! `reeve migrate`. It refuses to go back: migrations only add.

use crate::config::Settings;
use reeve_store::{ConnectOptions, Store, migrate};

pub(crate) async fn run(settings: &Settings) -> anyhow::Result<()> {
    let mut options = ConnectOptions::new(settings.database_url()?);
    options.max_connections = settings.database.max_connections;
    let store = Store::connect(&options).await?;
    let outcome = migrate::migrate(&store).await;
    store.close().await;
    outcome?;
    eprintln!("the database is up to date");
    Ok(())
}
