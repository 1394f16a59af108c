//! Fields of a PATCH body: left out = keep, a value = set, null = clear. Null where nothing can be cleared is refused,
//! because whoever sends it means something else than "keep".
//!
//! A clearable field is an `Option<Option<T>>` with [`clearable`]; any other an `Option<T>` with [`not_null`].

use serde::{Deserialize, Deserializer};

/// Tells null from left out: `Some(None)` = clear.
///
/// # Errors
/// What the value's own type says.
pub fn clearable<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    value: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(value).map(Some)
}

/// A value, if the field is there at all.
///
/// # Errors
/// What the value's own type says, of null too.
pub fn not_null<'de, D: Deserializer<'de>, T: Deserialize<'de>>(value: D) -> Result<Option<T>, D::Error> {
    T::deserialize(value).map(Some)
}
