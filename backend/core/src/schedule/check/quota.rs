//! Quota at every level of the tree, by the judge's own arithmetic.
//!
//! A team *claims* what it uses, or what it does not lend if that is more. Claims add up the tree; at the
//! top they may not exceed what the pool has.

use super::Violation;
use super::index::{Index, asked_by, held_by, stays};
use super::project::nominations;
use crate::id::{JobId, PoolId, TeamId};
use crate::kind::Kind;
use crate::schedule::plan::Plan;
use crate::schedule::snapshot::{Job, Placement};
use crate::units::MilliGpu;
use std::collections::{BTreeMap, BTreeSet};

/// Use by (team, pool): the team's own, and with everybody below it.
#[derive(Debug, Clone, Default)]
pub(super) struct Use {
    own: BTreeMap<(TeamId, PoolId), MilliGpu>,
    all: BTreeMap<(TeamId, PoolId), MilliGpu>,
}

impl Use {
    /// Everything held, leaving members too.
    pub(super) fn held(index: &Index<'_>) -> Self {
        Self::of_members(index, |_, _| true)
    }

    /// What will still be held when everybody asked to leave has left.
    pub(super) fn staying(index: &Index<'_>) -> Self {
        let mut found = Self::default();
        for job in &index.snapshot.jobs {
            for member in job.members.iter().filter(|member| stays(member)) {
                if let Some(pool) = index.pool_of(member.node) {
                    found.add(index, job.team, pool, held_by(member));
                }
            }
        }
        found
    }

    fn of_members(index: &Index<'_>, counts: impl Fn(&Job, usize) -> bool) -> Self {
        let mut found = Self::default();
        for job in &index.snapshot.jobs {
            for (rank, member) in job.members.iter().enumerate() {
                if let Some(pool) = index.pool_of(member.node).filter(|_| counts(job, rank)) {
                    found.add(index, job.team, pool, held_by(member));
                }
            }
        }
        found
    }

    pub(super) fn add(&mut self, index: &Index<'_>, team: TeamId, pool: PoolId, milli: MilliGpu) {
        *self.own.entry((team, pool)).or_default() += milli;
        for level in index.chain(team) {
            *self.all.entry((level, pool)).or_default() += milli;
        }
    }

    pub(super) fn add_placements(&mut self, index: &Index<'_>, team: TeamId, members: &[Placement]) {
        for placement in members {
            if let Some(pool) = index.pool_of(placement.node) {
                self.add(index, team, pool, asked_by(placement));
            }
        }
    }

    pub(super) fn add_all(&mut self, other: &Self) {
        for (key, milli) in &other.own {
            *self.own.entry(*key).or_default() += *milli;
        }
        for (key, milli) in &other.all {
            *self.all.entry(*key).or_default() += *milli;
        }
    }

    pub(super) fn remove_placements(&mut self, index: &Index<'_>, team: TeamId, members: &[Placement]) {
        for placement in members {
            if let Some(pool) = index.pool_of(placement.node) {
                self.add(index, team, pool, MilliGpu::ZERO - asked_by(placement));
            }
        }
    }

    pub(super) fn add_starts(&mut self, index: &Index<'_>, plan: &Plan) {
        for start in &plan.starts {
            self.add_placements(index, index.jobs[&start.job].team, &start.members);
        }
    }

    pub(super) fn all(&self, team: TeamId, pool: PoolId) -> MilliGpu {
        self.all.get(&(team, pool)).copied().unwrap_or_default()
    }

    pub(super) fn own(&self, team: TeamId, pool: PoolId) -> MilliGpu {
        self.own.get(&(team, pool)).copied().unwrap_or_default()
    }
}

/// Guarantees of one pool. Where guarantees are scaled, rounding is the planner's choice, and so is
/// whether idle GPUs of cordoned nodes are capacity: `low` and `high` lie around all of that.
pub(super) struct Guarantees {
    pool: PoolId,
    nominal: BTreeMap<TeamId, MilliGpu>,
    total: MilliGpu,
    pub(super) capacity: MilliGpu,
    usable: MilliGpu,
}

impl Guarantees {
    pub(super) fn new(index: &Index<'_>, pool: PoolId) -> Self {
        let (capacity, usable) = (index.capacity(pool), index.usable_capacity(pool));
        let mut guarantees = Self {
            pool,
            nominal: BTreeMap::new(),
            total: MilliGpu::ZERO,
            capacity: capacity.max(usable),
            usable: usable.min(capacity),
        };
        let tops: Vec<TeamId> = index.children(None).collect();
        guarantees.total = tops.iter().map(|&team| guarantees.fill(index, team, 0)).sum();
        guarantees
    }

