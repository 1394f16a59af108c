//! The ledger's rule: at each moment every GPU of a pool is exactly one of guaranteed, on loan (from whom), idle (whose), down.
//!
//! Within a team the loan is carried by the work that would have to go first: what may be evicted, the lowest class, the latest
//! start. The loan itself is what the planner attributed; where a job has ended and no tick has looked yet, it is no more
//! than what the team still holds. Idle capacity belongs to the teams that were guaranteed it and neither used nor lent it.
//! Nothing here looks anything up.

use super::ledger_input::{Capacity, Guarantee, Held, Inputs, Lent, Ms, Span, Work};
use crate::id::TeamId;
use crate::schedule::share_out::share_out;
use crate::text_enum;
use std::collections::BTreeMap;

text_enum! {
    /// What a piece of capacity was.
    Share {
        /// Used inside the team's guarantee.
        Guaranteed = "guaranteed",
        /// Used above it.
        Loan = "loan",
        /// The team's guarantee, which nobody used; without a team, capacity that nobody is guaranteed.
        Idle = "idle",
        /// Out of reach.
        Down = "down",
    }
}

/// Whose it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    Guaranteed(Work),
    Loan { work: Work, lender: Option<TeamId> },
    Idle(Option<TeamId>),
    Down,
}

impl Part {
    #[must_use]
    pub const fn share(&self) -> Share {
        match self {
            Self::Guaranteed(_) => Share::Guaranteed,
            Self::Loan { .. } => Share::Loan,
            Self::Idle(_) => Share::Idle,
            Self::Down => Share::Down,
        }
    }

    #[must_use]
    pub const fn work(&self) -> Option<&Work> {
        match self {
            Self::Guaranteed(work) | Self::Loan { work, .. } => Some(work),
            Self::Idle(_) | Self::Down => None,
        }
    }

    /// The team that has it on its bill.
    #[must_use]
    pub fn team(&self) -> Option<TeamId> {
        match self {
            Self::Idle(team) => *team,
            _ => self.work().map(|work| work.team),
        }
    }

    #[must_use]
    pub const fn lender(&self) -> Option<TeamId> {
        match self {
            Self::Loan { lender, .. } => *lender,
            _ => None,
        }
    }
}

/// A line of the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub part: Part,
    pub milli: i64,
    pub span: Span,
}

impl Entry {
    /// Milli-GPU-milliseconds.
    #[must_use]
    pub const fn amount(&self) -> i64 {
        self.milli * self.span.millis()
    }
}

/// The ledger of a window, in order of time: its lines' amounts add up to capacity × time, where at each moment capacity is
/// what was recorded, or what was held if that was more.
#[must_use]
pub fn settle(window: Span, inputs: &Inputs) -> Vec<Entry> {
    let mut open: BTreeMap<Part, (i64, Ms)> = BTreeMap::new();
    let mut entries = Vec::new();
    let borders = borders(window, inputs);
    let mut moments = Moments::new(inputs);
    for &at in &borders {
        let parts = if at < window.to { split(moments.advance(at)) } else { BTreeMap::new() };
        let ended: Vec<Part> = open
            .iter()
            .filter(|(part, (milli, _))| parts.get(part) != Some(milli))
            .map(|(part, _)| *part)
            .collect();
        for part in ended {
            if let Some((milli, from)) = open.remove(&part) {
                entries.push(Entry { part, milli, span: Span { from, to: at } });
            }
        }
        for (part, milli) in parts {
            open.entry(part).or_insert((milli, at));
        }
    }
    entries.sort_by_key(|entry| (entry.span.from, entry.part));
    entries
}

/// Where anything changes, and the window's own ends.
fn borders(window: Span, inputs: &Inputs) -> Vec<Ms> {
    let spans = inputs
        .held
        .iter()
        .map(|held| held.span)
        .chain(inputs.lent.iter().map(|lent| lent.span))
        .chain(inputs.capacity.iter().map(|capacity| capacity.span))
        .chain(inputs.guarantees.iter().map(|guarantee| guarantee.span));
    let mut borders: Vec<Ms> = spans
        .flat_map(|span| [span.from, span.to])
        .filter(|at| (window.from..window.to).contains(at))
        .chain([window.from, window.to])
        .collect();
    borders.sort_unstable();
    borders.dedup();
    borders
}

/// What holds at a moment; moments are asked for in order.
struct Moments<'a> {
    held: Active<'a, Held>,
    lent: Active<'a, Lent>,
    capacity: Active<'a, Capacity>,
    guarantees: Active<'a, Guarantee>,
}

/// Intervals that are not over at the moment, and those still to come.
struct Active<'a, T> {
    now: Vec<&'a T>,
    /// Latest first.
    ahead: Vec<&'a T>,
    span: fn(&T) -> Span,
}

impl<'a, T> Active<'a, T> {
    fn new(all: &'a [T], span: fn(&T) -> Span) -> Self {
        let mut ahead: Vec<&T> = all.iter().filter(|one| span(one).millis() > 0).collect();
        ahead.sort_by_key(|one| std::cmp::Reverse(span(one).from));
        Self { now: Vec::new(), ahead, span }
    }

