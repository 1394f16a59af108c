//! Use, prices, statements, months and budgets: figures that add up, and rules that hold.

use crate::money_tools::{export, ledger, price_book, put_prices};
use reeve_core::clock::Clock;
use reeve_store::budgets::{self, NewException};
use reeve_store::money::derive;
use reeve_store::{Actor, WriteContext, WriteTx};
use reeve_tests::TestApp;
use reeve_tests::app::{items, job, text};
use reeve_tests::world::POOL;
use serde_json::{Value, json};

/// Team B runs six GPUs, two of them team A's; two are idle.
async fn borrowing() -> TestApp {
    let app = TestApp::start().await;
    for _ in 0..6 {
        app.submit("b-member", "team-b", json!({})).await;
    }
    app.schedule().await;
    app.node.run_all().await;
    app
}

fn row<'a>(rows: &'a [Value], team: Option<&str>) -> &'a Value {
    let of = |row: &&Value| row["team"]["slug"].as_str() == team;
    rows.iter().find(of).unwrap_or_else(|| panic!("no row of {team:?} in {rows:?}"))
}

fn micros(value: &Value) -> i64 {
    reeve_core::money::decimal::parse_micros(text(value)).expect("a decimal")
}

#[tokio::test]
async fn use_is_guaranteed_borrowed_lent_and_idle_and_adds_up() {
    let app = borrowing().await;
    app.advance_secs(3_600);
    ledger(&app).await;
    let usage = app.user("finance").get("/usage?from=2026-03-02&to=2026-03-03").await.ok();
    let rows = usage["items"].as_array().expect("rows");
    let b = row(rows, Some("team-b"));
    assert_eq!((text(&b["guaranteed_gpu_hours"]), text(&b["borrowed_gpu_hours"])), ("4.000000", "2.000000"));
    let a = row(rows, Some("team-a"));
    assert_eq!((text(&a["lent_gpu_hours"]), text(&a["idle_gpu_hours"])), ("2.000000", "2.000000"));
    let totals = &usage["totals"];
    let sum: i64 = ["guaranteed", "borrowed", "idle", "down"]
        .iter()
        .map(|share| micros(&totals[format!("{share}_gpu_hours")]))
        .sum();
    assert_eq!(sum, 8_000_000, "eight GPUs for an hour");
    assert_eq!(totals["cost"], "0.00", "nothing has a price yet");
    assert_eq!(usage["as_of"], "2026-03-02T10:01:00Z");
    assert_eq!(usage["settled_until"], "2026-03-02T09:00:00Z", "the hour's end is too near");
    for (group, count) in
        [("day", 1), ("pool", 1), ("kind", 2), ("team,queue", 2), ("team,day,pool,kind,priority_class", 3)]
    {
        let query = format!("/usage?from=2026-03-02&to=2026-03-03&group_by={group}");
        assert_eq!(
            app.user("finance").get(&query).await.ok()["items"].as_array().expect("rows").len(),
            count,
            "{group}"
        );
    }
    let by_job = "/usage?from=2026-03-02&to=2026-03-03&group_by=job&team=team-b";
    assert_eq!(app.user("finance").get(by_job).await.ok()["items"].as_array().expect("rows").len(), 6);
}

#[tokio::test]
async fn leads_see_their_teams_and_others_nothing() {
    let app = borrowing().await;
    app.advance_secs(3_600);
    ledger(&app).await;
    let query = "/usage?from=2026-03-02&to=2026-03-03";
    let seen = app.user("a-lead").get(query).await.ok();
    assert_eq!(seen["items"].as_array().expect("rows").len(), 1);
    assert_eq!(seen["items"][0]["lent_gpu_hours"], "2.000000", "what was lent is the lender's to know");
    app.user("a-lead").get(&format!("{query}&team=team-b")).await.refused(403, "forbidden");
    app.user("a-member").get(query).await.refused(403, "forbidden");
    assert_eq!(app.user("lab-lead").get(query).await.ok()["items"].as_array().expect("rows").len(), 2);
    let month = app.user("a-lead").get("/statements?month=2026-03").await.ok();
    assert_eq!((month["items"].as_array().expect("rows").len(), &month["digest"]), (1, &Value::Null));
    app.user("a-lead").get("/statements/2026-03/team-b").await.refused(403, "forbidden");
    for wrong in
        ["from=2026-03-02", "from=2026-03-02&to=2026-03-02", "from=x&to=y", "from=2024-01-01&to=2026-01-01"]
    {
        app.user("finance").get(&format!("/usage?{wrong}")).await.refused(400, "invalid_query");
    }
    for wrong in ["group_by=colour", "group_by=job", "kind=x"] {
        app.user("finance").get(&format!("{query}&{wrong}")).await.refused(400, "invalid_query");
    }
}

