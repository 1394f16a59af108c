//! Reading columns into the words of core.
//!
//! A value that this version does not know is an error with the value in it, never a default.

use crate::error::StoreError;
use reeve_core::status::UnknownText;
use std::collections::BTreeMap;
use std::str::FromStr;

/// A text column as its enum.
///
/// # Errors
/// [`StoreError::Unreadable`] for a word that this version does not know.
pub fn word<T: FromStr<Err = UnknownText>>(text: &str) -> Result<T, StoreError> {
    Ok(text.parse()?)
}

/// The same, for a nullable column.
///
/// # Errors
/// As [`word`].
pub fn optional_word<T: FromStr<Err = UnknownText>>(text: Option<&str>) -> Result<Option<T>, StoreError> {
    text.map(word).transpose()
}

/// A `jsonb` object of texts, as labels and environment are kept.
///
/// # Errors
/// [`StoreError::Unreadable`] for another shape.
pub fn text_map(value: serde_json::Value) -> Result<BTreeMap<String, String>, StoreError> {
    Ok(serde_json::from_value(value)?)
}

/// A count column as the unsigned number that its CHECK makes it.
///
/// # Errors
/// [`StoreError::Unreadable`] when it is negative or too large.
pub fn count<T: TryFrom<i64>>(value: impl Into<i64>) -> Result<T, StoreError> {
    let value = value.into();
    T::try_from(value).map_err(|_| StoreError::Unreadable(format!("{value} is no count")))
}
