//! Who could have to leave, by team: each team's units in the order in which they would be taken, and
//! what is true of all of them together for one kind of asker.
//!
//! Invariant: a herd whose version is the state's lists exactly the units of the team's placed jobs in the
//! pool, members already leaving left out at the time it was made; whoever reads it skips those that have
//! been asked since. The verdicts are [`super::rights`]'s: this module judges nobody by itself.

use super::front::{FRONTS, Footing, Front};
use super::rights::{Evictor, Right, Terms, Verdict, right};
use super::score::UnitKey;
use super::state::State;
use super::unit::Unit;
use chrono::{DateTime, Utc};

/// One unit. In the key, right, overshoot and share are left open: they are the asker's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) key: UnitKey,
    /// The job has no other unit.
    alone: bool,
}

/// What a whole herd can offer to one kind of asker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Offer {
    /// The first row that may be taken, and by which right.
    pub(super) first: Option<(usize, Right)>,
    pub(super) may: usize,
    /// What those that may be taken, now or after their minimum run time, hold together.
    pub(super) takeable_milli: i64,
    /// What would push its team below its guarantee.
    pub(super) withheld_milli: i64,
    pub(super) protected_until: Option<DateTime<Utc>>,
    /// Some unit was refused because its team would fall below its guarantee.
    pub(super) hits_a_guarantee: bool,
}

#[derive(Debug, Default)]
struct Herd {
    version: u32,
    as_of: DateTime<Utc>,
    rows: Vec<Row>,
    offer: Option<(Terms, Offer)>,
}

/// All herds asked for so far, by pool and team: as of now, and as of the later moment that was asked for last.
#[derive(Debug, Default)]
pub(super) struct Herds {
    of: [Vec<Herd>; 2],
    fronts: [Front; FRONTS],
    /// Grows with each use of a front.
    uses: u64,
    /// Units judged so far: what searches pay for.
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
        if herd.version != state.herd_version[team] || herd.as_of != evictor.as_of {
            herd.rows = rows(state, evictor, team);
            (herd.version, herd.as_of) = (state.herd_version[team], evictor.as_of);
            herd.offer = None;
        }
        debug_assert!(is_true(state, evictor, team, &herd.rows), "a herd equals a new one");
        match herd.offer {
            Some((known, offer)) if known == terms => offer,
            _ => {
                let offer = offer(state, evictor, &herd.rows);
                self.judged += herd.rows.len();
                herd.offer = Some((terms, offer));
                offer
            }
        }
    }

    /// The first row that may be taken, of an offer on these terms.
    pub(super) fn first(
        &self,
        state: &State<'_, '_>,
        evictor: &Evictor,
        (team, terms, offer): (usize, &Terms, &Offer),
    ) -> Option<(usize, UnitKey)> {
        let (first, right) = offer.first?;
        let key = self.rows(state, evictor, team)?[first].key;
        if key.unit.is_gone(state) {
            return self.next(state, evictor, team, first);
        }
        Some((first, key.with(right, terms.share(state, evictor.pool))))
    }

    fn rows(&self, state: &State<'_, '_>, evictor: &Evictor, team: usize) -> Option<&[Row]> {
        let (later, at) = seat(state, evictor, team);
        Some(&self.of[later].get(at)?.rows)
    }

    /// The first row from `from` on that may be taken.
    pub(super) fn next(
        &self,
        state: &State<'_, '_>,
        evictor: &Evictor,
        team: usize,
        from: usize,
    ) -> Option<(usize, UnitKey)> {
        let mut rows = self.rows(state, evictor, team)?.iter().enumerate().skip(from);
        rows.find_map(|(at, row)| {
            let unit = row.key.unit;
            if unit.is_gone(state) {
                return None;
            }
            let Verdict::May(right) = right(state, evictor, unit) else { return None };
            Some((at, row.key.with(right, super::rights::victim_share(state, evictor, unit))))
        })
    }
}

/// Where a team's herd stands: as of now or later, and its place there.
fn seat(state: &State<'_, '_>, evictor: &Evictor, team: usize) -> (usize, usize) {
    let later = usize::from(evictor.as_of > state.problem.now);
    (later, evictor.pool * state.problem.teams.len() + team)
}

/// Whether those who have not been asked since are all there are, in their order.
fn is_true(state: &State<'_, '_>, evictor: &Evictor, team: usize, known: &[Row]) -> bool {
    let staying = |rows: &[Row]| -> Vec<UnitKey> {
        rows.iter().map(|row| row.key).filter(|key| !key.unit.is_gone(state)).collect()
    };
    staying(known) == staying(&rows(state, evictor, team))
}

fn rows(state: &State<'_, '_>, evictor: &Evictor, team: usize) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for &job in state.of_team[team].iter().filter(|&&job| state.jobs[job].pool == Some(evictor.pool)) {
        let first = rows.len();
        for unit in Unit::all_of(state, job) {
            rows.push(Row { key: UnitKey::open(state, unit, evictor.as_of), alone: false });
        }
        if let [only] = &mut rows[first..] {
            only.alone = true;
        }
    }
    rows.sort_unstable_by_key(|row| row.key);
    rows
}

fn offer(state: &State<'_, '_>, evictor: &Evictor, rows: &[Row]) -> Offer {
    let mut offer = Offer::default();
    // A gang leaves with its surplus members: where it may, they count with it.
    let mut shared: Vec<(usize, bool, i64)> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let unit = row.key.unit;
        if unit.is_gone(state) {
            continue;
        }
        let verdict = right(state, evictor, unit);
        match verdict {
            Verdict::Never => continue,
            Verdict::BelowGuarantee => {
                offer.hits_a_guarantee = true;
                offer.withheld_milli += unit.milli(state);
                continue;
            }
            Verdict::Protected(until) => {
                offer.protected_until = Some(offer.protected_until.map_or(until, |known| known.min(until)));
            }
            Verdict::May(right) => {
                offer.may += 1;
                offer.first.get_or_insert((at, right));
            }
        }
        if row.alone {
            offer.takeable_milli += unit.milli(state);
        } else {
            shared.push((unit.job, unit.surplus.is_some(), unit.milli(state)));
        }
    }
    shared.sort_unstable();
    for part in shared.chunk_by(|left, right| left.0 == right.0) {
        let gang = part.iter().filter(|(_, surplus, _)| !surplus).map(|(_, _, milli)| *milli).max();
        offer.takeable_milli += gang.unwrap_or_else(|| part.iter().map(|(_, _, milli)| milli).sum());
    }
    offer
}