#[tokio::test]
async fn late_news_make_settled_hours_anew() {
    let app = borrowing().await;
    app.advance_secs(3 * 3_600);
    ledger(&app).await;
    let before = app.user("finance").get("/usage?from=2026-03-02&to=2026-03-03").await.ok();
    // One interval ended in an hour that is final already, as a clock that ran behind would tell it.
    app.sql(
        "update members set state = 'ended', end_kind = 'success', ended_at = '2026-03-02 09:31:00Z',
                released_at = '2026-03-02 09:31:00Z' where run_id = (select min(id::text)::uuid from runs);
         update runs set state = 'succeeded', ended_at = '2026-03-02 09:31:00Z' where id = (select min(id::text)::uuid from runs);
         update jobs set state = 'succeeded', finished_at = '2026-03-02 09:31:00Z'
         where id = (select job_id from runs where id = (select min(id::text)::uuid from runs));
         update gpus set free_milli = 1000, free_memory_mib = memory_mib
         where id = (select gpu_id from member_gpus where run_id = (select min(id::text)::uuid from runs));
         update nodes set free_cpu_milli = free_cpu_milli + m.cpu_milli, free_memory_mib = free_memory_mib + m.memory_mib
         from members m where m.run_id = (select min(id::text)::uuid from runs) and nodes.id = m.node_id;
         update usage_intervals set ended_at = '2026-03-02 09:31:00Z' where run_id = (select min(id::text)::uuid from runs)",
    )
    .await;
    ledger(&app).await;
    let after = app.user("finance").get("/usage?from=2026-03-02&to=2026-03-03").await.ok();
    let used = |usage: &Value| {
        micros(&usage["totals"]["guaranteed_gpu_hours"]) + micros(&usage["totals"]["borrowed_gpu_hours"])
    };
    // It ran from 09:01 to 12:01, and now only to 09:31.
    assert_eq!(used(&before) - used(&after), 2_500_000);
    app.schedule().await;
}

#[tokio::test]
async fn prices_are_versions_with_conditions_and_their_faults_are_named() {
    let app = TestApp::start().await;
    let finance = app.user("finance");
    let empty = finance.get("/prices").await;
    assert_eq!((empty.ok()["version"].clone(), empty.header("etag")), (json!(0), "\"0\""));
    finance.put("/prices", price_book()).await.refused(428, "precondition_required");
    let set = finance.put("/prices", price_book()).if_match(0).await.ok();
    assert_eq!((&set["version"], &set["prices"][0]["price_per_gpu_hour"]), (&json!(1), &json!("2.50")));
    finance.put("/prices", price_book()).if_match(0).await.refused(412, "stale_version");
    app.user("a-lead").put("/prices", price_book()).if_match(1).await.refused(403, "forbidden");
    assert_eq!(app.user("nobody").get("/prices").await.ok()["currency"], "CNY");
    for (pointer, code, change) in [
        ("/prices/0/pool", "unknown_pool", json!({"pool": "nowhere"})),
        ("/prices/0/share", "unknown_value", json!({"share": "rent"})),
        ("/prices/0/price_per_gpu_hour", "invalid_decimal", json!({"price_per_gpu_hour": "1.1234567"})),
        ("/prices/0/price_per_gpu_hour", "out_of_range", json!({"price_per_gpu_hour": "-1"})),
        ("/prices/1/valid_from", "duplicate", json!({"share": "loan"})),
        ("/currency", "invalid_value", json!({"currency": "yuan"})),
    ] {
        let mut body = price_book();
        for (name, value) in change.as_object().expect("an object") {
            if name == "currency" {
                body[name] = value.clone();
            } else {
                body["prices"][0][name] = value.clone();
            }
        }
        finance.put("/prices", body).if_match(1).await.refused_field(422, pointer, code);
    }
    assert_eq!(items(&finance.get("/prices/versions").await.ok()).len(), 1);
}

