//! Which jobs started, leave, wait, were refused, ended.

use super::super::format::{Jobs, StateWord};
use super::super::world::World;
use super::super::yaml::Pos;
use super::{Met, Miss, StepFacts, count, equal, known, miss, number, plain};
use crate::eviction::EvictionCause;
use crate::id::{JobId, TeamId};
use crate::reason::{Explanation, ReasonCode};
use crate::schedule::snapshot::Job;
use std::collections::BTreeMap;

/// Name and team of the jobs that are so.
type Found = BTreeMap<String, TeamId>;

fn compare(what: &str, wanted: &Jobs, found: &Found, new: &Found, facts: &StepFacts<'_>) -> Met {
    match wanted {
        Jobs::Exactly(names) => {
            let mut expected = names.clone();
            expected.sort();
            let got: Vec<&str> = found.keys().map(String::as_str).collect();
            equal(what, &shown(expected.iter().map(String::as_str)), &shown(got.into_iter()))
        }
        Jobs::Count { bound, team, new: only_new } => {
            let found = if *only_new { new } else { found };
            let counted = match team {
                Some(name) => of_team(name, found, facts)?,
                None => found.keys().cloned().collect(),
            };
            let what = format!("{what} (count) among {}", shown(counted.iter().map(String::as_str)));
            number(what, *bound, count(counted.len()), &plain)
        }
        Jobs::Teams(teams) => {
            for (team, bound) in teams {
                let counted = of_team(team, found, facts)?;
                let what = format!("{what} of {team} among {}", shown(counted.iter().map(String::as_str)));
                number(what, *bound, count(counted.len()), &plain)?;
            }
            Ok(())
        }
    }
}

fn of_team(name: &str, found: &Found, facts: &StepFacts<'_>) -> Result<Vec<String>, Miss> {
    let team = known(facts.world.team(name, Pos::default()))?;
    Ok(found.iter().filter(|(_, of)| **of == team).map(|(name, _)| name.clone()).collect())
}

fn shown<'a>(names: impl Iterator<Item = &'a str>) -> String {
    format!("[{}]", names.collect::<Vec<_>>().join(", "))
}

fn ids(found: impl Iterator<Item = JobId>, world: &World) -> Found {
    found
        .filter_map(|id| {
            let alive = world.cluster.job(id).map(|job| (job.name.clone(), job.team));
            alive.or_else(|| world.cluster.ended.get(&id).map(|job| (job.name.clone(), job.team)))
        })
        .collect()
}

pub(super) fn started(wanted: &Jobs, facts: &StepFacts<'_>) -> Met {
    let found = ids(facts.started.iter().copied(), facts.world);
    compare("started", wanted, &found, &found, facts)
}

/// Asked to leave by an eviction (not by their user), and not yet gone.
fn leaving(facts: &StepFacts<'_>) -> Found {
    let evicted = |job: &&Job| {
        let causes =
            job.members.iter().filter_map(|member| member.leaving.as_ref()).map(|leaving| leaving.cause);
        causes.flatten().next().is_some()
    };
    let jobs = facts.world.cluster.snapshot.jobs.iter();
    jobs.filter(evicted).map(|job| (job.name.clone(), job.team)).collect()
}

pub(super) fn evicting(wanted: &Jobs, facts: &StepFacts<'_>) -> Met {
    let new = facts.world.cluster.evictions[facts.evictions_before..].iter();
    let new: Found = new.map(|note| (note.name.clone(), note.team)).collect();
    compare("evicting", wanted, &leaving(facts), &new, facts)
}

pub(super) fn not_evicting(names: &[String], facts: &StepFacts<'_>, at: Pos) -> Met {
    let leaving = leaving(facts);
    for name in names {
        known(facts.world.job_id(name, at))?;
        if leaving.contains_key(name) {
            return miss(format!("not_evicting {name}"), "it stays", "it is asked to leave");
        }
    }
    Ok(())
}

pub(super) fn evicted(wanted: &Jobs, facts: &StepFacts<'_>) -> Met {
    let gone = |notes: &[super::super::cluster::EvictionNote]| -> Found {
        notes.iter().filter(|note| note.gone).map(|note| (note.name.clone(), note.team)).collect()
    };
    let all = &facts.world.cluster.evictions;
    compare("evicted", wanted, &gone(all), &gone(&all[facts.evictions_before..]), facts)
}

fn explanation<'a>(id: JobId, facts: &'a StepFacts<'_>) -> Option<&'a Explanation> {
    facts.plan.waiting.iter().find(|(waiting, _)| *waiting == id).map(|(_, explanation)| explanation)
}

