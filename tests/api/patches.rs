//! PATCH, everywhere the same: left out = keep, a value = set, null = clear where there is something to clear.

use reeve_tests::TestApp;
use serde_json::{Value, json};

/// Sets, leaves out, and clears the fields of one resource.
async fn check(app: &TestApp, path: &str, set: Value, cleared: &[&str], refused: &[&str]) {
    let admin = app.admin();
    let fields = set.as_object().expect("an object");
    let after = admin.patch(path, set.clone()).await.ok();
    let kept = admin.patch(path, json!({})).await.ok();
    for (name, value) in fields {
        let shown =
            |view: &Value| if name == "parent" { view[name]["slug"].clone() } else { view[name].clone() };
        assert_eq!((&shown(&after), &shown(&kept)), (value, value), "{path} {name}");
    }
    for &name in cleared {
        let cleared = admin.patch(path, json!({name: null})).await.ok();
        assert_eq!(cleared[name], Value::Null, "{path} {name}");
        for other in fields.keys().filter(|other| other.as_str() != name) {
            assert_eq!(cleared[other], kept[other], "{path}: clearing {name} has changed {other}");
        }
        admin.patch(path, json!({name: fields[name]})).await.expect(200);
    }
    for &name in refused {
        let pointer = format!("/{name}");
        admin.patch(path, json!({name: null})).await.refused_field(422, &pointer, "wrong_type");
    }
}

#[tokio::test]
async fn null_clears_left_out_keeps_and_null_is_refused_where_nothing_can_be_cleared() {
    let app = TestApp::start().await;
    let queue = json!({"name": "Main", "allowed_kinds": ["batch"], "max_running_jobs": 3,
        "max_running_jobs_per_user": 2, "max_running_gpus": 7});
    let limits = ["allowed_kinds", "max_running_jobs", "max_running_jobs_per_user", "max_running_gpus"];
    check(&app, "/queues/team-a-q", queue, &limits, &["name", "order", "state"]).await;
    let me = json!({"display_name": "Ada", "email": "ada@reeve.test", "locale": "zh-CN"});
    check(&app, "/me", me, &["email", "locale"], &["display_name"]).await;
    let user = json!({"display_name": "Bob", "email": "bob@reeve.test"});
    let fixed = ["display_name", "state", "platform_roles", "password"];
    check(&app, "/users/b-member", user, &["email"], &fixed).await;
    check(&app, "/pools/h100", json!({"name": "H", "gpu_model": "H100"}), &["gpu_model"], &["name"]).await;
    app.admin().post("/teams", json!({"slug": "moved", "name": "M"})).await.expect(201);
    check(&app, "/teams/moved", json!({"name": "N", "parent": "other"}), &["parent"], &["name"]).await;
    let node = app.admin().patch("/nodes/node-1", json!({"labels": null})).if_match(1).await;
    node.refused_field(422, "/labels", "wrong_type");
}

#[tokio::test]
async fn a_team_moves_to_the_top_only_by_an_administrator() {
    let app = TestApp::start().await;
    app.user("lab-lead").patch("/teams/team-a", json!({"parent": null})).await.refused(403, "forbidden");
    let moved = app.admin().patch("/teams/team-a", json!({"parent": null})).await.ok();
    assert_eq!((&moved["parent"], &moved["slug"]), (&Value::Null, &json!("team-a")));
}

/// The document says of each field of an edit whether null is an answer, and that none is required.
#[tokio::test]
async fn the_document_says_which_fields_can_be_cleared() {
    let app = TestApp::start().await;
    let document = app.stranger().get("/api/openapi.json").await.ok();
    let schemas = document["components"]["schemas"].as_object().expect("schemas");
    let mut clearable = Vec::new();
    for (name, schema) in schemas.iter().filter(|(name, _)| name.starts_with("Edit")) {
        assert_eq!(schema["required"], Value::Null, "{name}");
        assert_eq!(schema["additionalProperties"], false, "{name}");
        for (field, property) in schema["properties"].as_object().expect("properties") {
            if property["type"].as_array().is_some_and(|types| types.contains(&json!("null"))) {
                clearable.push(format!("{name}.{field}"));
            }
        }
    }
    clearable.sort();
    let expected = [
        "EditMe.email",
        "EditMe.locale",
        "EditOidcProvider.client_secret",
        "EditPool.gpu_model",
        "EditQueue.allowed_kinds",
        "EditQueue.max_running_gpus",
        "EditQueue.max_running_jobs",
        "EditQueue.max_running_jobs_per_user",
        "EditTeam.parent",
        "EditUser.email",
        "EditWebhook.secret",
    ];
    assert_eq!(clearable, expected);
}
