//! How GPUs are used: told by the node, kept once, read back as figures.

use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::clock::Clock;
use reeve_tests::TestApp;
use reeve_tests::app::text;
use reeve_tests::world::{NODE, POOL};
use reeve_wire::report::MemberKey;
use serde_json::{Value, json};

/// Everything here happens on the world's first morning.
fn at(secs: i64) -> DateTime<Utc> {
    reeve_tests::world::beginning() + TimeDelta::minutes(2) + TimeDelta::seconds(secs)
}

/// A job of two GPUs that runs since `at(0)`, its member and its GPUs.
async fn running(app: &TestApp) -> (String, MemberKey, Vec<u32>) {
    app.clock.set(at(0));
    app.node.heartbeat().await;
    let job = app.submit("a-member", "team-a", json!({"gpus": 2})).await;
    app.schedule().await;
    app.node.run_all().await;
    let id = text(&job["id"]).to_owned();
    let (member, gpus) = app.node.members_of(&id).await.remove(0);
    (id, member, gpus)
}

async fn used(app: &TestApp, job: &str) -> Value {
    app.user("a-member")
        .get(&format!("/jobs/{job}/use?from=2026-03-02T09:00:00Z&to=2026-03-02T13:00:00Z"))
        .await
        .ok()
}

#[tokio::test]
async fn samples_become_a_jobs_and_a_nodes_figures() {
    let app = TestApp::start().await;
    let (job, member, gpus) = running(&app).await;
    let on = [member];
    let (one, other) = (gpus[0], gpus[1]);
    // Busy for a minute on one GPU, nothing on the other; then a pause of five minutes; then both.
    for look in 0..4 {
        let looks = [(one, at(look * 15), 800), (other, at(look * 15), 0)];
        assert_eq!(app.node.tell_use(&looks, &on).await.kept, 2);
    }
    app.clock.set(at(400));
    for secs in [345, 360] {
        app.node.tell_use(&[(one, at(secs), 600), (other, at(secs), 1_000)], &on).await;
    }
    let seen = used(&app, &job).await;
    let figures = &seen["figures"];
    assert_eq!((&figures["minutes"], &figures["compute_permille_max"]), (&json!(3), &json!(1_000)), "{seen}");
    assert_eq!(figures["last_busy_at"], json!("2026-03-02T09:08:00Z"), "{seen}");
    assert_eq!(figures["memory_used_mib_max"], 40_960);
    let points = seen["points"].as_array().expect("points");
    let told: Vec<_> = points.iter().map(|point| (text(&point["at"]), point["samples"].as_i64())).collect();
    assert_eq!(
        told,
        [
            ("2026-03-02T09:02:00Z", Some(8)),
            ("2026-03-02T09:07:00Z", Some(2)),
            ("2026-03-02T09:08:00Z", Some(2))
        ]
    );
    assert_eq!(points[0]["compute_permille_mean"], 400);
    let node = app.user("nobody").get(&format!("/nodes/{NODE}/use?to=2026-03-02T10:00:00Z")).await.ok();
    let gpu = node["gpus"].as_array().expect("GPUs").iter().find(|gpu| gpu["index"] == one).expect("it");
    assert_eq!(gpu["now"]["compute_permille"], 600, "{node}");
    assert_eq!(gpu["now"]["job_ids"], json!([job]), "{node}");
    assert_eq!(
        (&gpu["points"][0]["samples"], &gpu["points"][0]["held_samples"]),
        (&json!(6), &json!(6)),
        "{node}"
    );
    assert_eq!(gpu["points"][0]["temperature_celsius_max"], 61);
}

#[tokio::test]
async fn what_comes_again_or_late_counts_once_and_where_it_belongs() {
    let app = TestApp::start().await;
    let (job, member, gpus) = running(&app).await;
    let on = [member];
    app.clock.set(at(7_200));
    app.node.heartbeat().await;
    let late: Vec<_> = (0..40).map(|look| (gpus[0], at(look * 15), 700)).collect();
    let early: Vec<_> = (0..4).map(|look| (gpus[0], at(7_000 + look * 15), 300)).collect();
    assert_eq!(app.node.tell_use(&early, &on).await.kept, 4);
    assert_eq!(app.node.tell_use(&late, &on).await.kept, 40);
    let again = app.node.tell_use(&late, &on).await;
    assert_eq!((again.kept, again.dropped), (0, 40));
    // A sample twice in one message, too.
    let twice = [(gpus[0], at(7_100), 10), (gpus[0], at(7_100), 10)];
    assert_eq!(app.node.tell_use(&twice, &on).await.kept, 1);
    let seen = used(&app, &job).await;
    let samples: i64 =
        seen["points"].as_array().expect("points").iter().filter_map(|point| point["samples"].as_i64()).sum();
    assert_eq!(samples, 45, "{seen}");
    assert_eq!(seen["figures"]["last_busy_at"], "2026-03-02T10:59:00Z", "{seen}");
}

