//! Times to come, as reservations and maintenance windows have them: when they may begin, how long they may last, and
//! which of them a list shows.

use crate::problem::{Code, Fields, Problem, Result};
use chrono::{DateTime, Datelike, TimeDelta, Utc};

/// The longest span, and the farthest beginning.
const LONGEST: TimeDelta = TimeDelta::days(366);
/// Who says "now" is not refused because the request took a while.
const LENIENCE: TimeDelta = TimeDelta::minutes(5);

/// Notes what is wrong with a span that begins at `/starts_at` and ends at `/ends_at`.
pub(super) fn check(
    fields: &mut Fields,
    starts_at: DateTime<Utc>,
    ends_at: DateTime<Utc>,
    now: DateTime<Utc>,
) {
    if starts_at < now - LENIENCE {
        fields.add("/starts_at", "in_the_past", "it lies in the past: give a moment from now on");
    } else if starts_at > now + LONGEST {
        fields.add("/starts_at", "too_far_ahead", "at most 366 days ahead");
    }
    if starts_at >= ends_at {
        fields.add(
            "/ends_at",
            "not_after_start",
            "it ends before it begins: give a moment after `starts_at`",
        );
    } else if ends_at <= now {
        fields.add("/ends_at", "in_the_past", "it lies in the past: give a moment to come");
    } else if ends_at - starts_at > LONGEST {
        fields.add("/ends_at", "span_too_long", "at most 366 days after `starts_at`");
    }
}

/// From and to of a list; `from` left out is now, so that what is over is not shown; `to` left out has no end.
pub(super) fn between(
    from: Option<&str>,
    to: Option<&str>,
    now: DateTime<Utc>,
) -> Result<(DateTime<Utc>, Option<DateTime<Utc>>)> {
    let from = moment("from", from)?.unwrap_or(now);
    let to = moment("to", to)?;
    if to.is_some_and(|to| from >= to) {
        let remedy = "the span begins where it ends or later: give a `from` before `to`";
        return Err(wrong("from", "not_before_to", remedy));
    }
    Ok((from, to))
}

fn moment(name: &str, text: Option<&str>) -> Result<Option<DateTime<Utc>>> {
    let Some(text) = text else { return Ok(None) };
    match DateTime::parse_from_rfc3339(text) {
        // PostgreSQL keeps fewer years than chrono.
        Ok(at) if (0..=9999).contains(&at.year()) => Ok(Some(at.to_utc())),
        _ => {
            let remedy = "no moment: write 2026-11-30T14:00:00Z (a + of a zone is written %2B in an address)";
            Err(wrong(name, "invalid_value", remedy))
        }
    }
}

fn wrong(name: &str, code: &str, remedy: &str) -> Problem {
    Problem::new(Code::InvalidQuery).detail(format!("{name}: {remedy}")).error(name, code, remedy)
}
