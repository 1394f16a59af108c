//! Versions of editable rows, as ETags: `"<version>"`.
//!
//! Only strong tags of ours are understood; a weak or foreign tag matches nothing.

/// The ETag of a version.
#[must_use]
pub fn etag(version: i64) -> String {
    format!("\"{version}\"")
}

/// The version in an `If-Match` header; `None` when it is no tag of ours.
#[must_use]
pub fn parse_if_match(header: &str) -> Option<i64> {
    let version = header.trim().strip_prefix('"')?.strip_suffix('"')?;
    if version.is_empty() || !version.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    version.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_comes_back_as_its_version_and_nothing_else_does() {
        assert_eq!(parse_if_match(&etag(17)), Some(17));
        for other in ["17", "W/\"17\"", "\"\"", "\"-1\"", "\"1\", \"2\"", "*", "\"9223372036854775808\""] {
            assert_eq!(parse_if_match(other), None, "{other}");
        }
    }
}