#[tokio::test]
async fn two_people_close_a_month_and_then_nothing_of_it_changes() {
    let app = borrowing().await;
    put_prices(&app).await;
    // Nothing is told of the months between; the ledger is made day by day.
    app.advance_secs(31 * 86_400);
    ledger(&app).await;
    let (finance, admin) = (app.user("finance"), app.admin());
    let open = finance.get("/statements?month=2026-03").await.ok();
    assert_eq!((&open["state"], &open["unpriced"]), (&json!("open"), &json!(false)));
    let b = row(open["items"].as_array().expect("items"), Some("team-b"));
    // From 2 March, 09:01, to the month's end: 29 days, 14 h 59 min.
    let hours = 29.0 * 24.0 + 14.0 + 59.0 / 60.0;
    let near = |value: &Value, expected: f64| {
        let value: f64 = text(value).parse().expect("a number");
        assert!((value - expected).abs() < 0.01, "{value} is not {expected}");
    };
    near(&b["guaranteed_cost"], hours * 4.0 * 2.5);
    near(&b["borrowed_cost"], hours * 2.0 * 1.25);
    let a = row(open["items"].as_array().expect("items"), Some("team-a"));
    near(&a["lent_credit"], -hours * 2.0 * 0.5);
    near(&a["idle_cost"], hours * 2.0);
    app.user("a-lead")
        .post("/statements/2026-03/close", json!({"digest": "x"}))
        .await
        .refused(403, "forbidden");
    finance.post("/statements/2026-04/close", json!({"digest": "x"})).await.refused(409, "month_not_over");
    finance.post("/statements/2026-03/close", json!({"digest": "x"})).await.refused(409, "statement_changed");
    let digest = json!({"digest": open["digest"]});
    let proposed = finance.post("/statements/2026-03/close", digest.clone()).await.ok();
    assert_eq!(
        (&proposed["state"], &proposed["proposed_by"]["username"]),
        (&json!("proposed"), &json!("finance"))
    );
    finance.post("/statements/2026-03/close", digest.clone()).await.refused(409, "second_person_needed");
    // Another price: what was proposed is not what there is.
    let mut book = price_book();
    book["prices"][0]["price_per_gpu_hour"] = json!("3");
    finance.put("/prices", book).if_match(1).await.expect(200);
    admin.post("/statements/2026-03/close", digest).await.refused(409, "statement_changed");
    let changed = finance.get("/statements?month=2026-03").await.ok();
    let digest = json!({"digest": changed["digest"]});
    finance.post("/statements/2026-03/close", digest.clone()).await.expect(200);
    let closed = admin.post("/statements/2026-03/close", digest.clone()).await.ok();
    assert_eq!((&closed["state"], &closed["closed_by"]["username"]), (&json!("closed"), &json!("admin")));
    for name in ["proposed", "closed"] {
        assert!(app.count_events(&format!("month.{name}")).await > 0);
    }
    admin.post("/statements/2026-03/close", digest).await.refused(409, "month_closed");
    admin.post("/statements/2026-03/reopen", json!({})).await.refused(409, "month_closed");
    let mut book = price_book();
    book["prices"][0]["price_per_gpu_hour"] = json!("9");
    finance.put("/prices", book.clone()).if_match(2).await.refused(409, "month_closed");
    // From April on another price may hold.
    book["prices"][0]["price_per_gpu_hour"] = json!("3");
    let april =
        json!({"pool": POOL, "share": "guaranteed", "valid_from": "2026-04-01", "price_per_gpu_hour": "9"});
    book["prices"].as_array_mut().expect("prices").push(april);
    finance.put("/prices", book).if_match(2).await.expect(200);
    let after = finance.get("/statements?month=2026-03").await.ok();
    assert_eq!((&after["items"], &after["total"]), (&changed["items"], &changed["total"]));
    // Something was told too late for it: the month stays, and an event says so.
    app.sql(
        "insert into guarantee_intervals (id, pool_id, team_id, gpu_milli, started_at, ended_at)
         select gen_random_uuid(), p.id, t.id, 1000, '2026-03-20', '2026-03-21' from pools p, teams t where t.slug = 'other'",
    )
    .await;
    ledger(&app).await;
    assert_eq!(app.count_events("ledger.told_late").await, 1);
    assert_eq!(finance.get("/statements?month=2026-03").await.ok()["items"], changed["items"]);
    let months = items(&finance.get("/months").await.ok());
    assert_eq!((months.len(), &months[0]["total"]), (1, &changed["total"]));
}

