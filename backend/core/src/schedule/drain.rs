//! Evictions that serve no job: nodes that are drained and quotas that were lowered with `drain`.
//!
//! Both go gradually: one gang at a time a node, or a team and pool; the next is asked once the last is
//! gone. What is never evicted stays, and minimum run times hold. This module gives nobody the space.

use super::draft::{self, Draft};
use super::fit::{self, Among, Budget};
use super::score::{lost_gpu_secs, tier};
use super::state::State;
use super::unit::Unit;
use crate::eviction::EvictionCause;
use crate::node::NodeState;
use std::cmp::Reverse;

const DRAIN_STEPS: u64 = 100_000;

pub(super) fn drain_nodes(state: &mut State<'_, '_>, draft: &mut Draft) {
    let problem = state.problem;
    let mut budget = Budget::new(DRAIN_STEPS);
    for (node, row) in problem.nodes.iter().enumerate() {
        if row.state != NodeState::Draining {
            continue;
        }
        let leaving = |&job: &usize| {
            state.jobs[job].members.iter().any(|member| member.leaving && member.hold.node == node)
        };
        if state.on_node[node].iter().any(leaving) {
            continue;
        }
        let here: Vec<usize> = state.on_node[node]
            .iter()
            .copied()
            .filter(|&job| state.jobs[job].staying().any(|(_, member)| member.hold.node == node))
            .collect();
        let candidates = evictable(state, here.into_iter());
        // Those that can start again elsewhere at once go first.
        state.space.open.settle(problem);
        let best = candidates.iter().min_by_key(|&&job| {
            let homeless = !has_home(state, job, &mut budget);
            (homeless, order(state, job))
        });
        if let Some(&job) = best {
            let reclaim = draft::without_evictor(
                state,
                row.pool,
                Unit { job, surplus: None },
                EvictionCause::Drain,
                candidates.len(),
            );
            draft.reclaims.push(reclaim);
        }
    }
}

fn has_home(state: &State<'_, '_>, job: usize, budget: &mut Budget) -> bool {
    let row = &state.problem.jobs[job];
    let class = &state.problem.classes[row.class];
    row.pools.iter().any(|&pool| {
        let found =
            fit::place(state.problem, &state.space.open, class, pool, class.members, Among::Working, budget);
        matches!(found, Ok(Some(_)))
    })
}

/// Rule 2.10: work above guaranteed + borrow_limit leaves where the lowered quota asks for it.
pub(super) fn drain_quotas(state: &mut State<'_, '_>, draft: &mut Draft) {
    let problem = state.problem;
    let mut quotas: Vec<_> = problem.snapshot.quotas.iter().filter(|quota| quota.drain).collect();
    quotas.sort_unstable_by_key(|quota| (quota.pool, quota.team));
    for quota in quotas {
        let (Ok(pool), Ok(team)) =
            (problem.pools.binary_search(&quota.pool), problem.teams.binary_search(&quota.team))
        else {
            continue;
        };
        let above = |state: &State<'_, '_>| {
            state.limits[pool].cap[team].is_some_and(|cap| state.later[pool].used[team] > cap)
        };
        let of_team = |state: &State<'_, '_>, job: usize| {
            state.jobs[job].pool == Some(pool)
                && problem.jobs[job].team.is_some_and(|own| state.tree.is_under(own, team))
        };
        let leaving = (0..state.jobs.len()).any(|job| {
            of_team(state, job)
                && problem.jobs[job].job.members.iter().any(|member| {
                    member.leaving.as_ref().is_some_and(|l| l.cause == Some(EvictionCause::QuotaLowered))
                })
        });
        if leaving || !above(state) {
            continue;
        }
        // Who holds no GPU leaves the quota as it is.
        let holds = |&job: &usize| of_team(state, job) && problem.jobs[job].member_milli > 0;
        let jobs: Vec<usize> = (0..state.jobs.len()).filter(holds).collect();
        let surplus = jobs.iter().copied().find_map(|job| last_surplus(state, job));
        let candidates = evictable(state, jobs.into_iter());
        let gang = candidates.iter().copied().min_by_key(|&job| order(state, job));
        let unit = surplus.or_else(|| gang.map(|job| Unit { job, surplus: None }));
        if let Some(unit) = unit {
            let reclaim = draft::without_evictor(
                state,
                pool,
                unit,
                EvictionCause::QuotaLowered,
                candidates.len().max(1),
            );
            draft.reclaims.push(reclaim);
        }
    }
}

fn last_surplus(state: &State<'_, '_>, job: usize) -> Option<Unit> {
    let row = &state.problem.jobs[job];
    if row.surplus_never_evicted || row.job.never_evict {
        return None;
    }
    let base = row.job.min_replicas.max(1) as usize;
    state.jobs[job].staying().skip(base).last().map(|(at, _)| Unit { job, surplus: Some(at) })
}

/// Gangs that may be asked to leave now; the others' protections are looked at again when they end.
fn evictable(state: &mut State<'_, '_>, jobs: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut evictable = Vec::new();
    for job in jobs {
        let row = &state.problem.jobs[job];
        if row.base_never_evicted || state.jobs[job].staying().next().is_none() {
            continue;
        }
        if row.protected_until > state.problem.now {
            state.look_again(row.protected_until);
        } else {
            evictable.push(job);
        }
    }
    evictable
}

/// Lowest tier, lowest class, least work lost, latest start, id.
fn order(state: &State<'_, '_>, job: usize) -> impl Ord + use<> {
    let row = &state.problem.jobs[job];
    let unit = Unit { job, surplus: None };
    let lost = lost_gpu_secs(state, unit, state.problem.now);
    (tier(state, unit), row.job.priority.0, lost, Reverse(row.started_at), row.job.id)
}
