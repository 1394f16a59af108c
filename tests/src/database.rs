//! A database for each test, copied from a template that is made once: migrated and seeded.
//!
//! PostgreSQL is the one of `REEVE_TEST_DATABASE_URL`, else one of this process's own that ends with it.

use reeve_store::private_postgres::PrivatePostgres;
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use std::sync::OnceLock;
use std::time::Duration;

const LOCK: i64 = 0x7265_6576_6574_6573;

/// A database that goes when this is dropped.
#[derive(Debug)]
pub struct TestDatabase {
    pub url: String,
    name: String,
}

/// The server's URL without a database, and the database to connect to for making others.
fn server() -> (String, String) {
    static PRIVATE: OnceLock<PrivatePostgres> = OnceLock::new();
    let url = match std::env::var_os("REEVE_TEST_DATABASE_URL") {
        Some(url) => url.into_string().expect("REEVE_TEST_DATABASE_URL is UTF-8"),
        None => PRIVATE
            .get_or_init(|| PrivatePostgres::throwaway().expect("a PostgreSQL of our own"))
            .database_url("postgres"),
    };
    let (base, database) = url.rsplit_once('/').expect("a URL with a database");
    (base.to_owned(), database.to_owned())
}

async fn admin() -> (PgConnection, String) {
    let (base, database) = server();
    let connection = PgConnection::connect(&format!("{base}/{database}")).await.expect("PostgreSQL answers");
    (connection, base)
}

async fn run(connection: &mut PgConnection, sql: String) -> Result<(), sqlx::Error> {
    sqlx::query(AssertSqlSafe(sql)).execute(connection).await.map(|_| ())
}

/// A copy of the template; `seed` fills it if nobody has made it yet. `stamp` says which template.
///
/// # Panics
/// When PostgreSQL does not do it.
pub async fn copy_of_template(stamp: &str, seed: impl AsyncFnOnce(&str)) -> TestDatabase {
    let (mut connection, base) = admin().await;
    let template = format!("reeve_template_{stamp}");
    let lock = sqlx::query("select pg_advisory_lock($1)").bind(LOCK);
    lock.execute(&mut connection).await.expect("the lock");
    let exists: bool = sqlx::query_scalar("select exists(select from pg_database where datname = $1)")
        .bind(&template)
        .fetch_one(&mut connection)
        .await
        .expect("the list of databases");
    if !exists {
        let raw = format!("{template}_raw");
        run(&mut connection, format!("drop database if exists {raw} with (force)")).await.expect("dropped");
        run(&mut connection, format!("create database {raw}")).await.expect("created");
        seed(&format!("{base}/{raw}")).await;
        run(&mut connection, format!("alter database {raw} rename to {template}")).await.expect("renamed");
    }
    sqlx::query("select pg_advisory_unlock($1)").bind(LOCK).execute(&mut connection).await.expect("unlocked");
    let name = format!("reeve_test_{}", uuid::Uuid::new_v4().simple());
    // A connection that is just being closed still counts as a user of the template.
    for attempt in 0.. {
        match run(&mut connection, format!("create database {name} template {template}")).await {
            Ok(()) => break,
            Err(error) if attempt == 50 => panic!("no database: {error}"),
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
    TestDatabase { url: format!("{base}/{name}"), name }
}

/// Runs to its end from a place that cannot wait, such as a drop.
///
/// # Panics
/// When the work does.
pub fn block_on<T: Send>(work: impl Future<Output = T> + Send) -> std::thread::Result<T> {
    std::thread::scope(|scope| {
        scope
            .spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.expect("a runtime").block_on(work)
            })
            .join()
    })
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        let sql = format!("drop database if exists {} with (force)", self.name);
        let dropped = block_on(async move {
            let (mut connection, _) = admin().await;
            run(&mut connection, sql).await
        });
        if !matches!(dropped, Ok(Ok(()))) && !std::thread::panicking() {
            panic!("database {} is left behind: {dropped:?}", self.name);
        }
    }
}
