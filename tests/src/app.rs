//! The whole server in process: the real router, a real PostgreSQL, a clock that stands still until it is told to
//! move. Dropping it looks the whole database over and fails on anything wrong.

use crate::client::{Client, Reply};
use crate::database::{TestDatabase, block_on, copy_of_template};
use crate::node::SimNode;
use crate::world;
use chrono::TimeDelta;
use reeve_api::{AppState, Settings};
use reeve_core::clock::{Clock, MockClock};
use reeve_store::{ConnectOptions, Store, audit_state};
use reeve_worker::schedule::{Scheduler, Ticked};
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long the sealer may be held back by other tests' transactions.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server with the [`world`] in it.
#[derive(Debug)]
pub struct TestApp {
    pub state: AppState,
    pub clock: MockClock,
    /// The world's one node.
    pub node: SimNode,
    router: axum::Router,
    secrets: BTreeMap<String, String>,
    /// Keeps what it knows from one step to the next, as a server's does.
    scheduler: tokio::sync::Mutex<Scheduler>,
    // The last field: the database goes when nobody uses it any more.
    database: TestDatabase,
}

impl TestApp {
    /// A fresh copy of the world, a minute after it was made, its node reporting.
    ///
    /// # Panics
    /// When PostgreSQL is not there.
    pub async fn start() -> Self {
        Self::with(Settings::default()).await
    }

    /// The same with other settings.
    ///
    /// # Panics
    /// As [`TestApp::start`].
    pub async fn with(settings: Settings) -> Self {
        let database = copy_of_template(&world::stamp(), async |url| world::make(url).await).await;
        let secrets = world::secrets(&database.url).await;
        let options = ConnectOptions { max_connections: 8, ..ConnectOptions::new(&database.url) };
        let store = Store::connect(&options).await.expect("connected");
        let clock = MockClock::at(world::beginning() + TimeDelta::minutes(1));
        let state = AppState::new(store, Arc::new(clock.clone()), settings);
        let router = reeve_api::router(state.clone());
        let credential = secrets[world::NODE_SECRET].clone();
        let client = Client { router: router.clone(), token: Some(credential) };
        let node = SimNode::new(client, clock.clone(), world::NODE_INSTANCE);
        node.heartbeat().await;
        let scheduler = tokio::sync::Mutex::new(Scheduler::new(&state.store));
        Self { state, clock, node, router, secrets, scheduler, database }
    }

    #[must_use]
    pub fn store(&self) -> &Store {
        &self.state.store
    }

    /// Somebody of [`world::PEOPLE`], or the administrator, with an API token of all scopes.
    ///
    /// # Panics
    /// For a name that the world does not have.
    #[must_use]
    #[track_caller]
    pub fn user(&self, name: &str) -> Client {
        let token = self.secrets.get(name).unwrap_or_else(|| panic!("nobody is called {name}"));
        self.with_token(token)
    }

    #[must_use]
    pub fn admin(&self) -> Client {
        self.user(world::ADMIN)
    }

    /// Whoever has this token.
    #[must_use]
    pub fn with_token(&self, token: &str) -> Client {
        Client { router: self.router.clone(), token: Some(token.to_owned()) }
    }

    /// No credential at all.
    #[must_use]
    pub fn stranger(&self) -> Client {
        Client { router: self.router.clone(), token: None }
    }

    /// Signs in with the password that everybody has.
    pub async fn sign_in(&self, username: &str) -> Reply {
        let body = json!({"username": username, "password": world::PASSWORD});
        self.stranger().post("/auth/sign-in", body).await
    }

    pub fn advance_secs(&self, secs: i64) {
        self.clock.advance(TimeDelta::seconds(secs));
    }

