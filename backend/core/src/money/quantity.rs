//! From the ledger's milli-GPU-milliseconds to the bill's millionths of a GPU-hour.
//!
//! One line cannot always be written exactly: 1 ms of a GPU is 0.000000277… hours. The lines of a day and pool are rounded
//! together, by largest remainder, so that they add up to what the whole is: no line is wrong by a millionth of an hour,
//! and no sum by more than one.

/// Milli-GPU-milliseconds in a millionth of a GPU-hour.
pub const MILLI_MS_PER_MICRO_HOUR: i64 = 3_600;

/// Each amount in millionths of a GPU-hour, together the total's.
#[must_use]
pub fn micro_hours(amounts: &[i64]) -> Vec<i64> {
    let total: i128 = amounts.iter().map(|&amount| i128::from(amount)).sum();
    let unit = i128::from(MILLI_MS_PER_MICRO_HOUR);
    let whole = i64::try_from((total + unit / 2).div_euclid(unit)).unwrap_or(i64::MAX);
    let mut parts: Vec<i64> =
        amounts.iter().map(|amount| amount.div_euclid(MILLI_MS_PER_MICRO_HOUR)).collect();
    let left = whole - parts.iter().sum::<i64>();
    let mut order: Vec<usize> = (0..amounts.len()).collect();
    order
        .sort_by_key(|&index| (std::cmp::Reverse(amounts[index].rem_euclid(MILLI_MS_PER_MICRO_HOUR)), index));
    for index in order.into_iter().take(usize::try_from(left).unwrap_or(0)) {
        parts[index] += 1;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_to_the_whole_and_are_never_off_by_one() {
        // A day of 3 GPUs in odd pieces.
        let day = 3 * 1_000 * 86_400_000_i64;
        let mut amounts = vec![1, 1_799, 1_801, 3_599, 86_399_999, 7_777_777];
        amounts.push(day - amounts.iter().sum::<i64>());
        let parts = micro_hours(&amounts);
        assert_eq!(parts.iter().sum::<i64>(), 72_000_000);
        for (amount, part) in amounts.iter().zip(&parts) {
            assert!(
                (amount - part * MILLI_MS_PER_MICRO_HOUR).abs() < MILLI_MS_PER_MICRO_HOUR,
                "{amount} {part}"
            );
        }
        assert_eq!(micro_hours(&[]), Vec::<i64>::new());
        assert_eq!(micro_hours(&[0, 0]), [0, 0]);
    }
}
