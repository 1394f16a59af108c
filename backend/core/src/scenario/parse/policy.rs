//! The `policy` section: what it changes, in the order in which it is written.

use super::super::format::{PolicyChange as Change, PolicyPatch};
use super::super::read::{Fields, Read, boolean, duration_secs, integer, list, map, nullable, text, word};
use super::super::yaml::{FormatError, Key, Node};
use crate::kind::Kind;
use crate::policy::{
    Backfill, Consolidation, IdleOverrides, KindOverrides, Rebalance, RuleOverrides, TimeWindow,
};
use crate::priority::PriorityClass;

const KEYS: &[&str] = &[
    "reclaim",
    "preempt_within_team",
    "borrow_preemption",
    "rebalance",
    "surplus_order",
    "placement",
    "grace",
    "min_runtime",
    "nomination_timeout",
    "backfill",
    "consolidation",
    "max_evictions_per_job_per_day",
    "kinds",
    "team_rules",
    "queue_rules",
];

const KIND_KEYS: &[&str] =
    &["grace", "min_runtime", "default_priority", "ceiling", "may_borrow", "time_window"];
const WINDOW_KEYS: &[&str] = &["days", "from", "until", "zone"];

pub(super) fn policy(node: &Node) -> Read<PolicyPatch> {
    let fields = Fields::of(node, "policy", KEYS)?;
    let mut changes = Vec::new();
    for (key, value) in fields.in_order() {
        match key.text.as_str() {
            "reclaim" => changes.push(Change::Reclaim(word(value)?)),
            "preempt_within_team" => changes.push(Change::PreemptWithinTeam(word(value)?)),
            "borrow_preemption" => changes.push(Change::BorrowPreemption(borrow_preemption(value)?)),
            "rebalance" => changes.push(Change::Rebalance(rebalance(value)?)),
            "surplus_order" => changes.push(Change::SurplusOrder(word(value)?)),
            "placement" => changes.push(Change::Placement(word(value)?)),
            "grace" => changes.push(Change::Grace(not_negative(value)?)),
            "min_runtime" => changes.push(Change::MinRuntime(not_negative(value)?)),
            "nomination_timeout" => changes.push(Change::NominationTimeout(not_negative(value)?)),
            "backfill" => changes.push(Change::Backfill(backfill(value)?)),
            "consolidation" => changes.push(Change::Consolidation(consolidation(value)?)),
            "max_evictions_per_job_per_day" => changes.push(Change::MaxEvictionsPerDay(integer(value)?)),
            _ => {}
        }
    }
    // A kind's own value wins over the shorthand, wherever in the section it stands.
    if let Some(kinds) = fields.get("kinds") {
        changes.extend(overrides(kinds, "kinds")?.into_iter().map(|(kind, own)| Change::Kind(kind, own)));
    }
    for (key, change) in [("team_rules", Change::Team as fn(_, _) -> _), ("queue_rules", Change::Queue)] {
        let Some(node) = fields.get(key) else { continue };
        for (name, value) in map(node, key)? {
            changes.push(change(name.text.clone(), overrides(value, "rules by kind")?));
        }
    }
    Ok(PolicyPatch { changes })
}

fn overrides(node: &Node, what: &str) -> Read<KindOverrides> {
    let of_kind = |(key, value): &(Key, Node)| {
        let kind = key.text.parse::<Kind>().map_err(|error| FormatError::new(key.at, error.to_string()))?;
        Ok((kind, kind_rules(value)?))
    };
    map(node, what)?.iter().map(of_kind).collect()
}

fn kind_rules(node: &Node) -> Read<RuleOverrides> {
    let fields = Fields::of(node, "a kind's rules", KIND_KEYS)?;
    Ok(RuleOverrides {
        default_priority: fields.read("default_priority", word)?,
        ceiling: fields.read("ceiling", word)?,
        min_runtime_secs: fields.read("min_runtime", not_negative)?,
        grace_secs: fields.read("grace", not_negative)?,
        may_borrow: fields.read("may_borrow", boolean)?,
        time_window: fields.read("time_window", |node| nullable(node, time_window))?,
        idle: IdleOverrides::default(),
    })
}

