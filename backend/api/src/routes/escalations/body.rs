//! A request as JSON, and texts that people write.

use crate::problem::{Fields, Result};
use chrono::{DateTime, Utc};
use reeve_core::approval::Terms;
use reeve_core::money::decimal::{MICRO_DIGITS, format, parse_micros};
use reeve_core::priority::PriorityClass;
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// Longest text.
const MOST_TEXT: usize = 2_000;
pub(super) const MOST_GPUS: i64 = 1_000_000;
pub(super) const MOST_GPU_HOURS: i64 = 1_000_000_000;
/// In a budget's unit.
const MOST_AMOUNT: i64 = 1_000_000_000;
pub(super) const LEAST_SECS: i64 = 60;

/// What is asked for. Fields that the kind of request does not have are refused.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RequestEscalation {
    /// `priority`, `quota`, `budget` or `never_evict`.
    pub(super) asks_for: String,
    /// Slug or id; needed where no job is named.
    pub(super) team: Option<String>,
    /// A live job (priority, never_evict).
    pub(super) job: Option<Uuid>,
    /// Slug or id: only the team's jobs of this queue (priority).
    pub(super) queue: Option<String>,
    /// Only the team's jobs of these kinds (priority).
    pub(super) kinds: Option<Vec<String>>,
    /// The class wanted (priority).
    pub(super) level: Option<String>,
    /// `team`: it counts among the team's own jobs only; `platform`: against everybody (priority). `team` when left out.
    pub(super) scope: Option<String>,
    /// Slug or id (quota).
    pub(super) pool: Option<String>,
    /// The guarantee wanted (quota).
    #[schema(minimum = 0, maximum = 1000000)]
    pub(super) guaranteed_gpus: Option<i64>,
    /// The borrow limit wanted; null or left out = as it is (quota).
    #[schema(minimum = 0, maximum = 1000000)]
    pub(super) borrow_limit_gpus: Option<i64>,
    /// High-priority GPU-hours on top of the month's budget (budget, where no `budget` is named).
    #[schema(minimum = 1)]
    pub(super) gpu_hours: Option<i64>,
    /// The budget to be exceeded: the team's own, or one above it (budget). Those who decide are the budget's team's.
    pub(super) budget: Option<Uuid>,
    /// How much more than the budget, in its unit: a decimal above zero (budget, where one is named).
    #[schema(example = "50")]
    pub(super) amount: Option<String>,
    /// How long, once active. Left out only for a quota: then for good.
    #[schema(minimum = 60)]
    pub(super) duration_secs: Option<i64>,
    /// When it is to begin; left out = as soon as it is approved.
    pub(super) starts_at: Option<DateTime<Utc>>,
    /// Why, for those who decide.
    #[schema(min_length = 1, max_length = 2000)]
    pub(super) reason: String,
    /// An emergency: active at once, for those whom the policy lets; a review falls due.
    #[serde(default)]
    pub(super) break_glass: bool,
}

/// The whole, or less of it.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Approve {
    /// At most the level granted so far.
    level: Option<String>,
    guaranteed_gpus: Option<i64>,
    borrow_limit_gpus: Option<i64>,
    gpu_hours: Option<i64>,
    /// At most the amount granted so far, in the budget's unit: a decimal above zero.
    #[schema(example = "50")]
    amount: Option<String>,
    /// At most the duration granted so far.
    #[schema(minimum = 60)]
    duration_secs: Option<i64>,
    #[schema(max_length = 2000)]
    pub(super) comment: Option<String>,
}

impl Approve {
    /// What it leaves of the request.
    pub(super) fn checked(&self) -> Result<Terms> {
        let mut fields = Fields::new();
        let level = self.level.as_deref().and_then(|level| fields.word::<PriorityClass>("/level", level));
        let amounts = [
            ("/guaranteed_gpus", self.guaranteed_gpus, 0, MOST_GPUS),
            ("/borrow_limit_gpus", self.borrow_limit_gpus, 0, MOST_GPUS),
            ("/gpu_hours", self.gpu_hours, 1, MOST_GPU_HOURS),
            ("/duration_secs", self.duration_secs, LEAST_SECS, i64::MAX),
        ];
        for (pointer, value, least, most) in amounts {
            if let Some(value) = value {
                fields.range(pointer, value, least, most);
            }
        }
        let extra_micros = self.amount.as_deref().and_then(|text| extra(&mut fields, text));
        prose(&mut fields, "/comment", self.comment.as_deref().unwrap_or_default(), 0);
        fields.done()?;
        Ok(Terms {
            level,
            guaranteed_gpus: self.guaranteed_gpus.map(small),
            borrow_limit_gpus: self.borrow_limit_gpus.map(small),
            gpu_hours: self.gpu_hours,
            extra_micros,
            duration_secs: self.duration_secs,
        })
    }
}

/// A comment that may be left out.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MayComment {
    #[schema(max_length = 2000)]
    pub(super) comment: Option<String>,
}

impl MayComment {
    pub(super) fn checked(&self) -> Result<Option<&str>> {
        let mut fields = Fields::new();
        prose(&mut fields, "/comment", self.comment.as_deref().unwrap_or_default(), 0);
        fields.done()?;
        Ok(self.comment.as_deref())
    }
}

/// A comment that must say something.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MustComment {
    #[schema(min_length = 1, max_length = 2000)]
    pub(super) comment: String,
}

impl MustComment {
    pub(super) fn checked(&self) -> Result<&str> {
        let mut fields = Fields::new();
        prose(&mut fields, "/comment", &self.comment, 1);
        fields.done()?;
        Ok(&self.comment)
    }
}

pub(super) fn small(value: i64) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}

/// Text of people: line breaks are welcome, other control characters are not.
pub(super) fn prose(fields: &mut Fields, pointer: &str, text: &str, least: usize) {
    let flat: String = text.chars().map(|c| if matches!(c, '\n' | '\t') { ' ' } else { c }).collect();
    fields.text(pointer, &flat, least, MOST_TEXT);
}

/// What is to come on top of a budget, in millionths of its unit.
pub(super) fn extra(fields: &mut Fields, text: &str) -> Option<i64> {
    let found = parse_micros(text);
    match found {
        None => {
            fields.add("/amount", "invalid_decimal", "a decimal, with at most six digits after the point")
        }
        Some(micros) if !(1..=MOST_AMOUNT * 1_000_000).contains(&micros) => {
            let least = format(1, MICRO_DIGITS, 0);
            fields.add("/amount", "out_of_range", format!("from {least} to {MOST_AMOUNT}"));
        }
        Some(_) => {}
    }
    found
}
