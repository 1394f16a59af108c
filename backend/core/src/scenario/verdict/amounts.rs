//! GPUs: used, borrowed, lent; a reason's numbers; a pool's mode.

use super::super::format::{Amount, Bound};
use super::super::yaml::Pos;
use super::{Met, Miss, StepFacts, equal, gpus, known, miss, number, plain};
use crate::id::{PoolId, TeamId};
use crate::schedule::plan::PoolMode;
use crate::units::MilliGpu;

/// Held by the team and everybody below it, leaving members included.
fn used(team: TeamId, pool: Option<PoolId>, facts: &StepFacts<'_>) -> i64 {
    let snapshot = &facts.world.cluster.snapshot;
    let below = below(team, facts);
    let in_pool = |node| {
        let found = snapshot.nodes.iter().find(|found| found.id == node).map(|node| node.pool);
        pool.is_none() || found == pool
    };
    let jobs = snapshot.jobs.iter().filter(|job| below.contains(&job.team));
    let members = jobs.flat_map(|job| &job.members).filter(|member| in_pool(member.node));
    members.flat_map(|member| &member.gpus).map(|slice| slice.milli).sum::<MilliGpu>().0
}

fn below(team: TeamId, facts: &StepFacts<'_>) -> Vec<TeamId> {
    let mut found = vec![team];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        let children = facts.world.cluster.snapshot.teams.iter().filter(|child| child.parent == Some(parent));
        found.extend(children.map(|child| child.id));
        next += 1;
    }
    found
}

pub(super) fn usage(wanted: &[(String, Amount)], facts: &StepFacts<'_>, at: Pos) -> Met {
    for (name, amount) in wanted {
        let team = known(facts.world.team(name, at))?;
        match amount {
            Amount::Total(bound) => {
                number(format!("usage of {name}"), *bound, used(team, None, facts), &gpus)?
            }
            Amount::By(pools) => {
                for (pool_name, bound) in pools {
                    let pool = known(facts.world.pool(pool_name, at))?;
                    let what = format!("usage of {name} in {pool_name}");
                    number(what, *bound, used(team, Some(pool), facts), &gpus)?;
                }
            }
        }
    }
    Ok(())
}

/// What the last plan says that `borrower` has of `lender`; a department's loans are its use above its
/// guarantee.
fn borrowed(team: TeamId, pool: Option<PoolId>, lender: Option<TeamId>, facts: &StepFacts<'_>) -> i64 {
    if below(team, facts).len() > 1 && lender.is_none() {
        let quotas = facts.world.cluster.snapshot.quotas.iter();
        let quotas = quotas.filter(|quota| quota.team == team && pool.is_none_or(|pool| pool == quota.pool));
        return quotas.map(|quota| (used(team, Some(quota.pool), facts) - quota.guaranteed.0).max(0)).sum();
    }
    let loans = facts.plan.loans.iter().filter(|loan| loan.borrower == team);
    let loans = loans.filter(|loan| pool.is_none_or(|pool| loan.pool == pool));
    loans.filter(|loan| lender.is_none() || loan.lender == lender).map(|loan| loan.milli).sum::<MilliGpu>().0
}

pub(super) fn loans(wanted: &[(String, Amount)], facts: &StepFacts<'_>, at: Pos) -> Met {
    for (name, amount) in wanted {
        let team = known(facts.world.team(name, at))?;
        match amount {
            Amount::Total(bound) => {
                number(format!("loans of {name}"), *bound, borrowed(team, None, None, facts), &gpus)?;
            }
            Amount::By(parts) => {
                for (part, bound) in parts {
                    // By pool, or by lender: a pool's name comes first.
                    let got = match facts.world.pool(part, at) {
                        Ok(pool) => borrowed(team, Some(pool), None, facts),
                        Err(_) => borrowed(team, None, Some(known(facts.world.team(part, at))?), facts),
                    };
                    number(format!("loans of {name} ({part})"), *bound, got, &gpus)?;
                }
            }
        }
    }
    Ok(())
}

