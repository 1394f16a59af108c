//! What is wrong on a node is told to who asked for it: commands that cannot run, tokens that do not let a node join.

use crate::site::{Site, agent_command};
use reeve_tests::processes::{Process, eventually};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_that_end_badly_say_how_and_give_their_gpus_back() {
    let site = Site::start().await;
    let missing = submit(&site, json!({"command": ["no-such-command-7"]})).await;
    let nowhere = submit(&site, json!({"command": ["true"], "working_dir": "/no/such/directory"})).await;
    let code = submit(&site, json!({"command": ["sh", "-c", "exit 3"]})).await;
    let signal = submit(&site, json!({"command": ["sh", "-c", "kill -SEGV $$"]})).await;
    let again = submit(&site, json!({"command": ["no-such-command-7"], "max_failures": 1})).await;
    for id in [&missing, &nowhere, &code, &signal, &again] {
        eventually("the job has failed", async || site.job(id).await["state"] == "failed").await;
    }
    let cause = async |id: &str| {
        let job = site.job(id).await;
        (job["end_cause"].clone(), job["end_detail"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(
        cause(&missing).await,
        (json!("start_error"), "no such command: no-such-command-7".to_owned())
    );
    assert_eq!(
        cause(&nowhere).await,
        (json!("start_error"), "no such directory: /no/such/directory".to_owned())
    );
    assert_eq!(cause(&code).await.0, "exit_code");
    assert_eq!(cause(&signal).await.0, "signal");
    assert_eq!(last_run(&site, &code).await["exit_code"], 3);
    assert_eq!(last_run(&site, &signal).await["signal"], "SEGV");
    assert_eq!(last_run(&site, &missing).await["started_at"], Value::Null, "what never started has no start");
    assert_eq!(last_run(&site, &again).await["number"], 2, "tried once more, as it asked");
    let quota = site.admin.get("/quotas?pool=p").await;
    for team in quota["items"].as_array().expect("items") {
        assert_eq!(team["use"]["used_gpus"].as_f64(), Some(0.0), "{team}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_or_spent_join_token_ends_the_agent_with_a_reason() {
    let site = Site::start().await;
    let folder = site.folder.path();
    let spent = folder.join("join-token");
    let wrong = folder.join("wrong-token");
    std::fs::write(&wrong, "rvj_not-a-token").expect("written");
    for (node, token) in [("n2", &spent), ("n3", &wrong)] {
        let log = folder.join(format!("{node}.log"));
        let mut agent =
            Process::start(agent_command(&site.server.url, node, &folder.join(node), token), &log);
        let mut status = None;
        eventually("the agent has ended", async || {
            status = agent.try_wait();
            status.is_some()
        })
        .await;
        assert!(!status.expect("ended").success());
        let said = agent.log_text();
        assert!(said.contains("join token"), "{node}: {said}");
    }
    let nodes = site.admin.get("/nodes").await;
    assert_eq!(nodes["items"].as_array().map(Vec::len), Some(1), "nobody else has joined: {nodes}");
}

async fn submit(site: &Site, of_job: Value) -> String {
    let mut body = json!({"name": "bad", "team": "a", "gpus": 1, "kind": "batch"});
    body.as_object_mut().expect("an object").extend(of_job.as_object().expect("an object").clone());
    let job = site.admin.post("/jobs", body).await;
    job["id"].as_str().expect("an id").to_owned()
}

async fn last_run(site: &Site, id: &str) -> Value {
    let runs = site.admin.get(&format!("/jobs/{id}/runs")).await;
    let runs = runs["items"].as_array().expect("runs").clone();
    runs.into_iter().max_by_key(|run| run["number"].as_u64()).expect("a run")
}
