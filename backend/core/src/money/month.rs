//! Months, as they are billed: from the first moment of their first day to that of the next one's, in UTC.

use chrono::{DateTime, Datelike, NaiveDate, NaiveTime, Utc};
use std::str::FromStr;

/// A month, by its first day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Month(NaiveDate);

/// What is no month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a month is written as 2026-11")]
pub struct NoMonth;

impl Month {
    /// The month of a day.
    #[must_use]
    pub fn of(day: NaiveDate) -> Self {
        Self(day.with_day(1).unwrap_or(day))
    }

    #[must_use]
    pub const fn first_day(self) -> NaiveDate {
        self.0
    }

    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.checked_add_months(chrono::Months::new(1)).unwrap_or(self.0))
    }

    #[must_use]
    pub fn begins_at(self) -> DateTime<Utc> {
        self.0.and_time(NaiveTime::MIN).and_utc()
    }

    #[must_use]
    pub fn ends_at(self) -> DateTime<Utc> {
        self.next().begins_at()
    }
}

impl std::fmt::Display for Month {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:04}-{:02}", self.0.year(), self.0.month())
    }
}

impl FromStr for Month {
    type Err = NoMonth;

    fn from_str(text: &str) -> Result<Self, NoMonth> {
        let (year, month) = text
            .split_once('-')
            .filter(|(year, month)| year.len() == 4 && month.len() == 2)
            .ok_or(NoMonth)?;
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(year) || !digits(month) {
            return Err(NoMonth);
        }
        let first = NaiveDate::from_ymd_opt(
            year.parse().map_err(|_| NoMonth)?,
            month.parse().map_err(|_| NoMonth)?,
            1,
        );
        first.filter(|day| (1970..=9998).contains(&day.year())).map(Self).ok_or(NoMonth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_end_where_the_next_begins() {
        let december: Month = "2026-12".parse().expect("a month");
        assert_eq!(december.next().to_string(), "2027-01");
        assert_eq!(december.ends_at(), december.next().begins_at());
        let february: Month = "2028-02".parse().expect("a month");
        assert_eq!((february.ends_at() - february.begins_at()).num_days(), 29);
        for text in ["2026-13", "2026-1", "26-01", "2026-01-01", "", "2026-xx", "+026-01"] {
            assert_eq!(text.parse::<Month>(), Err(NoMonth), "{text}");
        }
    }
}
