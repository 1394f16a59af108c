//! Brings the schema up to date, and refuses to serve on one that this version does not know.
//!
//! Migrations run under the driver's advisory lock: two servers that start at once migrate once.

use crate::connect::Store;
use crate::error::StoreError;
use sqlx::migrate::{MigrateError, Migrator};

static MIGRATOR: Migrator = sqlx::migrate!("../../migrations");

/// Applies what is missing.
///
/// # Errors
/// [`StoreError::Schema`] when the database was migrated by a newer version or a migration was edited;
/// [`StoreError::Unavailable`].
pub async fn migrate(store: &Store) -> Result<(), StoreError> {
    // A long migration is no stuck statement.
    let mut connection = store.pool().acquire().await?.detach();
    sqlx::query("set statement_timeout = 0").execute(&mut connection).await?;
    sqlx::query("set lock_timeout = 0").execute(&mut connection).await?;
    MIGRATOR.run(&mut connection).await.map_err(explain)
}

/// Whether the database has exactly the migrations that this version knows.
///
/// # Errors
/// [`StoreError::Schema`] naming the difference; [`StoreError::Unavailable`].
pub async fn check_schema(store: &Store) -> Result<(), StoreError> {
    let known: Vec<i64> = MIGRATOR.iter().map(|migration| migration.version).collect();
    let applied: Vec<i64> = applied(store).await?;
    if let Some(version) = applied.iter().find(|version| !known.contains(version)) {
        return Err(StoreError::Schema(format!(
            "the database has migration {version}, which this version of reeve does not know: upgrade reeve"
        )));
    }
    if let Some(version) = known.iter().find(|version| !applied.contains(version)) {
        return Err(StoreError::Schema(format!("migration {version} is missing: run `reeve migrate`")));
    }
    Ok(())
}

async fn applied(store: &Store) -> Result<Vec<i64>, StoreError> {
    // Before the first migration the driver's own table is missing.
    let exists: bool = sqlx::query_scalar("select to_regclass('_sqlx_migrations') is not null")
        .fetch_one(store.pool())
        .await?;
    if !exists {
        return Ok(Vec::new());
    }
    let versions = sqlx::query_scalar("select version from _sqlx_migrations where success order by version");
    Ok(versions.fetch_all(store.pool()).await?)
}

fn explain(error: MigrateError) -> StoreError {
    match error {
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => error.into(),
        other => StoreError::Schema(other.to_string()),
    }
}
