//! Exact division of an amount in proportion to weights.
//!
//! This module rounds nothing away: the parts always add up to the amount.

/// Parts of `total` in proportion to `weights`, by largest remainder; ties go to the first. All zero
/// when the weights are.
pub(crate) fn share_out(total: i64, weights: &[i64]) -> Vec<i64> {
    let sum: i128 = weights.iter().map(|&weight| i128::from(weight)).sum();
    if sum <= 0 {
        return vec![0; weights.len()];
    }
    let exact = |weight: i64| i128::from(total) * i128::from(weight);
    let mut parts: Vec<i64> =
        weights.iter().map(|&weight| i64::try_from(exact(weight).div_euclid(sum)).unwrap_or(0)).collect();
    let remainder =
        |(index, &weight): (usize, &i64)| (std::cmp::Reverse(exact(weight).rem_euclid(sum)), index);
    let mut by_remainder: Vec<_> = weights.iter().enumerate().map(remainder).collect();
    by_remainder.sort_unstable();
    let left = usize::try_from(total - parts.iter().sum::<i64>()).unwrap_or(0);
    for (_, index) in by_remainder.into_iter().take(left) {
        parts[index] += 1;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::share_out;

    #[test]
    fn parts_add_up_and_follow_the_weights() {
        for (total, weights, expected) in [
            (10, vec![1, 1], vec![5, 5]),
            (10, vec![1, 2], vec![3, 7]),
            (1, vec![1, 1, 1], vec![1, 0, 0]),
            (8000, vec![6000, 5000], vec![4364, 3636]),
            (7, vec![0, 3], vec![0, 7]),
            (0, vec![4, 4], vec![0, 0]),
            (5, vec![0, 0], vec![0, 0]),
        ] {
            assert_eq!(share_out(total, &weights), expected, "{total} by {weights:?}");
        }
    }
}
