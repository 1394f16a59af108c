//! Consolidation (product rule 5.10): jobs that may be evicted move, so that one starts that has the quota but no place.
//!
//! All or nothing: each mover restarts in a home that is promised to it together with the asker's place, in the same
//! pool. The fewest that lose the least work move, and never for a job that is less important than they are. This
//! module commits nothing, gives nobody quota, and lets nobody leave who would not run again.

use super::fit::{self, Among, Budget, OutOfBudget};
use super::problem::Hold;
use super::rights::{Evictor, Right};
use super::score::{UnitKey, lost_gpu_secs, tier};
use super::space::Count;
use super::state::State;
use super::unit::{Chosen, Found, Home, Unit};
use crate::eviction::EvictionCause;
use crate::queue::QueueState;
use chrono::{DateTime, Utc};
use std::cmp::Reverse;

/// So many nodes' sets of movers are tried for one member of the asker, cheapest first.
const MOST_TRIES: usize = 32;

/// What a set of movers costs. Less = better; the last field is the place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct SetCost {
    tier: u8,
    lost_gpu_secs: i64,
    count: usize,
    milli: i64,
    started: Vec<Reverse<DateTime<Utc>>>,
    jobs: Vec<usize>,
    node: usize,
}

/// One search: it changes the state while simulating, and leaves it as it was.
struct Search<'s, 'p, 'a> {
    state: &'s mut State<'p, 'a>,
    asks: Evictor,
    budget: &'s mut Budget,
    candidates: usize,
}

/// The asker's place, and the movers with their homes.
type Proven = (Vec<Hold>, Vec<Home>);

/// Moves that let the asker start, if any do. The asker has quota, and nobody who leaves already makes its place.
pub(super) fn find(
    state: &mut State<'_, '_>,
    asks: Evictor,
    budget: &mut Budget,
) -> Result<Option<Found>, OutOfBudget> {
    // Space that is not there in total is not made by moving others about.
    if state.moves_left == 0 || state.space.later.pool_milli[asks.pool] < asks.milli {
        return Ok(None);
    }
    let candidates = candidates(state, &asks);
    if candidates == 0 {
        return Ok(None);
    }
    Search { state, asks, budget, candidates }.run()
}

/// How many could move; a plan looks again once a minimum run time ends of those who cannot yet.
fn candidates(state: &mut State<'_, '_>, asks: &Evictor) -> usize {
    let (mut count, mut protected_until) = (0, None::<DateTime<Utc>>);
    for job in state.of_team.iter().flatten().copied().filter(|&job| could_move(state, asks, job)) {
        let until = state.problem.jobs[job].protected_until;
        if until <= asks.as_of {
            count += 1;
        } else {
            protected_until = Some(protected_until.map_or(until, |known| known.min(until)));
        }
    }
    if let Some(until) = protected_until {
        state.look_again(until);
    }
    count
}

/// But for its minimum run time: a whole gang that runs, may be evicted, and would be let in again at once.
fn could_move(state: &State<'_, '_>, asks: &Evictor, job: usize) -> bool {
    let (row, sim) = (&state.problem.jobs[job], &state.jobs[job]);
    let closed = row.queue.is_none_or(|queue| state.problem.queues[queue].state == QueueState::Held);
    job != asks.job
        && sim.pool == Some(asks.pool)
        && !sim.fresh
        && sim.nominated.is_none()
        && sim.members.len() == row.job.min_replicas.max(1) as usize
        && sim.members.len() == row.members.len()
        && sim.members.iter().all(|member| !member.leaving)
        && !row.base_never_evicted
        && row.job.requeue
        && !row.job.held
        && !closed
        && row.job.priority <= state.problem.jobs[asks.job].job.priority
        && state.problem.closed_until(job).is_none()
}

