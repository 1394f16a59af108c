//! Two teams share eight GPUs: one borrows, the other takes back, the first resumes.

use crate::site::{GRACE_SECS, Site};
use nix::sys::signal::Signal;
use reeve_tests::processes::eventually;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Works until a file says so; on USR1 it saves, says that it is saved, and waits to be stopped. `$1`: the file.
const JOB: &str = r#"
dir=$REEVE_CHECKPOINT_DIR
trap 'cp "$REEVE_EVICTION_FILE" "$dir/told.$REEVE_RUN"; echo "$REEVE_RUN" > "$dir/saved"; : > "$dir/.acknowledged"' USR1
trap 'exit 143' TERM
echo "run $REEVE_RUN resume=${REEVE_RESUME:-0} saved=$(cat "$dir/saved" 2>/dev/null) gpus=$CUDA_VISIBLE_DEVICES"
while [ ! -e "$1" ]; do sleep 0.1; done
"#;

impl Site {
    /// The file whose presence ends the jobs of a name.
    fn end_of(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("end-{name}"))
    }

    async fn submit(&self, team: &str, name: &str, gpus: u32) -> String {
        let end = self.end_of(name).display().to_string();
        let body = json!({
            "name": name, "team": team, "gpus": gpus, "kind": "training", "checkpoint": "on_signal",
            "command": ["sh", "-c", JOB, "job", end],
        });
        let job = self.admin.post("/jobs", body).await;
        job["id"].as_str().expect("an id").to_owned()
    }

    async fn borrowed_by_b(&self) -> f64 {
        let matrix = self.admin.get("/loans/matrix?pool=p").await;
        let cells = matrix["cells"].as_array().expect("cells");
        cells
            .iter()
            .filter(|cell| cell["borrower"]["slug"] == "b" && cell["lender"]["slug"] == "a")
            .filter_map(|cell| cell["gpus"].as_f64())
            .sum()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn story_b_borrows_a_takes_back_and_b_resumes() {
    let mut site = Site::start().await;
    let mut of_b = Vec::new();
    for number in 1..=8 {
        of_b.push(site.submit("b", &format!("b{number}"), 1).await);
    }
    eventually("all eight of b run", async || site.in_state(&of_b, "running").await.len() == 8).await;
    assert!((site.borrowed_by_b().await - 4.0).abs() < 1e-9, "four on loan from a");
    let mut before = BTreeMap::new();
    for id in &of_b {
        before.insert(id.clone(), (site.job(id).await["submitted_at"].clone(), site.gpus(id).await));
    }

    let of_a = site.submit("a", "a1", 4).await;
    eventually("a's job runs", async || site.job(&of_a).await["state"] == "running").await;
    let evicted = evictions_are_as_promised(&site, &of_a, &of_b).await;

    let mut freed: Vec<u64> = evicted.iter().flat_map(|id| before[id].1.clone()).collect();
    freed.sort_unstable();
    assert_eq!(site.gpus(&of_a).await, freed, "on the GPUs of those who left");
    for id in &evicted {
        let job = site.job(id).await;
        assert_eq!(job["state"], "queued", "{job}");
        assert_eq!(job["submitted_at"], before[id].0, "with its original age");
        assert_eq!(job["eviction_count"], 1, "{job}");
    }
    eventually("each that waits says why", async || {
        let mut with_reason = 0;
        for id in &evicted {
            with_reason += u32::from(site.job(id).await["reason"]["code"].is_string());
        }
        with_reason == 4
    })
    .await;

    std::fs::write(site.end_of("a1"), "").expect("written");
    eventually("b's four run again", async || site.in_state(&evicted, "running").await.len() == 4).await;
    assert_eq!(site.job(&of_a).await["state"], "succeeded");
    for id in &evicted {
        assert_eq!(site.job(id).await["run_number"], 2);
        let mut log = String::new();
        eventually("the log of the second run is there", async || {
            log = site.log(id, 2).await;
            log.contains("run 2")
        })
        .await;
        assert!(log.contains("run 2 resume=1 saved=1"), "{log}");
    }
    assert!((site.borrowed_by_b().await - 4.0).abs() < 1e-9, "on loan again");

    for number in 1..=8 {
        std::fs::write(site.end_of(&format!("b{number}")), "").expect("written");
    }
    eventually("all of b succeed", async || site.in_state(&of_b, "succeeded").await.len() == 8).await;
    // A loan ends with the next look of the planner, not with the job.
    eventually("nothing is on loan", async || site.borrowed_by_b().await.abs() < 1e-9).await;
    site.agent.signal(Signal::SIGTERM);
    assert!(site.agent.stop(), "the agent leaves when told");
}

/// Exactly four, notified, saved on the signal, gone within grace, each with an answer to why.
async fn evictions_are_as_promised(site: &Site, of_a: &str, of_b: &[String]) -> Vec<String> {
    let reclaims = site.admin.get("/reclaims?pool=p").await;
    let reclaims = reclaims["items"].as_array().expect("items");
    assert_eq!(reclaims.len(), 1, "{reclaims:?}");
    let reclaim = &reclaims[0];
    assert_eq!(reclaim["evictor_job"]["id"], of_a);
    assert_eq!(reclaim["state"], "done", "{reclaim}");
    let evictions = reclaim["evictions"].as_array().expect("evictions");
    assert_eq!(evictions.len(), 4, "{reclaim}");
    let mut evicted = Vec::new();
    for eviction in evictions {
        let shown = site.admin.get(&format!("/evictions/{}", eviction["id"].as_str().expect("an id"))).await;
        why_is_answered(&shown);
        let id = shown["job"]["id"].as_str().expect("an id").to_owned();
        assert!(of_b.contains(&id), "{shown}");
        let checkpoints = site.folder.path().join("agent/checkpoints").join(&id);
        assert_eq!(
            std::fs::read_to_string(checkpoints.join("saved")).expect("saved on the signal").trim(),
            "1"
        );
        let told = std::fs::read_to_string(checkpoints.join("told.1")).expect("the eviction file");
        assert!(told.contains("reclaim") && told.contains("leave_by"), "{told}");
        evicted.push(id);
    }
    evicted
}

fn why_is_answered(eviction: &Value) {
    let time = |name: &str| -> chrono::DateTime<chrono::Utc> {
        let text = eviction[name].as_str().unwrap_or_else(|| panic!("{name}: {eviction}"));
        text.parse().expect("a time")
    };
    assert!(time("checkpointed_at") >= time("notified_at"), "{eviction}");
    assert!(time("vacated_at") <= time("leave_by"), "{eviction}");
    assert_eq!((time("leave_by") - time("notified_at")).num_seconds(), GRACE_SECS, "{eviction}");
    let why = &eviction["why"];
    assert_eq!(eviction["cause"], "reclaim");
    assert_eq!(why["evictor_team"]["slug"], "a");
    assert_eq!(why["evictor_job"]["name"], "a1");
    assert_eq!(why["candidates"], 8, "{why}");
    for text in [&why["rule"], &why["sentence"]["en"], &why["sentence"]["zh"]] {
        assert!(text.as_str().is_some_and(|text| !text.is_empty()), "{why}");
    }
    let used = |shares: &Value, team: &str| {
        let mut shares = shares.as_array().expect("shares").iter();
        shares.find(|share| share["team"]["slug"] == team).and_then(|share| share["used_gpus"].as_f64())
    };
    assert_eq!(used(&eviction["shares_before"], "b"), Some(8.0), "{eviction}");
    assert_eq!(used(&eviction["shares_after"], "b"), Some(4.0), "{eviction}");
    assert_eq!(used(&eviction["shares_after"], "a"), Some(4.0), "{eviction}");
}