pub(super) fn lent(wanted: &[(String, Amount)], facts: &StepFacts<'_>, at: Pos) -> Met {
    for (name, amount) in wanted {
        let team = known(facts.world.team(name, at))?;
        let of_pool = |pool: Option<PoolId>| {
            let loans = facts.plan.loans.iter().filter(|loan| loan.lender == Some(team));
            loans
                .filter(|loan| pool.is_none_or(|pool| loan.pool == pool))
                .map(|loan| loan.milli)
                .sum::<MilliGpu>()
                .0
        };
        match amount {
            Amount::Total(bound) => number(format!("lent by {name}"), *bound, of_pool(None), &gpus)?,
            Amount::By(pools) => {
                for (pool_name, bound) in pools {
                    let pool = known(facts.world.pool(pool_name, at))?;
                    number(format!("lent by {name} in {pool_name}"), *bound, of_pool(Some(pool)), &gpus)?;
                }
            }
        }
    }
    Ok(())
}

pub(super) fn numbers(wanted: &[(String, Vec<(String, Bound)>)], facts: &StepFacts<'_>, at: Pos) -> Met {
    for (name, bounds) in wanted {
        let id = known(facts.world.job_id(name, at))?;
        let found = facts.plan.waiting.iter().find(|(waiting, _)| *waiting == id);
        let Some((_, explanation)) = found else {
            return miss(format!("numbers of {name}"), "a reason", super::state_of(facts.world, id));
        };
        for (key, bound) in bounds {
            let got = lookup(explanation, key).map_or_else(
                || {
                    miss(
                        format!("number {key} of {name}"),
                        "a number",
                        super::super::explain::reason(explanation),
                    )
                },
                Ok::<i64, Miss>,
            )?;
            number(format!("number {key} of {name}"), *bound, got, &plain)?;
        }
    }
    Ok(())
}

pub(super) fn eta(wanted: &[(String, Option<Bound>)], facts: &StepFacts<'_>, at: Pos) -> Met {
    for (name, bound) in wanted {
        let id = known(facts.world.job_id(name, at))?;
        let found = facts.plan.waiting.iter().find(|(waiting, _)| *waiting == id);
        let Some((_, explanation)) = found else {
            return miss(format!("eta of {name}"), "a job that waits", super::state_of(facts.world, id));
        };
        let expected = explanation.expected_start;
        let secs = expected
            .and_then(crate::reason::ExpectedStart::at)
            .map(|at| (at - facts.world.cluster.snapshot.now).num_seconds());
        match (bound, secs) {
            (Some(bound), Some(secs)) => number(format!("eta of {name} in seconds"), *bound, secs, &plain)?,
            (None, None) => {}
            (Some(_), None) => {
                return miss(format!("eta of {name}"), "a known start", format!("{expected:?}"));
            }
            (None, Some(secs)) => return miss(format!("eta of {name}"), "unknown", format!("in {secs} s")),
        }
    }
    Ok(())
}

/// The main reason's number, or else the first of the other obstacles that has one of that name.
fn lookup(explanation: &crate::reason::Explanation, key: &str) -> Option<i64> {
    std::iter::once(&explanation.main)
        .chain(&explanation.others)
        .find_map(|obstacle| obstacle.numbers.get(key).copied())
}

pub(super) fn pool_mode(wanted: &[(Option<String>, PoolMode)], facts: &StepFacts<'_>, at: Pos) -> Met {
    for (name, mode) in wanted {
        let pools: Vec<PoolId> = match name {
            Some(name) => vec![known(facts.world.pool(name, at))?],
            None => facts.world.cluster.snapshot.pools.iter().map(|pool| pool.id).collect(),
        };
        for pool in pools {
            let got = facts.plan.pool_modes.get(&pool).map_or("no mode", |mode| mode.as_str());
            equal("pool_mode", mode.as_str(), got)?;
        }
    }
    Ok(())
}
