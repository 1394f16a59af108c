//! Who borrows from whom: use above guaranteed, attributed to the nearest relatives first.
//!
//! At each node of the tree, from the bottom up, what its children lack meets first what the node
//! itself keeps over for them, then the children's idle guarantees in proportion to what each may still
//! lend. What is still lacking goes up; what is still idle goes up as far as the lend limits let it. At
//! the root, capacity that nobody's guarantee covers comes first. What each lender gives is in proportion; who of several
//! borrowers owes it to whom is told with as few debts as there can be. The sums are exact to the milli. This module moves
//! nothing.

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

/// Every lender gives in proportion to what it has idle, as far as is lacking; returns how much each gave. Who owes whom
/// is then told with the fewest debts: borrowers in turn draw on lenders in turn. To pair all with all would be the product
/// of their numbers, and all of it would change with every start.
fn settle(lacking: &mut [(usize, i64)], lenders: &[(usize, i64)], debts: &mut Debts) -> Vec<i64> {
    let idle: Vec<i64> = lenders.iter().map(|&(_, idle)| idle).collect();
    let need: i64 = lacking.iter().map(|&(_, need)| need).sum();
    let gives = share_out(need.min(idle.iter().sum()), &idle);
    let (mut left, mut next) = (gives.clone(), 0);
    for (borrower, need) in lacking.iter_mut() {
        while *need > 0 && next < left.len() {
            let milli = left[next].min(*need);
            owe(debts, *borrower, Some(lenders[next].0), milli);
            left[next] -= milli;
            *need -= milli;
            if left[next] == 0 {
                next += 1;
            }
        }
    }
    debug_assert!(left.iter().all(|&left| left == 0), "all that is given is owed");
    gives
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
