//! Who could have to leave, by team: each team's units in the order in which they would be taken, and
//! what is true of all of them together for one kind of asker.
//!
//! A herd is not made anew when somebody of the team starts or is asked to leave: the state says whose units have become
//! others ([`Stirs`]), and only these take new places. Units of other teams that are alike to every asker
//! ([`Target`]) are counted together and judged once.
//!
//! Invariant: once [`Herds::offer`] has followed the state, a herd lists exactly the units of the team's placed jobs in the
//! pool that stay. The verdicts are [`super::rights`]'s: this module judges nobody by itself.

use super::front::{FRONTS, Footing, Front};
use super::problem::Index;
use super::rights::{Evictor, Right, Target, Terms, Verdict, right, right_to};
use super::score::UnitKey;
use super::state::State;
use super::unit::Unit;
use chrono::{DateTime, Utc};
use std::collections::{BTreeMap, VecDeque};

/// Jobs of one team whose units have become others, in that order.
#[derive(Debug, Clone, Default)]
pub(super) struct Stirs {
    /// Grows when the record begins anew: who has not read it to its end reads the team anew.
    record: u32,
    jobs: Vec<usize>,
}

impl Stirs {
    /// `placed`: how many jobs the team has placed. A record much longer than that is dearer than to begin anew.
    pub(super) fn note(&mut self, job: usize, placed: usize) {
        if self.jobs.len() > 64 + 8 * placed {
            self.record += 1;
            self.jobs.clear();
        }
        self.jobs.push(job);
    }
}

/// One unit. In the key, right, overshoot and share are left open: they are the asker's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    key: UnitKey,
    /// The job has no other unit.
    alone: bool,
    target: Target,
}

/// Units that are alike, of jobs that have no other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Count {
    units: usize,
    milli: i64,
}

/// What a whole herd can offer to one kind of asker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Offer {
    /// The first unit that may be taken, and by which right.
    first: Option<(UnitKey, Right)>,
    pub(super) may: usize,
    /// What those that may be taken, now or after their minimum run time, hold together.
    pub(super) takeable_milli: i64,
    /// What would push its team below its guarantee.
    pub(super) withheld_milli: i64,
    pub(super) protected_until: Option<DateTime<Utc>>,
    /// Some unit was refused because its team would fall below its guarantee.
    pub(super) hits_a_guarantee: bool,
}

impl Offer {
    /// The first unit that may be taken, for an asker on these terms.
    pub(super) fn first_on(&self, terms: &Terms, state: &State<'_, '_>, pool: usize) -> Option<UnitKey> {
        self.first.map(|(key, right)| key.with(right, terms.share(state, pool)))
    }
}

#[derive(Debug, Default)]
struct Herd {
    /// How far it has read the team's stirs; `None` = it was never made.
    seen: Option<(u32, usize)>,
    as_of: DateTime<Utc>,
    rows: VecDeque<Row>,
    /// By job: how many rows it has.
    listed: Index<usize, usize>,
    /// Of those who are alone.
    counts: BTreeMap<Target, Count>,
    offer: Option<(Terms, Offer)>,
}

/// All herds asked for so far, by pool and team: as of now, and as of the later moment that was asked for last.
#[derive(Debug, Default)]
pub(super) struct Herds {
    of: [Vec<Herd>; 2],
    fronts: [Front; FRONTS],
    /// Grows with each use of a front.
    uses: u64,
    /// Verdicts so far: what searches pay for.
    pub(super) judged: usize,
}

impl Herds {
    /// The front on this footing, as things stand: its number.
    pub(super) fn stand_on(
        &mut self,
        state: &mut State<'_, '_>,
        evictor: &Evictor,
        footing: Footing,
    ) -> usize {
        let known = self.fronts.iter().position(|front| front.is_on(footing));
        let oldest = || (0..FRONTS).min_by_key(|&slot| self.fronts[slot].used_at).unwrap_or(0);
        let slot = known.unwrap_or_else(oldest);
        let mut front = std::mem::take(&mut self.fronts[slot]);
        if known.is_none() {
            front.stand_on(state, slot, footing);
        }
        front.follow(state, self, slot, evictor);
        self.uses += 1;
        front.used_at = self.uses;
        self.fronts[slot] = front;
        slot
    }

    pub(super) fn front(&self, slot: usize) -> &Front {
        &self.fronts[slot]
    }

