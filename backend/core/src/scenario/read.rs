//! Reading scalars and maps of the tree: every error carries its line and column.
//!
//! This module refuses to know what a scenario is; it knows what a duration or a share looks like.

use super::yaml::{FormatError, Key, Node, Pos, Value};
use crate::status::UnknownText;
use crate::units::{Mib, MilliCpu, MilliGpu};
use std::str::FromStr;

pub(super) type Read<T> = Result<T, FormatError>;

/// A map whose keys have all been recognised.
pub(super) struct Fields<'a> {
    pub(super) at: Pos,
    entries: &'a [(Key, Node)],
}

impl<'a> Fields<'a> {
    /// The map's fields; a key outside `known` is an error at its own place.
    pub(super) fn of(node: &'a Node, what: &str, known: &[&str]) -> Read<Self> {
        let entries = map(node, what)?;
        for (key, _) in entries {
            if !known.contains(&key.text.as_str()) {
                let message =
                    format!("unknown key `{}` in {what}; expected one of {}", key.text, known.join(", "));
                return Err(FormatError::new(key.at, message));
            }
        }
        Ok(Self { at: node.at, entries })
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a Node> {
        self.entries.iter().find(|(key, _)| key.text == name).map(|(_, node)| node)
    }

    pub(super) fn key_at(&self, name: &str) -> Pos {
        self.entries.iter().find(|(key, _)| key.text == name).map_or(self.at, |(key, _)| key.at)
    }

    pub(super) fn in_order(&self) -> &'a [(Key, Node)] {
        self.entries
    }

    /// The field read by `read`, or `None` where it is not given.
    pub(super) fn read<T>(&self, name: &str, read: impl FnOnce(&'a Node) -> Read<T>) -> Read<Option<T>> {
        self.get(name).map(read).transpose()
    }

    pub(super) fn or<T>(&self, name: &str, default: T, read: impl FnOnce(&'a Node) -> Read<T>) -> Read<T> {
        Ok(self.read(name, read)?.unwrap_or(default))
    }
}

pub(super) fn map<'a>(node: &'a Node, what: &str) -> Read<&'a [(Key, Node)]> {
    match &node.value {
        Value::Map(entries) => Ok(entries),
        // `jobs:` with nothing under it is an empty map.
        _ if is_null(node) => Ok(&[]),
        _ => Err(FormatError::new(node.at, format!("{what} must be a map"))),
    }
}

pub(super) fn list<'a>(node: &'a Node, what: &str) -> Read<&'a [Node]> {
    match &node.value {
        Value::List(items) => Ok(items),
        _ if is_null(node) => Ok(&[]),
        _ => Err(FormatError::new(node.at, format!("{what} must be a list"))),
    }
}

pub(super) fn is_null(node: &Node) -> bool {
    matches!(&node.value, Value::Text { text, quoted: false } if matches!(text.as_str(), "" | "~" | "null"))
}

/// `null` or a value.
pub(super) fn nullable<'a, T>(node: &'a Node, read: impl FnOnce(&'a Node) -> Read<T>) -> Read<Option<T>> {
    if is_null(node) { Ok(None) } else { read(node).map(Some) }
}

pub(super) fn text(node: &Node) -> Read<&str> {
    match &node.value {
        Value::Text { text, .. } if !is_null(node) => Ok(text),
        Value::Text { .. } => Err(FormatError::new(node.at, "a value is missing")),
        _ => Err(FormatError::new(node.at, "expected a single value")),
    }
}

pub(super) fn owned(node: &Node) -> Read<String> {
    text(node).map(str::to_owned)
}

/// A name, or a list of names.
pub(super) fn names(node: &Node) -> Read<Vec<String>> {
    match &node.value {
        Value::List(items) => items.iter().map(owned).collect(),
        _ => Ok(vec![owned(node)?]),
    }
}

pub(super) fn word<T: FromStr<Err = UnknownText>>(node: &Node) -> Read<T> {
    text(node)?.parse().map_err(|error: UnknownText| FormatError::new(node.at, error.to_string()))
}