    fn advance(&mut self, at: Ms) {
        while let Some(next) = self.ahead.pop_if(|next| (self.span)(next).from <= at) {
            self.now.push(next);
        }
        self.now.retain(|one| (self.span)(one).to > at);
    }
}

impl<'a> Moments<'a> {
    fn new(inputs: &'a Inputs) -> Self {
        Self {
            held: Active::new(&inputs.held, |held| held.span),
            lent: Active::new(&inputs.lent, |lent| lent.span),
            capacity: Active::new(&inputs.capacity, |capacity| capacity.span),
            guarantees: Active::new(&inputs.guarantees, |guarantee| guarantee.span),
        }
    }

    fn advance(&mut self, at: Ms) -> &Self {
        self.held.advance(at);
        self.lent.advance(at);
        self.capacity.advance(at);
        self.guarantees.advance(at);
        self
    }
}

/// Who lends how much to a team.
type Lenders = BTreeMap<Option<TeamId>, i64>;

/// One moment's capacity, in parts.
fn split(moment: &Moments<'_>) -> BTreeMap<Part, i64> {
    let mut by_team: BTreeMap<TeamId, Vec<&Held>> = BTreeMap::new();
    for held in &moment.held.now {
        by_team.entry(held.work.team).or_default().push(held);
    }
    let mut loans: BTreeMap<TeamId, Lenders> = BTreeMap::new();
    for lent in &moment.lent.now {
        *loans.entry(lent.borrower).or_default().entry(lent.lender).or_default() += lent.milli;
    }
    let mut parts = BTreeMap::new();
    let (mut used, mut inside, mut given) = (0, BTreeMap::new(), BTreeMap::new());
    for (team, mut work) in by_team {
        let holds: i64 = work.iter().map(|held| held.milli).sum();
        let lenders = limited(loans.remove(&team).unwrap_or_default(), holds);
        let borrowed: i64 = lenders.values().sum();
        used += holds;
        inside.insert(team, holds - borrowed);
        for (lender, milli) in &lenders {
            if let Some(lender) = lender {
                *given.entry(*lender).or_insert(0) += milli;
            }
        }
        // Whoever would have to go first carries the loan.
        work.sort_by_key(|held| {
            let later = (std::cmp::Reverse(held.since), std::cmp::Reverse(held.work.run));
            (!held.preemptible, held.work.class, later)
        });
        carry(&work, lenders, &mut parts);
    }
    spare(moment, used, &inside, &given, &mut parts);
    parts.retain(|_, milli| *milli > 0);
    parts
}

/// No more than the team holds; what is too much is taken from all lenders in proportion.
fn limited(lenders: Lenders, most: i64) -> Lenders {
    let amounts: Vec<i64> = lenders.values().copied().collect();
    if amounts.iter().sum::<i64>() <= most {
        return lenders;
    }
    lenders.into_keys().zip(share_out(most, &amounts)).collect()
}

/// Lays the loan on the work in its order; the rest is inside the guarantee.
fn carry(work: &[&Held], lenders: Lenders, parts: &mut BTreeMap<Part, i64>) {
    let mut lenders = lenders.into_iter().filter(|(_, milli)| *milli > 0);
    let mut lender = lenders.next();
    for held in work {
        let mut left = held.milli;
        while let Some((who, milli)) = &mut lender {
            let piece = left.min(*milli);
            *parts.entry(Part::Loan { work: held.work, lender: *who }).or_default() += piece;
            left -= piece;
            *milli -= piece;
            if *milli > 0 {
                break;
            }
            lender = lenders.next();
            if left == 0 {
                break;
            }
        }
        *parts.entry(Part::Guaranteed(held.work)).or_default() += left;
    }
}

/// What nobody held: down, idle for a team, idle for nobody.
fn spare(
    moment: &Moments<'_>,
    used: i64,
    inside: &BTreeMap<TeamId, i64>,
    given: &BTreeMap<TeamId, i64>,
    parts: &mut BTreeMap<Part, i64>,
) {
    let capacity: i64 = moment.capacity.now.iter().map(|capacity| capacity.milli).sum();
    let down: i64 = moment.capacity.now.iter().map(|capacity| capacity.down_milli).sum();
    let free = (capacity - used).max(0);
    let down = down.min(free);
    parts.insert(Part::Down, down);
    let idle = free - down;
    let mut owners: BTreeMap<TeamId, i64> = BTreeMap::new();
    for guarantee in &moment.guarantees.now {
        *owners.entry(guarantee.team).or_default() += guarantee.milli;
    }
    for (team, milli) in &mut owners {
        let spent = inside.get(team).copied().unwrap_or(0) + given.get(team).copied().unwrap_or(0);
        *milli = (*milli - spent).max(0);
    }
    let amounts: Vec<i64> = owners.values().copied().collect();
    let owned: i64 = amounts.iter().sum();
    // More is guaranteed than there is: what is idle is everybody's in proportion.
    let amounts = if owned > idle { share_out(idle, &amounts) } else { amounts };
    let taken: i64 = amounts.iter().sum();
    for (team, milli) in owners.into_keys().zip(amounts) {
        parts.insert(Part::Idle(Some(team)), milli);
    }
    parts.insert(Part::Idle(None), idle - taken);
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