    /// What a team's herd offers on these terms.
    pub(super) fn offer(
        &mut self,
        state: &State<'_, '_>,
        evictor: &Evictor,
        (team, terms): (usize, Terms),
    ) -> Offer {
        let (later, at) = seat(state, evictor, team);
        let of = &mut self.of[later];
        if of.is_empty() {
            of.resize_with(state.problem.pools.len() * state.problem.teams.len(), Herd::default);
        }
        let herd = &mut of[at];
        herd.follow(state, evictor, team);
        debug_assert!(herd.is_true(state, evictor, team), "a herd equals a new one");
        match herd.offer {
            Some((known, offer)) if known == terms => offer,
            _ => {
                let offer = if team == evictor.team {
                    herd.offer_to_own(state, evictor)
                } else {
                    herd.offer_to_others(state, evictor, team)
                };
                let own = if team == evictor.team { herd.rows.len() } else { herd.counts.len() };
                self.judged += own;
                herd.offer = Some((terms, offer));
                offer
            }
        }
    }

    /// The next unit after one of the team's that may be taken.
    pub(super) fn next(
        &self,
        state: &State<'_, '_>,
        evictor: &Evictor,
        team: usize,
        after: &UnitKey,
    ) -> Option<UnitKey> {
        let (later, at) = seat(state, evictor, team);
        let rows = &self.of[later].get(at)?.rows;
        let after = after.opened();
        let is_first = rows.front().is_some_and(|row| row.key == after);
        let from = if is_first { 1 } else { rows.partition_point(|row| row.key <= after) };
        rows.range(from..).find_map(|row| {
            let unit = row.key.unit;
            if unit.is_gone(state) {
                return None;
            }
            let Verdict::May(right) = right(state, evictor, unit) else { return None };
            Some(row.key.with(right, super::rights::victim_share(state, evictor, unit)))
        })
    }
}

/// Where a team's herd stands: as of now or later, and its place there.
fn seat(state: &State<'_, '_>, evictor: &Evictor, team: usize) -> (usize, usize) {
    let later = usize::from(evictor.as_of > state.problem.now);
    (later, evictor.pool * state.problem.teams.len() + team)
}

impl Herd {
    /// Gives those whose units have become others their new places.
    fn follow(&mut self, state: &State<'_, '_>, evictor: &Evictor, team: usize) {
        let stirs = &state.stirs[team];
        match self.seen {
            Some((record, seen)) if record == stirs.record && self.as_of == evictor.as_of => {
                if seen == stirs.jobs.len() {
                    return;
                }
                let mut jobs = stirs.jobs[seen..].to_vec();
                jobs.sort_unstable();
                jobs.dedup();
                for job in jobs {
                    self.leave_out(job);
                    self.take_in(state, evictor, job);
                }
            }
            _ => *self = Self::new(state, evictor, team),
        }
        self.seen = Some((stirs.record, stirs.jobs.len()));
        self.offer = None;
    }

    fn new(state: &State<'_, '_>, evictor: &Evictor, team: usize) -> Self {
        let mut herd = Self { as_of: evictor.as_of, ..Self::default() };
        let jobs = &state.of_team[team];
        herd.listed.reserve(jobs.len());
        let mut rows = Vec::with_capacity(jobs.len());
        for &job in jobs {
            let from = rows.len();
            list(state, evictor, job, &mut rows);
            herd.count(&rows[from..]);
        }
        rows.sort_unstable_by_key(|row| row.key);
        herd.rows = rows.into();
        herd
    }

    fn count(&mut self, of_job: &[Row]) {
        let Some(first) = of_job.first() else { return };
        self.listed.insert(first.key.unit.job, of_job.len());
        if first.alone {
            let count = self.counts.entry(first.target).or_default();
            count.units += 1;
            count.milli += first.target.milli;
        }
    }

    fn take_in(&mut self, state: &State<'_, '_>, evictor: &Evictor, job: usize) {
        let mut of_job = Vec::with_capacity(1);
        list(state, evictor, job, &mut of_job);
        self.count(&of_job);
        for row in of_job {
            let at = self.rows.partition_point(|other| other.key < row.key);
            self.rows.insert(at, row);
        }
    }

