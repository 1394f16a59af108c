//! A database a test, cloned from a template that is migrated once; looked over by the checker and dropped at the end.

use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::id::JobId;
use reeve_store::private_postgres::PrivatePostgres;
use reeve_store::{Actor, ConnectOptions, Store, WriteContext};
use sha2::{Digest, Sha256};
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tokio::sync::OnceCell;

/// When every test begins.
pub(crate) fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000, 0).expect("a moment")
}

pub(crate) fn secs(secs: i64) -> TimeDelta {
    TimeDelta::seconds(secs)
}

pub(crate) fn context(now: DateTime<Utc>) -> WriteContext {
    WriteContext { actor: Actor::system("test"), request_id: None, now }
}

/// Where PostgreSQL is, and the database that is copied.
struct Server {
    url: String,
    template: String,
    /// Ended by its guard when this process ends: nothing in a static is dropped.
    _ours: Option<PrivatePostgres>,
}

static SERVER: OnceCell<Server> = OnceCell::const_new();

impl Server {
    fn database(&self, name: &str) -> String {
        format!("{}/{name}", self.url)
    }

    #[expect(clippy::disallowed_methods, reason = "a test is told by its environment where PostgreSQL is")]
    async fn find() -> Self {
        let (url, ours) = match std::env::var("REEVE_TEST_DATABASE_URL") {
            Ok(url) => (url, None),
            Err(_) => {
                let ours = PrivatePostgres::throwaway().expect("a PostgreSQL of our own");
                (ours.database_url("postgres"), Some(ours))
            }
        };
        let (url, _database) = url.rsplit_once('/').expect("postgres://user@host:port/database");
        let server = Self { url: url.to_owned(), template: template_name(), _ours: ours };
        server.make_template().await;
        server
    }

    /// Made once for these migrations, by whichever test process comes first.
    async fn make_template(&self) {
        let mut admin = PgConnection::connect(&self.database("postgres")).await.expect("a server");
        run(&mut admin, "select pg_advisory_lock(7265657665)").await;
        let exists: bool = sqlx::query_scalar("select exists (select from pg_database where datname = $1)")
            .bind(&self.template)
            .fetch_one(&mut admin)
            .await
            .expect("answers");
        if !exists {
            let half_made = format!("{}_half", self.template);
            run(&mut admin, &format!("drop database if exists {half_made} with (force)")).await;
            run(&mut admin, &format!("create database {half_made}")).await;
            let store = connect(&self.database(&half_made)).await;
            reeve_store::migrate::migrate(&store).await.expect("migrates");
            reeve_store::migrate::migrate(&store).await.expect("migrates twice without harm");
            reeve_store::migrate::check_schema(&store).await.expect("a schema that this version knows");
            store.close().await;
            run(&mut admin, &format!("alter database {half_made} rename to {}", self.template)).await;
        }
        admin.close().await.expect("closes");
    }
}

/// Named by the migrations' content, so that an edited migration finds no old template.
fn template_name() -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("migrations").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    let mut hasher = Sha256::new();
    for file in files {
        hasher.update(std::fs::read(file).expect("a migration"));
    }
    format!("reeve_rules_{}", &hex::encode(hasher.finalize())[..16])
}

async fn connect(url: &str) -> Store {
    Store::connect(&ConnectOptions::new(url)).await.expect("connects")
}

pub(crate) async fn run(connection: &mut PgConnection, sql: &str) {
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(connection).await.expect(sql);
}

/// One test's database: `store` is what is tested, `sql` looks behind its back.
pub(crate) struct Base {
    name: String,
    url: String,
    pub(crate) store: Store,
    pub(crate) sql: PgConnection,
}

impl Base {
    pub(crate) async fn new() -> Self {
        let server = SERVER.get_or_init(Server::find).await;
        let name = format!("reeve_test_{}", JobId::mint(now()).0.simple());
        let mut admin = PgConnection::connect(&server.database("postgres")).await.expect("a server");
        run(&mut admin, &format!("create database {name} template {}", server.template)).await;
        admin.close().await.expect("closes");
        let url = server.database(&name);
        let store = connect(&url).await;
        let sql = PgConnection::connect(&url).await.expect("connects");
        Self { name, url, store, sql }
    }

    /// Another server's view of the same database.
    pub(crate) async fn another_store(&self) -> Store {
        connect(&self.url).await
    }

    /// A server's that may keep few connections open.
    pub(crate) async fn narrow_store(&self, max_connections: u32) -> Store {
        let options = ConnectOptions { max_connections, ..ConnectOptions::new(&self.url) };
        Store::connect(&options).await.expect("connects")
    }

    /// How another role connects to the same database.
    pub(crate) fn url_as(&self, role: &str, password: &str) -> String {
        let (_, place) = self.url.split_once('@').expect("a URL with a role");
        format!("postgres://{role}:{password}@{place}")
    }

    /// A connection of its own, for a transaction that stays open.
    pub(crate) async fn another_connection(&self) -> PgConnection {
        PgConnection::connect(&self.url).await.expect("connects")
    }

    pub(crate) async fn run(&mut self, sql: &str) {
        run(&mut self.sql, sql).await;
    }

    /// One row's texts, joined by a space; nulls are `-`. Several rows are joined by a comma.
    pub(crate) async fn ask(&mut self, sql: &str) -> String {
        let sql = format!(
            "select coalesce(string_agg(line, ', '), '') from
             (select concat_ws(' ', variadic (select array_agg(coalesce(value, '-')) from json_each_text(row_to_json(q))))
              as line from ({sql}) q) lines"
        );
        sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(&mut self.sql).await.expect("answers")
    }

    pub(crate) async fn found(&self) -> Vec<String> {
        reeve_store::audit_state::check_database(&self.store, now()).await.expect("checks")
    }

    /// Seals everything, and lets the checker look.
    pub(crate) async fn sound(&self) {
        seal_all(&self.store).await;
        assert_eq!(self.found().await, Vec::<String>::new());
    }

    /// The last line of every test.
    pub(crate) async fn end(self) {
        self.sound().await;
        self.store.close().await;
    }
}

impl Base {
    /// The last line of a test that has broken something on purpose.
    pub(crate) async fn abandon(self) {
        self.store.close().await;
    }
}

/// Until nothing is left to seal. The horizon is the whole server's: a transaction of another test's database holds it
/// back too, for a moment.
pub(crate) async fn seal_all(store: &Store) {
    for _ in 0..2_000 {
        if !reeve_store::seal::step(store, now()).await.expect("seals").again {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    panic!("events stay without a seal");
}

impl Drop for Base {
    /// Also after a failure: a database left behind would be somebody else's riddle.
    fn drop(&mut self) {
        let Some(server) = SERVER.get() else { return };
        let (admin, name) = (server.database("postgres"), self.name.clone());
        let dropping = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let mut admin = PgConnection::connect(&admin).await.expect("a server");
                run(&mut admin, &format!("drop database {name} with (force)")).await;
            });
        });
        let _ = dropping.join();
    }
}
