//! The audit log: found by every filter, exported whole, and proven by a reader that asks no server.

use reeve_store::audit::chain::Verdict;
use reeve_store::audit::checkpoint::{self, Signed};
use reeve_store::audit::key::AuditKey;
use reeve_store::audit::live::Trust;
use reeve_store::audit::verify_file;
use reeve_tests::TestApp;
use reeve_tests::app::{items, text};
use reeve_tests::world::POOL;
use serde_json::{Value, json};

async fn audit(app: &TestApp, who: &str, query: &str) -> Vec<Value> {
    items(&app.user(who).get(&format!("/audit?limit=200&{query}")).await.ok())
}

async fn sign(app: &TestApp, key: &AuditKey) -> i64 {
    app.seal().await;
    let now = reeve_core::clock::Clock::now(&app.clock);
    match checkpoint::step(app.store(), key, now).await.expect("signs") {
        Signed::At(position) => position,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn every_filter_finds_its_events_and_no_others() {
    let app = TestApp::start().await;
    let job = app.submit("a-member", "team-a", json!({})).await;
    app.submit("b-member", "team-b", json!({})).await;
    app.user("a-viewer").post("/pools", json!({"slug": "x", "name": "X"})).await.refused(403, "forbidden");
    app.seal().await;
    let (id, request) = (text(&job["id"]), "x");
    let of_job = audit(&app, "auditor", &format!("subject_id={id}&action=job.submitted")).await;
    assert_eq!(of_job.len(), 1);
    let event = &of_job[0];
    assert_eq!((&event["outcome"], &event["team"]["slug"]), (&json!("allowed"), &json!("team-a")));
    let by_request = audit(&app, "auditor", &format!("request_id={}", text(&event["request_id"]))).await;
    assert_eq!(by_request, of_job);
    assert!(audit(&app, "auditor", &format!("request_id={request}")).await.is_empty());

    let denied = audit(&app, "auditor", "outcome=denied").await;
    assert_eq!(denied.len(), 1);
    assert_eq!((&denied[0]["action"], &denied[0]["rule"]), (&json!("pool.create"), &json!("access")));
    let actor = text(&denied[0]["actor"]["name"]);
    let by_name = audit(&app, "auditor", &format!("actor={}", actor.replace(' ', "%20"))).await;
    assert!(by_name.iter().all(|event| event["actor"]["name"] == denied[0]["actor"]["name"]));
    let by_id = audit(&app, "auditor", &format!("actor={}", text(&denied[0]["actor"]["id"]))).await;
    assert_eq!(by_id, by_name);

    let submitted = audit(&app, "auditor", "action=job.*").await;
    assert!(submitted.iter().all(|event| text(&event["action"]).starts_with("job.")));
    assert_eq!(submitted.iter().filter(|event| event["action"] == "job.submitted").count(), 2);
    assert!(audit(&app, "auditor", "action=job%25").await.is_empty(), "a percent sign is no wildcard");
    let team = audit(&app, "auditor", "team=team-b&subject_type=job").await;
    assert_eq!(team.len(), 1);
    assert_eq!(audit(&app, "auditor", "team=lab&action=job.submitted").await.len(), 2, "and what is below");
    let at = text(&event["occurred_at"]);
    assert!(audit(&app, "auditor", &format!("to={at}&action=job.submitted")).await.is_empty());
    assert_eq!(audit(&app, "auditor", &format!("from={at}&action=job.submitted")).await.len(), 2);

    let permalink = format!("/audit/{}", event["position"]);
    assert_eq!(app.user("auditor").get(&permalink).await.ok(), *event);
    app.user("auditor").get("/audit/1000000").await.refused(404, "not_found");
    app.user("auditor").get("/audit/x").await.refused(404, "not_found");
    for query in [
        "outcome=maybe",
        "from=yesterday",
        "limit=0",
        "actr=x",
        "from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z",
    ] {
        app.user("auditor").get(&format!("/audit?{query}")).await.refused(400, "invalid_query");
    }
    app.user("auditor").get("/audit?team=nowhere").await.refused(404, "not_found");
}

#[tokio::test]
async fn a_lead_sees_what_the_team_did_and_no_more() {
    let app = TestApp::start().await;
    app.submit("a-member", "team-a", json!({})).await;
    app.submit("b-member", "team-b", json!({})).await;
    app.seal().await;
    let seen = audit(&app, "a-lead", "").await;
    assert!(!seen.is_empty() && seen.iter().all(|event| event["team"]["slug"] == "team-a"), "{seen:?}");
    app.user("a-lead").get("/audit?team=team-b").await.refused(403, "forbidden");
    let theirs = &audit(&app, "auditor", "team=team-b").await[0];
    app.user("a-lead").get(&format!("/audit/{}", theirs["position"])).await.refused(404, "not_found");
    let above: Vec<Value> = audit(&app, "lab-lead", "action=job.submitted").await;
    assert_eq!(above.len(), 2, "a lead of the department sees what is below");
    app.user("a-member").get("/audit").await.refused(403, "forbidden");
    let export = app.user("a-lead").get("/audit/export").await.expect(200).text();
    assert!(export.lines().next().expect("a head").contains("\"filtered\":true"));
    assert!(!export.contains("team-b"));
}

#[tokio::test]
async fn pages_follow_each_other_without_a_gap() {
    let app = TestApp::start().await;
    app.seal().await;
    let all = audit(&app, "auditor", "").await;
    let (mut seen, mut path) = (Vec::new(), "/audit?limit=7".to_owned());
    loop {
        let page = app.user("auditor").get(&path).await.ok();
        seen.extend(items(&page));
        match page["next_cursor"].as_str() {
            Some(cursor) => path = format!("/audit?limit=7&cursor={cursor}"),
            None => break,
        }
    }
    assert!(seen.len() > 20);
    assert_eq!(seen[..all.len()], all[..]);
    assert_eq!(seen.last().expect("events")["position"], 1);
}

#[tokio::test]
async fn whoever_is_denied_without_end_is_counted_and_does_not_fill_the_disk() {
    let app = TestApp::start().await;
    let before = app.count_events("").await;
    let try_it = async |times: usize| {
        for _ in 0..times {
            app.user("a-viewer")
                .post("/pools", json!({"slug": "x", "name": "X"}))
                .await
                .refused(403, "forbidden");
        }
    };
    try_it(50).await;
    assert_eq!(app.count_events("").await - before, 20);
    // Somebody else's attempts are written all the same.
    app.user("a-member").post("/pools", json!({"slug": "x", "name": "X"})).await.refused(403, "forbidden");
    assert_eq!(app.count_events("").await - before, 21);
    app.advance_secs(61);
    try_it(1).await;
    app.seal().await;
    let newest = &audit(&app, "auditor", "action=pool.create&outcome=denied").await[0];
    assert_eq!(newest["detail"]["unrecorded"], 30);
    // Or when the minute is over and they have stopped.
    try_it(25).await;
    assert_eq!(app.state.flush_denials(false).await.expect("writes"), 0, "not yet");
    app.advance_secs(61);
    assert_eq!(app.state.flush_denials(false).await.expect("writes"), 1);
    assert_eq!(app.state.flush_denials(true).await.expect("writes"), 0);
    app.seal().await;
    let counted = &audit(&app, "auditor", "action=attempts.unrecorded").await[0];
    assert_eq!((&counted["detail"]["unrecorded"], &counted["outcome"]), (&json!(6), &json!("denied")));
}

#[tokio::test]
async fn checkpoints_and_keys_are_everybodys_to_keep() {
    let app = TestApp::start().await;
    let key = AuditKey::generate().expect("a key");
    let position = sign(&app, &key).await;
    let nobody = app.user("nobody");
    let keys = nobody.get("/audit/keys").await.ok();
    assert_eq!(keys["items"][0]["public_key"], key.public().to_base64());
    let kept = items(&nobody.get("/audit/checkpoints").await.ok());
    assert_eq!((kept.len(), &kept[0]["position"]), (1, &json!(position)));
    let status = app.user("auditor").get("/audit/status").await.ok();
    assert_eq!((&status["verified_position"], &status["broken"]), (&json!(position), &Value::Null));
    assert_eq!(status["append_only_by_rights"], false, "tests work as the owner");
}

/// An export, and what an outsider finds in it.
struct Exported {
    lines: Vec<String>,
    trust: Trust,
}

impl Exported {
    fn verify(&self, lines: &[String]) -> Verdict {
        verify_file::verify(lines.concat().as_bytes(), &self.trust).expect("reads")
    }

    fn line_of(&self, position: i64) -> usize {
        let start = format!("{{\"position\":{position},");
        self.lines.iter().position(|line| line.starts_with(&start)).expect("the event's line")
    }
}

async fn exported(app: &TestApp) -> Exported {
    let key = AuditKey::generate().expect("a key");
    for _ in 0..3 {
        // Floats and Chinese, as names and figures come.
        app.submit("a-member", "team-a", json!({"name": "训练 \"1\"", "labels": {"x": "0.1\\n"}})).await;
        sign(app, &key).await;
    }
    app.submit("a-member", "team-a", json!({})).await;
    app.seal().await;
    let export = app.user("auditor").get("/audit/export").await;
    export.expect(200);
    assert!(export.header("content-disposition").contains("reeve-audit-"));
    let lines = export.text().split_inclusive('\n').map(str::to_owned).collect();
    let kept = checkpoint::before(app.store(), None, 10).await.expect("reads");
    Exported { lines, trust: Trust { keys: vec![key.public()], checkpoints: kept } }
}

#[tokio::test]
async fn an_export_proves_itself_and_every_change_is_named_by_line_and_position() {
    let app = TestApp::start().await;
    let file = exported(&app).await;
    let whole = file.verify(&file.lines);
    assert_eq!(whole.fault, None);
    assert_eq!(
        (whole.events, whole.checkpoints),
        (app.count_events("").await, 6),
        "three in the file, three kept"
    );

    let check =
        |name: &str, change: &dyn Fn(&mut Vec<String>), line: usize, position: Option<i64>, why: &str| {
            let mut lines = file.lines.clone();
            change(&mut lines);
            let fault = file.verify(&lines).fault.unwrap_or_else(|| panic!("{name}: nothing was found"));
            assert_eq!(fault.position, position, "{name}: {fault}");
            assert_eq!(fault.line, Some(line as u64 + 1), "{name}: {fault}");
            assert!(fault.why.contains(why), "{name}: {fault}");
        };
    let five = file.line_of(5);
    check(
        "altered",
        &|lines| lines[five] = lines[five].replace("\"allowed\":true", "\"allowed\":false"),
        five,
        Some(5),
        "altered",
    );
    check("dropped", &|lines| drop(lines.remove(five)), five, Some(5), "dropped");
    check("twice", &|lines| lines.insert(five, lines[five].clone()), five + 1, Some(6), "repeated");
    check("swapped", &|lines| lines.swap(five, five + 1), five, Some(5), "another order");
    let renumber = |lines: &mut Vec<String>| {
        lines.swap(five, five + 1);
        lines[five] = lines[five].replace("\"position\":6,", "\"position\":5,");
        lines[five + 1] = lines[five + 1].replace("\"position\":5,", "\"position\":6,");
    };
    check("swapped and renumbered", &renumber, five, Some(5), "altered");
    check("formatted anew", &|lines| lines[five] = lines[five].replace("\":\"", "\": \""), five, Some(5), "");
    check("no head", &|lines| drop(lines.remove(0)), 0, None, "head");

    let (end, last) = (file.lines.len() - 1, whole.chain.position);
    check("end cut", &|lines| lines.truncate(end), end, Some(last + 1), "cut");
    check("in the middle of a line", &|lines| lines[five].truncate(30), five, Some(5), "");
    check("something after the end", &|lines| lines.push("{}\n".to_owned()), end + 1, None, "after the end");
    // Cut before the last checkpoint, with a forged end: what is inside fits, what was kept elsewhere does not.
    let cut = |lines: &mut Vec<String>| {
        lines.truncate(five + 1);
        let hash: Value = serde_json::from_str(&lines[five]).expect("JSON");
        let events = lines.iter().filter(|line| line.starts_with("{\"position\"")).count();
        lines.push(format!("{{\"end\":{{\"position\":5,\"hash\":{},\"events\":{events}}}}}\n", hash["hash"]));
    };
    check("tail cut and end forged", &cut, five + 2, Some(6), "tail was cut");
    let stranger =
        Trust { keys: vec![AuditKey::generate().expect("a key").public()], checkpoints: Vec::new() };
    let fault = verify_file::verify(file.lines.concat().as_bytes(), &stranger).expect("reads").fault;
    assert!(fault.expect("found").why.contains("not trusted"));
}

#[tokio::test]
async fn exports_may_begin_later_and_filtered_ones_say_that_they_prove_nothing() {
    let app = TestApp::start().await;
    let file = exported(&app).await;
    let later = app.user("auditor").get("/audit/export?after=5").await.expect(200).text();
    let verdict = verify_file::verify(later.as_bytes(), &Trust::default()).expect("reads");
    assert_eq!((verdict.fault, verdict.events), (None, app.count_events("").await - 5));
    assert!(verdict.notes.iter().any(|note| note.contains("after position 5")));
    let filtered = app.user("auditor").get("/audit/export?action=job.*").await.expect(200).text();
    assert_eq!(filtered.lines().filter(|line| line.contains("job.submitted")).count(), 4);
    let fault = file.verify(&[filtered]).fault.expect("cannot be verified");
    assert!(fault.why.contains("filtered"), "{fault}");
    let end = app.user("auditor").get("/audit/export?after=100000").await.expect(200).text();
    assert_eq!(verify_file::verify(end.as_bytes(), &Trust::default()).expect("reads").fault, None);
}

#[tokio::test]
async fn csv_is_for_people_and_runs_nothing_in_their_spreadsheets() {
    let app = TestApp::start().await;
    app.admin()
        .patch(&format!("/pools/{POOL}"), json!({"name": "=HYPERLINK(\"x\")"}))
        .if_match(1)
        .await
        .expect(200);
    app.seal().await;
    let csv = app.user("auditor").get("/audit/export?format=csv&bom=true").await;
    csv.expect(200);
    assert!(csv.header("content-type").starts_with("text/csv"));
    let text = csv.text();
    assert!(text.starts_with("\u{feff}position,occurred_at,outcome,"));
    assert_eq!(i64::try_from(text.matches("\r\n").count()).expect("small"), app.count_events("").await + 1);
    app.user("auditor").get("/audit/export?format=xml").await.refused(400, "invalid_query");
}
