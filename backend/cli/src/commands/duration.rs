//! Spans of time as people write them: `90s`, `30m`, `2h`, `7d`, and sums such as `1h30m`.

/// Seconds of a span.
pub(crate) fn secs(text: &str) -> Result<i64, String> {
    let wrong = || format!("{text:?} is no span of time: write 90s, 30m, 2h or 7d");
    let mut total: i64 = 0;
    let mut digits = String::new();
    for c in text.trim().chars() {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        let unit = match c {
            's' => 1,
            'm' => 60,
            'h' => 3_600,
            'd' => 86_400,
            _ => return Err(wrong()),
        };
        let count: i64 = digits.parse().map_err(|_| wrong())?;
        total = count.checked_mul(unit).and_then(|part| total.checked_add(part)).ok_or_else(wrong)?;
        digits.clear();
    }
    if digits.is_empty() && total > 0 { Ok(total) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::secs;

    #[test]
    fn spans_are_read_as_people_write_them() {
        for (text, expected) in
            [("90s", 90), ("30m", 1_800), ("2h", 7_200), ("7d", 604_800), ("1h30m", 5_400)]
        {
            assert_eq!(secs(text), Ok(expected));
        }
        for wrong in ["", "2", "h", "2w", "-1h", "0h", "9999999999999999999d"] {
            assert!(secs(wrong).is_err(), "{wrong}");
        }
    }
}
