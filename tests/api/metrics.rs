//! What Prometheus reads: figures of teams and pools, true, documented and bounded.

use reeve_tests::TestApp;
use reeve_tests::world::POOL;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// The samples of a scrape by name and labels, as they are written.
async fn scrape(app: &TestApp) -> BTreeMap<String, f64> {
    let reply = app.stranger().get("/metrics").await;
    assert_eq!(reply.expect(200).header("content-type"), "text/plain; version=0.0.4");
    let text = reply.text();
    let samples = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    samples
        .map(|line| {
            let (series, value) = line.rsplit_once(' ').expect("a sample");
            (series.to_owned(), value.parse().expect("a number"))
        })
        .collect()
}

/// A team B on loan, with team A's job waiting for what is lent.
async fn lent_out() -> TestApp {
    let app = TestApp::start().await;
    for _ in 0..9 {
        app.submit("b-member", "team-b", json!({"name": "secret-project"})).await;
    }
    app.schedule().await;
    app.node.run_all().await;
    app.submit("a-member", "team-a", json!({"gpus": 4})).await;
    app.schedule().await;
    app.advance_secs(30);
    app
}

#[tokio::test]
async fn quotas_pools_and_jobs_are_told_as_they_are() {
    let app = lent_out().await;
    let seen = scrape(&app).await;
    let of_team =
        |name: &str, team: &str| seen[&format!("reeve_quota_{name}{{team=\"{team}\",pool=\"{POOL}\"}}")];
    for (name, a, b, lab) in [
        ("guaranteed_gpus", 4.0, 4.0, 8.0),
        ("used_gpus", 0.0, 8.0, 8.0),
        ("borrowed_gpus", 0.0, 4.0, 0.0),
        ("lent_gpus", 4.0, 0.0, 0.0),
        ("leaving_gpus", 0.0, 0.0, 0.0),
        ("pending_gpus", 4.0, 1.0, 5.0),
        ("pending_jobs", 1.0, 1.0, 2.0),
        ("waiting_below_guarantee_seconds", 30.0, 0.0, 0.0),
        ("fair_share_gpus", 4.0, 4.0, 8.0),
        ("fair_share_deficit_gpus", 4.0, 0.0, 0.0),
        ("reclaim_due", 0.0, 0.0, 0.0),
        ("weight", 1.0, 1.0, 1.0),
    ] {
        assert_eq!(
            [of_team(name, "team-a"), of_team(name, "team-b"), of_team(name, "lab")],
            [a, b, lab],
            "{name}"
        );
    }
    let of_pool = |name: &str| seen[&format!("reeve_pool_{name}{{pool=\"{POOL}\"}}")];
    for (name, value) in [
        ("capacity_gpus", 8.0),
        ("usable_gpus", 8.0),
        ("allocated_gpus", 8.0),
        ("free_gpus", 0.0),
        ("leaving_gpus", 0.0),
        ("guaranteed_gpus", 8.0),
        ("overcommitted", 0.0),
        ("pending_gpus", 5.0),
        ("pending_jobs", 2.0),
        ("loans", 1.0),
        ("loaned_gpus", 4.0),
        ("reclaims_waiting", 0.0),
    ] {
        assert_eq!(of_pool(name), value, "{name}");
    }
    assert_eq!(seen[&format!("reeve_pool_nodes{{pool=\"{POOL}\",state=\"ready\"}}")], 1.0);
    assert_eq!(seen["reeve_jobs{team=\"team-b\",state=\"running\"}"], 8.0);
    assert_eq!(seen["reeve_jobs{team=\"team-b\",state=\"queued\"}"], 1.0);
    assert_eq!((seen["reeve_database_up"], seen["reeve_quotas_left_out"]), (1.0, 0.0));
}

#[tokio::test]
async fn recalls_show_as_notices_and_what_is_gone_is_gone() {
    let app = lent_out().await;
    app.advance_secs(2_000);
    app.node.heartbeat().await;
    app.schedule().await;
    let seen = scrape(&app).await;
    let notice = format!("{{pool=\"{POOL}\",cause=\"reclaim\"}}");
    assert_eq!(seen[&format!("reeve_reclaim_notices{notice}")], 4.0);
    assert_eq!(seen[&format!("reeve_reclaim_notice_gpus{notice}")], 4.0);
    assert_eq!(seen[&format!("reeve_pool_leaving_gpus{{pool=\"{POOL}\"}}")], 4.0);
    assert_eq!(seen[&format!("reeve_quota_reclaim_due{{team=\"team-a\",pool=\"{POOL}\"}}")], 1.0);
    app.node.obey().await;
    app.schedule().await;
    let kept = scrape(&app).await;
    assert_eq!(kept, seen, "the database is asked once in five seconds");
    app.advance_secs(5);
    let later = scrape(&app).await;
    assert!(!later.contains_key(&format!("reeve_reclaim_notices{notice}")), "{later:?}");
    assert_eq!(later[&format!("reeve_quota_used_gpus{{team=\"team-a\",pool=\"{POOL}\"}}")], 4.0);
}

/// Every name is in the table, and the table names nothing that does not exist; no label tells of a job or a person.
#[tokio::test]
async fn names_are_documented_and_labels_are_of_few_kinds() {
    let app = lent_out().await;
    app.advance_secs(2_000);
    app.node.heartbeat().await;
    app.schedule().await;
    app.admin()
        .put(&format!("/quotas/other/{POOL}"), json!({"guaranteed_gpus": 0, "borrow_limit_gpus": 2}))
        .if_match(1)
        .await
        .expect(200);
    let seen = scrape(&app).await;
    let table = include_str!("../../backend/METRICS.md");
    let documented: BTreeSet<&str> = table.split('`').filter(|word| word.starts_with("reeve_")).collect();
    let name = |series: &str| series.split('{').next().unwrap_or_default().to_owned();
    let of_database = table.split("## From the database").nth(1).expect("a part");
    let of_database = of_database.split("\n## ").next().expect("its end");
    let promised: BTreeSet<String> =
        of_database.split('`').filter(|word| word.starts_with("reeve_")).map(str::to_owned).collect();
    let scraped: BTreeSet<String> = seen.keys().map(|series| name(series)).collect();
    assert_eq!(scraped, promised);
    for series in seen.keys() {
        assert!(documented.contains(name(series).as_str()), "{series} is not in METRICS.md");
        assert!(!series.contains("secret-project") && !series.contains("member"), "{series}");
        let labels = series.split('{').nth(1).unwrap_or_default().split("\",");
        for label in labels.filter(|label| label.contains('=')) {
            let label = label.split('=').next().unwrap_or_default();
            assert!(["team", "pool", "state", "cause"].contains(&label), "{series}");
        }
    }
}
