//! Jobs whose GPUs compute nothing: who is told, who gives way first, who is left alone (rows ).

use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::clock::Clock;
use reeve_tests::TestApp;
use reeve_tests::app::{items, text};
use reeve_worker::idle::{Looked, step};
use serde_json::{Value, json};

/// Everything here happens on the world's first morning.
fn at(secs: i64) -> DateTime<Utc> {
    reeve_tests::world::beginning() + TimeDelta::minutes(2) + TimeDelta::seconds(secs)
}

/// Batch jobs are idle after ten minutes, and have five more.
fn rule(action: &str) -> Value {
    json!({"action": action, "window_secs": 600, "most_window_secs": 600, "initial_grace_secs": 0, "grace_secs": 300,
        "most_snooze_secs": 3_600})
}

struct Idle(TestApp);

impl Idle {
    /// With this rule for batch jobs, and nobody protected by a minimum run time.
    async fn with(action: &str) -> Self {
        let this = Self(TestApp::start().await);
        this.set_policy(|document| {
            document["kinds"]["batch"]["idle"] = rule(action);
            document["kinds"]["batch"]["min_runtime_secs"] = json!(0);
        })
        .await;
        this.until(0).await;
        this
    }

    async fn set_policy(&self, change: impl FnOnce(&mut Value)) {
        let policy = self.0.admin().get("/policy").await.ok();
        let mut document = policy["document"].clone();
        change(&mut document);
        let version = policy["version"].as_i64().expect("a version");
        self.0.admin().put("/policy", document).if_match(version).await.expect(200);
    }

    async fn until(&self, secs: i64) {
        self.0.clock.set(at(secs));
        self.0.node.heartbeat().await;
    }

    /// A job that runs from now on.
    async fn running(&self, user: &str, team: &str, more: Value) -> String {
        let mut body = json!({"kind": "batch", "checkpoint": "on_signal"});
        body.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        let job = self.0.submit(user, team, body).await;
        self.0.schedule().await;
        self.0.node.run_all().await;
        let id = text(&job["id"]).to_owned();
        assert_eq!(self.0.job(&job["id"]).await["state"], "running");
        id
    }

    /// Samples of all its GPUs, each 15 seconds of the span.
    async fn used(&self, job: &str, span: std::ops::Range<i64>, permille: u32) {
        for (member, gpus) in self.0.node.members_of(job).await {
            let looks: Vec<_> = span
                .clone()
                .step_by(15)
                .flat_map(|secs| gpus.iter().map(move |&gpu| (gpu, at(secs), permille)))
                .collect();
            self.0.node.tell_use(&looks, &[member]).await;
        }
    }

    async fn look(&self) -> Looked {
        step(self.0.store(), self.0.clock.now()).await.expect("looked")
    }

    async fn notices(&self, query: &str) -> Vec<Value> {
        items(&self.0.admin().get(&format!("/idle-notices{query}")).await.ok())
    }

    /// The job's events that speak of idleness, oldest first.
    async fn told(&self, job: &str) -> Vec<String> {
        self.0.seal().await;
        let events = items(&self.0.admin().get(&format!("/jobs/{job}/events?limit=200")).await.ok());
        let mut actions: Vec<String> = events.iter().map(|event| text(&event["action"]).to_owned()).collect();
        actions.retain(|action| action.contains("idle"));
        actions.reverse();
        actions
    }
}

fn found(looked: Looked) -> (usize, usize, usize, usize) {
    (looked.notified, looked.flagged, looked.stopped, looked.over)
}

const NOTHING: (usize, usize, usize, usize) = (0, 0, 0, 0);