#[tokio::test]
async fn a_correction_is_a_new_line_in_the_open_month() {
    let app = borrowing().await;
    put_prices(&app).await;
    app.advance_secs(31 * 86_400);
    ledger(&app).await;
    let (finance, admin) = (app.user("finance"), app.admin());
    let body = json!({"team": "team-b", "amount": "-12.50", "reason": "wrong price"});
    let path = "/statements/2026-03/corrections";
    finance.post(path, body.clone()).await.refused(409, "month_open");
    let digest = json!({"digest": finance.get("/statements?month=2026-03").await.ok()["digest"]});
    finance.post("/statements/2026-03/close", digest.clone()).await.expect(200);
    let withdrawn = finance.post("/statements/2026-03/reopen", json!({})).await.ok();
    assert_eq!(withdrawn["state"], "open");
    finance.post("/statements/2026-03/close", digest.clone()).await.expect(200);
    admin.post("/statements/2026-03/close", digest).await.expect(200);
    let march = finance.get("/statements/2026-03/team-b").await.ok();
    let april = finance.get("/statements/2026-04/team-b").await.ok();
    let booked = finance.post(path, body).key("once").await.ok();
    assert_eq!((&booked["month"], &booked["amount"]), (&json!("2026-04"), &json!("-12.50")));
    assert_eq!(finance.get("/statements/2026-03/team-b").await.ok(), march);
    let after = finance.get("/statements/2026-04/team-b").await.ok();
    assert_eq!(after["corrections"][0]["reason"], "wrong price");
    assert_eq!(micros(&april["total"]) - micros(&after["total"]), 12_500_000);
    for (field, value, code) in [
        ("amount", "0", "out_of_range"),
        ("amount", "1.005", "invalid_decimal"),
        ("reason", "", "invalid_length"),
    ] {
        let mut body = json!({"team": "team-b", "amount": "1", "reason": "x"});
        body[field] = json!(value);
        finance.post(path, body).await.refused_field(422, &format!("/{field}"), code);
    }
}

async fn begin(app: &TestApp) -> WriteTx {
    let context = WriteContext { actor: Actor::system("test"), request_id: None, now: app.clock.now() };
    app.store().begin(context).await.expect("begins")
}

#[tokio::test]
async fn a_budget_warns_asks_for_approval_or_blocks_and_an_exception_lets_through() {
    let app = borrowing().await;
    put_prices(&app).await;
    app.advance_secs(3_600);
    let finance = app.user("finance");
    let budget = |team: &str, unit: &str, amount: &str, action: &str| json!({"team": team, "unit": unit, "amount": amount, "action": action});
    finance.post("/budgets", budget("team-b", "gpu_hours", "5", "warn")).await.expect(201);
    finance.post("/budgets", budget("team-b", "gpu_hours", "9", "warn")).await.refused(409, "already_exists");
    app.user("b-lead")
        .post("/budgets", budget("team-b", "money", "9", "warn"))
        .await
        .refused(403, "forbidden");
    let lab = app.user("lab-lead").post("/budgets", budget("team-b", "money", "13", "approval")).await.ok();
    ledger(&app).await;
    // 4 × 2.50 + 2 × 1.25 = 12.50 of 13; 6 of 5 GPU-hours.
    let listed = items(&app.user("b-member").get("/budgets?team=team-b").await.ok());
    let mut states: Vec<(&str, &str, &str)> =
        listed.iter().map(|one| (text(&one["unit"]), text(&one["used"]), text(&one["state"]))).collect();
    states.sort_unstable();
    assert_eq!(states, [("gpu_hours", "6.000000", "exceeded"), ("money", "12.500000", "near")]);
    assert!(items(&app.user("a-member").get("/budgets").await.ok()).is_empty());
    assert_eq!((app.count_events("budget.exceeded").await, app.count_events("budget.near").await), (1, 1));
    ledger(&app).await;
    assert_eq!(
        (app.count_events("budget.exceeded").await, app.count_events("budget.near").await),
        (1, 1),
        "told once"
    );
    app.submit("b-member", "team-b", json!({})).await;

    app.advance_secs(3_600);
    ledger(&app).await;
    let refused = app.user("b-member").post("/jobs", job("team-b", json!({}))).await;
    refused.refused(422, "budget_needs_approval");
    app.submit("a-member", "team-a", json!({})).await;
    let mut tx = begin(&app).await;
    let exception = NewException {
        budget_id: text(&lab["id"]).parse().expect("an id"),
        team: text(&lab["team"]["id"]).parse().expect("an id"),
        until: app.clock.now() + chrono::TimeDelta::hours(1),
        extra_micros: None,
        reason: "exam week",
        granted_by: None,
        escalation_id: None,
    };
    budgets::grant_exception(&mut tx, &exception).await.expect("granted");
    tx.commit().await.expect("commits");
    app.advance_secs(6);
    app.submit("b-member", "team-b", json!({})).await;
    let shown = finance.get(&format!("/budgets/{}", text(&lab["id"]))).await;
    assert_eq!((&shown.ok()["extra"], &shown.ok()["state"]), (&Value::Null, &json!("ok")));
    app.advance_secs(3_600);
    let path = format!("/budgets/{}", text(&lab["id"]));
    app.user("lab-lead").patch(&path, json!({"action": "block"})).await.refused(428, "precondition_required");
    app.user("lab-lead").patch(&path, json!({"action": "block"})).if_match(1).await.expect(200);
    app.user("b-member").post("/jobs", job("team-b", json!({}))).await.refused(422, "budget_exhausted");
    app.user("lab-lead").patch(&path, json!({"amount": "1000"})).if_match(2).await.expect(200);
    app.submit("b-member", "team-b", json!({})).await;
    app.user("lab-lead").delete(&path).if_match(2).await.refused(412, "stale_version");
    app.user("lab-lead").delete(&path).if_match(3).await.expect(204);
    // A new month begins with nothing used.
    app.advance_secs(31 * 86_400);
    ledger(&app).await;
    let april = items(&finance.get("/budgets").await.ok());
    assert_eq!(april[0]["month"], "2026-04");
}