#[tokio::test]
async fn a_node_speaks_only_for_what_it_holds() {
    let app = TestApp::start().await;
    let (job, member, gpus) = running(&app).await;
    // Another run, another job's id, and a GPU that the job does not hold: the samples count for nobody's job.
    let other_run = MemberKey { run_number: 7, ..member.clone() };
    let stranger = MemberKey { job_id: uuid::Uuid::from_u128(7), ..member.clone() };
    assert_eq!(app.node.tell_use(&[(gpus[0], at(15), 900)], &[other_run, stranger]).await.kept, 1);
    let free = (0..8).find(|index| !gpus.contains(index)).expect("a free GPU");
    assert_eq!(app.node.tell_use(&[(free, at(15), 900)], std::slice::from_ref(&member)).await.kept, 1);
    assert_eq!(used(&app, &job).await["points"], json!([]));
    // A second node that claims the first one's job.
    let admin = app.admin();
    let token = admin.post("/join-tokens", json!({"pool": POOL})).await.ok();
    let inventory = reeve_tests::world::inventory("node-2", 8);
    let body = json!({"join_token": token["token"], "inventory": inventory});
    let joined = app.stranger().post("/agent/v1/join", body).await.ok();
    let second = app.with_token(text(&joined["credential"]));
    let body =
        json!({"samples": [{"at": at(30), "index": gpus[0], "compute_permille": 900, "members": [member]}]});
    second.post("/agent/v1/samples", body).await.expect(200);
    assert_eq!(used(&app, &job).await["points"], json!([]));
}

#[tokio::test]
async fn nonsense_is_refused_or_dropped_and_never_an_error_of_ours() {
    let app = TestApp::start().await;
    let (_, member, gpus) = running(&app).await;
    let send = |sample: Value| app.node.client.post("/agent/v1/samples", json!({"samples": [sample]}));
    for (field, value) in [
        ("compute_permille", json!(1_001)),
        ("memory_used_mib", json!(-1)),
        ("power_milliwatts", json!(i64::MAX)),
        ("temperature_celsius", json!(9_000)),
        ("index", json!(5_000)),
    ] {
        let mut sample = json!({"at": at(0), "index": 0});
        sample[field] = value;
        let refused = send(sample).await;
        refused.refused(422, "invalid_body");
        assert!(refused.text().contains(field), "{refused}");
    }
    send(json!({"at": "yesterday", "index": 0})).await.refused(422, "invalid_body");
    let many = vec![json!({"at": at(0), "index": 0}); 5_000];
    app.node.client.post("/agent/v1/samples", json!({"samples": many})).await.refused(422, "invalid_body");
    // Too old, of the future, of the far past and future, and of no GPU.
    for (index, moment) in [
        (gpus[0], at(-8 * 86_400)),
        (gpus[0], at(3_600)),
        (gpus[0], "0001-01-01T00:00:00Z".parse().expect("a time")),
        (gpus[0], "9999-12-31T23:59:59Z".parse().expect("a time")),
        (77, at(0)),
    ] {
        let told = app.node.tell_use(&[(index, moment, 5)], std::slice::from_ref(&member)).await;
        assert_eq!((told.kept, told.dropped), (0, 1), "{moment}");
    }
    let told = app.node.client.post("/agent/v1/samples", json!({"samples": []})).await.ok();
    assert_eq!(told, json!({"kept": 0, "dropped": 0}));
}

#[tokio::test]
async fn days_are_dropped_whole_and_the_next_are_ready() {
    let app = TestApp::start().await;
    let (job, member, gpus) = running(&app).await;
    app.node.tell_use(&[(gpus[0], at(0), 500)], &[member]).await;
    let expire = async || {
        while reeve_worker::expire::step(app.store(), app.clock.now()).await.expect("a step").again {}
    };
    expire().await;
    assert_eq!(app.count_rows("gpu_samples").await, 1);
    app.advance_secs(9 * 86_400);
    expire().await;
    assert_eq!((app.count_rows("gpu_samples").await, app.count_rows("job_use_minutes").await), (0, 1));
    assert_eq!(used(&app, &job).await["figures"]["minutes"], 1);
    app.advance_secs(40 * 86_400);
    expire().await;
    assert_eq!((app.count_rows("job_use_minutes").await, app.count_rows("job_use_hours").await), (0, 1));
    app.advance_secs(400 * 86_400);
    expire().await;
    assert_eq!((app.count_rows("job_use_hours").await, app.count_rows("gpu_use_hours").await), (0, 0));
    // The partitions of today are there before the first sample is.
    let partitions = app.count_rows("pg_inherits where inhparent = 'gpu_samples'::regclass").await;
    assert_eq!(partitions, 10);
}