#[tokio::test]
async fn r_66_the_idle_are_told_flagged_and_first_to_leave() {
    let world = Idle::with("reclaimable").await;
    // Both on loan, at least in part; by the usual order the later one would go.
    let idle = world.running("b-member", "team-b", json!({"gpus": 4})).await;
    world.until(30).await;
    let busy = world.running("b-member", "team-b", json!({"gpus": 4})).await;
    world.until(590).await;
    world.used(&idle, 0..590, 5).await;
    world.used(&busy, 30..590, 900).await;
    assert_eq!(found(world.look().await), NOTHING);
    world.until(660).await;
    world.used(&idle, 590..660, 0).await;
    world.used(&busy, 590..660, 900).await;
    assert_eq!(found(world.look().await), (1, 0, 0, 0));
    assert_eq!(found(world.look().await), NOTHING, "it is told once");
    let notice = &world.notices("").await[0];
    assert_eq!((&notice["job"]["id"], &notice["state"]), (&json!(idle), &json!("notified")), "{notice}");
    assert_eq!((&notice["samples"], &notice["expected"]), (&json!(156), &json!(160)), "{notice}");
    assert_eq!((&notice["window_secs"], &notice["gpus"]), (&json!(600), &json!(4.0)), "{notice}");
    assert!(text(&notice["sentence"]["en"]).contains("11 minutes"), "{notice}");
    world.until(950).await;
    world.used(&idle, 660..950, 0).await;
    assert_eq!(found(world.look().await), NOTHING, "its grace runs");
    world.until(970).await;
    world.used(&idle, 950..970, 0).await;
    assert_eq!(found(world.look().await), (0, 1, 0, 0));
    assert_eq!(world.told(&idle).await, ["job.idle", "job.flagged_idle"]);
    let explained = world.0.user("b-member").get(&format!("/jobs/{idle}/explain")).await.ok();
    assert_eq!(explained["idle"]["state"], "reclaimable", "{explained}");
    assert!(text(&explained["idle"]["sentence"]["en"]).contains("first to leave"), "{explained}");
    // The owner asks for its guarantee back.
    world.0.submit("a-member", "team-a", json!({"gpus": 4})).await;
    world.0.schedule().await;
    assert_eq!(world.0.job(&json!(idle)).await["state"], "leaving");
    assert_eq!(world.0.job(&json!(busy)).await["state"], "running");
    let evicted = &items(&world.0.admin().get(&format!("/jobs/{idle}/evictions")).await.ok())[0];
    assert_eq!((&evicted["why"]["tier"], &evicted["cause"]), (&json!(0), &json!("reclaim")), "{evicted}");
    world.0.node.obey().await;
    world.0.schedule().await;
    assert_eq!(found(world.look().await), (0, 0, 0, 1));
    assert_eq!(world.0.job(&json!(idle)).await["state"], "queued");
    assert_eq!(world.notices("").await.len(), 0);
    let history = &world.notices(&format!("?job={idle}")).await[0];
    assert_eq!(
        (&history["state"], &history["close_reason"]),
        (&json!("closed"), &json!("ended")),
        "{history}"
    );
}

#[tokio::test]
async fn r_65_a_gap_in_the_samples_proves_nothing() {
    let world = Idle::with("reclaimable").await;
    let job = world.running("b-member", "team-b", json!({"gpus": 1})).await;
    world.until(900).await;
    world.used(&job, 0..60, 0).await;
    world.used(&job, 840..900, 0).await;
    assert_eq!(found(world.look().await), NOTHING);
    // The agent looks each second in its last minute: that makes up for nothing.
    let (member, gpus) = world.0.node.members_of(&job).await.remove(0);
    let often: Vec<_> = (841..899).map(|secs| (gpus[0], at(secs), 0)).collect();
    world.0.node.tell_use(&often, &[member]).await;
    assert_eq!(found(world.look().await), NOTHING);
    // What was on its way arrives.
    world.used(&job, 60..840, 0).await;
    assert_eq!(found(world.look().await), (1, 0, 0, 0));
    // And then the agent falls silent: nobody is acted upon unseen.
    world.until(2_400).await;
    assert_eq!(found(world.look().await), NOTHING);
    assert_eq!(world.notices("").await[0]["state"], "notified");
}

#[tokio::test]
async fn r_67_a_job_that_computes_is_never_idle() {
    let world = Idle::with("stop").await;
    let job = world.running("b-member", "team-b", json!({"gpus": 2})).await;
    for hour in 0..6 {
        let (from, to) = (hour * 3_600, (hour + 1) * 3_600);
        world.until(to).await;
        world.used(&job, from..to, 900).await;
        assert_eq!(found(world.look().await), NOTHING);
    }
    assert_eq!(world.notices(&format!("?job={job}")).await.len(), 0);
}

