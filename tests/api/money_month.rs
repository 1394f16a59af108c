//! A month of twenty teams, simulated by the product's planner and laid into the database as a server would have recorded it:
//! ledger, statements, FOCUS and XLSX say the same, and all of it is capacity × time.

use crate::money_tools::{export, ledger};
use chrono::{DateTime, TimeDelta, Utc};
use reeve_core::money::decimal::{Cost, parse, parse_micros};
use reeve_core::policy::Policy;
use reeve_core::schedule::snapshot::Snapshot;
use reeve_sim::engine::{Options, Outcome, simulate};
use reeve_sim::generate::Parameters;
use reeve_sim::setup::of_tenants;
use reeve_sim::workload::{SECOND, Workload};
use reeve_tests::TestApp;
use reeve_tests::app::text;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::{Cursor, Read};
use uuid::Uuid;

const NODES: u32 = 10;
const GPUS: u32 = NODES * 8;
const TEAMS: u32 = 20;
const MONTH_HOURS: i64 = 31 * 24;

/// The simulation begins with January.
fn origin() -> DateTime<Utc> {
    "2026-01-01T00:00:00Z".parse().expect("a time")
}

struct Month {
    snapshot: Snapshot,
    workload: Workload,
    outcome: Outcome,
}

fn simulated() -> Month {
    let asked =
        Parameters { nodes: NODES, node_gpus: 8, teams: TEAMS, jobs: 700, days: 30.5, load: 0.85, seed: 4 };
    let snapshot = of_tenants(&asked.tenants(), NODES, 8, Policy::default());
    let workload = asked.workload();
    let options = Options { plan_every: 1_800 * SECOND, intervals: true, ..Options::default() };
    let outcome = simulate(&snapshot, &workload, &options, |_| {}).expect("simulates");
    Month { snapshot, workload, outcome }
}

fn at(micros: i64) -> DateTime<Utc> {
    origin() + TimeDelta::microseconds(micros)
}

/// Ids that are the same wherever they are asked for.
fn id(kind: u128, number: u128) -> Uuid {
    Uuid::from_u128((kind << 96) | (7 << 76) | (8 << 60) | number)
}

impl Month {
    fn team(&self, place: usize) -> Uuid {
        self.snapshot.teams[place].id.0
    }

    /// By task: its team's place in the cluster.
    fn place(&self, task: usize) -> usize {
        let name = &self.workload.teams[self.workload.tasks[task].team];
        self.snapshot.teams.iter().position(|team| team.slug == *name).expect("a team")
    }

    /// Everything as rows.
    fn sql(&self) -> String {
        let mut sql = String::new();
        let pool = self.snapshot.pools[0].id.0;
        let begin = origin();
        // What began in January may run on.
        let end = begin + TimeDelta::days(59);
        writeln!(sql, "insert into pools (id, slug, name, created_at, updated_at) values ('{pool}', 'sim', 'Sim', '{begin}', '{begin}');").expect("text");
        for team in &self.snapshot.teams {
            let (id, slug) = (team.id.0, &team.slug);
            writeln!(sql, "insert into teams (id, slug, name, created_at, updated_at) values ('{id}', '{slug}', '团队 {slug}', '{begin}', '{begin}');").expect("text");
        }
        for queue in &self.snapshot.queues {
            let (id, slug, team) = (queue.id.0, &queue.slug, queue.team.0);
            writeln!(sql, "insert into queues (id, team_id, slug, name, created_at, updated_at) values ('{id}', '{team}', 'sim-{slug}', '{slug}', '{begin}', '{begin}');").expect("text");
        }
        for quota in &self.snapshot.quotas {
            let (team, gpus) = (quota.team.0, quota.guaranteed.floor_gpus());
            writeln!(sql, "insert into guarantee_intervals (id, pool_id, team_id, gpu_milli, started_at, ended_at)
                select gen_random_uuid(), '{pool}', '{team}', {gpus} * 1000, '{begin}', '{end}' where {gpus} > 0;").expect("text");
        }
        writeln!(
            sql,
            "insert into capacity_intervals (id, pool_id, gpu_milli, down_milli, started_at, ended_at)
            values (gen_random_uuid(), '{pool}', {GPUS} * 1000, 0, '{begin}', '{end}');"
        )
        .expect("text");
        self.jobs(&mut sql);
        for loan in &self.outcome.intervals.loans {
            let (_, borrower, lender) = loan.of;
            let lender = lender.map_or_else(|| "null".to_owned(), |lender| format!("'{}'", lender.0));
            writeln!(sql, "insert into loans (id, pool_id, borrower_team_id, lender_team_id, gpu_milli, started_at, ended_at)
                values (gen_random_uuid(), '{pool}', '{}', {lender}, {}, '{}', '{}');",
                borrower.0, loan.milli, at(loan.from), at(loan.to)).expect("text");
        }
        sql
    }

    fn jobs(&self, sql: &mut String) {
        let pool = self.snapshot.pools[0].id.0;
        for (task, job) in self.workload.tasks.iter().enumerate() {
            let place = self.place(task);
            let queue =
                self.snapshot.queues.iter().find(|queue| queue.team.0 == self.team(place)).expect("a queue");
            let kind = job.kind.expect("a kind");
            let class = self.snapshot.policy.rules(kind).default_priority;
            writeln!(sql, "insert into jobs (id, team_id, queue_id, user_id, name, kind, priority_class, state, gpus, cpu_milli,
                    memory_mib, min_replicas, max_replicas, checkpoint, command, submitted_at, finished_at, updated_at)
                select '{}', '{}', '{}', id, '{}', '{kind}', '{class}', 'succeeded', {}, 0, 0, 1, 1, 'none', '{{true}}',
                       '{submitted}', '{submitted}', '{submitted}' from users where username = 'admin';",
                id(1, task as u128), self.team(place), queue.id.0, job.name, job.gpus.max(1), submitted = at(job.at)).expect("text");
        }
        for held in &self.outcome.intervals.held {
            let (job, run) =
                (id(1, held.of.task as u128), id(2, (held.of.task as u128) << 32 | u128::from(held.of.run)));
            let task = &self.workload.tasks[held.of.task];
            let kind = task.kind.expect("a kind");
            let class = self.snapshot.policy.rules(kind).default_priority;
            let (from, to) = (at(held.from), at(held.to));
            writeln!(sql, "insert into runs (id, job_id, number, state, pool_id, placed_at, ended_at)
                values ('{run}', '{job}', {}, 'succeeded', '{pool}', '{from}', '{to}') on conflict do nothing;
                insert into usage_intervals (id, run_id, job_id, team_id, pool_id, kind, priority_class, gpu_milli, started_at, ended_at)
                values (gen_random_uuid(), '{run}', '{job}', '{}', '{pool}', '{kind}', '{class}', {}, '{from}', '{to}');",
                held.of.run, self.team(self.place(held.of.task)), held.milli).expect("text");
        }
    }

