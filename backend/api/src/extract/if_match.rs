//! Versions in requests: `If-Match` for a change, `If-None-Match: *` for a creation by PUT.

use crate::problem::{Code, Problem, Result};
use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use reeve_store::version::parse_if_match;

/// What the caller believes the object to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precondition {
    /// Said nothing.
    Absent,
    /// `If-Match: *`, or a version that is none of ours (`None`: matches nothing).
    Version(Option<i64>),
    AnyVersion,
    /// `If-None-Match: *`: it must not exist yet.
    MustNotExist,
}

/// The precondition of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IfMatch(pub Precondition);

impl<S: Send + Sync> FromRequestParts<S> for IfMatch {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let text = |name| {
            parts
                .headers
                .get(name)
                .map(|value: &axum::http::HeaderValue| value.to_str().map(str::trim))
                .transpose()
                .map_err(|_| Problem::new(Code::InvalidHeader).detail("If-Match and If-None-Match are ASCII"))
        };
        Ok(Self(match (text(header::IF_MATCH)?, text(header::IF_NONE_MATCH)?) {
            (Some("*"), _) => Precondition::AnyVersion,
            (Some(tag), _) => Precondition::Version(parse_if_match(tag)),
            (None, Some("*")) => Precondition::MustNotExist,
            (None, _) => Precondition::Absent,
        }))
    }
}

impl IfMatch {
    /// Checks the version where a condition is welcome but not required.
    ///
    /// # Errors
    /// 412 when it is not this version.
    pub fn check(self, version: i64) -> Result<()> {
        match self.0 {
            Precondition::Absent | Precondition::AnyVersion => Ok(()),
            Precondition::Version(Some(seen)) if seen == version => Ok(()),
            Precondition::Version(_) | Precondition::MustNotExist => {
                Err(Problem::new(Code::StaleVersion).param("version", version))
            }
        }
    }

    /// Checks the version where a condition is required.
    ///
    /// # Errors
    /// 428 without one, 412 when it is not this version.
    pub fn require(self, version: i64) -> Result<()> {
        if self.0 == Precondition::Absent {
            return Err(Problem::new(Code::PreconditionRequired));
        }
        self.check(version)
    }
}
