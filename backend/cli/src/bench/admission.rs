//! Section B: admission under quota, borrowing and reclaim, on the shapes of Kueue's published scalability runs
//! (`test/performance/scheduler` of kubernetes-sigs/kueue). Theirs measures its scheduler against an API server without
//! nodes; ours goes the whole way: REST, the planning loop with PostgreSQL's commits, simulated agents over the wire.
//!
//! A unit of quota is a GPU. Their runs have no nodes; ours are large and to spare, so that quota decides, not packing.
//! Jobs are submitted as pipelines would, a batch for each instant, each when it is due.

use super::report::{Report, Target};
use super::site::{Fleet, Site};
use anyhow::Context as _;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Jobs in a request: the API's limit.
const BATCH: usize = 1_000;
/// Given up after this long.
const PATIENCE: Duration = Duration::from_secs(1_500);

/// One kind of job of a run.
struct Class {
    name: &'static str,
    units: u64,
    each_team: usize,
    runs_secs: f64,
    every_secs: f64,
    priority: &'static str,
}

/// One of the published runs.
struct Shape {
    name: &'static str,
    trees: usize,
    teams: usize,
    classes: [Class; 3],
    /// Kueue's own figure, in seconds, from its CI.
    published_secs: f64,
    published_admission_secs: [f64; 3],
    target_secs: f64,
}

const fn class(
    name: &'static str,
    units: u64,
    each_team: usize,
    times: (f64, f64),
    priority: &'static str,
) -> Class {
    Class { name, units, each_team, runs_secs: times.0, every_secs: times.1, priority }
}

const SHAPES: [Shape; 2] = [
    Shape {
        name: "baseline",
        trees: 5,
        teams: 6,
        classes: [
            class("small", 1, 350, (0.2, 0.1), "low"),
            class("medium", 5, 100, (0.5, 0.5), "normal"),
            class("large", 20, 50, (1.0, 1.2), "high"),
        ],
        published_secs: 351.0,
        published_admission_secs: [215.5, 76.8, 16.5],
        target_secs: 80.0,
    },
    Shape {
        name: "large_scale",
        trees: 10,
        teams: 100,
        classes: [
            class("small", 1, 35, (0.15, 0.06), "low"),
            class("medium", 5, 11, (0.35, 0.3), "normal"),
            class("large", 20, 4, (0.7, 0.7), "high"),
        ],
        published_secs: 1_179.0,
        published_admission_secs: [700.4, 256.4, 105.6],
        target_secs: 120.0,
    },
];

/// Large nodes, and more of them than quotas add up to, which nobody may borrow.
const GPUS_A_NODE: u64 = 60;
const SPARE_PERCENT: u64 = 10;
const GUARANTEED: u64 = 20;
const BORROW_LIMIT: u64 = 100;

impl Shape {
    fn jobs(&self) -> usize {
        self.trees * self.teams * self.classes.iter().map(|class| class.each_team).sum::<usize>()
    }

    /// Work over quota: no schedule ends sooner.
    fn floor_secs(&self) -> f64 {
        let work: f64 = self
            .classes
            .iter()
            .map(|class| class.units as f64 * class.each_team as f64 * class.runs_secs)
            .sum();
        work / GUARANTEED as f64
    }

    /// When each job is due, and its request.
    fn due(&self) -> Vec<(Duration, Value)> {
        let mut due = Vec::with_capacity(self.jobs());
        for (tree, team) in (0..self.trees).flat_map(|tree| (0..self.teams).map(move |team| (tree, team))) {
            for class in &self.classes {
                for number in 0..class.each_team {
                    let slug = team_slug(tree, team);
                    let body = json!({
                        "name": format!("{}-{slug}-{number}", class.name), "team": slug, "kind": "batch",
                        "gpus": class.units, "priority": class.priority, "cpu_milli": 1, "memory_mib": 1,
                        "command": ["true"], "labels": {"class": class.name},
                        "env": {"REEVE_SIM_DURATION_SECS": class.runs_secs.to_string()},
                    });
                    due.push((Duration::from_secs_f64(number as f64 * class.every_secs), body));
                }
            }
        }
        due.sort_by_key(|(at, _)| *at);
        due
    }
}

fn team_slug(tree: usize, team: usize) -> String {
    format!("t{tree}-{team}")
}

pub(super) async fn measure(report: &mut Report) -> anyhow::Result<()> {
    for shape in &SHAPES {
        let mut site = Site::start().await?;
        set_up(&site, shape).await.with_context(|| format!("{}: setting up", shape.name))?;
        let guaranteed = (shape.trees * shape.teams) as u64 * GUARANTEED;
        let nodes = (guaranteed * (100 + SPARE_PERCENT)).div_ceil(100 * GPUS_A_NODE);
        site.start_fleet("b", &Fleet { nodes: usize::try_from(nodes)?, gpus: GPUS_A_NODE }).await?;
        let result = run(report, &site, shape).await;
        site.stop().await;
        result.with_context(|| shape.name.to_owned())?;
    }
    Ok(())
}