#[tokio::test]
async fn one_busy_sample_takes_it_back_at_every_step_and_it_begins_anew() {
    let world = Idle::with("reclaimable").await;
    let job = world.running("b-member", "team-b", json!({"gpus": 1})).await;
    world.until(600).await;
    world.used(&job, 0..600, 0).await;
    assert_eq!(found(world.look().await), (1, 0, 0, 0));
    world.until(900).await;
    world.used(&job, 600..900, 0).await;
    assert_eq!(found(world.look().await), (0, 1, 0, 0));
    // The planner's kept snapshot is compared with the database at each tick.
    world.0.schedule().await;
    world.until(930).await;
    world.used(&job, 900..930, 400).await;
    assert_eq!(found(world.look().await), (0, 0, 0, 1));
    world.0.schedule().await;
    assert_eq!(world.told(&job).await, ["job.idle", "job.flagged_idle", "job.idle_over"]);
    world.until(1_500).await;
    world.used(&job, 930..1_500, 0).await;
    assert_eq!(found(world.look().await), NOTHING, "a window has not passed since");
    world.until(1_530).await;
    world.used(&job, 1_500..1_530, 0).await;
    assert_eq!(found(world.look().await), (1, 0, 0, 0));
    let history = world.notices(&format!("?job={job}")).await;
    let states: Vec<_> = history.iter().map(|notice| text(&notice["state"])).collect();
    assert_eq!(states, ["notified", "closed"]);
    assert_eq!(history[1]["close_reason"], "computes");
    // The rule is switched off: nobody looks any more.
    world.set_policy(|document| document["kinds"]["batch"]["idle"]["action"] = json!("off")).await;
    assert_eq!(found(world.look().await), (0, 0, 0, 1));
    assert_eq!(world.notices(&format!("?job={job}")).await[0]["close_reason"], "rule_off");
}

#[tokio::test]
async fn an_owner_puts_it_off_within_bounds_and_on_record() {
    let world = Idle::with("reclaimable").await;
    let job = world.running("b-member", "team-b", json!({"gpus": 1})).await;
    let path = format!("/jobs/{job}/snooze");
    let app = &world.0;
    app.user("b-member").post(&path, json!({"secs": 60})).await.refused(409, "job_not_idle");
    world.until(600).await;
    world.used(&job, 0..600, 0).await;
    world.look().await;
    app.user("a-member").post(&path, json!({"secs": 60})).await.refused(404, "not_found");
    app.user("b-member").post(&path, json!({"secs": 0})).await.refused(422, "invalid_body");
    let refused = app.user("b-member").post(&path, json!({"secs": 3_601})).await.refused(422, "invalid_body");
    assert_eq!(refused["params"]["left_secs"], 3_600, "{refused}");
    let snoozed =
        app.user("b-member").post(&path, json!({"secs": 3_000, "reason": "data is being copied"})).await.ok();
    assert_eq!(snoozed["act_at"], json!(at(600 + 300 + 3_000)), "{snoozed}");
    assert_eq!((&snoozed["snoozed_secs"], &snoozed["snoozed_by"]), (&json!(3_000), &json!("b-member")));
    let refused = app.user("b-lead").post(&path, json!({"secs": 3_000})).await.refused(422, "invalid_body");
    assert_eq!(refused["params"]["left_secs"], 600, "{refused}");
    world.until(3_600).await;
    world.used(&job, 600..3_600, 0).await;
    assert_eq!(found(world.look().await), NOTHING, "it is put off");
    world.until(3_915).await;
    world.used(&job, 3_600..3_915, 0).await;
    assert_eq!(found(world.look().await), (0, 1, 0, 0));
    app.user("b-member").post(&path, json!({"secs": 60})).await.refused(409, "job_not_idle");
    assert_eq!(world.told(&job).await, ["job.idle", "job.idle_snoozed", "job.flagged_idle"]);
}

#[tokio::test]
async fn r_70_what_is_kept_warm_is_told_and_left() {
    let world = Idle::with("off").await;
    world.set_policy(|document| document["kinds"]["inference"]["idle"] = rule("stop")).await;
    let job = world.running("b-member", "team-b", json!({"gpus": 1, "kind": "inference"})).await;
    world.until(600).await;
    world.used(&job, 0..600, 0).await;
    assert_eq!(found(world.look().await), (1, 0, 0, 0));
    world.until(7_200).await;
    world.used(&job, 600..7_200, 0).await;
    assert_eq!(found(world.look().await), NOTHING);
    let notice = &world.notices("").await[0];
    assert_eq!((&notice["state"], &notice["protected"]), (&json!("notified"), &json!(true)), "{notice}");
    assert_eq!(world.0.job(&json!(job)).await["state"], "running");
}

