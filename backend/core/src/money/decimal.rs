//! Decimals as scaled integers: read from text exactly, written without loss, rounded only where it is said.

/// Digits after the point of a quantity (GPU-hours) and of a price.
pub const MICRO_DIGITS: u32 = 6;
/// Digits after the point of a cost: a quantity times a price.
pub const COST_DIGITS: u32 = 12;

/// A cost: 10⁻¹² of the currency.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cost(pub i128);

impl Cost {
    pub const ZERO: Self = Self(0);

    /// As exact as it is; at least two digits after the point.
    #[must_use]
    pub fn exact(self) -> String {
        format(self.0, COST_DIGITS, 2)
    }

    /// To the cent, halves away from zero: what is paid.
    #[must_use]
    pub fn cents(self) -> i128 {
        let cent = 10_i128.pow(COST_DIGITS - 2);
        let half = if self.0 < 0 { -cent / 2 } else { cent / 2 };
        (self.0 + half) / cent
    }

    /// The same as text.
    #[must_use]
    pub fn to_the_cent(self) -> String {
        format(self.cents(), 2, 2)
    }

    /// From the text of a decimal with at most twelve digits after the point.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        parse(text, COST_DIGITS).map(Self)
    }
}

impl std::ops::Add for Cost {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl std::ops::Neg for Cost {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl std::iter::Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::ZERO, |sum, cost| sum + cost)
    }
}

/// Millionths as text, with six digits.
#[must_use]
pub fn micros(value: i128) -> String {
    format(value, MICRO_DIGITS, MICRO_DIGITS)
}

/// Millionths from text.
#[must_use]
pub fn parse_micros(text: &str) -> Option<i64> {
    parse(text, MICRO_DIGITS).and_then(|value| i64::try_from(value).ok())
}

/// `value` × 10^-`digits`, trailing zeros dropped down to `least` digits.
#[must_use]
pub fn format(value: i128, digits: u32, least: u32) -> String {
    let scale = 10_u128.pow(digits);
    let (whole, part) = (value.unsigned_abs() / scale, value.unsigned_abs() % scale);
    let mut text = format!("{part:0width$}", width = digits as usize);
    while text.len() > least as usize && text.ends_with('0') {
        text.pop();
    }
    let sign = if value < 0 { "-" } else { "" };
    if text.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{text}") }
}

/// The integer of a decimal's text with at most `digits` after the point. No exponents, no signs but a minus.
#[must_use]
pub fn parse(text: &str, digits: u32) -> Option<i128> {
    let (negative, plain) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, part) = plain.split_once('.').unwrap_or((plain, ""));
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let fits = part.len() <= digits as usize && whole.len() <= 18;
    if whole.is_empty() || !fits || !all_digits(whole) || !all_digits(part) || plain.ends_with('.') {
        return None;
    }
    let whole: i128 = whole.parse().ok()?;
    let padded = format!("{part:0<width$}", width = digits as usize);
    let part: i128 = if padded.is_empty() { 0 } else { padded.parse().ok()? };
    let value = whole * 10_i128.pow(digits) + part;
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_come_back_as_they_were() {
        for (text, value) in
            [("0", 0), ("2.5", 2_500_000), ("-0.000001", -1), ("12345678.9", 12_345_678_900_000)]
        {
            assert_eq!(parse(text, 6), Some(value), "{text}");
            assert_eq!(parse(&format(value, 6, 0), 6), Some(value));
        }
        for text in ["", ".", "1.", ".5", "1e3", "+1", "1,5", " 1", "0.0000001", "--1", "1234567890123456789"]
        {
            assert_eq!(parse(text, 6), None, "{text}");
        }
        assert_eq!(micros(-1_500_000), "-1.500000");
        assert_eq!(Cost(1_234_500_000_000).exact(), "1.2345");
        assert_eq!(Cost(0).exact(), "0.00");
    }

    #[test]
    fn halves_are_rounded_away_from_zero_once() {
        for (text, expected) in [
            ("0.005", "0.01"),
            ("0.00499", "0.00"),
            ("-0.005", "-0.01"),
            ("1.994999999999", "1.99"),
            ("2.675", "2.68"),
        ] {
            assert_eq!(Cost::parse(text).expect("a decimal").to_the_cent(), expected, "{text}");
        }
    }
}