/// A department a tree, whose teams borrow from each other only.
async fn set_up(site: &Site, shape: &Shape) -> anyhow::Result<()> {
    site.post("/pools", &json!({"slug": "b", "name": "B"})).await?;
    let policy = site.get("/policy").await?;
    let mut document = policy["document"].clone();
    for rules in document["kinds"].as_object_mut().context("a policy without kinds")?.values_mut() {
        rules["min_runtime_secs"] = json!(0);
        rules["grace_secs"] = json!(0);
        rules["ceiling"] = json!("high");
    }
    site.put_policy(&policy["version"], &document).await?;
    for tree in 0..shape.trees {
        let department = format!("d{tree}");
        site.post("/teams", &json!({"slug": department, "name": department})).await?;
        let guaranteed = GUARANTEED * shape.teams as u64;
        site.put_quota(&department, "b", &json!({"guaranteed_gpus": guaranteed, "borrow_limit_gpus": 0}))
            .await?;
        for team in 0..shape.teams {
            let slug = team_slug(tree, team);
            site.post("/teams", &json!({"slug": slug, "name": slug, "parent": department})).await?;
            let quota = json!({"guaranteed_gpus": GUARANTEED, "borrow_limit_gpus": BORROW_LIMIT});
            site.put_quota(&slug, "b", &quota).await?;
            site.post("/queues", &json!({"slug": slug, "name": slug, "team": slug})).await?;
        }
    }
    Ok(())
}

async fn run(report: &mut Report, site: &Site, shape: &Shape) -> anyhow::Result<()> {
    let start = Instant::now();
    submit_all(site, shape, start).await?;
    report.add(shape.name, "submitted_after_secs", start.elapsed().as_secs_f64(), Target::None);
    loop {
        let counts = site.get("/jobs?limit=1&count=true").await?["counts"].clone();
        if counts["succeeded"].as_u64() == Some(shape.jobs() as u64) {
            break;
        }
        anyhow::ensure!(counts["failed"].as_u64().unwrap_or(0) == 0, "jobs failed: {counts}");
        anyhow::ensure!(start.elapsed() < PATIENCE, "not done after {} s: {counts}", PATIENCE.as_secs());
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let took = start.elapsed().as_secs_f64();
    report.add(shape.name, "jobs", shape.jobs() as f64, Target::None);
    report.add(shape.name, "arithmetic_floor_secs", shape.floor_secs(), Target::None);
    report.add(shape.name, "kueue_published_secs", shape.published_secs, Target::None);
    report.add(shape.name, "total_secs", took, Target::AtMost(shape.target_secs));
    waits(report, site, shape).await?;
    planner(report, site, shape).await?;
    let violations = site.violations().await?;
    report.add(shape.name, "violations", violations as f64, Target::AtMost(0.0));
    Ok(())
}

/// Each job when it is due; what is late goes at once, many a request.
async fn submit_all(site: &Site, shape: &Shape, start: Instant) -> anyhow::Result<()> {
    let mut due = shape.due().into_iter().peekable();
    while let Some((at, _)) = due.peek() {
        tokio::time::sleep_until((start + *at).into()).await;
        let now = start.elapsed();
        let mut batch = Vec::new();
        while batch.len() < BATCH
            && let Some((_, job)) = due.next_if(|(at, _)| *at <= now)
        {
            batch.push(job);
        }
        site.post("/jobs/batch", &json!({ "jobs": batch })).await?;
    }
    Ok(())
}

/// Mean seconds from submission until the job runs (of an evicted one: until its last run), by class.
async fn waits(report: &mut Report, site: &Site, shape: &Shape) -> anyhow::Result<()> {
    let mut evictions = 0;
    for (class, published) in shape.classes.iter().zip(shape.published_admission_secs) {
        let (mut waited, mut jobs, mut cursor) = (0.0, 0_u64, String::new());
        loop {
            let page = site.get(&format!("/jobs?limit=200&label=class={}{cursor}", class.name)).await?;
            for job in page["items"].as_array().context("a page without items")? {
                waited += seconds_between(job, "submitted_at", "started_at")?;
                jobs += 1;
                evictions += job["eviction_count"].as_u64().unwrap_or(0);
            }
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        let mean = waited / jobs.max(1) as f64;
        report.add(shape.name, format!("{}_submit_to_running_secs", class.name), mean, Target::None);
        report.add(shape.name, format!("{}_admission_kueue_secs", class.name), published, Target::None);
    }
    report.add(shape.name, "evictions", evictions as f64, Target::None);
    Ok(())
}

fn seconds_between(job: &Value, from: &str, to: &str) -> anyhow::Result<f64> {
    let time = |field: &str| -> anyhow::Result<chrono::DateTime<chrono::Utc>> {
        job[field].as_str().and_then(|text| text.parse().ok()).with_context(|| format!("{field}: {job}"))
    };
    Ok((time(to)? - time(from)?).as_seconds_f64())
}

/// The planner's own part, as the server counts it.
async fn planner(report: &mut Report, site: &Site, shape: &Shape) -> anyhow::Result<()> {
    let text = site.metrics().await?;
    let sum = |prefix: &str| -> f64 {
        let of_metric = text.lines().filter(|line| line.starts_with(prefix));
        of_metric.filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok()).sum()
    };
    report.add(shape.name, "ticks", sum("reeve_tick_seconds_count"), Target::None);
    report.add(shape.name, "ticks_secs", sum("reeve_tick_seconds_sum"), Target::None);
    for phase in ["load", "plan", "apply"] {
        let seconds = sum(&format!("reeve_tick_phase_seconds_sum{{phase=\"{phase}\"}}"));
        report.add(shape.name, format!("ticks_{phase}_secs"), seconds, Target::None);
    }
    Ok(())
}