    /// Those who were asked for last stand near the front: there they are looked for first.
    fn leave_out(&mut self, job: usize) {
        for _ in 0..self.listed.remove(&job).unwrap_or(0) {
            let at = self.rows.iter().position(|row| row.key.unit.job == job);
            let Some(row) = at.and_then(|at| self.rows.remove(at)) else { return };
            if row.alone
                && let Some(count) = self.counts.get_mut(&row.target)
            {
                count.units -= 1;
                count.milli -= row.target.milli;
                if count.units == 0 {
                    self.counts.remove(&row.target);
                }
            }
        }
    }

    fn is_true(&self, state: &State<'_, '_>, evictor: &Evictor, team: usize) -> bool {
        let new = Self::new(state, evictor, team);
        (&new.rows, &new.counts, &new.listed) == (&self.rows, &self.counts, &self.listed)
    }

    /// Units of other teams: those that are alike are judged once.
    fn offer_to_others(&self, state: &State<'_, '_>, evictor: &Evictor, team: usize) -> Offer {
        let mut offer = Offer::default();
        let mut alone = 0;
        for (target, count) in &self.counts {
            let verdict = right_to(state, evictor, team, target);
            if offer.note(verdict, *count) {
                offer.takeable_milli += count.milli;
            }
            alone += count.units;
        }
        if alone < self.rows.len() {
            offer.add_several(state, evictor, self.rows.iter().filter(|row| !row.alone));
        }
        offer.first = offer.may.checked_sub(1).and_then(|_| self.first(state, evictor));
        offer
    }

    fn offer_to_own(&self, state: &State<'_, '_>, evictor: &Evictor) -> Offer {
        let mut offer = Offer::default();
        for row in self.rows.iter().filter(|row| row.alone) {
            let count = Count { units: 1, milli: row.target.milli };
            if offer.note(right(state, evictor, row.key.unit), count) {
                offer.takeable_milli += count.milli;
            }
        }
        offer.add_several(state, evictor, self.rows.iter().filter(|row| !row.alone));
        offer.first = self.first(state, evictor);
        offer
    }

    fn first(&self, state: &State<'_, '_>, evictor: &Evictor) -> Option<(UnitKey, Right)> {
        self.rows.iter().find_map(|row| match right(state, evictor, row.key.unit) {
            Verdict::May(right) => Some((row.key, right)),
            _ => None,
        })
    }
}

impl Offer {
    /// Takes in a verdict on units that are alike. Whether they may be taken, now or after their minimum run time.
    fn note(&mut self, verdict: Verdict, count: Count) -> bool {
        match verdict {
            Verdict::Never => return false,
            Verdict::BelowGuarantee => {
                self.hits_a_guarantee = true;
                self.withheld_milli += count.milli;
                return false;
            }
            Verdict::Protected(until) => {
                self.protected_until = Some(self.protected_until.map_or(until, |known| known.min(until)));
            }
            Verdict::May(_) => self.may += count.units,
        }
        true
    }

    /// Units of jobs that have several. A gang leaves with its surplus members: where it may, they count with it.
    fn add_several<'r>(
        &mut self,
        state: &State<'_, '_>,
        evictor: &Evictor,
        rows: impl Iterator<Item = &'r Row>,
    ) {
        let mut shared: Vec<(usize, bool, i64)> = Vec::new();
        for Row { key: UnitKey { unit, .. }, target, .. } in rows {
            if self.note(right(state, evictor, *unit), Count { units: 1, milli: target.milli }) {
                shared.push((unit.job, unit.surplus.is_some(), target.milli));
            }
        }
        shared.sort_unstable();
        for part in shared.chunk_by(|left, right| left.0 == right.0) {
            let gang = part.iter().filter(|(_, surplus, _)| !surplus).map(|(_, _, milli)| *milli).max();
            self.takeable_milli += gang.unwrap_or_else(|| part.iter().map(|(_, _, milli)| milli).sum());
        }
    }
}

/// Adds the units of a job in the pool, if it is there.
fn list(state: &State<'_, '_>, evictor: &Evictor, job: usize, rows: &mut Vec<Row>) {
    if state.jobs[job].pool != Some(evictor.pool) {
        return;
    }
    let row = |unit: Unit| Row {
        key: UnitKey::open(state, unit, evictor.as_of),
        alone: false,
        target: Target::of(state, unit, evictor.as_of),
    };
    let from = rows.len();
    rows.extend(Unit::all_of(state, job).map(row));
    if let [only] = &mut rows[from..] {
        only.alone = true;
    }
}
