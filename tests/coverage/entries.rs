//! Who may call what: for each operation a request that succeeds, and somebody who is refused.

use reeve_tests::TestApp;
use reeve_tests::app::{job, text};
use reeve_tests::client::Client;
use reeve_tests::world::{NODE, NODE_INSTANCE, PASSWORD, POOL, inventory};
use serde_json::{Value, json};
use uuid::Uuid;

/// Whom an operation lets in.
pub(crate) enum By {
    /// No credential is needed.
    AnybodyAtAll,
    /// Sharing must be visible, and everybody's own is their own.
    AnybodySignedIn,
    /// A session, not an API token.
    SessionOnly,
    /// Only agents, with their node's credential.
    Node,
    /// Somebody who is signed in and still refused, and how.
    NotBy { who: &'static str, status: u16 },
}

/// A request.
pub(crate) struct Entry {
    pub(crate) by: By,
    pub(crate) allowed: Client,
    pub(crate) path: Vec<(&'static str, String)>,
    pub(crate) query: &'static str,
    pub(crate) body: Option<Value>,
    pub(crate) if_match: Option<String>,
    /// It leaves no event because it changes nothing that people see: heartbeats, logs.
    pub(crate) quiet: bool,
    /// What it answers where that is no success.
    pub(crate) answers: Option<u16>,
}

fn reservation() -> Value {
    let span = ahead();
    json!({"pool": POOL, "team": "team-a", "gpus": 1, "starts_at": span.0, "ends_at": span.1})
}

fn maintenance_window() -> Value {
    let span = ahead();
    json!({"nodes": [NODE], "starts_at": span.0, "ends_at": span.1})
}

/// An hour, far enough ahead to disturb nobody.
fn ahead() -> (String, String) {
    let at = |days: i64| (reeve_tests::world::beginning() + chrono::TimeDelta::days(days)).to_rfc3339();
    (at(200), at(201))
}

/// Names of things made for one request.
pub(crate) fn fresh() -> String {
    format!("x{}", &Uuid::new_v4().simple().to_string()[..12])
}

impl Entry {
    pub(crate) fn new(by: By, allowed: Client) -> Self {
        Self {
            by,
            allowed,
            path: Vec::new(),
            query: "",
            body: None,
            if_match: None,
            quiet: false,
            answers: None,
        }
    }

    pub(crate) fn at(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.path.push((name, value.into()));
        self
    }

    pub(crate) fn body(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }

    pub(crate) fn tag(mut self, tag: impl Into<String>) -> Self {
        self.if_match = Some(tag.into());
        self
    }

    pub(crate) fn query(mut self, query: &'static str) -> Self {
        self.query = query;
        self
    }

    pub(crate) fn quiet(mut self) -> Self {
        self.quiet = true;
        self
    }