impl Search<'_, '_, '_> {
    fn may_move(&self, job: usize) -> bool {
        self.state.problem.jobs[job].protected_until <= self.asks.as_of
            && could_move(self.state, &self.asks, job)
    }

    fn run(mut self) -> Result<Option<Found>, OutOfBudget> {
        let problem = self.state.problem;
        let class = &problem.classes[problem.jobs[self.asks.job].class];
        let Some(level) = &class.require else {
            let anywhere = self.attempt(&problem.pool_nodes[self.asks.pool])?;
            return Ok(anywhere.map(|(_, set, proven)| self.found(&set, proven)));
        };
        let Some(places) = problem.places.get(&(self.asks.pool, level)) else { return Ok(None) };
        let mut best: Option<(SetCost, Vec<usize>, Proven)> = None;
        for nodes in places {
            if let Some(found) = self.attempt(nodes)?
                && best.as_ref().is_none_or(|(cost, _, _)| found.0 < *cost)
            {
                best = Some(found);
            }
        }
        Ok(best.map(|(_, set, proven)| self.found(&set, proven)))
    }

    /// The best set whose leaving lets the whole gang onto these nodes.
    fn attempt(&mut self, nodes: &[usize]) -> Result<Option<(SetCost, Vec<usize>, Proven)>, OutOfBudget> {
        let Some(mut set) = self.choose(nodes)? else { return Ok(None) };
        let Some(mut proven) = self.prove(&set)? else { return Ok(None) };
        // Whoever turned out needless stays, the dearest first.
        let mut dearest = set.clone();
        dearest.sort_by_key(|&job| Reverse(self.cost(&[job], 0)));
        for job in dearest {
            let without: Vec<usize> = set.iter().copied().filter(|&other| other != job).collect();
            if let Some(smaller) = self.prove(&without)? {
                (set, proven) = (without, smaller);
            }
        }
        if set.is_empty() || set.len() > self.state.moves_left {
            return Ok(None);
        }
        let node = proven.0.first().map_or(0, |hold| hold.node);
        Ok(Some((self.cost(&set, node), set, proven)))
    }

    /// Movers who make room member by member; those of earlier members are gone for the later ones.
    fn choose(&mut self, nodes: &[usize]) -> Result<Option<Vec<usize>>, OutOfBudget> {
        let problem = self.state.problem;
        let class = &problem.classes[problem.jobs[self.asks.job].class];
        let (mut set, mut placed) = (Vec::new(), Vec::<Hold>::new());
        let mut complete = Ok(true);
        for _ in 0..class.members {
            let hold = match self.free_for_one(nodes) {
                Ok(Some(hold)) => Ok(Some(hold)),
                Ok(None) => self.room_for_one(nodes, &mut set),
                Err(spent) => Err(spent),
            };
            match hold {
                Ok(Some(hold)) => {
                    self.state.space.take(problem, &hold, Count::Later);
                    placed.push(hold);
                }
                other => {
                    complete = other.map(|_| false);
                    break;
                }
            }
        }
        placed.iter().for_each(|hold| self.state.space.give(problem, hold, Count::Later));
        self.restore(&set);
        Ok(complete?.then_some(set))
    }

    fn free_for_one(&mut self, nodes: &[usize]) -> Result<Option<Hold>, OutOfBudget> {
        let problem = self.state.problem;
        let class = &problem.classes[problem.jobs[self.asks.job].class];
        let view = &self.state.space.later;
        Ok(fit::place_on(problem, view, class, nodes, 1, Among::Working, self.budget)?
            .and_then(|holds| holds.into_iter().next()))
    }

    /// Takes the cheapest set that lets one more member onto one node and has homes together with those chosen before.
    fn room_for_one(&mut self, nodes: &[usize], set: &mut Vec<usize>) -> Result<Option<Hold>, OutOfBudget> {
        let problem = self.state.problem;
        let class = &problem.classes[problem.jobs[self.asks.job].class];
        let mut sets: Vec<(SetCost, usize, Vec<usize>)> = Vec::new();
        for &node in nodes.iter().filter(|&&node| class.node_ok[node]) {
            if let Some((cost, jobs)) = self.set_on_node(node)? {
                sets.push((cost, node, jobs));
            }
        }
        sets.sort_unstable();
        for (_, node, jobs) in sets.into_iter().take(MOST_TRIES) {
            self.release(&jobs);
            let hold = fit::pack(problem, &self.state.space.later, class, node, 1).pop();
            let Some(hold) = hold else {
                self.restore(&jobs);
                continue;
            };
            self.state.space.take(problem, &hold, Count::Later);
            let all: Vec<usize> = set.iter().chain(&jobs).copied().collect();
            let housed = self.homes(&all);
            self.state.space.give(problem, &hold, Count::Later);
            if matches!(housed, Ok(Some(_))) {
                set.extend(jobs);
                return Ok(Some(hold));
            }
            self.restore(&jobs);
            housed?;
        }
        Ok(None)
    }

    /// The cheapest jobs on one node that make room for one member; nothing stays taken.
    fn set_on_node(&mut self, node: usize) -> Result<Option<(SetCost, Vec<usize>)>, OutOfBudget> {
        let here = self.state.on_node[node].iter().copied();
        let mut jobs: Vec<usize> = here.filter(|&job| self.is_on(job, node) && self.may_move(job)).collect();
        self.budget.spend(jobs.len() + 1)?;
        jobs.sort_by_cached_key(|&job| self.cost(&[job], node));
        let mut set: Vec<usize> = Vec::new();
        for &job in &jobs {
            if self.has_room(node) {
                break;
            }
            self.release(&[job]);
            set.push(job);
        }
        let enough = self.has_room(node);
        for job in set.clone().into_iter().rev().filter(|_| enough) {
            self.restore(&[job]);
            if self.has_room(node) {
                set.retain(|&other| other != job);
            } else {
                self.release(&[job]);
            }
        }
        self.restore(&set);
        let mut best = enough.then(|| (self.cost(&set, node), set));
        // One large job may cost no more than several small ones.
        for &job in &jobs {
            let alone = self.cost(&[job], node);
            if best.as_ref().is_none_or(|(cost, _)| alone < *cost) {
                self.release(&[job]);
                if self.has_room(node) {
                    best = Some((alone, vec![job]));
                }
                self.restore(&[job]);
            }
        }
        Ok(best)
    }

    fn is_on(&self, job: usize, node: usize) -> bool {
        self.state.jobs[job].members.iter().any(|member| member.hold.node == node)
    }

    fn has_room(&self, node: usize) -> bool {
        let problem = self.state.problem;
        let class = &problem.classes[problem.jobs[self.asks.job].class];
        fit::capacity(problem, &self.state.space.later, class, node, 1) > 0
    }

    /// With these gone: the whole gang's place, and beside it a home for each of them.
    fn prove(&mut self, set: &[usize]) -> Result<Option<Proven>, OutOfBudget> {
        let problem = self.state.problem;
        let class = &problem.classes[problem.jobs[self.asks.job].class];
        self.release(set);
        self.state.space.later.settle(problem);
        let view = &self.state.space.later;
        let place =
            fit::place(problem, view, class, self.asks.pool, class.members, Among::Working, self.budget);
        let proven = place.and_then(|holds| {
            let Some(holds) = holds else { return Ok(None) };
            holds.iter().for_each(|hold| self.state.space.take(problem, hold, Count::Later));
            let homes = self.homes(set);
            holds.iter().for_each(|hold| self.state.space.give(problem, hold, Count::Later));
            Ok(homes?.map(|homes| (holds, homes)))
        });
        self.restore(set);
        proven
    }

    /// A home for each who has left, the largest members first; nothing stays taken.
    fn homes(&mut self, set: &[usize]) -> Result<Option<Vec<Home>>, OutOfBudget> {
        let problem = self.state.problem;
        let mut movers = set.to_vec();
        movers.sort_by_key(|&job| {
            let row = &problem.jobs[job];
            (Reverse((row.member_milli, row.base_milli)), job)
        });
        let mut homes: Vec<Home> = Vec::with_capacity(movers.len());
        let mut complete = Ok(true);
        for job in movers {
            let class = &problem.classes[problem.jobs[job].class];
            self.state.space.later.settle(problem);
            let view = &self.state.space.later;
            let place =
                fit::place(problem, view, class, self.asks.pool, class.members, Among::Working, self.budget);
            match place {
                Ok(Some(holds)) => {
                    holds.iter().for_each(|hold| self.state.space.take(problem, hold, Count::Later));
                    homes.push(Home { job, holds });
                }
                other => {
                    complete = other.map(|_| false);
                    break;
                }
            }
        }
        let taken = homes.iter().flat_map(|home| &home.holds);
        taken.for_each(|hold| self.state.space.give(problem, hold, Count::Later));
        Ok(complete?.then_some(homes))
    }

    fn release(&mut self, jobs: &[usize]) {
        for &job in jobs {
            (0..self.state.jobs[job].members.len()).for_each(|at| self.state.release(job, at));
        }
    }

    fn restore(&mut self, jobs: &[usize]) {
        for &job in jobs.iter().rev() {
            (0..self.state.jobs[job].members.len()).rev().for_each(|at| self.state.restore(job, at));
        }
    }

    fn cost(&self, jobs: &[usize], node: usize) -> SetCost {
        let problem = self.state.problem;
        let gang = |&job: &usize| Unit { job, surplus: None };
        let members = |job: &usize| self.state.jobs[*job].members.iter().map(|member| member.milli);
        SetCost {
            tier: jobs.iter().map(|job| tier(self.state, gang(job))).max().unwrap_or(0),
            lost_gpu_secs: jobs.iter().map(|job| lost_gpu_secs(self.state, gang(job), self.asks.as_of)).sum(),
            count: jobs.len(),
            milli: jobs.iter().flat_map(members).sum(),
            started: jobs.iter().map(|&job| Reverse(problem.jobs[job].started_at)).collect(),
            jobs: jobs.to_vec(),
            node,
        }
    }

    fn found(&self, set: &[usize], (holds, homes): Proven) -> Found {
        let right = Right { cause: EvictionCause::Consolidation, rank: 0, overshoot: 0 };
        let chosen = |&job: &usize| {
            let unit = Unit { job, surplus: None };
            let key = UnitKey::open(self.state, unit, self.asks.as_of);
            Chosen { key, right, members: unit.members(self.state) }
        };
        let victims = set.iter().map(chosen).collect();
        Found { victims, holds, homes, candidates: self.candidates, runner_up: None }
    }
}