    /// What each team held in January, in milli-GPU-milliseconds, counted from the simulation alone.
    fn held(&self) -> BTreeMap<String, i128> {
        let month = TimeDelta::days(31).num_milliseconds();
        let mut held = BTreeMap::new();
        for one in &self.outcome.intervals.held {
            let (from, to) = (one.from.div_euclid(1_000).min(month), one.to.div_euclid(1_000).min(month));
            let slug = self.snapshot.teams[self.place(one.of.task)].slug.clone();
            *held.entry(slug).or_default() += i128::from(one.milli) * i128::from(to - from);
        }
        held
    }
}

fn prices() -> Value {
    let price = |share: &str, class: Option<&str>, from: &str, price: &str| json!({"pool": "sim", "share": share, "priority_class": class, "valid_from": from, "price_per_gpu_hour": price});
    json!({"currency": "CNY", "prices": [
        price("guaranteed", None, "2026-01-01", "17.333333"),
        price("guaranteed", Some("low"), "2026-01-01", "11.7"),
        price("guaranteed", None, "2026-01-16", "18.05"),
        price("loan", None, "2026-01-01", "8.000001"),
        price("idle", None, "2026-01-01", "3.141592"),
        price("lent", None, "2026-01-01", "2.718281"),
    ]})
}

async fn asked(app: &TestApp, format: &str) -> Vec<u8> {
    let finance = app.user("finance");
    let body = json!({"kind": "usage_export", "format": format, "month": "2026-01"});
    let made = finance.post("/operations", body).await.ok();
    export(app, &finance, &format!("/operations/{}", text(&made["id"]))).await
}

/// By team's slug; nobody's is empty.
type Totals = BTreeMap<String, Cost>;

fn cents(totals: &Totals) -> BTreeMap<String, i128> {
    totals.iter().map(|(team, cost)| (team.clone(), cost.cents())).collect()
}

/// Rows of a CSV file by their columns' names.
fn csv_rows(file: &[u8]) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(file);
    reader.deserialize().collect::<Result<_, _>>().expect("CSV")
}

fn focus_totals(rows: &[BTreeMap<String, String>]) -> Totals {
    let mut totals = Totals::new();
    let mut hours = 0;
    for row in rows {
        let cost = parse(&row["BilledCost"], 12).expect("a decimal");
        *totals.entry(row["SubAccountId"].clone()).or_default() += Cost(cost);
        assert_eq!(row["BilledCost"], row["EffectiveCost"]);
        if row["ChargeCategory"] == "Usage" {
            let quantity = parse(&row["PricingQuantity"], 6).expect("a decimal");
            let price = parse(&row["ListUnitPrice"], 6).expect("a decimal");
            assert_eq!(quantity * price, cost, "{row:?}");
            hours += quantity;
        } else {
            assert_eq!((row["ChargeCategory"].as_str(), cost <= 0), ("Credit", true));
        }
    }
    assert_eq!(
        hours,
        i128::from(GPUS) * i128::from(MONTH_HOURS) * 1_000_000,
        "the rows add up to the whole pool"
    );
    totals
}

