//! Who may do what in PostgreSQL: the owner of the schema migrates, the service works, and what is append-only stays so
//! for the service by its rights as well as by triggers.
//!
//! This module refuses to make roles on a real installation: its administrator does; it grants what they need.

use crate::connect::Store;
use crate::error::StoreError;
use sqlx::AssertSqlSafe;

/// Gives `role` what the service needs, and takes from it what it must not have. Run as the schema's owner, after migrating.
/// Every table whose trigger refuses changes is read and added to only.
///
/// # Errors
/// [`StoreError::Internal`] when this is not the owner, or there is no such role.
pub async fn grant_service(owner: &Store, role: &str) -> Result<(), StoreError> {
    let statements = sqlx::query_scalar!(
        r#"select statement as "statement!" from (
             select 1 as rank, format('grant usage on schema public to %I', $1::text) as statement
             union all
             select 2, format('grant select, insert, update, delete on all tables in schema public to %I', $1::text)
             union all
             select 2, format('grant usage, select on all sequences in schema public to %I', $1::text)
             union all
             select 3, format('revoke update, delete, truncate, references, trigger on %s from %I', t.tgrelid::regclass, $1::text)
             from (select distinct t.tgrelid from pg_trigger t join pg_proc p on p.oid = t.tgfoid
                   where p.proname = 'refuse_change') t
             union all
             select 3, format('revoke insert, update, delete, truncate on _sqlx_migrations from %I', $1::text)
           ) s order by rank, statement"#,
        role
    )
    .fetch_all(owner.pool())
    .await?;
    let mut tx = owner.pool().begin().await?;
    for statement in statements {
        // Made by PostgreSQL's own format(), which quotes names.
        sqlx::query(AssertSqlSafe(statement)).execute(&mut *tx).await?;
    }
    Ok(tx.commit().await?)
}

/// Makes a role that can sign in, or gives it this password: for a database of our own, a demo's or a test's.
///
/// # Errors
/// [`StoreError::Internal`] when this role may not make others.
pub async fn ensure_role(owner: &Store, role: &str, password: &str) -> Result<(), StoreError> {
    let statement = sqlx::query_scalar!(
        r#"select case when exists (select from pg_roles where rolname = $1)
                  then format('alter role %I login password %L', $1::text, $2::text)
                  else format('create role %I login password %L', $1::text, $2::text) end as "statement!""#,
        role,
        password
    )
    .fetch_one(owner.pool())
    .await?;
    sqlx::query(AssertSqlSafe(statement)).execute(owner.pool()).await?;
    Ok(())
}

/// The role that this connection works as.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn current_role(store: &Store) -> Result<String, StoreError> {
    Ok(sqlx::query_scalar!(r#"select current_user::text as "role!""#).fetch_one(store.pool()).await?)
}

/// Whether this connection's role can change, remove or redefine nothing that is append-only.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn append_only(store: &Store) -> Result<bool, StoreError> {
    Ok(sqlx::query_scalar!(
        r#"select not (select rolsuper from pg_roles where rolname = current_user) and not exists (
             select from pg_trigger t join pg_proc p on p.oid = t.tgfoid join pg_class c on c.oid = t.tgrelid
             where p.proname = 'refuse_change'
               and (has_table_privilege(c.oid, 'update') or has_table_privilege(c.oid, 'delete')
                    or has_table_privilege(c.oid, 'truncate') or pg_has_role(c.relowner, 'member')
                    or exists (select from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
                               and has_column_privilege(c.oid, a.attnum, 'update')))
           ) as "append_only!""#
    )
    .fetch_one(store.pool())
    .await?)
}
