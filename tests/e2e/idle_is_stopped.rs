//! A real job whose GPUs compute nothing: its owner is told, it saves its work, and it is stopped; its neighbour that
//! computes runs on.

use crate::site::Site;
use reeve_tests::processes::eventually;
use serde_json::{Value, json};

/// Saves when it is asked, and computes nothing for ever.
const JOB: &str = r#"
trap 'echo saved > "$REEVE_CHECKPOINT_DIR/saved"; : > "$REEVE_CHECKPOINT_DIR/.acknowledged"; echo asked; exit 0' USR1
while :; do sleep 0.1; done
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_job_is_told_and_stopped_and_a_busy_one_is_not() {
    let site = Site::start().await;
    let policy = site.admin.get("/policy").await;
    let mut document = policy["document"].clone();
    document["kinds"]["batch"]["idle"] = json!({"action": "stop", "window_secs": 10, "most_window_secs": 10,
        "initial_grace_secs": 0, "grace_secs": 5});
    site.admin.put_policy(&policy, document).await;
    let mut ids = Vec::new();
    for (name, used) in [("idle", "0"), ("busy", "800")] {
        let body = json!({
            "name": name, "team": "a", "gpus": 2, "kind": "batch", "checkpoint": "on_signal",
            "command": ["sh", "-c", JOB], "env": {"REEVE_SIM_USE_PERMILLE": used},
        });
        ids.push(site.admin.post("/jobs", body).await["id"].as_str().expect("an id").to_owned());
    }
    let (idle, busy) = (&ids[0], &ids[1]);
    let mut notice = Value::Null;
    eventually("its owner is told", async || {
        notice = site.admin.get("/idle-notices").await["items"][0].clone();
        notice["job"]["id"] == **idle
    })
    .await;
    assert!(notice["samples"].as_i64().expect("samples") > 0, "{notice}");
    eventually("it is stopped", async || site.job(idle).await["state"] == "cancelled").await;
    let ended = site.job(idle).await;
    assert_eq!((&ended["end_cause"], &ended["run_number"]), (&json!("idle"), &json!(1)), "{ended}");
    let saved = site.folder.path().join("agent/checkpoints").join(idle).join("saved");
    assert_eq!(std::fs::read_to_string(saved).expect("it saved its work").trim(), "saved");
    let events = site.admin.get(&format!("/jobs/{idle}/events?limit=100")).await;
    let actions: Vec<&str> = events["items"]
        .as_array()
        .expect("events")
        .iter()
        .filter_map(|event| event["action"].as_str())
        .collect();
    let at = |action: &str| actions.iter().position(|found| *found == action);
    assert!(at("job.idle").is_some() && at("job.stopped_idle").is_some(), "{actions:?}");
    let history = site.admin.get(&format!("/idle-notices?job={idle}")).await;
    assert_eq!(history["items"][0]["state"], "stopped", "{history}");
    assert_eq!(site.job(busy).await["state"], "running");
    assert_eq!(site.admin.get(&format!("/idle-notices?job={busy}")).await["items"], json!([]));
}