#[tokio::test]
async fn exports_are_made_watched_cancelled_and_fetched_by_their_maker() {
    let app = borrowing().await;
    put_prices(&app).await;
    app.advance_secs(7_200);
    ledger(&app).await;
    let lead = app.user("b-lead");
    let ask = json!({"kind": "usage_export", "format": "csv", "content": "intervals", "from": "2026-03-01", "to": "2026-04-01"});
    let asked = lead.post("/operations", ask.clone()).key("once").await;
    assert_eq!(
        asked.expect(202).header("location"),
        format!("/api/v1/operations/{}", text(&asked.json()["id"]))
    );
    let path = format!("/operations/{}", text(&asked.json()["id"]));
    assert_eq!(lead.get(&path).await.ok()["state"], "queued");
    lead.get(&format!("{path}/result")).await.refused(404, "not_found");
    app.user("a-lead").get(&path).await.refused(404, "not_found");
    app.user("a-lead").post(&format!("{path}/cancel"), json!({})).await.refused(404, "not_found");
    let cancelled = lead.post("/operations", ask).await.ok();
    let other = format!("/operations/{}", text(&cancelled["id"]));
    assert_eq!(lead.post(&format!("{other}/cancel"), json!({})).await.ok()["state"], "cancelled");
    lead.post(&format!("{other}/cancel"), json!({})).await.refused(409, "operation_over");
    let file = export(&app, &lead, &path).await;
    let done = lead.get(&path).await.ok();
    assert_eq!((&done["state"], &done["percent"]), (&json!("succeeded"), &json!(100)));
    assert_eq!(done["result"]["bytes"].as_i64(), i64::try_from(file.len()).ok());
    let file = String::from_utf8(file).expect("text");
    assert!(file.lines().skip(1).all(|line| line.contains(",team-b,")), "nobody else's lines");
    assert_eq!(i64::try_from(file.lines().count()).ok(), done["done_rows"].as_i64().map(|rows| rows + 1));
    assert_eq!(app.count_events("operation.ended").await, 1);
    for wrong in [
        json!({"kind": "usage_export", "format": "pdf", "month": "2026-03"}),
        json!({"kind": "usage_export", "format": "csv"}),
        json!({"kind": "usage_export", "format": "csv", "month": "2026-3"}),
        json!({"kind": "usage_export", "format": "csv", "content": "intervals", "from": "2026-03-02", "to": "2026-03-01"}),
    ] {
        lead.post("/operations", wrong).await.refused(422, "invalid_body");
    }
    app.user("a-member")
        .post("/operations", json!({"kind": "usage_export", "format": "csv", "month": "2026-03"}))
        .await
        .refused(403, "forbidden");
    // What is over is thrown away after a week.
    app.advance_secs(7 * 86_400 + 1);
    reeve_worker::expire::step(app.store(), app.clock.now()).await.expect("expires");
    lead.get(&path).await.refused(404, "not_found");
    assert_eq!(app.count_rows("operation_chunks").await, 0);
    assert!(derive::progress(app.store()).await.expect("reads").is_some());
}
