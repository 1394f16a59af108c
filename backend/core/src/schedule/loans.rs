//! Who borrows from whom: use above guaranteed, attributed to the nearest relatives first.
//!
//! At each node of the tree, from the bottom up, what its children lack meets first what the node
//! itself keeps over for them, then the children's idle guarantees in proportion to what each may still
//! lend. What is still lacking goes up; what is still idle goes up as far as the lend limits let it. At
//! the root, capacity that nobody's guarantee covers comes first. The sums are exact to the milli. This
//! module moves nothing.

use super::ledger::{Ledger, Limits, Tree};
use super::share_out::share_out;
use std::collections::BTreeMap;

/// `borrower` uses `milli` of `lender`'s idle guarantee; `None` = nobody's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Debt {
    pub(super) borrower: usize,
    pub(super) lender: Option<usize>,
    pub(super) milli: i64,
}

/// (borrower, lender) → milli-GPU.
type Debts = BTreeMap<(usize, Option<usize>), i64>;

/// What a subtree brings to its parent.
#[derive(Debug, Clone, Default)]
struct Offer {
    lacking: Vec<(usize, i64)>,
    idle: Vec<(usize, i64)>,
}

/// All debts of one pool, by borrower and lender.
pub(super) fn attribute(tree: &Tree, limits: &Limits, ledger: &Ledger) -> Vec<Debt> {
    let mut offers: Vec<Offer> = vec![Offer::default(); tree.root + 1];
    let mut debts = Debts::new();
    for &node in &tree.bottom_up {
        let children = &tree.children[node];
        let mut offer = Offer::default();
        for &child in children {
            let Offer { lacking, idle } = std::mem::take(&mut offers[child]);
            offer.lacking.extend(lacking);
            offer.idle.extend(idle);
        }
        let promised: i64 = children.iter().map(|&child| limits.guaranteed[child]).sum();
        if node == tree.root {
            let nobodys = (limits.capacity - promised).max(0);
            settle_root(&mut offer, nobodys, &mut debts);
            continue;
        }
        let below: i64 = children.iter().map(|&child| ledger.used[child]).sum();
        let own = ledger.used[node] - below;
        let kept = (limits.guaranteed[node] - promised).max(0);
        let spare = kept - own;
        if spare < 0 {
            offer.lacking.push((node, -spare));
        } else {
            let used = settle(&mut offer.lacking, &[(node, spare)], &mut debts);
            offer.idle.push((node, spare - used[0]));
        }
        let taken = settle(&mut offer.lacking, &offer.idle.clone(), &mut debts);
        for (lender, taken) in offer.idle.iter_mut().zip(taken) {
            lender.1 -= taken;
        }
        offer.idle = limited(offer.idle, limits.lendable[node]);
        offers[node] = offer;
    }
    let debt = |((borrower, lender), milli)| Debt { borrower, lender, milli };
    debts.into_iter().map(debt).collect()
}

/// Capacity that nobody's guarantee covers, then everybody's idle guarantee; what even that does not
/// cover (capacity that was lost) is owed to nobody.
fn settle_root(offer: &mut Offer, nobodys: i64, debts: &mut Debts) {
    let mut left = nobodys;
    for lacking in &mut offer.lacking {
        let milli = lacking.1.min(left);
        owe(debts, lacking.0, None, milli);
        lacking.1 -= milli;
        left -= milli;
    }
    settle(&mut offer.lacking, &offer.idle, debts);
    for &(borrower, milli) in &offer.lacking {
        owe(debts, borrower, None, milli);
    }
}

/// Lets each borrower in turn borrow in proportion to what each lender still has; returns how much
/// each lender gave.
fn settle(lacking: &mut [(usize, i64)], lenders: &[(usize, i64)], debts: &mut Debts) -> Vec<i64> {
    let mut left: Vec<i64> = lenders.iter().map(|&(_, idle)| idle).collect();
    for (borrower, need) in lacking.iter_mut() {
        let total: i64 = left.iter().sum();
        let shares = share_out((*need).min(total), &left);
        for ((&(lender, _), left), milli) in lenders.iter().zip(&mut left).zip(shares) {
            owe(debts, *borrower, Some(lender), milli);
            *left -= milli;
            *need -= milli;
        }
    }
    lacking.iter().for_each(|(_, need)| debug_assert!(*need >= 0));
    lenders.iter().zip(left).map(|(&(_, idle), left)| idle - left).collect()
}

fn owe(debts: &mut Debts, borrower: usize, lender: Option<usize>, milli: i64) {
    if milli <= 0 {
        return;
    }
    *debts.entry((borrower, lender)).or_default() += milli;
}

/// No more than `most` of the idle amounts, in proportion.
fn limited(idle: Vec<(usize, i64)>, most: i64) -> Vec<(usize, i64)> {
    let amounts: Vec<i64> = idle.iter().map(|&(_, milli)| milli).collect();
    if amounts.iter().sum::<i64>() <= most {
        return idle;
    }
    let shares = share_out(most.max(0), &amounts);
    idle.into_iter().zip(shares).map(|((lender, _), milli)| (lender, milli)).collect()
}

#[cfg(test)]
mod tests;
