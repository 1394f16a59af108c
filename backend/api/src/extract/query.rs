//! A query string as a type, for what is no list. What cannot be read is a problem that says why.

use crate::problem::{Code, Problem, Result};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

/// The parameters; `T` denies unknown fields.
#[derive(Debug, Clone, Copy)]
pub struct Params<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        axum::extract::Query::<T>::try_from_uri(&parts.uri)
            .map(|query| Self(query.0))
            .map_err(|rejection| Problem::new(Code::InvalidQuery).detail(rejection.body_text()))
    }
}
