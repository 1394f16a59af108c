//! The report as one HTML page that needs nothing else: no script, no font, no host.
//!
//! A section a policy, the policies beside each other at the top. Pictures show GPUs in use, waiting and on loan, and
//! recalls, over time. This module refuses to judge: it shows figures as they are.

use crate::figures::{Figures, TeamFigures};
use crate::picture::{Curve, Frame, escape, line, stacked, svg};
use crate::series::{Series, TeamSeries};
use std::fmt::Write;

/// Teams with a picture of their own; more would be a wall.
const MOST_TEAMS: usize = 24;
/// Teams with a colour of their own; the others are one.
const COLOURS: usize = 10;

/// One policy and what came of it.
#[derive(Debug, Clone)]
pub struct Told<'a> {
    pub name: &'a str,
    pub figures: &'a Figures,
    pub series: &'a Series,
}

/// The whole page. `workload` says in a sentence what was run.
#[must_use]
pub fn page(workload: &str, told: &[Told<'_>]) -> String {
    let mut body = String::new();
    let _ = write!(body, "<h1>What this policy would have done</h1><p>{}</p>", escape(workload));
    let totals: Vec<(&str, &Figures)> = told.iter().map(|told| (told.name, told.figures)).collect();
    body.push_str(&comparison(&totals));
    for told in told {
        section(&mut body, told);
    }
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>Reeve simulation</title><style>{STYLE}</style><main>{body}</main></html>"
    )
}