    /// A parent's guarantee is at least its children's sum.
    fn fill(&mut self, index: &Index<'_>, team: TeamId, depth: usize) -> MilliGpu {
        if depth > index.teams.len() {
            return MilliGpu::ZERO;
        }
        let children: Vec<TeamId> = index.children(Some(team)).collect();
        let below = children.iter().map(|&child| self.fill(index, child, depth + 1)).sum();
        let set = index.quotas.get(&(team, self.pool)).map_or(MilliGpu::ZERO, |quota| quota.guaranteed);
        let nominal = set.max(below);
        self.nominal.insert(team, nominal);
        nominal
    }

    /// True, false, or a question of view.
    pub(super) fn overcommitted(&self) -> Option<bool> {
        let (most, least) = (self.total > self.usable, self.total > self.capacity);
        (most == least).then_some(most)
    }

    pub(super) fn nominal(&self, team: TeamId) -> MilliGpu {
        self.nominal.get(&team).copied().unwrap_or_default()
    }

    fn scaled(&self, team: TeamId, capacity: MilliGpu, slack: i64) -> MilliGpu {
        let nominal = self.nominal(team);
        if self.total <= capacity {
            return nominal;
        }
        let exact = i128::from(nominal.0) * i128::from(capacity.0) / i128::from(self.total.0.max(1));
        let rounding = slack * i64::try_from(self.nominal.len()).unwrap_or(0);
        MilliGpu(i64::try_from(exact).unwrap_or(i64::MAX).saturating_add(rounding).max(0))
    }

    /// How far sums of scaled guarantees may be off, all in all.
    fn rounding(&self) -> MilliGpu {
        let teams = i64::try_from(self.nominal.len()).unwrap_or(0);
        if self.total <= self.usable { MilliGpu::ZERO } else { MilliGpu(2 * teams * teams) }
    }

    pub(super) fn low(&self, team: TeamId) -> MilliGpu {
        self.scaled(team, self.usable, -1)
    }

    pub(super) fn high(&self, team: TeamId) -> MilliGpu {
        self.scaled(team, self.capacity, 1)
    }

    /// Guaranteed + borrow limit; the guarantee as set, not as scaled.
    pub(super) fn cap(&self, index: &Index<'_>, team: TeamId) -> Option<MilliGpu> {
        let limit = index.quotas.get(&(team, self.pool)).and_then(|quota| quota.borrow_limit)?;
        Some(self.nominal(team) + limit)
    }

    fn claim(&self, index: &Index<'_>, amounts: &Use, team: TeamId, most: bool, depth: usize) -> MilliGpu {
        if depth > index.teams.len() {
            return MilliGpu::ZERO;
        }
        let below: MilliGpu =
            index.children(Some(team)).map(|child| self.claim(index, amounts, child, most, depth + 1)).sum();
        let lend_limit = index.quotas.get(&(team, self.pool)).and_then(|quota| quota.lend_limit);
        let guaranteed = if most { self.high(team) } else { self.low(team) };
        let not_lent = lend_limit.map_or(MilliGpu::ZERO, |limit| (guaranteed - limit).or_zero());
        (below + amounts.own(team, self.pool)).max(not_lent)
    }

    /// Claims beyond what the pool surely has.
    pub(super) fn may_be_over(&self, index: &Index<'_>, amounts: &Use) -> bool {
        self.all_claims(index, amounts, true) > self.usable
    }

    /// All claims on the pool, at least.
    pub(super) fn claims(&self, index: &Index<'_>, amounts: &Use) -> MilliGpu {
        self.all_claims(index, amounts, false)
    }

    fn all_claims(&self, index: &Index<'_>, amounts: &Use, most: bool) -> MilliGpu {
        let orphans: MilliGpu = amounts
            .own
            .iter()
            .filter(|((team, pool), _)| *pool == self.pool && !index.teams.contains_key(team))
            .map(|(_, milli)| *milli)
            .sum();
        let teams: MilliGpu =
            index.children(None).map(|team| self.claim(index, amounts, team, most, 0)).sum();
        teams + orphans
    }
}

pub(super) fn exceeded(index: &Index<'_>, amounts: &Use) -> Vec<Violation> {
    let mut found = Vec::new();
    for pool in &index.snapshot.pools {
        let guarantees = Guarantees::new(index, pool.id);
        for team in &index.snapshot.teams {
            let used = amounts.all(team.id, pool.id);
            if let Some(cap) = guarantees.cap(index, team.id).filter(|&cap| used > cap) {
                let detail =
                    format!("team {} in pool {}: {} of {} milli-GPU", team.id, pool.id, used.0, cap.0);
                found.push(Violation::new("over_cap", detail));
            }
        }
        let claims = guarantees.claims(index, amounts);
        if claims > guarantees.capacity {
            let detail = format!("pool {}: {} of {} milli-GPU", pool.id, claims.0, guarantees.capacity.0);
            found.push(Violation::new("over_lent", detail));
        }
    }
    found
}