    /// One scheduling step: again while the world changes under it.
    ///
    /// # Panics
    /// When a plan breaks a rule.
    pub async fn schedule(&self) {
        let mut scheduler = self.scheduler.lock().await;
        scheduler.want_numbers();
        for _ in 0..20 {
            match scheduler.step(self.clock.now()).await.expect("a plan that holds") {
                Ticked::Applied { .. } => return,
                Ticked::Stale => {}
                Ticked::Busy => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
        panic!("the scheduler never came through");
    }

    /// Gives every event its position.
    ///
    /// # Panics
    /// When the sealer does not come through.
    pub async fn seal(&self) {
        seal(self.store(), &self.clock).await;
    }

    /// Submits a job in somebody's name and answers its view. `more` overrides the plain one-GPU job.
    ///
    /// # Panics
    /// When it is refused.
    pub async fn submit(&self, user: &str, team: &str, more: Value) -> Value {
        self.user(user).post("/jobs", job(team, more)).await.ok()
    }

    /// A job as the administrator sees it now.
    ///
    /// # Panics
    /// When there is none.
    pub async fn job(&self, id: &Value) -> Value {
        self.admin().get(&format!("/jobs/{}", text(id))).await.ok()
    }

    /// How many events there are with this action; all when it is empty.
    ///
    /// # Panics
    /// When the database is away.
    pub async fn count_events(&self, action: &str) -> i64 {
        let mut connection = PgConnection::connect(&self.database.url).await.expect("connected");
        let count = sqlx::query_scalar("select count(*) from events where $1 = '' or action = $1")
            .bind(action)
            .fetch_one(&mut connection)
            .await
            .expect("counted");
        connection.close().await.expect("closed");
        count
    }

    /// Runs SQL behind the server's back.
    ///
    /// # Panics
    /// When PostgreSQL refuses it.
    pub async fn sql(&self, sql: &str) {
        let mut connection = PgConnection::connect(&self.database.url).await.expect("connected");
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.expect(sql);
        connection.close().await.expect("closed");
    }

    /// The same in a transaction that stays open: whoever needs the row waits.
    ///
    /// # Panics
    /// When PostgreSQL refuses it.
    pub async fn open_sql(&self, sql: &str) -> OpenSql {
        let mut connection = PgConnection::connect(&self.database.url).await.expect("connected");
        let sql = format!("begin; {sql}");
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql.clone())).execute(&mut connection).await.expect(&sql);
        OpenSql(connection)
    }

    /// Another server on the same database, which has not read anything yet.
    ///
    /// # Panics
    /// When the database is away.
    pub async fn another_server(&self) -> Client {
        let options = ConnectOptions { max_connections: 4, ..ConnectOptions::new(&self.database.url) };
        let store = Store::connect(&options).await.expect("connected");
        let state = AppState::new(store, Arc::new(self.clock.clone()), Settings::default());
        Client { router: reeve_api::router(state), token: None }
    }

    /// Declares nodes lost whose lease is over.
    ///
    /// # Panics
    /// When the database is away.
    pub async fn reap(&self) -> usize {
        let margin = TimeDelta::seconds(30);
        reeve_worker::reap::step(self.store(), self.clock.now(), margin).await.expect("looked").len()
    }

    /// How many rows a table has.
    ///
    /// # Panics
    /// When the database is away.
    pub async fn count_rows(&self, table: &str) -> i64 {
        let mut connection = PgConnection::connect(&self.database.url).await.expect("connected");
        let sql = sqlx::AssertSqlSafe(format!("select count(*) from {table}"));
        let count = sqlx::query_scalar(sql).fetch_one(&mut connection).await.expect("counted");
        connection.close().await.expect("closed");
        count
    }
}

/// A transaction of [`TestApp::open_sql`]; dropped, it is undone.
#[derive(Debug)]
pub struct OpenSql(PgConnection);

impl OpenSql {
    /// # Panics
    /// When PostgreSQL refuses it.
    pub async fn commit(mut self) {
        sqlx::raw_sql("commit").execute(&mut self.0).await.expect("committed");
        self.0.close().await.expect("closed");
    }
}

/// A plain one-GPU job with some fields set otherwise.
///
/// # Panics
/// When `more` is no object.
#[must_use]
pub fn job(team: &str, more: Value) -> Value {
    let mut body = json!({"name": "train", "team": team, "command": ["true"]});
    for (name, value) in more.as_object().expect("an object") {
        body[name] = value.clone();
    }
    body
}

/// A JSON string's text.
///
/// # Panics
/// When it is something else.
#[must_use]
#[track_caller]
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

/// The items of a page.
///
/// # Panics
/// When it has none.
#[must_use]
#[track_caller]
pub fn items(page: &Value) -> Vec<Value> {
    page["items"].as_array().unwrap_or_else(|| panic!("no page: {page}")).clone()
}

async fn seal(store: &Store, clock: &MockClock) {
    let deadline = Instant::now() + PATIENCE;
    while reeve_worker::seal::step(store, clock.now()).await.expect("sealed").again {
        assert!(Instant::now() < deadline, "the sealer is held back");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

impl Drop for TestApp {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let (url, clock) = (self.database.url.clone(), self.clock.clone());
        let found = block_on(async move {
            let store = Store::connect(&ConnectOptions::new(&url)).await.expect("connected");
            seal(&store, &clock).await;
            let found = audit_state::check_database(&store, clock.now()).await.expect("looked over");
            store.close().await;
            found
        });
        let found = found.expect("the database could be looked over");
        assert!(found.is_empty(), "the database is wrong:\n{}", found.join("\n"));
    }
}