pub(super) fn boolean(node: &Node) -> Read<bool> {
    match text(node)? {
        "true" | "yes" | "on" => Ok(true),
        "false" | "no" | "off" => Ok(false),
        other => Err(FormatError::new(node.at, format!("`{other}` is neither true nor false"))),
    }
}

pub(super) fn integer<T: TryFrom<i64>>(node: &Node) -> Read<T> {
    let found = text(node)?;
    let number = found.parse::<i64>().ok().and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| FormatError::new(node.at, format!("`{found}` is no whole number in range")))
}

/// A decimal as an exact count of thousandths: `2.5` → 2,500.
pub(super) fn thousandths(node: &Node) -> Read<i64> {
    let found = text(node)?;
    parse_scaled(found, 1_000)
        .ok_or_else(|| FormatError::new(node.at, format!("`{found}` is no number with at most 3 decimals")))
}

pub(super) fn milli_gpu(node: &Node) -> Read<MilliGpu> {
    let milli = thousandths(node)?;
    if milli < 0 {
        return Err(FormatError::new(node.at, "a number of GPUs can't be negative"));
    }
    Ok(MilliGpu(milli))
}

pub(super) fn milli_cpu(node: &Node) -> Read<MilliCpu> {
    milli_gpu(node).map(|milli| MilliCpu(milli.0))
}

/// GiB (decimals allowed) as MiB.
pub(super) fn memory_gib(node: &Node) -> Read<Mib> {
    milli_gpu(node).map(|milli| Mib(milli.0 * 1_024 / 1_000))
}

/// `90s`, `30m`, `1h30m`, `-2d`, `0s`: seconds.
pub(super) fn duration_secs(node: &Node) -> Read<i64> {
    let found = text(node)?;
    parse_duration(found).ok_or_else(|| {
        FormatError::new(node.at, format!("`{found}` is no duration such as 90s, 30m, -1h, 2d"))
    })
}

fn parse_duration(text: &str) -> Option<i64> {
    let (sign, mut rest) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    if rest.is_empty() {
        return None;
    }
    if rest == "0" {
        return Some(0);
    }
    let mut total = 0_i64;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let number: i64 = rest[..digits].parse().ok()?;
        let unit_end =
            rest[digits..].find(|c: char| c.is_ascii_digit()).map_or(rest.len(), |end| digits + end);
        let secs = match &rest[digits..unit_end] {
            "s" => 1,
            "m" | "min" => 60,
            "h" => 3_600,
            "d" => 86_400,
            _ => return None,
        };
        total = total.checked_add(number.checked_mul(secs)?)?;
        rest = &rest[unit_end..];
    }
    // A hundred years: dates must stay representable.
    (total <= 100 * 366 * 86_400).then_some(sign * total)
}

fn parse_scaled(text: &str, scale: i64) -> Option<i64> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |part: &str| part.chars().all(|c| c.is_ascii_digit());
    if !all_digits(whole) || !all_digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > 3 || whole.len() > 12 {
        return None;
    }
    let whole: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let thousandths: i64 = format!("{fraction:0<3}").parse().ok()?;
    Some(sign * (whole * scale + thousandths))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_exactly_or_refused() {
        let cases = [
            ("30m", Some(1_800)),
            ("-1h", Some(-3_600)),
            ("0s", Some(0)),
            ("0", Some(0)),
            ("1h30m", Some(5_400)),
            ("2d", Some(172_800)),
            ("10", None),
            ("m", None),
            ("-", None),
            ("", None),
            ("1w", None),
            ("99999999999999999999s", None),
            ("9223372036854775807d", None),
        ];
        for (text, secs) in cases {
            assert_eq!(parse_duration(text), secs, "{text}");
        }
    }

    #[test]
    fn decimals_are_read_exactly_or_refused() {
        let cases = [
            ("2.5", Some(2_500)),
            (".25", Some(250)),
            ("0.0010", Some(1)),
            ("-1", Some(-1_000)),
            ("0.0001", None),
            ("1e3", None),
            ("", None),
            (".", None),
            ("1,5", None),
        ];
        for (text, milli) in cases {
            assert_eq!(parse_scaled(text, 1_000), milli, "{text}");
        }
    }
}
