//! The `policy` section: what it changes, in the order in which it is written.

use super::super::format::{PolicyChange as Change, PolicyPatch};
use super::super::read::{Fields, Read, boolean, duration_secs, integer, map, nullable, text, word};
use super::super::yaml::{FormatError, Node};
use crate::kind::Kind;
use crate::policy::Rebalance;
use crate::priority::PriorityClass;

const KEYS: &[&str] = &[
    "reclaim",
    "preempt_within_team",
    "borrow_preemption",
    "rebalance",
    "surplus_order",
    "grace",
    "min_runtime",
    "nomination_timeout",
    "backfill",
    "consolidation",
    "max_evictions_per_job_per_day",
    "kinds",
];

const KIND_KEYS: &[&str] = &["grace", "min_runtime", "default_priority", "ceiling", "may_borrow"];

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
            "grace" => changes.push(Change::Grace(None, not_negative(value)?)),
            "min_runtime" => changes.push(Change::MinRuntime(None, not_negative(value)?)),
            "nomination_timeout" => changes.push(Change::NominationTimeout(not_negative(value)?)),
            "backfill" => backfill(value)?,
            "consolidation" => boolean(value).map(|_| ())?,
            "max_evictions_per_job_per_day" => changes.push(Change::MaxEvictionsPerDay(integer(value)?)),
            _ => {}
        }
    }
    // A kind's own value wins over the shorthand, wherever in the section it stands.
    if let Some(kinds) = fields.get("kinds") {
        for (key, value) in map(kinds, "kinds")? {
            let kind: Kind = key
                .text
                .parse()
                .map_err(|error: crate::status::UnknownText| FormatError::new(key.at, error.to_string()))?;
            kind_rules(kind, value, &mut changes)?;
        }
    }
    Ok(PolicyPatch { changes })
}

fn kind_rules(kind: Kind, node: &Node, changes: &mut Vec<Change>) -> Read<()> {
    let fields = Fields::of(node, "a kind's rules", KIND_KEYS)?;
    for (key, value) in fields.in_order() {
        changes.push(match key.text.as_str() {
            "grace" => Change::Grace(Some(kind), not_negative(value)?),
            "min_runtime" => Change::MinRuntime(Some(kind), not_negative(value)?),
            "default_priority" => Change::DefaultPriority(kind, word(value)?),
            "ceiling" => Change::Ceiling(kind, word(value)?),
            _ => Change::MayBorrow(kind, boolean(value)?),
        });
    }
    Ok(())
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

fn backfill(node: &Node) -> Read<()> {
    if text(node).is_ok_and(|word| matches!(word, "off" | "on")) {
        return Ok(());
    }
    let fields = Fields::of(node, "backfill", &["planned_jobs", "starvation_limit"])?;
    fields.read("planned_jobs", integer::<u32>)?;
    fields.read("starvation_limit", not_negative)?;
    Ok(())
}