/// A plan may leave a team over its limit (the quota was lowered), but never bring it there or further.
pub(super) fn judge(index: &Index<'_>, plan: &Plan, found: &mut Vec<Violation>) {
    let before = Use::held(index);
    let mut after = before.clone();
    after.add_starts(index, plan);
    let mut settled = Use::staying_after(index, plan);
    settled.add_starts(index, plan);
    for nomination in nominations(index.snapshot, plan) {
        if let Some(job) = index.jobs.get(&nomination.job) {
            settled.add_placements(index, job.team, &nomination.members);
        }
    }
    let promised: BTreeSet<TeamId> = plan
        .reclaims
        .iter()
        .filter_map(|reclaim| reclaim.evictor)
        .flat_map(|job| index.chain(index.jobs[&job].team))
        .collect();
    for pool in &index.snapshot.pools {
        let guarantees = Guarantees::new(index, pool.id);
        for team in &index.snapshot.teams {
            let Some(cap) = guarantees.cap(index, team.id) else { continue };
            let (was, is) = (before.all(team.id, pool.id), after.all(team.id, pool.id));
            // Leaving members still hold GPUs, but their quota is already another's (rule 2.6, R-30).
            let counted = settled.all(team.id, pool.id);
            let over = (is > was && counted > cap) || (promised.contains(&team.id) && counted > cap.max(was));
            if over {
                let detail =
                    format!("team {} in pool {}: {} of {} milli-GPU", team.id, pool.id, counted.0, cap.0);
                found.push(Violation::new("over_cap", detail));
            }
        }
        let (was, is) = (guarantees.claims(index, &before), guarantees.claims(index, &after));
        if is > guarantees.capacity && is > was + guarantees.rounding() {
            let detail =
                format!("pool {}: claims of {} on {} milli-GPU", pool.id, is.0, guarantees.capacity.0);
            found.push(Violation::new("over_lent", detail));
        }
        never_evicted(index, plan, &guarantees, found);
    }
}

impl Use {
    /// What stays when this plan's victims and those already leaving are gone.
    pub(super) fn staying_after(index: &Index<'_>, plan: &Plan) -> Self {
        let evicted: BTreeSet<(JobId, u32)> = plan
            .reclaims
            .iter()
            .flat_map(|reclaim| &reclaim.evictions)
            .flat_map(|eviction| eviction.members.iter().map(|&member| (eviction.job, member)))
            .collect();
        Self::of_members(index, |job, rank| {
            let member = &job.members[rank];
            stays(member) && !evicted.contains(&(job.id, member.index))
        })
    }
}

/// Rule 2.7: never-evicted work lives inside guarantees only: the team's, or what its departments' leave
/// over for it.
fn never_evicted(index: &Index<'_>, plan: &Plan, guarantees: &Guarantees, found: &mut Vec<Violation>) {
    let pool = guarantees.pool;
    let mut before = Use::default();
    for job in &index.snapshot.jobs {
        let base = job.members.iter().filter(|member| stays(member)).take(protected_members(job));
        for member in base.filter(|member| index.pool_of(member.node) == Some(pool)) {
            before.add(index, job.team, pool, held_by(member));
        }
    }
    let mut after = before.clone();
    let started = plan.starts.iter().filter(|start| !start.grow).map(|start| (start.job, &start.members));
    let nominated =
        plan.reclaims.iter().filter_map(|reclaim| reclaim.evictor.map(|job| (job, &reclaim.nomination)));
    for (job, members) in started.chain(nominated) {
        let job = index.jobs[&job];
        let base = &members[..members.len().min(protected_members(job))];
        after.add_placements(index, job.team, base);
    }
    let excess = |amounts: &Use| -> MilliGpu {
        index.children(None).map(|team| beyond_guarantee(index, guarantees, amounts, team, 0)).sum()
    };
    let (was, is) = (excess(&before), excess(&after));
    if is > was {
        let detail = format!("pool {pool}: {} milli-GPU of it on loan", is.0);
        found.push(Violation::new("never_evicted_on_loan", detail));
    }
}

/// Members of the job that are never evicted.
pub(super) fn protected_members(job: &Job) -> usize {
    match (job.preemptible, job.kind) {
        (false, _) => job.max_replicas as usize,
        (true, Kind::Inference) => job.min_replicas as usize,
        (true, _) => 0,
    }
}

fn beyond_guarantee(
    index: &Index<'_>,
    guarantees: &Guarantees,
    amounts: &Use,
    team: TeamId,
    depth: usize,
) -> MilliGpu {
    if depth > index.teams.len() {
        return MilliGpu::ZERO;
    }
    let mut own_part = guarantees.high(team);
    let mut needed = amounts.own(team, guarantees.pool);
    for child in index.children(Some(team)) {
        own_part -= guarantees.low(child);
        needed += beyond_guarantee(index, guarantees, amounts, child, depth + 1);
    }
    (needed - own_part).or_zero()
}
