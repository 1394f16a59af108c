//! The order in which victims are preferred. The structs derive `Ord`: field order is the policy, the
//! first difference decides, and the last field is the id.
//!
//! This module says nothing about who may be a victim: that is [`super::rights`]'s.

use super::ledger::Share;
use super::rights::Right;
use super::state::State;
use super::unit::Unit;
use crate::eviction::EvictionCause;
use crate::job::CheckpointMode;
use crate::policy::SurplusOrder;
use chrono::{DateTime, Utc};
use std::cmp::{Ordering, Reverse};

/// A share that nobody competes with.
const NOBODYS: Share = Share { over: 0, weight: 1 };

/// One possible victim. Less = taken first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UnitKey {
    /// By which right: see [`Right::rank`].
    pub(super) right: u8,
    pub(super) overshoot: i64,
    /// A start of this very plan is taken back before anything that runs.
    pub(super) runs: bool,
    pub(super) whole_gang: bool,
    pub(super) tier: u8,
    /// Bands: the lower class first, whatever the share. 0 when the policy looks at shares only.
    pub(super) class: i32,
    pub(super) share: Reverse<Share>,
    pub(super) priority: i32,
    pub(super) lost_gpu_secs: i64,
    pub(super) started: Reverse<DateTime<Utc>>,
    /// Of the starts of this plan, the last in line first. `None` for what runs.
    pub(super) last_in_line: Option<Reverse<(DateTime<Utc>, usize)>>,
    pub(super) unit: Unit,
}

impl UnitKey {
    /// As things will stand at `as_of` if nothing else changes.
    pub(super) fn new(
        state: &State<'_, '_>,
        unit: Unit,
        right: Right,
        share: Share,
        as_of: DateTime<Utc>,
    ) -> Self {
        let row = &state.problem.jobs[unit.job];
        let starts_now = unit.starts_now(state, as_of);
        let bands = state.problem.snapshot.policy.surplus_order == SurplusOrder::Bands;
        Self {
            right: right.rank,
            overshoot: right.overshoot,
            runs: !starts_now,
            // What computes nothing gives way before anybody's surplus that does.
            whole_gang: unit.surplus.is_none() && !row.job.idle,
            tier: tier(state, unit),
            class: if bands { row.job.priority.0 } else { 0 },
            share: Reverse(share),
            // Raised among its own, it goes after its equals.
            priority: row.team_priority,
            lost_gpu_secs: lost_gpu_secs(state, unit, as_of),
            started: Reverse(row.started_at),
            last_in_line: starts_now.then_some(Reverse((row.job.submitted_at, unit.job))),
            unit,
        }
    }

    /// Without an asker: right, overshoot and share are nobody's.
    pub(super) fn open(state: &State<'_, '_>, unit: Unit, as_of: DateTime<Utc>) -> Self {
        let nobodys = Right { cause: EvictionCause::Reclaim, rank: 0, overshoot: 0 };
        Self::new(state, unit, nobodys, NOBODYS, as_of)
    }

    /// For the asker with this right, competing with that share.
    pub(super) const fn with(self, right: Right, share: Share) -> Self {
        Self { right: right.rank, overshoot: right.overshoot, share: Reverse(share), ..self }
    }

    /// As [`UnitKey::open`] made it.
    pub(super) const fn opened(self) -> Self {
        Self { right: 0, overshoot: 0, share: Reverse(NOBODYS), ..self }
    }

    /// The name of the first key on which two candidates differ.
    pub(super) fn decided_by(&self, other: &Self) -> &'static str {
        let keys = [
            (self.right != other.right, "right"),
            (self.overshoot != other.overshoot, "overshoot"),
            (self.runs != other.runs, "started_now"),
            (self.whole_gang != other.whole_gang, "surplus_members"),
            (self.tier != other.tier, "tier"),
            (self.class != other.class, "priority"),
            (self.share != other.share, "team_over_share"),
            (self.priority != other.priority, "priority"),
            (self.lost_gpu_secs != other.lost_gpu_secs, "lost_work"),
            (self.started != other.started, "latest_start"),
            (self.last_in_line != other.last_in_line, "last_in_line"),
        ];
        keys.iter().find(|(differ, _)| *differ).map_or("id", |(_, name)| name)
    }
}

