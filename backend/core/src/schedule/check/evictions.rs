//! Who may take GPUs from whom: one rule a cause.

use super::Violation;
use super::index::{Index, asked_by, held_by, stays};
use super::moves;
use super::project::nominations;
use super::quota::{Guarantees, Use, protected_members};
use super::records;
use crate::eviction::EvictionCause;
use crate::id::{JobId, PoolId, TeamId};
use crate::node::NodeState;
use crate::policy::{PreemptWithinTeam, Rebalance, ReclaimMode};
use crate::schedule::plan::{Eviction, Plan, Reclaim};
use crate::schedule::snapshot::{Job, Member};
use crate::units::MilliGpu;
use chrono::TimeDelta;
use std::collections::BTreeSet;

pub(super) fn judge(index: &Index<'_>, plan: &Plan, found: &mut Vec<Violation>) {
    let mut leaving: BTreeSet<(JobId, u32)> = BTreeSet::new();
    let mut evictors: BTreeSet<JobId> = BTreeSet::new();
    for reclaim in &plan.reclaims {
        let case = Case::new(index, plan, reclaim);
        case.judge_evictor(&mut evictors, found);
        for eviction in &reclaim.evictions {
            if eviction.members.iter().any(|&member| !leaving.insert((eviction.job, member))) {
                found.push(Violation::new("evicted_twice", format!("job {}", eviction.job)));
            }
            case.judge_victim(eviction, found);
        }
    }
    dropped(index, plan, found);
    hourly_cap(index, plan, found);
    moves::hourly_cap(index, plan, found);
}

/// Rule 2.8: rebalancing evicts no more in an hour than the policy lets it.
fn hourly_cap(index: &Index<'_>, plan: &Plan, found: &mut Vec<Violation>) {
    let Rebalance::On { max_evictions_per_hour: Some(most) } = index.snapshot.policy.rebalance else {
        return;
    };
    let evictions = plan.reclaims.iter().flat_map(|reclaim| &reclaim.evictions);
    let new = evictions.filter(|eviction| eviction.cause == EvictionCause::Rebalance).count();
    let since = index.snapshot.now - TimeDelta::hours(1);
    let recent = index.snapshot.rebalance_evictions_last_hour.iter().filter(|&&at| at > since).count();
    if new > 0 && new + recent > most as usize {
        let detail = format!("{new} after {recent} in the last hour, at most {most}");
        found.push(Violation::new("rebalance_cap_exceeded", detail));
    }
}

/// A nomination ends when its job starts, when it is dropped, or never: an expired one must go.
fn dropped(index: &Index<'_>, plan: &Plan, found: &mut Vec<Violation>) {
    for dropped in &plan.dropped {
        if !index.snapshot.nominations.iter().any(|nomination| nomination.job == dropped.job) {
            found.push(Violation::new("dropped_nothing", format!("job {} has no nomination", dropped.job)));
        }
    }
    let kept = nominations(index.snapshot, plan);
    for nomination in kept.iter().filter(|nomination| nomination.expires_at <= index.snapshot.now) {
        found.push(Violation::new("expired_nomination_kept", format!("job {}", nomination.job)));
    }
    for nomination in &kept {
        let waits = |job: &&Job| job.is_pending() || job.is_moving() || moves::moves(plan, job.id);
        if !index.jobs.get(&nomination.job).is_some_and(waits) {
            found.push(Violation::new("nomination_of_nobody", format!("job {}", nomination.job)));
        }
    }
}

fn taken(plan: &Plan, counts: fn(&Eviction) -> bool) -> BTreeSet<(JobId, u32)> {
    let evictions =
        plan.reclaims.iter().flat_map(|reclaim| &reclaim.evictions).filter(|eviction| counts(eviction));
    evictions.flat_map(|eviction| eviction.members.iter().map(|&member| (eviction.job, member))).collect()
}

/// One reclaim and what it is judged against.
struct Case<'a> {
    index: &'a Index<'a>,
    plan: &'a Plan,
    reclaim: &'a Reclaim,
    evictor: Option<&'a Job>,
    guarantees: Guarantees,
    /// Before the plan, without those who leave already.
    staying: Use,
    /// The same without this plan's victims.
    staying_after: Use,
    /// Space promised before this plan, whether its job starts now or not yet, and to this plan's owners.
    promised: Use,
    /// Everything that is promised or starts in this plan: it counts as its team's use, as it would if
    /// the decisions of this plan were taken one plan after the other.
    committed: Use,
    /// The starts that keep no promise made before.
    starting: Use,
    rebalances: usize,
    /// Every member that the plan evicts, and those that it evicts as surplus.
    taken: BTreeSet<(JobId, u32)>,
    taken_surplus: BTreeSet<(JobId, u32)>,
    /// Jobs nominated before that this plan does not drop.
    kept_nominations: BTreeSet<JobId>,
}