#[tokio::test]
async fn prometheus_reads_gpus_by_the_names_it_knows() {
    let app = TestApp::start().await;
    let (job, member, gpus) = running(&app).await;
    app.node.tell_use(&[(gpus[0], at(0), 425)], &[member]).await;
    let text = app.stranger().get("/metrics").await.expect(200).text().to_owned();
    let index = gpus[0];
    let labels = format!(
        "{{gpu=\"{index}\",UUID=\"GPU-{NODE}-{index}\",modelName=\"H100\",Hostname=\"{NODE}\",pool=\"{POOL}\"}}"
    );
    for (name, value) in [
        ("GPU_UTIL", "42.5"),
        ("FB_USED", "40960"),
        ("FB_TOTAL", "81920"),
        ("POWER_USAGE", "300"),
        ("GPU_TEMP", "61"),
    ] {
        let line = format!("DCGM_FI_DEV_{name}{labels} {value}");
        assert!(text.lines().any(|told| told == line), "{line} is not in\n{text}");
    }
    assert!(!text.contains(&job));
    // What is older is not how it is used now.
    app.advance_secs(200);
    assert!(!app.stranger().get("/metrics").await.text().contains("DCGM"));
}

#[tokio::test]
async fn r_75_allocated_is_busy_idle_and_unknown_and_capacity_adds_up() {
    let app = TestApp::start().await;
    let (_, member, gpus) = running(&app).await;
    let on = [member];
    app.clock.set(at(3_600));
    app.node.heartbeat().await;
    // Ten minutes busy, ten idle, and of the rest of the hour nothing is known.
    for (from, permille) in [(0, 900), (600, 10)] {
        let looks: Vec<_> = (from..from + 600)
            .step_by(15)
            .flat_map(|secs| gpus.iter().map(move |&gpu| (gpu, at(secs), permille)))
            .collect();
        assert_eq!(app.node.tell_use(&looks, &on).await.kept, 80);
    }
    let seen =
        app.user("nobody").get("/gpu-use?from=2026-03-02T09:10:00Z&to=2026-03-02T10:30:00Z").await.ok();
    assert_eq!(
        (&seen["from"], &seen["to"]),
        (&json!("2026-03-02T09:00:00Z"), &json!("2026-03-02T11:00:00Z"))
    );
    let team = &seen["teams"][0];
    assert_eq!((&team["team"]["slug"], &team["runs"]), (&json!("team-a"), &json!(1)), "{seen}");
    for (name, secs) in [("allocated", 7_200.0), ("busy", 1_200.0), ("idle", 1_200.0), ("unknown", 4_800.0)] {
        assert_eq!(team[format!("{name}_gpu_secs")], json!(secs), "{name}: {seen}");
    }
    let pool = &seen["pools"][0];
    let of_pool = |name: &str| pool[format!("{name}_gpu_secs")].as_f64().expect("a number");
    // Eight GPUs since the scheduler first looked, when the job started.
    assert_eq!(of_pool("capacity"), 8.0 * 3_600.0, "{seen}");
    let parts = ["busy", "idle", "unknown", "free", "down"].map(of_pool);
    assert_eq!(parts.iter().sum::<f64>(), of_pool("capacity"), "{seen}");
    assert_eq!(of_pool("fragmented"), 6.0 * 3_600.0, "{seen}");
    let other = app.user("nobody").get("/gpu-use?team=team-b&to=2026-03-02T10:30:00Z").await.ok();
    assert_eq!((&other["teams"], &other["pools"]), (&json!([]), &json!([])));
    // Profiles are for those who may read the team.
    let path = "/gpu-use/profiles?from=2026-03-02T09:00:00Z&to=2026-03-02T11:00:00Z";
    let profile = &app.user("a-viewer").get(path).await.ok()["items"][0];
    assert_eq!(
        (&profile["queue"], &profile["jobs"], &profile["hours"]),
        (&json!("team-a-q"), &json!(1), &json!(1))
    );
    assert_eq!(
        (&profile["compute_permille_max"], &profile["memory_used_mib_p95"]),
        (&json!(900), &json!(40_960))
    );
    assert_eq!(app.user("b-lead").get(path).await.ok()["items"], json!([]));
}

#[tokio::test]
async fn a_job_with_a_gpu_that_never_computes_is_advised_to_ask_for_less() {
    let app = TestApp::start().await;
    let (job, member, gpus) = running(&app).await;
    app.clock.set(at(5_400));
    app.node.heartbeat().await;
    let looks: Vec<_> =
        (0..5_400).step_by(15).flat_map(|secs| [(gpus[0], at(secs), 950), (gpus[1], at(secs), 0)]).collect();
    app.node.tell_use(&looks, &[member]).await;
    let seen = used(&app, &job).await;
    let advice = &seen["advice"][0];
    assert_eq!(advice["action"], "ask_for_fewer_gpus", "{seen}");
    assert_eq!(advice["numbers"], json!({"gpus": 2, "computed": 1}), "{seen}");
    assert!(text(&advice["sentence"]["en"]).contains("Only 1 of its 2 GPUs"), "{seen}");
}
