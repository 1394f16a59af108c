//! `expect`: lists mean exactly these, maps name what is asserted, numbers may be bounded.

use super::super::format::{Amount, Bound, Expect, Expectation as E, Jobs, Place, StateWord};
use super::super::read::{
    Fields, Read, boolean, duration_secs, integer, map, names, owned, text, thousandths, word,
};
use super::super::yaml::{FormatError, Node, Value};

const KEYS: &[&str] = &[
    "started",
    "evicting",
    "not_evicting",
    "evicted",
    "pending",
    "refused",
    "causes",
    "placed",
    "replicas",
    "state",
    "usage",
    "loans",
    "lent",
    "evictions_total",
    "eta",
    "numbers",
    "pool_mode",
    "plan_again_is_empty",
];

pub(super) fn expect(node: &Node) -> Read<Expect> {
    let fields = Fields::of(node, "expect", KEYS)?;
    let mut all = Vec::new();
    for (key, value) in fields.in_order() {
        if let Some(expectation) = expectation(&key.text, value)? {
            all.push((key.at, expectation));
        }
    }
    Ok(Expect { at: node.at, all })
}

fn expectation(name: &str, value: &Node) -> Read<Option<E>> {
    Ok(Some(match name {
        "started" => E::Started(jobs(value)?),
        "evicting" => E::Evicting(jobs(value)?),
        "not_evicting" => E::NotEvicting(names(value)?),
        "evicted" => E::Evicted(jobs(value)?),
        "pending" if is_reasons(value) => E::PendingReasons(pairs(value, word)?),
        "pending" => E::Pending(jobs(value)?),
        "refused" if is_reasons(value) => E::RefusedReasons(pairs(value, word)?),
        "refused" => E::Refused(jobs(value)?),
        "causes" => E::Causes(pairs(value, word)?),
        "placed" => E::Placed(pairs(value, place)?),
        "replicas" => E::Replicas(pairs(value, |node| bound(node, integer::<i64>))?),
        "state" => E::State(pairs(value, state)?),
        "usage" => E::Usage(pairs(value, amount)?),
        "loans" => E::Loans(pairs(value, amount)?),
        "lent" => E::Lent(pairs(value, amount)?),
        "evictions_total" => E::EvictionsTotal(bound(value, integer::<i64>)?),
        "eta" => E::Eta(pairs(value, eta)?),
        "numbers" => E::Numbers(pairs(value, |node| pairs(node, |node| bound(node, integer::<i64>)))?),
        "pool_mode" => E::PoolMode(pool_mode(value)?),
        _ if boolean(value)? => E::PlanAgainIsEmpty,
        _ => return Ok(None),
    }))
}

fn pairs<T>(node: &Node, read: impl Fn(&Node) -> Read<T>) -> Read<Vec<(String, T)>> {
    map(node, "this expectation")?.iter().map(|(key, value)| Ok((key.text.clone(), read(value)?))).collect()
}

/// A map from jobs to reasons, as against one of the counting forms (`{count: 2}`, `{team: 2}`).
fn is_reasons(node: &Node) -> bool {
    let Value::Map(entries) = &node.value else { return false };
    let counts = |value: &Node| bound(value, integer::<i64>).is_ok();
    !entries.iter().all(|(key, value)| matches!(key.text.as_str(), "count" | "team" | "new") || counts(value))
}

/// `3`, `{min: 1}`, `{max: 4}` or both.
fn bound(node: &Node, read: impl Fn(&Node) -> Read<i64>) -> Read<Bound> {
    if matches!(node.value, Value::Map(_)) {
        let fields = Fields::of(node, "a bound", &["min", "max"])?;
        return Ok(Bound { min: fields.read("min", &read)?, max: fields.read("max", &read)? });
    }
    let exact = read(node)?;
    Ok(Bound { min: Some(exact), max: Some(exact) })
}

fn jobs(node: &Node) -> Read<Jobs> {
    let Value::Map(entries) = &node.value else { return names(node).map(Jobs::Exactly) };
    let counting = ["count", "team", "new", "min", "max"];
    if !entries.iter().any(|(key, _)| matches!(key.text.as_str(), "count" | "new" | "min" | "max")) {
        let by_team = pairs(node, |node| bound(node, integer::<i64>))?;
        return Ok(Jobs::Teams(by_team));
    }
    let fields = Fields::of(node, "a count of jobs", &counting)?;
    let mut wanted =
        fields.read("count", |node| bound(node, integer::<i64>))?.unwrap_or(Bound { min: None, max: None });
    wanted.min = fields.read("min", integer::<i64>)?.or(wanted.min);
    wanted.max = fields.read("max", integer::<i64>)?.or(wanted.max);
    if wanted.min.is_none() && wanted.max.is_none() {
        return Err(FormatError::new(node.at, "a count of jobs needs `count`, `min` or `max`"));
    }
    Ok(Jobs::Count {
        bound: wanted,
        team: fields.read("team", owned)?,
        new: fields.or("new", false, boolean)?,
    })
}

fn place(node: &Node) -> Read<Place> {
    let Value::Map(entries) = &node.value else { return names(node).map(Place::Nodes) };
    if let [(key, level)] = entries.as_slice()
        && key.text == "same"
    {
        return owned(level).map(Place::Same);
    }
    pairs(node, owned).map(Place::At)
}

fn state(node: &Node) -> Read<StateWord> {
    Ok(match text(node)? {
        "succeeded" => StateWord::Succeeded,
        "failed" => StateWord::Failed,
        "cancelled" => StateWord::Cancelled,
        "pending" => StateWord::Pending,
        "running" => StateWord::Running,
        "leaving" => StateWord::Leaving,
        other => return Err(FormatError::new(node.at, format!("`{other}` is no state of a job"))),
    })
}

fn amount(node: &Node) -> Read<Amount> {
    if let Value::Map(entries) = &node.value
        && !entries.iter().all(|(key, _)| matches!(key.text.as_str(), "min" | "max"))
    {
        return pairs(node, |node| bound(node, thousandths)).map(Amount::By);
    }
    bound(node, thousandths).map(Amount::Total)
}

/// A duration from now, a bound on it, or `unknown`.
fn eta(node: &Node) -> Read<Option<Bound>> {
    if text(node).is_ok_and(|word| word == "unknown") {
        return Ok(None);
    }
    bound(node, duration_secs).map(Some)
}

fn pool_mode(node: &Node) -> Read<Vec<(Option<String>, crate::schedule::plan::PoolMode)>> {
    if matches!(node.value, Value::Map(_)) {
        let pairs = pairs(node, word)?;
        return Ok(pairs.into_iter().map(|(pool, mode)| (Some(pool), mode)).collect());
    }
    Ok(vec![(None, word(node)?)])
}