impl<'a> Case<'a> {
    fn new(index: &'a Index<'a>, plan: &'a Plan, reclaim: &'a Reclaim) -> Self {
        let mut promised = Use::default();
        let owners = plan.reclaims.iter().filter(|other| has_cause(other, EvictionCause::Reclaim));
        let owners: BTreeSet<JobId> = owners.filter_map(|other| other.evictor).collect();
        let before: BTreeSet<JobId> =
            index.snapshot.nominations.iter().map(|nomination| nomination.job).collect();
        let mut committed = Use::default();
        committed.add_starts(index, plan);
        let mut starting = committed.clone();
        let dropped: BTreeSet<JobId> = plan.dropped.iter().map(|dropped| dropped.job).collect();
        let kept: BTreeSet<JobId> = before.difference(&dropped).copied().collect();
        for start in plan.starts.iter().filter(|start| !start.grow && kept.contains(&start.job)) {
            let team = index.jobs[&start.job].team;
            promised.add_placements(index, team, &start.members);
            starting.remove_placements(index, team, &start.members);
        }
        for nomination in nominations(index.snapshot, plan) {
            let Some(job) = index.jobs.get(&nomination.job) else { continue };
            let is_old = kept.contains(&nomination.job);
            committed.add_placements(index, job.team, &nomination.members);
            if is_old || owners.contains(&nomination.job) {
                promised.add_placements(index, job.team, &nomination.members);
            }
        }
        Self {
            index,
            plan,
            reclaim,
            kept_nominations: kept,
            taken: taken(plan, |_| true),
            taken_surplus: taken(plan, |eviction| eviction.surplus_only),
            evictor: reclaim.evictor.and_then(|id| index.jobs.get(&id).copied()),
            guarantees: Guarantees::new(index, reclaim.pool),
            staying: Use::staying(index),
            staying_after: Use::staying_after(index, plan),
            promised,
            committed,
            starting,
            rebalances: plan
                .reclaims
                .iter()
                .filter(|other| has_cause(other, EvictionCause::Rebalance))
                .count(),
        }
    }

    fn judge_evictor(&self, seen: &mut BTreeSet<JobId>, found: &mut Vec<Violation>) {
        let reclaim = self.reclaim;
        let Some(job) = self.evictor else {
            if !reclaim.nomination.is_empty() {
                found.push(Violation::new("nomination_of_nobody", "a reclaim without an evictor"));
            }
            return;
        };
        if !seen.insert(job.id) || self.kept_nominations.contains(&job.id) {
            found.push(Violation::new("nominated_twice", format!("job {}", job.id)));
        }
        if !job.is_pending() && !moves::is_home(self.plan, reclaim, job) {
            found.push(Violation::new("evictor_not_pending", format!("job {}", job.id)));
        }
        if !job.evict_others && !reclaim.evictions.is_empty() {
            found.push(Violation::new("evictor_may_not_evict", format!("job {}", job.id)));
        }
        let count = reclaim.nomination.len();
        if count < job.min_replicas as usize || count > job.max_replicas as usize {
            let detail = format!("job {}: {count} members nominated", job.id);
            found.push(Violation::new("nomination_not_whole", detail));
        }
        if reclaim.nomination.iter().any(|placement| self.index.pool_of(placement.node) != Some(reclaim.pool))
        {
            found.push(Violation::new("wrong_pool", format!("job {} is nominated outside the pool", job.id)));
        }
        if reclaim.expires_at <= self.index.snapshot.now {
            found.push(Violation::new("nomination_stillborn", format!("job {}", job.id)));
        }
    }

