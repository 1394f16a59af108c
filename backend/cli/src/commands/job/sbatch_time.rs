//! Times and amounts in Slurm's notation (sbatch(1)).

/// `minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours`, `days-hours:minutes`, `days-hours:minutes:seconds`.
pub(super) fn time_secs(text: &str) -> Result<u64, String> {
    let wrong =
        || format!("{text} is no time: MINUTES, MINUTES:SECONDS, HOURS:MINUTES:SECONDS or DAYS-HOURS[:…]");
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (Some(days.parse::<u64>().map_err(|_| wrong())?), rest),
        None => (None, text),
    };
    let parts: Result<Vec<u64>, _> = rest.split(':').map(str::parse::<u64>).collect();
    let parts = parts.map_err(|_| wrong())?;
    let (hours, minutes, secs) = match (days.is_some(), parts.as_slice()) {
        (false, [minutes]) => (0, *minutes, 0),
        (false, [minutes, secs]) => (0, *minutes, *secs),
        (true, [hours]) => (*hours, 0, 0),
        (true, [hours, minutes]) => (*hours, *minutes, 0),
        (_, [hours, minutes, secs]) => (*hours, *minutes, *secs),
        _ => return Err(wrong()),
    };
    let units = [(days.unwrap_or(0), 86_400), (hours, 3_600), (minutes, 60), (secs, 1)];
    units
        .iter()
        .try_fold(0_u64, |sum, (count, secs)| sum.checked_add(count.checked_mul(*secs)?))
        .ok_or_else(wrong)
}

/// Mebibytes from a number with K, M, G or T; M where none is given.
pub(super) fn mebibytes(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text} is no amount of memory: a number with K, M, G or T");
    let trimmed = text.trim_end_matches(['b', 'B']);
    let (number, unit) = match trimmed.char_indices().next_back() {
        Some((at, letter)) if letter.is_ascii_alphabetic() => (&trimmed[..at], letter.to_ascii_uppercase()),
        _ => (trimmed, 'M'),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    match unit {
        'K' => Some(number.div_ceil(1_024)),
        'M' => Some(number),
        'G' => number.checked_mul(1_024),
        'T' => number.checked_mul(1_024 * 1_024),
        _ => None,
    }
    .ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_six_forms_of_a_time() {
        let forms = [("90", 5_400), ("1:30", 90), ("2:00:01", 7_201), ("1-0", 86_400), ("1-2:30", 95_400)];
        for (text, secs) in forms.into_iter().chain([("1-02:30:05", 95_405)]) {
            assert_eq!(time_secs(text), Ok(secs), "{text}");
        }
        for wrong in ["", "x", "1:2:3:4", "1-", "-1", "99999999999999999-0"] {
            assert!(time_secs(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn memory_is_in_mebibytes() {
        for (text, mib) in
            [("16G", 16_384), ("512", 512), ("512M", 512), ("1T", 1_048_576), ("1500K", 2), ("2gb", 2_048)]
        {
            assert_eq!(mebibytes(text), Ok(mib), "{text}");
        }
        for wrong in ["", "G", "1.5G", "16X"] {
            assert!(mebibytes(wrong).is_err(), "{wrong}");
        }
    }
}
