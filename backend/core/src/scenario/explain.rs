//! A step's decisions and reasons as lines for people, with the file's own names.
//!
//! Sentences for the console are made at the edge, in two languages; these lines are for whoever writes
//! a scenario, and no program should read them.

use super::cluster::Cluster;
use super::format::{Action, Pick, Step};
use crate::id::JobId;
use crate::reason::{Explanation, Obstacle};
use crate::schedule::plan::{Eviction, Plan, Reclaim, Start, TeamShare};
use crate::schedule::snapshot::{Placement, Snapshot};
use chrono::{DateTime, Utc};
use std::collections::BTreeMap;

pub(super) fn clock(now: DateTime<Utc>) -> String {
    now.format("%d %H:%M:%S").to_string()
}

/// `submit a1, a2; wait 1800 s`.
pub(super) fn title(step: &Step) -> String {
    let titles: Vec<String> = step.actions.iter().map(|(_, action)| action_title(action)).collect();
    if titles.is_empty() { "plan".into() } else { titles.join("; ") }
}

fn action_title(action: &Action) -> String {
    let pick = |pick: &Pick| match pick {
        Pick::All => "all".to_owned(),
        Pick::Names(names) => names.join(", "),
    };
    match action {
        Action::Submit(jobs) => {
            format!("submit {}", jobs.iter().map(|job| job.name.as_str()).collect::<Vec<_>>().join(", "))
        }
        Action::Vacate(jobs) => format!("vacate {}", pick(jobs)),
        Action::Wait(secs) => format!("wait {secs} s"),
        Action::Cycles(count) => format!("{count} cycles"),
        Action::Set(set) => {
            let teams = set.teams.iter().map(|team| team.name.as_str());
            let queues = set.queues.iter().map(|queue| queue.name.as_str());
            let jobs = set.priorities.iter().map(|(name, _)| name.as_str());
            format!("set {}", teams.chain(queues).chain(jobs).collect::<Vec<_>>().join(", "))
        }
        Action::Node(nodes) => {
            let nodes: Vec<String> =
                nodes.iter().map(|(name, command)| format!("{name} {command:?}")).collect();
            format!("node {}", nodes.join(", "))
        }
        Action::Finish(jobs) => format!("finish {}", pick(jobs)),
        Action::Fail(jobs) => format!("fail {}", pick(jobs)),
        Action::Cancel(jobs) => format!("cancel {}", pick(jobs)),
        Action::Checkpoint(jobs) => format!("checkpoint {}", pick(jobs)),
    }
}

/// What a plan decides; call before it is applied.
pub(super) fn decisions(plan: &Plan, cluster: &Cluster) -> Vec<String> {
    let snapshot = &cluster.snapshot;
    let mut lines: Vec<String> = plan.starts.iter().map(|start| started(start, snapshot)).collect();
    lines.extend(plan.reclaims.iter().flat_map(|reclaim| reclaimed(reclaim, snapshot)));
    lines.extend(
        plan.dropped
            .iter()
            .map(|dropped| format!("drop nomination of {}: {}", job(dropped.job, snapshot), dropped.why)),
    );
    lines
}

/// Why the others wait.
pub(super) fn waiting(plan: &Plan, cluster: &Cluster) -> Vec<String> {
    plan.waiting
        .iter()
        .map(|(id, explanation)| format!("wait  {}: {}", job(*id, &cluster.snapshot), reason(explanation)))
        .collect()
}

fn started(start: &Start, snapshot: &Snapshot) -> String {
    let verb = if start.grow { "grow " } else { "start" };
    format!("{verb} {} on {}", job(start.job, snapshot), places(&start.members, snapshot))
}

/// `n1×8 n2×8`.
fn places(members: &[Placement], snapshot: &Snapshot) -> String {
    let place = |member: &Placement| {
        let name = snapshot.nodes.iter().find(|node| node.id == member.node).map_or("?", |node| &node.name);
        format!("{name}×{}", member.gpus.len())
    };
    members.iter().map(place).collect::<Vec<_>>().join(" ")
}

fn reclaimed(reclaim: &Reclaim, snapshot: &Snapshot) -> Vec<String> {
    reclaim.evictions.iter().map(|eviction| evicted(eviction, reclaim, snapshot)).collect()
}

fn evicted(eviction: &Eviction, reclaim: &Reclaim, snapshot: &Snapshot) -> String {
    let record = &eviction.record;
    let asker = reclaim.evictor.map_or_else(|| "nobody".into(), |id| job(id, snapshot));
    let members =
        if eviction.surplus_only { format!(" (members {:?} only)", eviction.members) } else { String::new() };
    let runner_up = record.runner_up.as_ref().map_or_else(String::new, |other| {
        format!("; rather than {} by {}", job(other.job, snapshot), other.decided_by)
    });
    let home = match record.moves_to.as_slice() {
        [] => String::new(),
        members => format!("; runs again on {}", places(members, snapshot)),
    };
    format!(
        "evict {}{members} for {asker}: {}, rule {}, tier {}, {} GPU-s lost, 1 of {}{runner_up}{home}; shares {} → {}",
        job(eviction.job, snapshot),
        eviction.cause,
        record.rule,
        record.tier,
        record.lost_gpu_secs,
        record.candidates,
        shares(&record.shares_before, snapshot),
        shares(&record.shares_after, snapshot),
    )
}

fn shares(shares: &[TeamShare], snapshot: &Snapshot) -> String {
    let one = |share: &TeamShare| {
        let name = snapshot.teams.iter().find(|team| team.id == share.team).map_or("?", |team| &team.slug);
        format!("{name} {}/{}", share.used.as_gpus(), share.guaranteed.as_gpus())
    };
    shares.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// `no_quota {asks: 4, free: 2} (team_cap); also fragmented {…}; help …`.
pub(super) fn reason(explanation: &Explanation) -> String {
    let mut text = obstacle(&explanation.main);
    for other in &explanation.others {
        text.push_str("; also ");
        text.push_str(&obstacle(other));
    }
    if let Some(help) = &explanation.help {
        text.push_str(&format!("; help {help:?}"));
    }
    text
}

fn obstacle(obstacle: &Obstacle) -> String {
    let numbers: Vec<String> =
        obstacle.numbers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    let detail = obstacle.detail.as_ref().map_or_else(String::new, |detail| format!(" ({detail})"));
    format!("{} {{{}}}{detail}", obstacle.code, numbers.join(", "))
}

fn job(id: JobId, snapshot: &Snapshot) -> String {
    snapshot.jobs.iter().find(|job| job.id == id).map_or_else(|| id.to_string(), |job| job.name.clone())
}

/// A text in which ids are replaced by the names of what they identify.
pub(super) fn with_names(text: &str, snapshot: &Snapshot) -> String {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    names.extend(snapshot.jobs.iter().map(|job| (job.id.to_string(), job.name.clone())));
    names.extend(snapshot.teams.iter().map(|team| (team.id.to_string(), team.slug.clone())));
    names.extend(snapshot.pools.iter().map(|pool| (pool.id.to_string(), pool.slug.clone())));
    for node in &snapshot.nodes {
        names.insert(node.id.to_string(), node.name.clone());
        names
            .extend(node.gpus.iter().map(|gpu| (gpu.id.to_string(), format!("{}#{}", node.name, gpu.index))));
    }
    names.iter().fold(text.to_owned(), |text, (id, name)| text.replace(id.as_str(), name))
}
