//! A member asks for `critical`, the lead approves, the platform approves smaller: the job jumps the line, exactly those
//! leave whom the preview named, and at the end it falls back while its process runs on.

use crate::site::Site;
use nix::sys::signal::kill;
use nix::unistd::Pid;
use reeve_tests::processes::{Api, eventually};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

const PASSWORD: &str = "a-long-enough-password";
/// The shortest that may be granted.
const GRANTED_SECS: i64 = 60;

async fn person(site: &Site, name: &str, role: &str) -> Api {
    let body = json!({"username": name, "display_name": name, "password": PASSWORD});
    site.admin.post("/users", body).await;
    let path = format!("/teams/a/members/{name}/{role}");
    let (status, reply) = site.admin.try_send("PUT", &path, None, None).await.expect("answered");
    assert!(status < 300, "{reply}");
    Api::sign_in(&site.server.url, name, PASSWORD).await
}

async fn submit(who: &Api, name: &str, gpus: u32) -> String {
    let body = json!({"name": name, "team": "a", "gpus": gpus, "kind": "training", "checkpoint": "on_signal",
        "command": ["sh", "-c", "trap 'exit 0' USR1 TERM; while :; do sleep 0.1; done"]});
    who.post("/jobs", body).await["id"].as_str().expect("an id").to_owned()
}

async fn pid(site: &Site, job: &str) -> Option<i64> {
    let runs = site.admin.get(&format!("/jobs/{job}/runs")).await;
    runs["items"][0]["members"][0]["pid"].as_i64()
}

fn ids(evictions: &Value) -> BTreeSet<String> {
    let items = evictions["items"].as_array().expect("items").iter();
    items.map(|eviction| eviction["job"]["id"].as_str().expect("an id").to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_the_end_of_an_escalation_the_same_process_runs_on() {
    let site = Site::start().await;
    let (member, lead) = (person(&site, "ann", "member").await, person(&site, "lea", "lead").await);
    let mut holders = Vec::new();
    for number in 1..=8 {
        holders.push(submit(&member, &format!("holder{number}"), 1).await);
    }
    eventually("all eight run", async || site.in_state(&holders, "running").await.len() == 8).await;
    let urgent = submit(&member, "urgent", 4).await;
    eventually("it waits", async || site.job(&urgent).await["reason"]["code"].is_string()).await;

    let asked = member
        .post(
            "/escalations",
            json!({"asks_for": "priority", "job": urgent, "level": "critical", "scope": "platform",
                "duration_secs": 7_200, "reason": "the paper is due"}),
        )
        .await;
    let path = format!("/escalations/{}", asked["id"].as_str().expect("an id"));
    assert_eq!(asked["state"], "in_review", "{asked}");
    let foretold = ids(&site.admin.get(&format!("{path}/preview")).await["what_if"]["evictions"]);
    assert_eq!(foretold.len(), 4, "{foretold:?}");
    let once = lead.post_on(&asked, &format!("{path}/approve"), json!({"comment": "yes"})).await;
    assert_eq!((&once["state"], &once["step"]), (&json!("in_review"), &json!(2)));
    let smaller = json!({"level": "high", "duration_secs": GRANTED_SECS});
    let active = site.admin.post_on(&once, &format!("{path}/approve"), smaller).await;
    assert_eq!((&active["state"], &active["granted"]["level"]), (&json!("active"), &json!("high")));

    eventually("it runs", async || {
        site.job(&urgent).await["state"] == "running" && pid(&site, &urgent).await.is_some()
    })
    .await;
    assert_eq!(ids(&site.admin.get("/evictions?limit=50").await), foretold, "exactly those who were named");
    assert_eq!(site.job(&urgent).await["raised_to"], "high");
    let before = pid(&site, &urgent).await.expect("a pid");

    // As long as patience lasts by itself: half of it is slept through.
    tokio::time::sleep(Duration::from_secs(GRANTED_SECS.unsigned_abs() / 2)).await;
    eventually("it ends by itself", async || site.admin.get(&path).await["state"] == "expired").await;
    // Ticks go on for a while after it.
    tokio::time::sleep(Duration::from_secs(7)).await;
    let job = site.job(&urgent).await;
    assert_eq!(
        (&job["state"], &job["raised_to"], &job["run_number"]),
        (&json!("running"), &Value::Null, &json!(1))
    );
    assert_eq!(pid(&site, &urgent).await, Some(before), "the same process");
    let process = Pid::from_raw(i32::try_from(before).expect("a pid"));
    kill(process, None).expect("it is alive");
    assert_eq!(ids(&site.admin.get("/evictions?limit=50").await), foretold, "nobody left because of the end");
    let told = site
        .admin
        .get(&format!("/events?subject_id={}&limit=50", asked["id"].as_str().expect("an id")))
        .await;
    let mut actions: Vec<&str> = told["items"]
        .as_array()
        .expect("items")
        .iter()
        .filter_map(|event| event["action"].as_str())
        .collect();
    actions.reverse();
    assert_eq!(
        actions,
        [
            "escalation.requested",
            "escalation.in_review",
            "escalation.step_approved",
            "escalation.approved",
            "escalation.activated",
            "escalation.expired"
        ]
    );
}