/// The totals of a workbook's first sheet: cells by their letters.
fn sheet_totals(file: &[u8]) -> BTreeMap<String, i128> {
    let mut archive = zip::ZipArchive::new(Cursor::new(file)).expect("a workbook");
    let mut xml = String::new();
    archive.by_name("xl/worksheets/sheet1.xml").expect("a sheet").read_to_string(&mut xml).expect("text");
    let mut totals = BTreeMap::new();
    for row in xml.split("<row ").skip(1) {
        let mut cells = BTreeMap::new();
        for cell in row.split("<c r=\"").skip(1) {
            let letters: String = cell.chars().take_while(char::is_ascii_alphabetic).collect();
            let value = between(cell, "<v>", "</v>").or_else(|| {
                let inner = between(cell, "<is>", "</is>")?;
                between(inner, ">", "</t>")
            });
            cells.insert(letters, value.unwrap_or_default().to_owned());
        }
        if cells.get("C").map(String::as_str) == Some("total") {
            let amount: f64 = cells["L"].parse().expect("a number");
            #[expect(clippy::cast_possible_truncation, reason = "cents of a month")]
            let cents = (amount * 100.0).round() as i128;
            totals.insert(cells.get("B").cloned().unwrap_or_default(), cents);
        }
    }
    totals
}

fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(from)?;
    rest.split_once(to).map(|(inside, _)| inside)
}

#[tokio::test]
async fn statement_focus_and_workbook_agree_to_the_cent_and_the_ledger_is_capacity_times_time() {
    let month = tokio::task::spawn_blocking(simulated).await.expect("simulated");
    assert!(month.outcome.intervals.loans.len() > 100, "teams borrow");
    let app = TestApp::start().await;
    app.sql(&month.sql()).await;
    let finance = app.user("finance");
    finance.put("/prices", prices()).if_match(0).await.expect(200);
    ledger(&app).await;

    // The ledger is capacity × time, and what teams held.
    let usage = finance.get("/usage?from=2026-01-01&to=2026-02-01&pool=sim").await.ok();
    let micros = |value: &Value| parse_micros(text(value)).expect("a decimal");
    let shares = ["guaranteed_gpu_hours", "borrowed_gpu_hours", "idle_gpu_hours", "down_gpu_hours"];
    let whole: i64 = shares.iter().map(|share| micros(&usage["totals"][share])).sum();
    assert_eq!(whole, i64::from(GPUS) * MONTH_HOURS * 1_000_000);
    assert_ne!(usage["totals"]["borrowed_gpu_hours"], "0.000000", "somebody borrowed");
    for (team, amount) in month.held() {
        let row = usage["items"].as_array().expect("rows").iter().find(|row| row["team"]["slug"] == team);
        let row = row.unwrap_or_else(|| panic!("{team} is missing"));
        let billed = i128::from(micros(&row["guaranteed_gpu_hours"]) + micros(&row["borrowed_gpu_hours"]));
        // Each line is rounded to a millionth of an hour.
        assert!((billed * 3_600 - amount).abs() < 3_600 * 10_000, "{team}: {billed} {amount}");
    }

    // Statement, FOCUS, CSV and XLSX.
    let statements = finance.get("/statements?month=2026-01").await.ok();
    let statement: Totals = statements["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|item| {
            let team = item["team"]["slug"].as_str().unwrap_or_default().to_owned();
            (team, Cost::parse(text(&item["total_exact"])).expect("a decimal"))
        })
        .collect();
    assert!(statement.len() >= usize::try_from(TEAMS).expect("small"));
    let focus = asked(&app, "focus").await;
    std::fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/focus.csv"), &focus).expect("for the validator");
    let rows = csv_rows(&focus);
    let of_focus = focus_totals(&rows);
    assert_eq!(of_focus, statement, "exactly, not only to the cent");
    let csv = csv_rows(&asked(&app, "csv").await);
    let of_csv: BTreeMap<String, i128> = csv
        .iter()
        .filter(|row| row["line"] == "total")
        .map(|row| (row["team"].clone(), parse(&row["cost"], 2).expect("cents")))
        .collect();
    assert_eq!(of_csv, cents(&statement));
    assert_eq!(sheet_totals(&asked(&app, "xlsx").await), cents(&statement));
    let jsonl = asked(&app, "jsonl").await;
    let lines = String::from_utf8(jsonl).expect("text");
    assert_eq!(lines.lines().count(), csv.len());
    assert!(lines.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    let total: Cost = statement.iter().filter(|(team, _)| !team.is_empty()).map(|(_, cost)| *cost).sum();
    assert_eq!(statements["total"], total.to_the_cent());
}