    pub(crate) fn answers(mut self, status: u16) -> Self {
        self.answers = Some(status);
        self
    }
}

pub(crate) const fn not(who: &'static str, status: u16) -> By {
    By::NotBy { who, status }
}

/// The request for an operation; `None` for one that nobody has thought of yet.
pub(crate) async fn entry(app: &TestApp, id: &str) -> Option<Entry> {
    if let Some(entry) = people(app, id).await {
        return Some(entry);
    }
    if let Some(entry) = crate::identity_entries::identity(app, id).await {
        return Some(entry);
    }
    if let Some(entry) = pool(app, id).await {
        return Some(entry);
    }
    if let Some(entry) = jobs(app, id).await {
        return Some(entry);
    }
    if let Some(entry) = crate::approvals::entry(app, id).await {
        return Some(entry);
    }
    if let Some(entry) = crate::books::entry(app, id).await {
        return Some(entry);
    }
    agents(app, id).await
}

async fn people(app: &TestApp, id: &str) -> Option<Entry> {
    let admin = || app.admin();
    Some(match id {
        "sign_in" => Entry::new(By::AnybodyAtAll, app.stranger())
            .body(json!({"username": "a-second", "password": PASSWORD})),
        "refresh" => {
            let signed_in = app.sign_in("finance").await.ok();
            Entry::new(By::AnybodyAtAll, app.stranger())
                .body(json!({"refresh_token": signed_in["refresh_token"]}))
        }
        "sign_out" => Entry::new(By::SessionOnly, session(app, "auditor").await),
        "show_me" => Entry::new(By::AnybodySignedIn, app.user("nobody")),
        "edit_me" => Entry::new(By::AnybodySignedIn, app.user("nobody")).body(json!({"locale": "en"})),
        "set_my_password" => Entry::new(By::AnybodySignedIn, app.user("lab-lead"))
            .body(json!({"current_password": PASSWORD, "new_password": PASSWORD})),
        "list_tokens" => Entry::new(By::AnybodySignedIn, app.user("nobody")),
        "create_token" => {
            Entry::new(By::AnybodySignedIn, app.user("nobody")).body(json!({"name": "x", "scopes": ["read"]}))
        }
        "revoke_token" => {
            let created =
                app.user("a-member").post("/tokens", json!({"name": "x", "scopes": ["read"]})).await;
            Entry::new(not("b-member", 404), app.user("a-member")).at("id", text(&created.ok()["id"]))
        }
        "list_users" => Entry::new(not("a-lead", 403), admin()),
        "create_user" => {
            Entry::new(not("a-lead", 403), admin()).body(json!({"username": fresh(), "display_name": "X"}))
        }
        "show_user" => Entry::new(not("a-lead", 403), admin()).at("id", "a-member"),
        "edit_user" => Entry::new(not("a-lead", 403), admin())
            .at("id", "a-member")
            .body(json!({"display_name": fresh()})),
        "list_teams"
        | "list_queues"
        | "list_quotas"
        | "list_pools"
        | "list_nodes"
        | "show_policy"
        | "list_policy_versions"
        | "show_effective_policy"
        | "list_loans"
        | "show_loan_matrix"
        | "list_reclaims"
        | "list_evictions"
        | "list_idle_notices"
        | "show_gpu_use"
        | "list_use_profiles"
        | "list_jobs"
        | "list_runs"
        | "list_planned_starts"
        | "show_overview"
        | "show_overview_history" => Entry::new(By::AnybodySignedIn, app.user("nobody")),
        "list_events" => Entry::new(By::AnybodySignedIn, app.user("nobody")),
        "show_team" => Entry::new(By::AnybodySignedIn, app.user("nobody")).at("team", "team-a"),
        "create_team" => Entry::new(not("a-lead", 403), admin()).body(json!({"slug": fresh(), "name": "X"})),
        "edit_team" => Entry::new(not("b-lead", 403), app.user("a-lead"))
            .at("team", "team-a")
            .body(json!({"name": fresh()})),
        "delete_team" => {
            let slug = fresh();
            admin().post("/teams", json!({"slug": slug, "name": "X"})).await.expect(201);
            Entry::new(not("lab-lead", 403), admin()).at("team", slug)
        }
        "list_members" => Entry::new(not("b-lead", 403), app.user("a-viewer")).at("team", "team-a"),
        "grant_role" => {
            let user = fresh();
            admin().post("/users", json!({"username": user, "display_name": "X"})).await.expect(201);
            Entry::new(not("a-member", 403), app.user("a-lead"))
                .at("team", "team-a")
                .at("user", user)
                .at("role", "viewer")
        }
        "withdraw_role" => {
            let user = fresh();
            admin().post("/users", json!({"username": user, "display_name": "X"})).await.expect(201);
            admin().call("PUT", &format!("/teams/team-a/members/{user}/viewer")).await.expect(204);
            Entry::new(not("a-member", 403), app.user("a-lead"))
                .at("team", "team-a")
                .at("user", user)
                .at("role", "viewer")
        }
        _ => return None,
    })
}

async fn pool(app: &TestApp, id: &str) -> Option<Entry> {
    let by_admin = || Entry::new(not("lab-lead", 403), app.admin());
    let everybody = || Entry::new(By::AnybodySignedIn, app.user("nobody"));
    Some(match id {
        "show_pool" => everybody().at("pool", POOL),
        "create_pool" => by_admin().body(json!({"slug": fresh(), "name": "X"})),
        "edit_pool" => by_admin().at("pool", POOL).body(json!({"name": fresh()})),
        "delete_pool" => {
            let slug = fresh();
            app.admin().post("/pools", json!({"slug": slug, "name": "X"})).await.expect(201);
            by_admin().at("pool", slug)
        }
        "put_policy" => {
            let policy = app.admin().get("/policy").await;
            by_admin().body(policy.ok()["document"].clone()).tag(policy.header("etag"))
        }
        "show_node" | "show_node_use" => everybody().at("node", NODE),
        "edit_node" => {
            by_admin().at("node", NODE).body(json!({"labels": {"x": fresh()}})).tag(tag(app, NODE).await)
        }
        "cordon_node" | "uncordon_node" | "drain_node" => {
            by_admin().at("node", NODE).body(json!({"note": fresh()})).tag(tag(app, NODE).await)
        }
        "remove_node" => {
            let name = fresh();
            join(app, &name).await;
            let tag = tag(app, &name).await;
            by_admin().at("node", name).tag(tag)
        }
        "list_reservations" | "list_maintenance_windows" => everybody(),
        "create_reservation" => by_admin().body(reservation()),
        "delete_reservation" => {
            let made = app.admin().post("/reservations", reservation()).await.ok();
            by_admin().at("id", text(&made["id"]))
        }
        "create_maintenance_window" => by_admin().body(maintenance_window()),
        "delete_maintenance_window" => {
            let made = app.admin().post("/maintenance-windows", maintenance_window()).await.ok();
            by_admin().at("id", text(&made["id"]))
        }
        "list_join_tokens" => by_admin(),
        "create_join_token" => by_admin().body(json!({"pool": POOL})),
        "revoke_join_token" => {
            let made = app.admin().post("/join-tokens", json!({"pool": POOL})).await.ok();
            by_admin().at("id", text(&made["id"]))
        }
        "show_queue" | "show_queue_line" => everybody().at("queue", "team-a-q"),
        "create_queue" => Entry::new(not("b-lead", 403), app.user("a-lead"))
            .body(json!({"slug": fresh(), "name": "X", "team": "team-a"})),
        "edit_queue" => Entry::new(not("b-lead", 403), app.user("a-lead"))
            .at("queue", "team-a-q")
            .body(json!({"name": fresh()})),
        "delete_queue" => {
            let slug = fresh();
            let body = json!({"slug": slug, "name": "X", "team": "team-a"});
            app.admin().post("/queues", body).await.expect(201);
            Entry::new(not("a-member", 403), app.user("a-lead")).at("queue", slug)
        }
        "put_quota" => {
            let slug = fresh();
            app.admin().post("/pools", json!({"slug": slug, "name": "X"})).await.expect(201);
            Entry::new(not("a-lead", 403), app.user("lab-lead"))
                .at("team", "team-a")
                .at("pool", slug)
                .body(json!({"guaranteed_gpus": 0}))
                .tag("*")
        }
        "delete_quota" => {
            let slug = fresh();
            app.admin().post("/pools", json!({"slug": slug, "name": "X"})).await.expect(201);
            let quota = json!({"guaranteed_gpus": 0});
            let path = format!("/quotas/team-a/{slug}");
            app.admin().put(&path, quota).header("if-none-match", "*").await.expect(201);
            Entry::new(not("a-lead", 403), app.user("lab-lead"))
                .at("team", "team-a")
                .at("pool", slug)
                .tag("\"1\"")
        }
        // Anybody may see one; there is none with this id.
        "ask_what_if" => {
            let changes = json!([{"submit": job("team-a", json!({}))}]);
            Entry::new(not("b-member", 403), app.user("a-member")).body(json!({"changes": changes})).quiet()
        }
        "show_reclaim" | "show_eviction" => everybody().at("id", Uuid::nil().to_string()),
        _ => return None,
    })
}

async fn jobs(app: &TestApp, id: &str) -> Option<Entry> {
    let member = || app.user("a-member");
    Some(match id {
        "submit_job" => Entry::new(not("b-member", 403), member()).body(job("team-a", json!({}))),
        "submit_job_batch" => {
            Entry::new(not("b-member", 403), member()).body(json!({"jobs": [job("team-a", json!({}))]}))
        }
        "show_job"
        | "show_job_use"
        | "explain_job"
        | "show_job_rules"
        | "list_job_runs"
        | "list_job_dependencies"
        | "list_job_dependents"
        | "list_job_evictions"
        | "list_job_events"
        | "read_job_logs" => {
            Entry::new(not("b-member", 404), app.user("a-viewer")).at("id", submitted(app).await)
        }
        "cancel_job" | "hold_job" | "release_job" => {
            Entry::new(not("b-member", 404), member()).at("id", submitted(app).await).body(json!({}))
        }
        "snooze_job" => {
            let id = submitted(app).await;
            // As the idle loop would have found it.
            app.sql(&format!(
                "insert into idle_notices (id, job_id, run_number, team_id, state, action, protected, idle_since,
                     window_secs, samples, expected, busy_above_permille, gpu_milli, notified_at, act_at)
                 select '{}', id, 1, team_id, 'notified', 'reclaimable', false, now(), 60, 4, 4, 30, 1000, now(), now()
                 from jobs where id = '{id}'",
                Uuid::new_v4()
            ))
            .await;
            Entry::new(not("b-member", 404), member()).at("id", id).body(json!({"secs": 60}))
        }
        "requeue_job" => {
            let id = submitted(app).await;
            member().post(&format!("/jobs/{id}/cancel"), json!({})).await.expect(200);
            Entry::new(not("b-member", 404), member()).at("id", id).body(json!({}))
        }
        _ => return None,
    })
}

async fn agents(app: &TestApp, id: &str) -> Option<Entry> {
    let node = || Entry::new(By::Node, app.node.client.clone());
    let now = reeve_core::clock::Clock::now(&app.clock);
    Some(match id {
        "agent_join" => {
            let token = app.admin().post("/join-tokens", json!({"pool": POOL})).await.ok();
            Entry::new(By::AnybodyAtAll, app.stranger())
                .body(json!({"join_token": token["token"], "inventory": inventory(&fresh(), 1)}))
        }
        "agent_register" => node()
            .body(json!({"instance_id": NODE_INSTANCE, "inventory": inventory(NODE, 8), "sent_at": now})),
        "agent_report" => node().body(serde_json::to_value(app.node.next_report()).expect("JSON")).quiet(),
        "agent_desired" => node(),
        "agent_samples" => {
            node().body(json!({"samples": [{"at": now, "index": 0, "compute_permille": 500}]})).quiet()
        }
        "agent_put_logs" => {
            let (id, run) = running(app).await;
            node()
                .at("job", id)
                .at("run", run)
                .at("member", "0")
                .query("?offset=0")
                .body(json!("log"))
                .quiet()
        }
        _ => return None,
    })
}

async fn session(app: &TestApp, username: &str) -> Client {
    app.with_token(text(&app.sign_in(username).await.ok()["access_token"]))
}

async fn tag(app: &TestApp, node: &str) -> String {
    app.admin().get(&format!("/nodes/{node}")).await.expect(200).header("etag").to_owned()
}

pub(crate) async fn submitted(app: &TestApp) -> String {
    text(&app.submit("a-member", "team-a", json!({})).await["id"]).to_owned()
}

/// A job that runs: a new one, or one that others have left before it in line.
async fn running(app: &TestApp) -> (String, String) {
    let tag = tag(app, NODE).await;
    app.admin()
        .post(&format!("/nodes/{NODE}/uncordon"), json!({}))
        .header("if-match", &tag)
        .await
        .expect(200);
    // Two GPUs: machines that other requests let join have one.
    app.submit("a-member", "team-a", json!({"gpus": 2})).await;
    app.schedule().await;
    app.node.run_all().await;
    let desired = app.node.desired().await;
    let member = desired.members.first().expect("something runs");
    (member.job_id.to_string(), member.run_number.to_string())
}

async fn join(app: &TestApp, name: &str) {
    let token = app.admin().post("/join-tokens", json!({"pool": POOL})).await.ok();
    let body = json!({"join_token": token["token"], "inventory": inventory(name, 1)});
    app.stranger().post("/agent/v1/join", body).await.expect(201);
}
