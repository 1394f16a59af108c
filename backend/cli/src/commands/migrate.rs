//! `reeve migrate`. It refuses to go back: migrations only add.

use super::serve::migrate_as_owner;
use crate::config::Settings;
use reeve_store::{ConnectOptions, Store, migrate, rights};

pub(crate) async fn run(settings: &Settings) -> anyhow::Result<()> {
    if let Some(owner_url) = &settings.database.owner_url {
        let store = Store::connect(&ConnectOptions::new(settings.database_url()?)).await?;
        let role = rights::current_role(&store).await;
        store.close().await;
        migrate_as_owner(owner_url, &role?).await?;
        eprintln!("the database is up to date");
        return Ok(());
    }
    let mut options = ConnectOptions::new(settings.database_url()?);
    options.max_connections = settings.database.max_connections;
    let store = Store::connect(&options).await?;
    let outcome = migrate::migrate(&store).await;
    store.close().await;
    outcome?;
    eprintln!("the database is up to date");
    Ok(())
}