/// `{days: [mon, tue], from: "22:00", until: "06:00", zone: Asia/Shanghai}`, as in the policy document.
fn time_window(node: &Node) -> Read<TimeWindow> {
    let fields = Fields::of(node, "a time window", WINDOW_KEYS)?;
    let mut document = serde_json::Map::new();
    for key in ["from", "until", "zone"] {
        if let Some(value) = fields.read(key, text)? {
            document.insert(key.to_owned(), value.into());
        }
    }
    if let Some(days) = fields.get("days") {
        let days: Vec<&str> = list(days, "days")?.iter().map(text).collect::<Read<_>>()?;
        document.insert("days".to_owned(), days.into());
    }
    serde_json::from_value(document.into()).map_err(|error| FormatError::new(node.at, error.to_string()))
}

fn not_negative(node: &Node) -> Read<i64> {
    let secs = duration_secs(node)?;
    if secs < 0 {
        return Err(FormatError::new(node.at, "this duration can't be negative"));
    }
    Ok(secs)
}

/// `off`, `{max_class: low}` or `{max_priority: -3}`: the highest priority that may be preempted.
fn borrow_preemption(node: &Node) -> Read<Option<i32>> {
    if text(node).is_ok_and(|word| word == "off") {
        return Ok(None);
    }
    let fields = Fields::of(node, "borrow_preemption", &["max_class", "max_priority"])?;
    let class = fields.read("max_class", word::<PriorityClass>)?.map(|class| class.value().0);
    let number = fields.read("max_priority", integer::<i32>)?;
    match (class, number) {
        (Some(max), None) | (None, Some(max)) => Ok(Some(max)),
        _ => Err(FormatError::new(node.at, "borrow_preemption takes `off`, `max_class` or `max_priority`")),
    }
}

/// `off`, `on` (no cap) or `{max_evictions_per_hour: 60}`.
fn rebalance(node: &Node) -> Read<Rebalance> {
    match text(node) {
        Ok("off") => return Ok(Rebalance::Off),
        Ok("on") => return Ok(Rebalance::On { max_evictions_per_hour: None }),
        _ => {}
    }
    let fields = Fields::of(node, "rebalance", &["max_evictions_per_hour"])?;
    let cap = fields.read("max_evictions_per_hour", |node| nullable(node, integer::<u32>))?.flatten();
    Ok(Rebalance::On { max_evictions_per_hour: cap })
}

/// `off`, `on` (no cap) or `{max_moves_per_hour: 10}`.
fn consolidation(node: &Node) -> Read<Consolidation> {
    match text(node) {
        Ok("off") => return Ok(Consolidation::Off),
        Ok("on") => return Ok(Consolidation::On { max_moves_per_hour: None }),
        _ => {}
    }
    let fields = Fields::of(node, "consolidation", &["max_moves_per_hour"])?;
    let cap = fields.read("max_moves_per_hour", |node| nullable(node, integer::<u32>))?.flatten();
    Ok(Consolidation::On { max_moves_per_hour: cap })
}

/// `off`, `on` or `{planned_jobs: 4, starvation_limit: 12h, window: 24h}`; `starvation_limit: null` = never.
fn backfill(node: &Node) -> Read<Backfill> {
    match text(node) {
        Ok("off") => return Ok(Backfill::Off),
        Ok("on") => return Ok(Backfill::default()),
        _ => {}
    }
    let fields = Fields::of(node, "backfill", &["planned_jobs", "starvation_limit", "window"])?;
    let Backfill::On { planned_jobs, starvation_limit_secs, window_secs } = Backfill::default() else {
        return Ok(Backfill::Off);
    };
    let limit = fields.read("starvation_limit", |node| nullable(node, not_negative))?;
    Ok(Backfill::On {
        planned_jobs: fields.or("planned_jobs", planned_jobs, integer)?,
        starvation_limit_secs: limit.unwrap_or(starvation_limit_secs),
        window_secs: fields.or("window", window_secs, not_negative)?,
    })
}