/// The main reason of a waiting job, or a word for why there is none.
fn reason(id: JobId, facts: &StepFacts<'_>) -> String {
    let state = state_of(facts.world, id);
    if state != "pending" {
        return format!("it is {state}");
    }
    let with_numbers = |found: &Explanation| super::super::explain::reason(found);
    explanation(id, facts).map_or_else(|| "pending without a reason".into(), with_numbers)
}

pub(super) fn pending_reasons(wanted: &[(String, ReasonCode)], facts: &StepFacts<'_>, at: Pos) -> Met {
    for (name, code) in wanted {
        if facts.refused.contains_key(name) {
            return miss(format!("pending {name}"), code.as_str(), "it was refused");
        }
        let id = known(facts.world.job_id(name, at))?;
        let pending = facts.world.cluster.job(id).is_some_and(Job::is_pending);
        if !pending || explanation(id, facts).map(|found| found.main.code) != Some(*code) {
            return miss(format!("pending {name}"), code.as_str(), reason(id, facts));
        }
    }
    Ok(())
}

pub(super) fn pending(wanted: &Jobs, facts: &StepFacts<'_>) -> Met {
    let jobs = facts.world.cluster.snapshot.jobs.iter().filter(|job| job.is_pending());
    let found: Found = jobs.map(|job| (job.name.clone(), job.team)).collect();
    compare("pending", wanted, &found, &found, facts)
}

/// Refused at submit, or kept with a reason that no waiting can cure: Reeve queues a job that is over a
/// limit, and says so, where another system would turn it away.
pub(super) fn refused_reasons(wanted: &[(String, ReasonCode)], facts: &StepFacts<'_>, at: Pos) -> Met {
    for (name, code) in wanted {
        let what = format!("refused {name}");
        if let Some(refusal) = facts.refused.get(name) {
            if refusal.code != *code {
                return miss(what, code.as_str(), format!("{} ({})", refusal.code, refusal.text));
            }
            continue;
        }
        let id = known(facts.world.job_id(name, at))?;
        let kept = explanation(id, facts).map(|found| found.main.code).filter(|&code| is_incurable(code));
        if kept != Some(*code) {
            return miss(what, code.as_str(), reason(id, facts));
        }
    }
    Ok(())
}

fn is_incurable(code: ReasonCode) -> bool {
    matches!(code, ReasonCode::Invalid | ReasonCode::NeverFits | ReasonCode::OverCap)
}

pub(super) fn refused(wanted: &Jobs, facts: &StepFacts<'_>) -> Met {
    let mut found = Found::new();
    for name in facts.refused.keys() {
        // Which team's it would have been is not kept: a refused job is in no list.
        found.insert(name.clone(), TeamId(uuid::Uuid::nil()));
    }
    let named = |name: &String| match wanted {
        Jobs::Exactly(names) => names.contains(name),
        _ => false,
    };
    for (id, why) in &facts.plan.waiting {
        if let Some(job) = facts.world.cluster.job(*id)
            && is_incurable(why.main.code)
            && named(&job.name)
        {
            found.insert(job.name.clone(), job.team);
        }
    }
    compare("refused", wanted, &found, &found, facts)
}

pub(super) fn causes(wanted: &[(String, EvictionCause)], facts: &StepFacts<'_>, at: Pos) -> Met {
    for (name, cause) in wanted {
        let id = known(facts.world.job_id(name, at))?;
        let latest = facts.world.cluster.evictions.iter().rev().find(|note| note.job == id);
        let got = latest.map_or("it was never evicted", |note| note.cause.as_str());
        equal(format!("cause of {name}"), cause.as_str(), got)?;
    }
    Ok(())
}

/// The scenario's word for where a job stands.
pub(in super::super) fn state_of(world: &World, id: JobId) -> &'static str {
    use super::super::cluster::End;
    if let Some(ended) = world.cluster.ended.get(&id) {
        return match ended.end {
            End::Succeeded => "succeeded",
            End::Failed => "failed",
            End::Cancelled => "cancelled",
        };
    }
    match world.cluster.job(id) {
        None => "unknown",
        Some(job) if job.is_pending() => "pending",
        Some(job) if job.members.iter().all(|member| member.leaving.is_some()) => "leaving",
        Some(_) => "running",
    }
}

pub(super) fn states(wanted: &[(String, StateWord)], facts: &StepFacts<'_>, at: Pos) -> Met {
    for (name, word) in wanted {
        let id = known(facts.world.job_id(name, at))?;
        let expected = match word {
            StateWord::Succeeded => "succeeded",
            StateWord::Failed => "failed",
            StateWord::Cancelled => "cancelled",
            StateWord::Pending => "pending",
            StateWord::Running => "running",
            StateWord::Leaving => "leaving",
        };
        equal(format!("state of {name}"), expected, state_of(facts.world, id))?;
    }
    Ok(())
}
