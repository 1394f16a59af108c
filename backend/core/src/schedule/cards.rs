//! The GPUs of one node while members are put on them: the best linked subset for whole GPUs, the tightest cards for shares.
//!
//! Where a class requires links, a member lies in one NVLink domain or nowhere. This module chooses no node.

use super::fit::{right_model, whole_gpus};
use super::problem::{Class, Problem, Slice, Slices};
use super::space::View;
use crate::job::GpuAsk;
use std::cmp::Reverse;

/// The GPUs of one node while members are put on them.
pub(super) struct Cards {
    /// (GPU, free milli, free memory) of the right model, by index.
    cards: Vec<(usize, i64, i64)>,
    whole: Vec<usize>,
}

impl Cards {
    pub(super) fn new(problem: &Problem<'_>, view: &View, class: &Class, node: usize) -> Self {
        match class.shape.gpus {
            GpuAsk::None => Self { cards: Vec::new(), whole: Vec::new() },
            GpuAsk::Whole { .. } => Self { cards: Vec::new(), whole: whole_gpus(problem, view, class, node) },
            GpuAsk::Share { .. } => {
                let cards = problem.nodes[node].gpus().filter(|&gpu| right_model(problem, class, gpu));
                let cards = cards.map(|gpu| (gpu, view.gpu_milli[gpu], view.gpu_memory[gpu])).collect();
                Self { cards, whole: Vec::new() }
            }
        }
    }

    pub(super) fn take(&mut self, problem: &Problem<'_>, class: &Class, node: usize) -> Option<Slices> {
        let domains = &problem.nodes[node].nvlink;
        match class.shape.gpus {
            GpuAsk::None => Some(Slices::new()),
            GpuAsk::Whole { gpus } => self.take_whole(problem, gpus as usize, domains, class.linked),
            GpuAsk::Share { devices, milli, memory } => {
                let all = 0..self.cards.len();
                if !class.linked {
                    return self.take_share(all, devices as usize, milli.0, memory.0);
                }
                let inside = |domain: &Vec<usize>| -> Vec<usize> {
                    all.clone().filter(|&at| domain.contains(&self.cards[at].0)).collect()
                };
                let among =
                    self.best_domain(domains.iter().map(inside), devices as usize, milli.0, memory.0)?;
                self.take_share(among.into_iter(), devices as usize, milli.0, memory.0)
            }
        }
    }

    /// The domain in which a share breaks the fewest cards that are whole.
    fn best_domain(
        &self,
        domains: impl Iterator<Item = Vec<usize>>,
        devices: usize,
        milli: i64,
        memory: i64,
    ) -> Option<Vec<usize>> {
        let fits = |&&at: &&usize| self.cards[at].1 >= milli && self.cards[at].2 >= memory;
        let used = |domain: &[usize]| {
            let fitting = domain.iter().filter(fits);
            fitting.filter(|&&at| self.cards[at].1 < 1_000).count().min(devices)
        };
        let enough = domains.filter(|domain| domain.iter().filter(fits).count() >= devices);
        // The first of the best.
        enough.reduce(|best, next| if used(&next) > used(&best) { next } else { best })
    }

    fn take_whole(
        &mut self,
        problem: &Problem<'_>,
        count: usize,
        domains: &[Vec<usize>],
        linked: bool,
    ) -> Option<Slices> {
        if self.whole.len() < count {
            return None;
        }
        let chosen = linked_subset(&self.whole, domains, count);
        let is_one = || domains.iter().any(|domain| chosen.iter().all(|gpu| domain.contains(gpu)));
        if linked && !is_one() {
            return None;
        }
        self.whole.retain(|gpu| !chosen.contains(gpu));
        Some(
            chosen
                .into_iter()
                .map(|gpu| Slice { gpu, milli: 1_000, memory: problem.gpus[gpu].memory })
                .collect(),
        )
    }

    /// The tightest different cards that fit.
    fn take_share(
        &mut self,
        among: impl Iterator<Item = usize>,
        devices: usize,
        milli: i64,
        memory: i64,
    ) -> Option<Slices> {
        let fits = |&at: &usize| self.cards[at].1 >= milli && self.cards[at].2 >= memory;
        let mut fitting: Vec<usize> = among.filter(fits).collect();
        if fitting.len() < devices {
            return None;
        }
        fitting.sort_unstable_by_key(|&at| (self.cards[at].1, self.cards[at].2, self.cards[at].0));
        fitting.truncate(devices);
        fitting.sort_unstable();
        let slices = fitting.into_iter().map(|at| {
            self.cards[at].1 -= milli;
            self.cards[at].2 -= memory;
            Slice { gpu: self.cards[at].0, milli, memory }
        });
        Some(slices.collect())
    }
}

/// `count` of the free GPUs: inside the smallest NVLink domain that suffices, else from the fullest
/// domains, so that the fewest domains are cut.
fn linked_subset(free: &[usize], nvlink: &[Vec<usize>], count: usize) -> Vec<usize> {
    if nvlink.is_empty() {
        return free[..count].to_vec();
    }
    let mut groups: Vec<Vec<usize>> = nvlink
        .iter()
        .map(|domain| domain.iter().copied().filter(|gpu| free.contains(gpu)).collect())
        .collect();
    groups.extend(
        free.iter().filter(|&gpu| !nvlink.iter().any(|domain| domain.contains(gpu))).map(|&gpu| vec![gpu]),
    );
    if let Some(group) = groups.iter().filter(|group| group.len() >= count).min_by_key(|group| group.len()) {
        return group[..count].to_vec();
    }
    groups.sort_by_key(|group| Reverse(group.len()));
    let mut chosen: Vec<usize> = Vec::with_capacity(count);
    for gpu in groups.into_iter().flatten() {
        if chosen.len() < count && !chosen.contains(&gpu) {
            chosen.push(gpu);
        }
    }
    chosen.sort_unstable();
    chosen
}
