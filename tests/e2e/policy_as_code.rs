//! `reeve export`, `diff` and `apply` against a real server: what was exported changes nothing, what is applied is there,
//! and the second time there is nothing to do.

use crate::cli::Cli;
use crate::site::Site;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_is_exported_compared_and_applied() {
    let site = Site::start().await;
    let cli = Cli::of(&site, &["read", "write", "admin"]).await;
    let file = site.folder.path().join("reeve.yaml");
    let path = file.display().to_string();
    let exported = cli.said(&["export"]);
    std::fs::write(&file, &exported).expect("written");
    assert_eq!(cli.said(&["diff", "-f", &path]), "", "what was exported is what stands");
    assert_eq!(cli.said(&["apply", "-f", &path]), "nothing to change\n");

    // A department over team a, whose guarantee has to be there before the child's may stay.
    let wanted = r#"
teams:
  dept: {name: Department}
  a: {parent: dept}
  c: {name: Team C, parent: dept}
quotas:
  c/p: {guaranteed_gpus: 1}
  dept/p: {guaranteed_gpus: 6}
queues:
  c-main: {team: c, name: Main, allowed_kinds: [batch]}
priority_budgets:
  c: {gpu_hours: 50}
"#;
    std::fs::write(&file, wanted).expect("written");
    let output = cli.run(&["diff", "-f", &path]);
    assert_eq!(output.status.code(), Some(1), "they differ");
    let lines = String::from_utf8(output.stdout).expect("UTF-8");
    for line in [
        "~ teams a: parent null → \"dept\"",
        "+ quotas c/p: {\"guaranteed_gpus\":1}",
        "+ priority_budgets c: {\"gpu_hours\":50}",
    ] {
        assert!(lines.lines().any(|found| found == line), "{line} is not in\n{lines}");
    }
    let dry = cli.said(&["apply", "-f", &path, "--dry-run"]);
    assert_eq!(dry.lines().filter(|line| line.starts_with(['+', '~', '-'])).count(), lines.lines().count());
    assert_eq!(
        site.admin.get("/teams").await["items"].as_array().expect("items").len(),
        2,
        "nothing was changed"
    );
    assert!(cli.said(&["apply", "-f", &path]).ends_with("7 changed\n"));
    assert_eq!(cli.said(&["apply", "-f", &path]), "nothing to change\n", "the second time");
    assert_eq!(site.admin.get("/teams/a").await["parent"]["slug"], "dept");
    assert_eq!(site.admin.get("/priority-budgets").await["items"][0]["gpu_hours"], 50);

    // The policy: what it leaves out is the product's default; every version has its author.
    std::fs::write(&file, "policy: {reclaim: lower_priority}\n").expect("written");
    let dry = cli.said(&["apply", "-f", &path, "--dry-run"]);
    assert!(dry.contains("~ policy: reclaim \"any\" → \"lower_priority\""), "{dry}");
    assert!(dry.contains("would start 0"), "{dry}");
    cli.said(&["apply", "-f", &path]);
    assert_eq!(site.admin.get("/policy").await["document"]["reclaim"], "lower_priority");
    assert_eq!(cli.said(&["diff", "-f", &path]), "");

    prices(&site, &cli, &path).await;

    // What a section does not name goes only when it is asked for.
    std::fs::write(&file, "priority_budgets: {}\n").expect("written");
    assert_eq!(cli.said(&["apply", "-f", &path]), "nothing to change\n");
    assert_eq!(cli.said(&["apply", "-f", &path, "--prune"]), "- priority_budgets c\n1 changed\n");
    std::fs::write(&file, "teams: {x: {nme: X}}\n").expect("written");
    let wrong = cli.run(&["diff", "-f", &path]);
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("teams.x.nme: no such field"));
}

/// The price book: entry by entry, however a price is written; what is not named goes, since the book is one thing.
async fn prices(site: &Site, cli: &Cli, path: &str) {
    let book = r#"
prices:
  currency: CNY
  prices:
    - {pool: p, share: guaranteed, valid_from: 2026-01-01, price_per_gpu_hour: 12.5}
    - {pool: p, share: loan, priority_class: low, valid_from: 2026-01-01, price_per_gpu_hour: "4"}
"#;
    std::fs::write(path, book).expect("written");
    let differs = String::from_utf8(cli.run(&["diff", "-f", path]).stdout).expect("UTF-8");
    for line in [
        "~ prices: currency \"\" → \"CNY\"",
        "~ prices: prices.p guaranteed any 2026-01-01 null → \"12.50\"",
        "~ prices: prices.p loan low 2026-01-01 null → \"4.00\"",
    ] {
        assert!(differs.lines().any(|found| found == line), "{line} is not in\n{differs}");
    }
    assert!(cli.said(&["apply", "-f", path]).ends_with("1 changed\n"));
    assert_eq!(site.admin.get("/prices").await["version"], 1);
    assert_eq!(cli.said(&["diff", "-f", path]), "");
    let only = cli.said(&["export", "--only", "prices"]);
    std::fs::write(path, &only).expect("written");
    assert_eq!(cli.said(&["apply", "-f", path]), "nothing to change\n");
    std::fs::write(path, only.replace("12.50", "13")).expect("written");
    let dearer = cli.said(&["apply", "-f", path]);
    let line = "~ prices: prices.p guaranteed any 2026-01-01 \"12.50\" → \"13.00\"\n1 changed\n";
    assert_eq!(dearer, line);
}
