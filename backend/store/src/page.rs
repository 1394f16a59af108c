//! Keyset pages: where a list goes on, as an opaque cursor.
//!
//! A cursor holds the last row's key and a hash of the filter it was made for: with another filter it is refused
//! instead of skipping rows. It is no secret and gives no rights.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

/// Fewest, usual and most rows of a page.
pub const DEFAULT_LIMIT: u32 = 50;
pub const MAX_LIMIT: u32 = 200;

/// Rows, and the cursor of what follows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    pub items: Vec<T>,
    pub next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// Makes a page of rows that were asked for with `limit + 1`: the extra one says that there is more.
    /// `key` names the last row kept.
    pub fn cut<K: Serialize>(
        mut rows: Vec<T>,
        limit: u32,
        filter: &impl Serialize,
        key: impl Fn(&T) -> K,
    ) -> Self {
        let limit = limit as usize;
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next_cursor = if more { rows.last().map(|last| encode(&key(last), filter)) } else { None };
        Self { items: rows, next_cursor }
    }

    /// The same page of something else.
    pub fn map<U>(self, convert: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(convert).collect(), next_cursor: self.next_cursor }
    }
}

/// Why a cursor is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CursorError {
    #[error("not a cursor of this list")]
    Malformed,
    #[error("the cursor belongs to another filter")]
    OtherFilter,
}

/// A cursor after the row with this key, for this filter.
pub fn encode(key: &impl Serialize, filter: &impl Serialize) -> String {
    let mut bytes = filter_hash(filter).to_vec();
    // A key is a tuple of ids, numbers and times: it always serialises.
    bytes.extend(serde_json::to_vec(key).unwrap_or_default());
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The key in a cursor.
///
/// # Errors
/// [`CursorError`] when it is none of ours or was made for another filter.
pub fn decode<K: DeserializeOwned>(cursor: &str, filter: &impl Serialize) -> Result<K, CursorError> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| CursorError::Malformed)?;
    let (hash, key) = bytes.split_at_checked(8).ok_or(CursorError::Malformed)?;
    let key = serde_json::from_slice(key).map_err(|_| CursorError::Malformed)?;
    if hash == filter_hash(filter) { Ok(key) } else { Err(CursorError::OtherFilter) }
}

fn filter_hash(filter: &impl Serialize) -> [u8; 8] {
    let digest = Sha256::digest(serde_json::to_vec(filter).unwrap_or_default());
    let mut hash = [0; 8];
    hash.copy_from_slice(&digest[..8]);
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_goes_on_after_the_last_row_kept() {
        let page = Page::cut(vec![10, 20, 30], 2, &"team=a", |row| *row);
        assert_eq!(page.items, [10, 20]);
        let cursor = page.next_cursor.expect("there is more");
        assert_eq!(decode::<i32>(&cursor, &"team=a"), Ok(20));
        assert_eq!(decode::<i32>(&cursor, &"team=b"), Err(CursorError::OtherFilter));
    }

    #[test]
    fn the_last_page_has_no_cursor() {
        assert_eq!(Page::cut(vec![1, 2], 2, &(), |row| *row).next_cursor, None);
    }

    #[test]
    fn what_is_no_cursor_is_refused() {
        for text in ["", "x", "%%%", "AAAA", "AAAAAAAAAAAAAAAAAAAA", "😀"] {
            assert_eq!(decode::<i32>(text, &()), Err(CursorError::Malformed), "{text}");
        }
    }
}
