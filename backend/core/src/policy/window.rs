//! Time windows: when jobs of a deferrable kind may start.
//!
//! Wall clock of a named zone, summer time included. A window says nothing of jobs that run already.

use crate::text_enum;
use chrono::{
    DateTime, Datelike, Days, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone, Utc, Weekday,
};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

text_enum! {
    /// A day of the week.
    Day {
        Mon = "mon",
        Tue = "tue",
        Wed = "wed",
        Thu = "thu",
        Fri = "fri",
        Sat = "sat",
        Sun = "sun",
    }
}

/// Open from `from` until `until` on the named days; past midnight when `until` is not after `from`, and the day
/// is then that of its beginning. Equal times = the whole day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeWindow {
    /// Empty = every day.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub days: Vec<Day>,
    #[serde(with = "hours_minutes")]
    pub from: NaiveTime,
    #[serde(with = "hours_minutes")]
    pub until: NaiveTime,
    /// An IANA name, for example `Asia/Shanghai`.
    #[serde(default = "utc")]
    pub zone: Tz,
}

const fn utc() -> Tz {
    Tz::UTC
}

impl TimeWindow {
    /// Whether it is open.
    #[must_use]
    pub fn is_open(&self, now: DateTime<Utc>) -> bool {
        self.spans(now).any(|(start, end)| start <= now && now < end)
    }

    /// When it opens next; `now` when it is open. `None` = never: no day is named that exists.
    #[must_use]
    pub fn opens_at(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let next = self.spans(now).filter(|&(_, end)| end > now).map(|(start, _)| start.max(now));
        next.min()
    }

    /// When it closes; `None` = it is not open now.
    #[must_use]
    pub fn closes_at(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        self.spans(now).filter(|&(start, end)| start <= now && now < end).map(|(_, end)| end).max()
    }

    /// Every opening that begins from yesterday to a week ahead.
    fn spans(&self, now: DateTime<Utc>) -> impl Iterator<Item = (DateTime<Utc>, DateTime<Utc>)> + '_ {
        let today = now.with_timezone(&self.zone).date_naive();
        let first = today.checked_sub_days(Days::new(1)).unwrap_or(today);
        (0..=8).filter_map(move |ahead| {
            let date = first.checked_add_days(Days::new(ahead))?;
            if !self.days.is_empty() && !self.days.contains(&day_of(date)) {
                return None;
            }
            let last = if self.until > self.from { date } else { date.checked_add_days(Days::new(1))? };
            Some((self.at(date, self.from)?, self.at(last, self.until)?))
        })
    }

    /// The moment of a wall-clock time; one that summer time skips is an hour later.
    fn at(&self, date: NaiveDate, time: NaiveTime) -> Option<DateTime<Utc>> {
        let local: NaiveDateTime = date.and_time(time);
        let found = self.zone.from_local_datetime(&local).earliest();
        let found =
            found.or_else(|| self.zone.from_local_datetime(&(local + TimeDelta::hours(1))).earliest());
        found.map(|found| found.with_timezone(&Utc))
    }
}

fn day_of(date: NaiveDate) -> Day {
    match date.weekday() {
        Weekday::Mon => Day::Mon,
        Weekday::Tue => Day::Tue,
        Weekday::Wed => Day::Wed,
        Weekday::Thu => Day::Thu,
        Weekday::Fri => Day::Fri,
        Weekday::Sat => Day::Sat,
        Weekday::Sun => Day::Sun,
    }
}

/// `22:00`, in both directions.
mod hours_minutes {
    use chrono::NaiveTime;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(time: &NaiveTime, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&time.format("%H:%M"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<NaiveTime, D::Error> {
        let text = String::deserialize(deserializer)?;
        NaiveTime::parse_from_str(&text, "%H:%M").map_err(|_| {
            D::Error::custom(format!("{text:?} is no time of day: write HH:MM, for example 22:00"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(json: &str) -> TimeWindow {
        serde_json::from_str(json).expect("a window")
    }

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().expect("a time")
    }

    #[test]
    fn a_window_past_midnight_belongs_to_the_day_it_began() {
        let night =
            window(r#"{"days": ["fri"], "from": "22:00", "until": "06:00", "zone": "Asia/Shanghai"}"#);
        // 2026-12-04 is a Friday; Shanghai is 8 hours ahead.
        for (now, open) in [
            ("2026-12-04T13:59:59Z", false),
            ("2026-12-04T14:00:00Z", true),
            ("2026-12-04T21:59:59Z", true),
            ("2026-12-04T22:00:00Z", false),
            ("2026-12-03T15:00:00Z", false),
        ] {
            assert_eq!(night.is_open(at(now)), open, "{now}");
        }
        assert_eq!(night.opens_at(at("2026-12-04T22:00:00Z")), Some(at("2026-12-11T14:00:00Z")));
        assert_eq!(night.opens_at(at("2026-12-04T20:00:00Z")), Some(at("2026-12-04T20:00:00Z")));
        assert_eq!(night.closes_at(at("2026-12-04T20:00:00Z")), Some(at("2026-12-04T22:00:00Z")));
    }

    #[test]
    fn equal_times_are_the_whole_day() {
        let sunday = window(r#"{"days": ["sun"], "from": "00:00", "until": "00:00"}"#);
        assert!(sunday.is_open(at("2026-12-06T00:00:00Z")) && sunday.is_open(at("2026-12-06T23:59:59Z")));
        assert!(!sunday.is_open(at("2026-12-07T00:00:00Z")));
    }

    #[test]
    fn summer_time_neither_loses_nor_doubles_a_window() {
        // Berlin skips 02:00 to 03:00 on 2026-03-29 and has 02:00 to 03:00 twice on 2026-10-25.
        let early = window(r#"{"from": "02:30", "until": "05:00", "zone": "Europe/Berlin"}"#);
        assert_eq!(early.opens_at(at("2026-03-29T00:00:00Z")), Some(at("2026-03-29T01:30:00Z")));
        assert_eq!(early.opens_at(at("2026-10-25T00:00:00Z")), Some(at("2026-10-25T00:30:00Z")));
        assert_eq!(early.closes_at(at("2026-10-25T01:00:00Z")), Some(at("2026-10-25T04:00:00Z")));
    }

    #[test]
    fn what_cannot_be_read_says_what_is_wanted() {
        for (json, wanted) in [
            (r#"{"from": "25:00", "until": "06:00"}"#, "HH:MM"),
            (r#"{"from": "22:00", "until": "06:00", "zone": "Mars/Olympus"}"#, "Mars"),
            (r#"{"from": "22:00", "until": "06:00", "days": ["someday"]}"#, "someday"),
        ] {
            let error = serde_json::from_str::<TimeWindow>(json).expect_err(json).to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