    fn judge_victim(&self, eviction: &Eviction, found: &mut Vec<Violation>) {
        let victim = self.index.jobs[&eviction.job];
        let mut wrong = |rule: &'static str, detail: &str| {
            found.push(Violation::new(rule, format!("job {}: {detail}", victim.id)));
        };
        let members: Vec<&Member> =
            victim.members.iter().filter(|member| eviction.members.contains(&member.index)).collect();
        if members.len() != eviction.members.len() || members.is_empty() {
            wrong("no_such_member", "the eviction names members that it does not have");
        }
        if members.iter().any(|member| !stays(member)) {
            wrong("leaving_already", "a second eviction of what leaves already");
        }
        if members.iter().any(|member| self.index.pool_of(member.node) != Some(self.reclaim.pool)) {
            wrong("wrong_pool", "it does not run in the reclaim's pool");
        }
        // One reclaim of a plan may take a job's surplus and another the rest: both count.
        let taken = if eviction.surplus_only { &self.taken_surplus } else { &self.taken };
        let staying = victim.members.iter().filter(|member| stays(member));
        let left = staying.filter(|member| !taken.contains(&(victim.id, member.index))).count();
        if eviction.surplus_only && left < victim.min_replicas as usize {
            wrong("surplus_below_minimum", &format!("{left} of at least {} would stay", victim.min_replicas));
        }
        if !eviction.surplus_only && left > 0 {
            wrong("gang_torn", &format!("{left} members would stay"));
        }
        let rules = self.index.rules(victim);
        if eviction.leave_by < self.index.snapshot.now + TimeDelta::seconds(rules.grace_secs) {
            wrong("grace_cut_short", "less than its kind's grace");
        }
        if let Some(why) = self.protected(victim, eviction, left) {
            wrong("protected_victim", why);
        }
        if let Err(why) = self.rule(victim, eviction) {
            wrong("no_right_to_evict", &why);
        }
        if let Err(why) = records::judge(self.index, &self.guarantees, self.reclaim, victim, eviction) {
            wrong("false_record", &why);
        }
    }

    /// Rules 2.7, 4.5: operators may send anybody away; jobs may not.
    fn protected(&self, victim: &Job, eviction: &Eviction, left: usize) -> Option<&'static str> {
        use EvictionCause::{Drain, Operator, QuotaLowered};
        if matches!(eviction.cause, Drain | QuotaLowered | Operator) {
            return None;
        }
        if victim.never_evict || left < protected_members(victim).min(victim.members.len()) {
            return Some("it is never evicted");
        }
        if eviction.surplus_only || eviction.cause == EvictionCause::Idle {
            return None;
        }
        let policy = &self.index.snapshot.policy;
        let often = victim.evictions_in_last_day >= policy.max_evictions_per_job_per_day;
        let min_runtime = TimeDelta::seconds(self.index.rules(victim).min_runtime_secs);
        let protected_for = if often { min_runtime * 2 } else { min_runtime };
        let started = victim.members.iter().map(|member| member.started_at).min()?;
        (started + protected_for > self.index.snapshot.now).then_some("its minimum run time is not over")
    }

    fn rule(&self, victim: &Job, eviction: &Eviction) -> Result<(), String> {
        let policy = &self.index.snapshot.policy;
        match (eviction.cause, self.evictor) {
            (EvictionCause::Reclaim, Some(evictor)) => self.reclaims(evictor, victim),
            (EvictionCause::Preemption, Some(evictor)) => self.preempts(evictor, victim),
            (EvictionCause::BorrowPreemption, Some(evictor)) => self.borrow_preempts(evictor, victim),
            (EvictionCause::Rebalance, Some(evictor)) => self.rebalances(evictor, victim),
            (EvictionCause::Consolidation, Some(evictor)) => {
                moves::judge(self.plan, policy, evictor, victim, eviction)
            }
            (EvictionCause::Idle | EvictionCause::Operator, _) => Ok(()),
            (EvictionCause::Drain, None) => self.drains(victim),
            (EvictionCause::QuotaLowered, None) => self.lowered(victim),
            (cause, None) => Err(format!("{cause} for nobody")),
            (cause, Some(_)) => Err(format!("{cause} for a job")),
        }
    }

    /// Rule 2.3: at the fork of the tree, the asker's side is inside its guarantee and the victim's side,
    /// at every level, is over its own.
    fn reclaims(&self, evictor: &Job, victim: &Job) -> Result<(), String> {
        match self.index.snapshot.policy.reclaim {
            ReclaimMode::Off => return Err("reclaim is off".into()),
            ReclaimMode::LowerPriority if victim.priority >= evictor.priority => {
                return Err("reclaim takes lower priorities only".into());
            }
            _ => {}
        }
        let (ours, theirs) = self.index.sides(evictor.team, victim.team);
        let Some(&our_side) = ours.last() else {
            return Err("a job of the asker's own branch".into());
        };
        let pool = self.reclaim.pool;
        let asked = self.staying_after.all(our_side, pool) + self.promised.all(our_side, pool);
        if asked > self.guarantees.high(our_side) {
            let guaranteed = self.guarantees.high(our_side).0;
            return Err(format!("the asker's side would use {} of {guaranteed} milli-GPU", asked.0));
        }
        for &level in &theirs {
            self.was_over(level, true)?;
        }
        Ok(())
    }

    /// The level used more than its guarantee, and still did before the last of this plan's victims there
    /// (which may overshoot: rule 2.5), or does even after it. What its own jobs take from each other may come
    /// after that.
    fn was_over(&self, level: TeamId, may_overshoot: bool) -> Result<(), String> {
        let pool = self.reclaim.pool;
        let guaranteed = self.guarantees.low(level);
        let committed = self.committed.all(level, pool);
        let after = self.staying_after.all(level, pool) + committed + self.own_loss(level);
        let allowed = if may_overshoot {
            let largest =
                self.index.snapshot.jobs.iter().filter(|job| self.index.chain(job.team).contains(&level));
            let largest = largest.map(|job| self.taken_of(job, pool)).max().unwrap_or_default();
            after + largest > guaranteed
        } else {
            after >= guaranteed
        };
        let was = self.staying.all(level, pool) + committed;
        if allowed && was > guaranteed {
            return Ok(());
        }
        Err(format!(
            "team {level} used {} and would keep {} of its {} milli-GPU",
            was.0, after.0, guaranteed.0
        ))
    }

    /// By how much decisions for jobs of the level leave it with less than before: victims of its own that hold more
    /// than their evictor asks.
    fn own_loss(&self, level: TeamId) -> MilliGpu {
        let is_ours = |id: &JobId| self.index.chain(self.index.jobs[id].team).contains(&level);
        let ours = self.plan.reclaims.iter().filter(|reclaim| {
            reclaim.pool == self.reclaim.pool && reclaim.evictor.as_ref().is_some_and(is_ours)
        });
        let loss = |reclaim: &Reclaim| {
            let own = reclaim.evictions.iter().filter(|eviction| is_ours(&eviction.job));
            let taken: MilliGpu = own.map(|eviction| records::held(self.index, eviction)).sum();
            let got: MilliGpu = reclaim.nomination.iter().map(asked_by).sum();
            (taken - got).or_zero()
        };
        ours.map(loss).sum()
    }

    /// What the whole plan takes from a job in the pool: its evictions may be thought of in any order.
    fn taken_of(&self, job: &Job, pool: PoolId) -> MilliGpu {
        let members = job.members.iter().filter(|member| self.taken.contains(&(job.id, member.index)));
        members.filter(|member| self.index.pool_of(member.node) == Some(pool)).map(held_by).sum()
    }

    /// Rule 4.2.
    fn preempts(&self, evictor: &Job, victim: &Job) -> Result<(), String> {
        if evictor.team != victim.team {
            return Err("preemption is the same team's".into());
        }
        let (taken, asking) = (victim.priority_in_team(), evictor.priority_in_team());
        let lower = taken < asking;
        let age = |job: &Job| (job.submitted_at, job.id);
        let newer_equal = taken == asking && age(victim) > age(evictor);
        match self.index.snapshot.policy.preempt_within_team {
            PreemptWithinTeam::Lower if lower => Ok(()),
            PreemptWithinTeam::LowerOrNewerEqual if lower || newer_equal => Ok(()),
            mode => Err(format!("priority {} against {} ({mode})", asking.0, taken.0)),
        }
    }

    /// Rule 4.3: loans of a low class only, never below a guarantee.
    fn borrow_preempts(&self, evictor: &Job, victim: &Job) -> Result<(), String> {
        let Some(max) = self.index.snapshot.policy.borrow_preemption_max_priority else {
            return Err("borrow preemption is off".into());
        };
        if evictor.team == victim.team || victim.priority.0 > max || victim.priority >= evictor.priority {
            return Err(format!(
                "priority {} against {}, at most {max}",
                evictor.priority.0, victim.priority.0
            ));
        }
        for level in self.index.sides(evictor.team, victim.team).1 {
            self.was_over(level, false)?;
        }
        Ok(())
    }

    /// Rule 2.8: never a higher priority, never below a guarantee, and the sorted shares improve.
    fn rebalances(&self, evictor: &Job, victim: &Job) -> Result<(), String> {
        if self.index.snapshot.policy.rebalance == Rebalance::Off {
            return Err("rebalancing is off".into());
        }
        if victim.priority > evictor.priority {
            return Err(format!("priority {} against {}", evictor.priority.0, victim.priority.0));
        }
        let (ours, theirs) = self.index.sides(evictor.team, victim.team);
        for &level in &theirs {
            self.was_over(level, false)?;
        }
        let (Some(&ours), true) = (ours.last(), self.rebalances == 1) else { return Ok(()) };
        let pool = self.reclaim.pool;
        let parent = self.index.teams.get(&ours).and_then(|team| team.parent);
        let asked = Use::default();
        let mut asked = asked;
        asked.add_placements(self.index, evictor.team, &self.reclaim.nomination);
        let siblings: Vec<TeamId> = self.index.children(parent).collect();
        let shares = |most: bool, amount: &dyn Fn(TeamId) -> MilliGpu| -> Vec<Share> {
            let mut shares: Vec<Share> =
                siblings.iter().map(|&team| self.share(most, team, amount(team))).collect();
            shares.sort_by(|left, right| right.compare(left));
            shares
        };
        // The plan's starts, and what it promises to others, may have come before the eviction or after it; and where
        // guarantees are scaled, they are the planner's to say between the two bounds.
        let improves_by = |most: bool, others: &Use| {
            let before = shares(most, &|team| self.staying.all(team, pool) + others.all(team, pool));
            let after = shares(most, &|team| {
                self.staying_after.all(team, pool) + others.all(team, pool) + asked.all(team, pool)
            });
            let mut order = before.iter().zip(&after).map(|(was, is)| is.compare(was));
            order.find(|order| order.is_ne()) == Some(std::cmp::Ordering::Less)
        };
        let improves = |others: &Use| improves_by(false, others) || improves_by(true, others);
        let mut with_starts = self.promised.clone();
        with_starts.add_all(&self.starting);
        let mut committed = self.committed.clone();
        committed.remove_placements(self.index, evictor.team, &self.reclaim.nomination);
        if improves(&self.promised) || improves(&with_starts) || improves(&committed) {
            return Ok(());
        }
        Err("the shares do not improve".into())
    }

    fn share(&self, most: bool, team: TeamId, used: MilliGpu) -> Share {
        let weight = self.index.quotas.get(&(team, self.reclaim.pool)).map_or(1, |quota| quota.weight);
        let guaranteed = if most { self.guarantees.high(team) } else { self.guarantees.low(team) };
        Share { over: (used - guaranteed).or_zero().0, weight }
    }

    fn drains(&self, victim: &Job) -> Result<(), String> {
        let draining = |member: &Member| {
            let now = self.index.snapshot.now;
            self.index.nodes.get(&member.node).is_some_and(|node| node.state == NodeState::Draining)
                || self.index.is_maintained(member.node, now, Some(now))
        };
        if victim.members.iter().any(draining) { Ok(()) } else { Err("none of its nodes is draining".into()) }
    }

    fn lowered(&self, victim: &Job) -> Result<(), String> {
        let pool = self.reclaim.pool;
        let drains =
            |level: &&TeamId| self.index.quotas.get(&(**level, pool)).is_some_and(|quota| quota.drain);
        let over = |level: &TeamId| self.staying.all(*level, pool) > self.guarantees.low(*level);
        let chain = self.index.chain(victim.team);
        if chain.iter().filter(drains).any(over) { Ok(()) } else { Err("no quota above it drains".into()) }
    }
}

fn has_cause(reclaim: &Reclaim, cause: EvictionCause) -> bool {
    reclaim.evictions.iter().any(|eviction| eviction.cause == cause)
}

/// Use above the guarantee by weight; with weight 0, any of it is beyond all others.
#[derive(Debug, Clone, Copy)]
struct Share {
    over: i64,
    weight: u32,
}

impl Share {
    fn compare(&self, other: &Self) -> std::cmp::Ordering {
        let infinite = |share: &Self| share.weight == 0 && share.over > 0;
        match (infinite(self), infinite(other)) {
            (true, true) => self.over.cmp(&other.over),
            (false, false) => {
                let cross = |share: &Self, weight: u32| i128::from(share.over) * i128::from(weight.max(1));
                cross(self, other.weight).cmp(&cross(other, self.weight))
            }
            (one, _) => one.cmp(&infinite(other)),
        }
    }
}
