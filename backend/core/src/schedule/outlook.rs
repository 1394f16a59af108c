//! How things stand in a pool for all jobs of a class, once everything is decided: worked out once,
//! however many jobs wait for it.
//!
//! This module gives no reasons: that is [`super::explain`]'s.

use super::fit::{self, Among, Budget};
use super::state::State;
use crate::job::GpuAsk;

const STEPS: u64 = 100_000;

/// Whether a place was found, or the search ran out of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Search {
    Found,
    Nothing,
    OutOfBudget,
}

/// For one class in one pool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outlook {
    /// On what is neither held nor promised.
    pub(super) open: Search,
    /// Once all who were asked to leave have left.
    pub(super) later: Search,
    /// As `open`, whatever topology the class requires.
    pub(super) open_anywhere: Search,
    /// Milli-GPU that are open for the class in all, and on the best node.
    pub(super) free: i64,
    pub(super) best_node: i64,
}

/// All outlooks asked for so far.
#[derive(Debug)]
pub(super) struct Outlooks {
    known: Vec<Option<Outlook>>,
    /// By pool: seconds until the last who is leaving has to be gone.
    leaving_secs: Vec<Option<i64>>,
    /// Some pending job was promised space.
    pub(super) promised: bool,
}

impl Outlooks {
    pub(super) fn new(state: &State<'_, '_>) -> Self {
        let pools = state.problem.pools.len();
        Self {
            known: vec![None; pools * state.problem.classes.len()],
            leaving_secs: vec![None; pools],
            promised: state.jobs.iter().any(|sim| sim.nominated.is_some() || sim.held.is_some()),
        }
    }

    pub(super) fn of(&mut self, state: &State<'_, '_>, class: usize, pool: usize) -> Outlook {
        let at = class * state.problem.pools.len() + pool;
        *self.known[at].get_or_insert_with(|| look(state, class, pool))
    }

    /// Seconds until the last who is leaving the pool has to be gone.
    pub(super) fn leaving_secs(&mut self, state: &State<'_, '_>, pool: usize) -> i64 {
        *self.leaving_secs[pool]
            .get_or_insert_with(|| leaving_secs(state, state.problem.pool_nodes[pool].iter().copied()))
    }
}

fn look(state: &State<'_, '_>, at: usize, pool: usize) -> Outlook {
    let problem = state.problem;
    let class = &problem.classes[at];
    let among = Among::Working;
    let told = |found: Result<Option<_>, fit::OutOfBudget>| match found {
        Ok(Some(_)) => Search::Found,
        Ok(None) => Search::Nothing,
        Err(fit::OutOfBudget) => Search::OutOfBudget,
    };
    let (open, later) = (&state.space.open, &state.space.later);
    let place =
        |view| told(fit::place(problem, view, class, pool, class.members, among, &mut Budget::new(STEPS)));
    let is_open = place(open);
    let open_anywhere = if class.require.is_some() {
        told(fit::place_anywhere(problem, open, class, pool, class.members, among, &mut Budget::new(STEPS)))
    } else {
        is_open
    };
    let shares = matches!(class.shape.gpus, GpuAsk::Share { .. });
    let on_node = |&node: &usize| -> i64 {
        if shares {
            problem.nodes[node].gpus().map(|gpu| open.gpu_milli[gpu].max(0)).sum()
        } else {
            1_000 * i64::from(open.whole[node])
        }
    };
    let nodes = problem.pool_nodes[pool].iter().filter(|&&node| class.node_ok[node]);
    let (free, best_node) = nodes.map(on_node).fold((0, 0), |(sum, best), free| (sum + free, free.max(best)));
    Outlook { open: is_open, later: place(later), open_anywhere, free, best_node }
}

/// Seconds until the last who is leaving one of these nodes has to be gone.
pub(super) fn leaving_secs(state: &State<'_, '_>, nodes: impl Iterator<Item = usize>) -> i64 {
    let problem = state.problem;
    let mut jobs: Vec<usize> = nodes.flat_map(|node| state.on_node[node].iter().copied()).collect();
    jobs.sort_unstable();
    jobs.dedup();
    let already = jobs
        .iter()
        .flat_map(|&job| problem.jobs[job].job.members.iter().filter_map(|member| member.leaving.as_ref()))
        .map(|leaving| (leaving.leave_by - problem.now).num_seconds().max(0));
    let newly = jobs.iter().filter(|&&job| {
        let before = problem.jobs[job].members.iter().filter(|member| member.leaving).count();
        state.jobs[job].members.iter().filter(|member| member.leaving).count() > before
    });
    let newly = newly.map(|&job| problem.rules(job).grace_secs);
    newly.chain(already).max().unwrap_or(0)
}