#[tokio::test]
async fn a_job_that_is_stopped_saves_its_work_and_does_not_come_back() {
    let world = Idle::with("stop").await;
    let job = world.running("b-member", "team-b", json!({"gpus": 1})).await;
    world.until(600).await;
    world.used(&job, 0..600, 0).await;
    world.look().await;
    world.until(900).await;
    world.used(&job, 600..900, 0).await;
    assert_eq!(found(world.look().await), (0, 0, 1, 0));
    let leaving = world.0.job(&json!(job)).await;
    assert_eq!(
        (&leaving["state"], &leaving["leave"]["cause"]),
        (&json!("leaving"), &json!("idle")),
        "{leaving}"
    );
    world.0.schedule().await;
    world.0.node.obey().await;
    world.0.schedule().await;
    let ended = world.0.job(&json!(job)).await;
    assert_eq!((&ended["state"], &ended["end_cause"]), (&json!("cancelled"), &json!("idle")), "{ended}");
    assert!(ended["last_checkpoint_at"].is_string(), "{ended}");
    assert_eq!(found(world.look().await), (0, 0, 0, 1));
    assert_eq!(world.told(&job).await, ["job.idle", "job.stopped_idle", "job.idle_over"]);
    assert_eq!(world.notices(&format!("?job={job}")).await[0]["state"], "stopped");
}

#[tokio::test]
async fn r_69_a_rule_of_the_team_holds_for_jobs_that_say_nothing() {
    let world = Idle::with("off").await;
    world
        .set_policy(|document| {
            document["team_rules"] = json!({"lab": {"batch": {"idle": {"action": "notify"}}}});
        })
        .await;
    let job = world.running("b-member", "team-b", json!({"gpus": 1})).await;
    world.until(600).await;
    world.used(&job, 0..600, 0).await;
    assert_eq!(found(world.look().await), (1, 0, 0, 0));
    world.until(3_600).await;
    world.used(&job, 600..3_600, 0).await;
    assert_eq!(found(world.look().await), NOTHING, "its owner is told, and no more");
    let rules = world.0.user("b-member").get(&format!("/jobs/{job}/rules")).await.ok();
    let action = rules["rules"].as_array().expect("rules").iter().find(|rule| rule["name"] == "idle_action");
    assert_eq!(action.expect("a rule")["slug"], "lab", "{rules}");
}

#[tokio::test]
async fn who_pauses_as_long_as_its_like_is_not_idle() {
    let world = Idle::with("off").await;
    let mut patient = rule("reclaimable");
    patient["most_window_secs"] = json!(28_800);
    world.set_policy(|document| document["kinds"]["batch"]["idle"] = patient).await;
    // Nothing is known of such jobs: only the longest window takes one.
    let job = world.running("b-member", "team-b", json!({"gpus": 1})).await;
    world.until(3_600).await;
    world.used(&job, 0..3_600, 0).await;
    assert_eq!(found(world.look().await), NOTHING);
    // Twenty of them have ended, whose longest pause was four minutes.
    for _ in 0..20 {
        let ended = world.0.submit("b-member", "team-b", json!({"kind": "batch"})).await;
        let id = text(&ended["id"]);
        world.0.admin().post(&format!("/jobs/{id}/cancel"), json!({})).await.expect(200);
        world
            .0
            .sql(&format!(
                "insert into run_pauses (job_id, run_number, first_sample_at, last_sample_at, longest_pause_secs)
                 values ('{id}', 1, now(), now(), 240)"
            ))
            .await;
    }
    let looked = world.look().await;
    assert_eq!((looked.learnt, looked.notified), (20, 1));
    assert_eq!(world.look().await.learnt, 0, "each is learnt from once");
    let window = world.notices("").await[0]["window_secs"].as_i64().expect("a window");
    assert!((600..=900).contains(&window), "{window}");
}

#[tokio::test]
async fn a_rule_that_makes_no_sense_is_refused_by_its_field() {
    let world = Idle::with("off").await;
    let policy = world.0.admin().get("/policy").await.ok();
    let version = policy["version"].as_i64().expect("a version");
    for (field, value) in [
        ("window_secs", json!(1)),
        ("most_window_secs", json!(10)),
        ("coverage_permille", json!(0)),
        ("busy_above_permille", json!(1_000)),
        ("grace_secs", json!(-1)),
    ] {
        let mut document = policy["document"].clone();
        document["queue_rules"] = json!({"lab-q": {"training": {"idle": {field: value}}}});
        let pointer = format!("/queue_rules/lab-q/training/idle/{field}");
        let refused = world.0.admin().put("/policy", document).if_match(version).await;
        assert!(refused.refused(422, "invalid_body").to_string().contains(&pointer), "{refused}");
    }
}
