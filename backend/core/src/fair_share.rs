//! The figure that fairness is measured against: what each team of a pool's quota tree would have if everything that is
//! asked for were shared out now.
//!
//! Guarantees first, as far as they are asked for; what is left over by weight, until nobody asks for more (weight 0
//! comes last). It is a yardstick for people and alarms: it decides nothing, and it knows no gangs, nodes, priorities or
//! lend limits.

/// A team in a pool, everything below it included. Milli-GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Index of the parent among the claims; it comes before its children.
    pub parent: Option<usize>,
    pub guaranteed: i64,
    pub weight: i64,
    /// Used and asked for; what is above `cap` counts for nothing.
    pub demand: i64,
    /// Guaranteed plus borrow limit; `None` = no limit.
    pub cap: Option<i64>,
}

impl Claim {
    fn asks(&self) -> i64 {
        self.cap.map_or(self.demand, |cap| self.demand.min(cap)).max(0)
    }
}

/// Each claim's fair share of `capacity`.
#[must_use]
pub fn fair_shares(capacity: i64, claims: &[Claim]) -> Vec<i64> {
    let mut shares = vec![0; claims.len()];
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); claims.len()];
    let mut top = Vec::new();
    for (at, claim) in claims.iter().enumerate() {
        match claim.parent {
            Some(parent) if parent < at => children[parent].push(at),
            _ => top.push(at),
        }
    }
    fill(capacity.max(0), &top, claims, &mut shares);
    for at in 0..claims.len() {
        fill(shares[at], &children[at], claims, &mut shares);
    }
    shares
}

/// Shares `amount` out among siblings.
fn fill(amount: i64, siblings: &[usize], claims: &[Claim], shares: &mut [i64]) {
    let mut left = amount;
    let inside = |at: usize| claims[at].asks().min(claims[at].guaranteed);
    left -= deal(left, siblings, |at| claims[at].guaranteed.max(0), inside, shares);
    left -= deal(left, siblings, |at| claims[at].weight.max(0), |at| claims[at].asks(), shares);
    deal(left, siblings, |_| 1, |at| claims[at].asks(), shares);
}

/// Deals `amount` out by weight, nobody more than `most` in all; what one does not need goes round again. Answers how
/// much was dealt out.
fn deal(
    amount: i64,
    siblings: &[usize],
    weight: impl Fn(usize) -> i64,
    most: impl Fn(usize) -> i64,
    shares: &mut [i64],
) -> i64 {
    let mut left = amount;
    loop {
        let open: Vec<usize> =
            siblings.iter().copied().filter(|&at| weight(at) > 0 && shares[at] < most(at)).collect();
        let sum: i128 = open.iter().map(|&at| i128::from(weight(at))).sum();
        if left <= 0 || sum == 0 {
            return amount - left;
        }
        let round = i128::from(left);
        for at in open {
            // At least a thousandth, so that every round gets somewhere.
            let part = i64::try_from(round * i128::from(weight(at)) / sum).unwrap_or(left).max(1);
            let part = part.min(most(at) - shares[at]).min(left);
            shares[at] += part;
            left -= part;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(guaranteed: i64, weight: i64, demand: i64) -> Claim {
        Claim { parent: None, guaranteed, weight, demand, cap: None }
    }

    fn below(parent: usize, claim: Claim) -> Claim {
        Claim { parent: Some(parent), ..claim }
    }

    #[test]
    fn guarantees_come_first_and_the_rest_goes_by_weight() {
        for (capacity, claims, expected) in [
            // Nobody asks for more than there is.
            (8_000, vec![claim(4_000, 1, 1_000), claim(4_000, 1, 6_000)], vec![1_000, 6_000]),
            // Both ask for everything.
            (8_000, vec![claim(4_000, 1, 9_000), claim(0, 1, 9_000)], vec![6_000, 2_000]),
            (9_000, vec![claim(0, 1, 9_000), claim(0, 2, 9_000)], vec![3_000, 6_000]),
            // What one cannot use goes round again.
            (9_000, vec![claim(0, 1, 500), claim(0, 1, 9_000), claim(0, 1, 9_000)], vec![500, 4_250, 4_250]),
            // Weight 0 comes last.
            (4_000, vec![claim(0, 0, 4_000), claim(0, 1, 3_000)], vec![1_000, 3_000]),
            // Guarantees above the capacity shrink in proportion.
            (6_000, vec![claim(8_000, 1, 8_000), claim(4_000, 1, 4_000)], vec![4_000, 2_000]),
            (0, vec![claim(4_000, 1, 4_000)], vec![0]),
        ] {
            assert_eq!(fair_shares(capacity, &claims), expected, "{capacity} among {claims:?}");
        }
    }

    #[test]
    fn a_cap_bounds_and_children_share_what_their_parent_has() {
        let capped = Claim { cap: Some(2_000), ..claim(0, 1, 9_000) };
        assert_eq!(fair_shares(8_000, &[capped, claim(0, 1, 9_000)]), [2_000, 6_000]);
        let claims = [
            claim(6_000, 1, 9_000),
            below(0, claim(4_000, 1, 8_000)),
            below(0, claim(0, 1, 1_000)),
            claim(2_000, 1, 9_000),
        ];
        assert_eq!(fair_shares(8_000, &claims), [6_000, 5_000, 1_000, 2_000]);
    }

    #[test]
    fn shares_never_exceed_the_capacity() {
        for capacity in 0..200 {
            let claims: Vec<Claim> = (0..7).map(|n| claim(n * 13 % 5 * 7, n % 3, n * 31 % 17 * 9)).collect();
            let shares = fair_shares(capacity, &claims);
            let asked: i64 = claims.iter().map(Claim::asks).sum();
            assert_eq!(shares.iter().sum::<i64>(), capacity.min(asked), "{capacity}");
        }
    }
}
