//! The span of time that is asked for: bounded, so that no question reads the whole past.

use crate::problem::{Code, Problem, Result};
use chrono::{DateTime, TimeDelta, Utc};

const USUAL: TimeDelta = TimeDelta::hours(24);
const LONGEST: TimeDelta = TimeDelta::days(31);

/// From and to; left out they are the last 24 hours, or the 24 hours before `to`.
pub(super) fn span(
    from: Option<&str>,
    to: Option<&str>,
    now: DateTime<Utc>,
) -> Result<(DateTime<Utc>, DateTime<Utc>)> {
    let to = moment("to", to)?.unwrap_or(now);
    let usual = || to.checked_sub_signed(USUAL).ok_or_else(|| wrong("to", "out_of_range", "too long ago"));
    let from = moment("from", from)?.map_or_else(usual, Ok)?;
    if from >= to {
        return Err(wrong(
            "from",
            "not_before_to",
            "the span begins where it ends or later: give a `from` before `to`",
        ));
    }
    if to - from > LONGEST {
        let remedy = "the span is longer than 31 days: ask for a shorter one, part by part";
        return Err(wrong("from", "span_too_long", remedy).param("most_secs", LONGEST.num_seconds()));
    }
    Ok((from, to))
}

/// Most points of a picture: more than a screen shows apart.
const MOST_POINTS: i64 = 500;

/// The length of a picture's points: as many steps as keep it within bounds.
pub(super) fn bucket_secs(from: DateTime<Utc>, to: DateTime<Utc>, step_secs: i64) -> i64 {
    let steps = ((to - from).num_seconds() + step_secs - 1) / step_secs;
    step_secs * ((steps + MOST_POINTS - 1) / MOST_POINTS).max(1)
}

fn moment(name: &str, text: Option<&str>) -> Result<Option<DateTime<Utc>>> {
    let Some(text) = text else { return Ok(None) };
    match DateTime::parse_from_rfc3339(text) {
        // PostgreSQL keeps microseconds of fewer years than chrono.
        Ok(at) if (0..=9999).contains(&chrono::Datelike::year(&at)) => Ok(Some(at.to_utc())),
        _ => {
            let remedy = "no moment: write 2026-11-30T14:00:00Z (a + of a zone is written %2B in an address)";
            Err(wrong(name, "invalid_value", remedy))
        }
    }
}

fn wrong(name: &str, code: &str, remedy: &str) -> Problem {
    Problem::new(Code::InvalidQuery).detail(format!("{name}: {remedy}")).error(name, code, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().expect("a time")
    }

    #[test]
    fn what_is_left_out_is_the_day_before() {
        let now = at("2026-11-30T12:00:00Z");
        assert_eq!(span(None, None, now).expect("a span"), (at("2026-11-29T12:00:00Z"), now));
        let to = Some("2026-11-01T00:00:00+08:00");
        assert_eq!(span(None, to, now).expect("a span").0, at("2026-10-30T16:00:00Z"));
    }

    #[test]
    fn points_are_whole_steps_and_not_too_many() {
        let (from, day) = (at("2026-11-30T00:00:00Z"), at("2026-12-01T00:00:00Z"));
        assert_eq!(bucket_secs(from, at("2026-11-30T00:10:30Z"), 60), 60);
        assert_eq!(bucket_secs(from, day, 60), 180);
        assert_eq!(bucket_secs(from, day, 3_600), 3_600);
        assert_eq!(bucket_secs(from, at("2026-12-31T00:00:00Z"), 3_600), 7_200);
    }

    #[test]
    fn a_wrong_span_names_its_field_and_the_remedy() {
        let now = at("2026-11-30T12:00:00Z");
        for (from, to, field, code) in [
            (Some("yesterday"), None, "from", "invalid_value"),
            (None, Some("2026-11-30T12:00:00 08:00"), "to", "invalid_value"),
            (Some("+12345-01-01T00:00:00Z"), None, "from", "invalid_value"),
            (None, Some("-0001-01-01T00:00:00Z"), "to", "invalid_value"),
            (Some("2026-11-30T12:00:00Z"), None, "from", "not_before_to"),
            (Some("2026-10-01T00:00:00Z"), None, "from", "span_too_long"),
        ] {
            let problem = span(from, to, now).expect_err(code);
            let error = &problem.errors[0];
            assert_eq!(
                (problem.code, error.pointer.as_str(), error.code.as_str()),
                (Code::InvalidQuery, field, code)
            );
            assert!(error.detail.contains(": "), "{code} gives no remedy: {}", error.detail);
        }
    }
}
