//! How a real agent's GPUs are used, from its look at them to the API's answer.

use crate::site::Site;
use reeve_tests::processes::eventually;
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_use_of_a_jobs_gpus_is_read_back() {
    let site = Site::start().await;
    let body = json!({
        "name": "half", "team": "a", "gpus": 2, "kind": "training", "command": ["sleep", "1000"],
        "env": {"REEVE_SIM_USE_PERMILLE": "650"},
    });
    let job = site.admin.post("/jobs", body).await;
    let id = job["id"].as_str().expect("an id").to_owned();
    let mut seen = Value::Null;
    eventually("samples of the job", async || {
        seen = site.admin.get(&format!("/jobs/{id}/use")).await;
        seen["figures"]["compute_permille_max"] == 650
    })
    .await;
    assert!(seen["figures"]["last_busy_at"].is_string(), "{seen}");
    assert_eq!(seen["points"][0]["compute_permille_mean"], 650, "{seen}");
    let held = site.gpus(&id).await;
    let node = site.admin.get("/nodes/n1/use").await;
    let gpus = node["gpus"].as_array().expect("GPUs");
    assert_eq!(gpus.len(), 8, "{node}");
    for gpu in gpus {
        let holds = held.contains(&gpu["index"].as_u64().expect("an index"));
        let expected = if holds { (json!(650), json!([id])) } else { (json!(0), json!([])) };
        assert_eq!(
            (&gpu["now"]["compute_permille"], &gpu["now"]["job_ids"]),
            (&expected.0, &expected.1),
            "{node}"
        );
    }
}