/// A title, and what is shown of a policy's figures.
type Row = (&'static str, fn(&Figures) -> String);

fn comparison(totals: &[(&str, &Figures)]) -> String {
    let mut table = String::from("<table><tr><th></th>");
    for (name, _) in totals {
        let _ = write!(table, "<th>{}</th>", escape(name));
    }
    table.push_str("</tr>");
    let rows: [Row; 12] = [
        ("Jobs", |all| all.total.jobs.to_string()),
        ("Never started", |all| all.total.never_started.to_string()),
        ("Mean wait until start", |all| duration(all.total.wait_mean_secs)),
        ("95 % start within", |all| duration(all.total.wait_p95_secs)),
        ("Mean time in line, evictions included", |all| duration(all.total.waited_mean_secs)),
        ("Allocated", |all| format!("{:.1} %", all.allocated_percent)),
        ("Waiting, on average", |all| format!("{:.2} GPUs", all.mean_waiting_gpus)),
        ("On loan", |all| format!("{:.0} GPU-hours", all.total.borrowed_gpu_hours)),
        ("Evictions", |all| evictions(&all.total)),
        ("Work lost", |all| format!("{:.1} GPU-hours", all.total.work_lost_gpu_hours)),
        ("Waited below the guarantee", |all| {
            format!("{:.1} GPU-hours", all.total.waiting_below_guarantee_gpu_hours)
        }),
        ("… beyond minimum run time and grace", |all| format!("{:.1} min", all.total.denied_minutes)),
    ];
    for (title, value) in rows {
        let _ = write!(table, "<tr><td>{title}</td>");
        for (_, figures) in totals {
            let _ = write!(table, "<td>{}</td>", escape(&value(figures)));
        }
        table.push_str("</tr>");
    }
    table.push_str("</table>");
    table
}

fn section(body: &mut String, told: &Told<'_>) {
    let _ = write!(body, "<h2>{}</h2>", escape(told.name));
    let series = &told.series.without_tail();
    let tail = told.series.capacity_gpus.len() - series.capacity_gpus.len();
    if tail > 0 {
        let _ = write!(
            body,
            "<p>The last jobs ran on for {} after these pictures end.</p>",
            duration(tail as f64 * series.span_secs)
        );
    }
    let spans = series.capacity_gpus.len();
    let most = series.capacity_gpus.iter().copied().fold(0.0, f64::max);
    let wide =
        |height: f64, most: f64| Frame { width: 960.0, height, most, spans, span_secs: series.span_secs };
    let frame = wide(220.0, most);
    let (curves, legend) = use_by_team(series);
    let capacity = Curve { name: "capacity", class: "limit".into(), values: series.capacity_gpus.clone() };
    let drawn = stacked(&frame, &curves) + &line(&frame, &capacity);
    figure(body, "GPUs in use, by team", &svg(&frame, "GPUs in use", &drawn), &legend);

    let waiting = series.total(|team| &team.waiting_gpus);
    let borrowed = series.total(|team| &team.borrowed_gpus);
    for (title, class, values) in [("GPUs waited for", "wait", waiting), ("GPUs on loan", "loan", borrowed)] {
        let frame = wide(110.0, values.iter().copied().fold(1.0, f64::max));
        let drawn = stacked(&frame, &[Curve { name: title, class: class.into(), values }]);
        figure(body, title, &svg(&frame, title, &drawn), "");
    }
    let evictions: Vec<f64> = series.evictions.iter().map(|&count| f64::from(count)).collect();
    let frame = wide(90.0, evictions.iter().copied().fold(1.0, f64::max));
    let title = format!("Evictions per {}", duration(series.span_secs));
    let drawn = stacked(&frame, &[Curve { name: &title, class: "evict".into(), values: evictions }]);
    figure(body, &title, &svg(&frame, &title, &drawn), "");

    body.push_str(&team_table(&told.figures.teams, &told.figures.total));
    team_pictures(body, series);
}

fn figure(body: &mut String, title: &str, picture: &str, legend: &str) {
    let _ = write!(body, "<figure><figcaption>{}{legend}</figcaption>{picture}</figure>", escape(title));
}

/// Teams by use, largest first.
fn by_use(series: &Series) -> Vec<&TeamSeries> {
    let mut teams: Vec<&TeamSeries> = series.teams.iter().collect();
    let used = |team: &TeamSeries| team.used_gpus.iter().sum::<f64>();
    teams.sort_by(|left, right| used(right).total_cmp(&used(left)));
    teams
}

fn use_by_team(series: &Series) -> (Vec<Curve<'_>>, String) {
    let teams = by_use(series);
    let mut curves = Vec::new();
    let mut legend = String::new();
    let (shown, others) = teams.split_at(teams.len().min(COLOURS));
    for (at, team) in shown.iter().enumerate() {
        let _ = write!(legend, " <b class=\"k{at}\">■</b> {}", escape(&team.team));
        curves.push(Curve { name: &team.team, class: format!("c{at}"), values: team.used_gpus.clone() });
    }
    if !others.is_empty() {
        let mut values = vec![0.0; series.capacity_gpus.len()];
        for team in others {
            values.iter_mut().zip(&team.used_gpus).for_each(|(sum, value)| *sum += value);
        }
        let _ = write!(legend, " <b class=\"kx\">■</b> {} others", others.len());
        curves.push(Curve { name: "others", class: "cx".into(), values });
    }
    (curves, legend)
}

/// Per team: use inside the guarantee, on loan, waiting, and the guarantee as a line.
fn team_pictures(body: &mut String, series: &Series) {
    let teams = by_use(series);
    let _ = write!(
        body,
        "<h3>Teams</h3><p>GPUs <b class=\"kown\">■</b> inside the guarantee, <b class=\"kloan\">■</b> on loan, \
         <b class=\"kwait\">■</b> waited for; the line is the guarantee.{}</p><div class=\"teams\">",
        if teams.len() > MOST_TEAMS {
            format!(" The {MOST_TEAMS} with most use of {}.", teams.len())
        } else {
            String::new()
        }
    );
    for team in teams.into_iter().take(MOST_TEAMS) {
        let own: Vec<f64> =
            team.used_gpus.iter().zip(&team.borrowed_gpus).map(|(used, borrowed)| used - borrowed).collect();
        let sums = team.used_gpus.iter().zip(&team.waiting_gpus).map(|(used, waiting)| used + waiting);
        let frame = Frame {
            width: 470.0,
            height: 120.0,
            most: sums.fold(team.guaranteed_gpus.max(1.0), f64::max),
            spans: own.len(),
            span_secs: series.span_secs,
        };
        let curve =
            |name, class: &str, values: &[f64]| Curve { name, class: class.into(), values: values.to_vec() };
        let guarantee = vec![team.guaranteed_gpus; own.len()];
        let drawn = stacked(
            &frame,
            &[
                curve("inside the guarantee", "own", &own),
                curve("on loan", "loan", &team.borrowed_gpus),
                curve("waited for", "wait", &team.waiting_gpus),
            ],
        ) + &line(&frame, &curve("guarantee", "limit", &guarantee));
        figure(body, &team.team, &svg(&frame, &team.team, &drawn), "");
    }
    body.push_str("</div>");
}

fn team_table(teams: &[TeamFigures], total: &TeamFigures) -> String {
    let mut table = String::from(
        "<div class=\"scroll\"><table><tr><th>Team</th><th>Guaranteed</th><th>Jobs</th><th>Never started</th>\
         <th>GPU-hours</th><th>Wait mean</th><th>p50</th><th>p95</th><th>max</th><th>Borrowed</th><th>Lent</th>\
         <th>Evictions</th><th>Work lost</th><th>Below guarantee</th></tr>",
    );
    for team in teams.iter().chain([total]) {
        let _ = write!(
            table,
            "<tr><td>{}</td><td>{:.0}</td><td>{}</td><td>{}</td><td>{:.0}</td><td>{}</td><td>{}</td><td>{}</td>\
             <td>{}</td><td>{:.0}</td><td>{:.0}</td><td class=\"wrap\">{}</td><td>{:.1}</td><td>{:.1}</td></tr>",
            escape(&team.team),
            team.guaranteed_gpus,
            team.jobs,
            team.never_started,
            team.gpu_hours,
            duration(team.wait_mean_secs),
            duration(team.wait_p50_secs),
            duration(team.wait_p95_secs),
            duration(team.wait_max_secs),
            team.borrowed_gpu_hours,
            team.lent_gpu_hours,
            escape(&evictions(team)),
            team.work_lost_gpu_hours,
            team.waiting_below_guarantee_gpu_hours,
        );
    }
    table.push_str("</table></div>");
    table
}

/// `3 reclaim, 1 preemption`, or `0`.
#[must_use]
pub fn evictions(team: &TeamFigures) -> String {
    if team.evictions.is_empty() {
        return "0".to_owned();
    }
    let parts: Vec<String> = team.evictions.iter().map(|(cause, count)| format!("{count} {cause}")).collect();
    parts.join(", ")
}

/// Seconds as people say them.
#[must_use]
pub fn duration(secs: f64) -> String {
    match secs {
        secs if secs < 120.0 => format!("{secs:.0} s"),
        secs if secs < 7_200.0 => format!("{:.1} min", secs / 60.0),
        secs if secs < 172_800.0 => format!("{:.1} h", secs / 3_600.0),
        secs => format!("{:.1} d", secs / 86_400.0),
    }
}

const STYLE: &str = "\
:root{color-scheme:light dark;--bg:#fff;--fg:#1c2024;--soft:#60646c;--grid:#e0e3e7;--limit:#1c2024;\
--own:#3e7bd6;--loan:#e5932f;--wait:#d05a6e;--evict:#8e5bc4}\
@media(prefers-color-scheme:dark){:root{--bg:#15171a;--fg:#e7e9ec;--soft:#a0a6ae;--grid:#30343a;--limit:#e7e9ec;\
--own:#5b96ee;--loan:#f0a94e;--wait:#e77c8e;--evict:#ae83de}}\
body{margin:0;background:var(--bg);color:var(--fg);font:14px/1.5 system-ui,sans-serif}\
main{max-width:1000px;margin:0 auto;padding:16px 20px 60px}h1{font-size:24px}h2{font-size:20px;margin:36px 0 8px}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums}th,td{padding:3px 10px;text-align:right;\
border-bottom:1px solid var(--grid);white-space:nowrap}th:first-child,td:first-child{text-align:left}\
.wrap{white-space:normal;min-width:130px}th{color:var(--soft);font-weight:600}.scroll{overflow-x:auto}figure{margin:14px 0}figcaption{color:var(--soft)}\
figcaption b,p b{font-weight:400}svg{width:100%;display:block}svg text{fill:var(--soft);font-size:10.5px}\
.grid{stroke:var(--grid);fill:none}.limit{stroke:var(--limit);fill:none;stroke-dasharray:4 3}\
.own{fill:var(--own)}.loan{fill:var(--loan)}.wait{fill:var(--wait)}.evict{fill:var(--evict)}\
.kown{color:var(--own)}.kloan{color:var(--loan)}.kwait{color:var(--wait)}\
.teams{display:grid;grid-template-columns:repeat(auto-fit,minmax(420px,1fr));gap:6px 20px}.teams figure{margin:0}\
.c0{fill:#3e7bd6}.c1{fill:#2f9e75}.c2{fill:#e5932f}.c3{fill:#8e5bc4}.c4{fill:#d05a6e}.c5{fill:#3aa6b9}\
.c6{fill:#b08c2e}.c7{fill:#6f7fd9}.c8{fill:#c065ab}.c9{fill:#7a9a3a}.cx{fill:#8b9097}\
.k0{color:#3e7bd6}.k1{color:#2f9e75}.k2{color:#e5932f}.k3{color:#8e5bc4}.k4{color:#d05a6e}.k5{color:#3aa6b9}\
.k6{color:#b08c2e}.k7{color:#6f7fd9}.k8{color:#c065ab}.k9{color:#7a9a3a}.kx{color:#8b9097}";