/// Rule 4.4. Surplus members go with the experiments.
pub(super) fn tier(state: &State<'_, '_>, unit: Unit) -> u8 {
    if unit.surplus.is_some() { 1 } else { state.problem.jobs[unit.job].tier }
}

/// GPU-seconds of work from the last checkpoint until `as_of`. A job that saves when asked loses nothing.
pub(super) fn lost_gpu_secs(state: &State<'_, '_>, unit: Unit, as_of: DateTime<Utc>) -> i64 {
    let row = &state.problem.jobs[unit.job];
    let saved = match row.job.checkpoint {
        CheckpointMode::OnSignal => return 0,
        CheckpointMode::Periodic => row.job.last_checkpoint_at.unwrap_or(row.started_at).max(row.started_at),
        CheckpointMode::None => row.started_at,
    };
    let secs = (as_of - saved).num_seconds().max(0);
    let milli: i64 = unit.members(state).iter().map(|&at| state.jobs[unit.job].members[at].milli).sum();
    secs.saturating_mul(milli) / 1_000
}

/// Latest start first; starts of this plan, latest in line, before all.
type Started = (Reverse<DateTime<Utc>>, Option<Reverse<(DateTime<Utc>, usize)>>);

/// A set of victims that makes the room on its own. Less = better.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SetKey {
    right: u8,
    overshoot: i64,
    runs: bool,
    whole_gang: bool,
    tier: u8,
    class: i32,
    share: Reverse<Share>,
    priority: i32,
    lost_gpu_secs: i64,
    count: usize,
    started: Vec<Started>,
    units: Vec<Unit>,
    node: usize,
}

impl SetKey {
    /// Whether a set is as cheap as another, start times and nodes aside.
    pub(super) fn costs_no_more_than(&self, other: &Self) -> bool {
        let cost = |key: &Self| {
            (
                (key.right, key.overshoot, key.runs, key.whole_gang, key.tier, key.class),
                (key.share, key.priority, key.lost_gpu_secs, key.count),
            )
        };
        cost(self) <= cost(other)
    }

    /// Each part is the worst of the set, or the sum.
    pub(super) fn new(keys: &[UnitKey], node: usize) -> Self {
        Self {
            right: keys.iter().map(|key| key.right).max().unwrap_or(0),
            overshoot: keys.iter().map(|key| key.overshoot).sum(),
            runs: keys.iter().any(|key| key.runs),
            whole_gang: keys.iter().any(|key| key.whole_gang),
            tier: keys.iter().map(|key| key.tier).max().unwrap_or(0),
            class: keys.iter().map(|key| key.class).max().unwrap_or(0),
            share: Reverse(keys.iter().map(|key| key.share.0).max().unwrap_or(NOBODYS)),
            priority: keys.iter().map(|key| key.priority).max().unwrap_or(0),
            lost_gpu_secs: keys.iter().map(|key| key.lost_gpu_secs).sum(),
            count: keys.len(),
            started: keys.iter().map(|key| (key.started, key.last_in_line)).collect(),
            units: keys.iter().map(|key| key.unit).collect(),
            node,
        }
    }

    /// How this set compares with any whose first unit is `key` or a later one, as far as that can be told: each
    /// part of a set's key is at least that of its first unit. Equal = such a set may be better yet, by fewer or
    /// later victims at most. Where the first unit may give later ones a better right or a larger share
    /// (`rights_may_improve`), only the parts before the share are compared.
    pub(super) fn against_all_from(&self, key: &UnitKey, rights_may_improve: bool) -> Ordering {
        let mine = (self.right, self.overshoot, self.runs, self.whole_gang, self.tier, self.class);
        let least = (key.right, key.overshoot, key.runs, key.whole_gang, key.tier, key.class);
        if mine != least || rights_may_improve {
            return mine.cmp(&least);
        }
        let mine = (self.share, self.priority, self.lost_gpu_secs);
        let least = (key.share, key.priority, key.lost_gpu_secs);
        let alone = match (self.started.as_slice(), self.units.as_slice()) {
            (&[started], &[unit]) => (started, unit).cmp(&((key.started, key.last_in_line), key.unit)),
            _ => Ordering::Equal,
        };
        mine.cmp(&least).then(alone)
    }
}
