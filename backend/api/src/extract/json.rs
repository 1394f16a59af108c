//! A JSON body as a type: unknown fields, wrong types and numbers out of range name their place.

use super::scan::{pointer, scan};
use crate::problem::{Code, Problem, Result};
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use serde::de::DeserializeOwned;

/// The body of a request.
#[derive(Debug, Clone, Copy)]
pub struct Json<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        expect_json(request.headers())?;
        let bytes = read(request, state).await?;
        parse(&bytes).map(Self)
    }
}

pub(super) async fn read<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes> {
    Bytes::from_request(request, state).await.map_err(|rejection| match rejection {
        BytesRejection::FailedToBufferBody(inner) if inner.status() == 413 => {
            Problem::new(Code::PayloadTooLarge)
        }
        other => Problem::new(Code::InvalidJson).detail(other.body_text()),
    })
}

pub(super) fn expect_json(headers: &HeaderMap) -> Result<()> {
    let essence = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .map(|value| value.trim().to_ascii_lowercase());
    match essence.as_deref() {
        Some("application/json") => Ok(()),
        Some(other) => {
            Err(Problem::new(Code::UnsupportedMediaType).detail(format!("got {other}")).param("got", other))
        }
        None => Err(Problem::new(Code::UnsupportedMediaType).detail("no Content-Type")),
    }
}

/// # Errors
/// [`Code::InvalidJson`] for what is no JSON; [`Code::InvalidBody`] for what is not this type.
pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    scan(bytes)?;
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let place = place(error.path());
        let text = without_position(&error.into_inner().to_string());
        Problem::new(Code::InvalidBody).detail(format!("{place}: {text}")).error(
            place,
            field_code(&text),
            text,
        )
    })
}

fn place(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let steps: Vec<String> = path
        .iter()
        .filter_map(|segment| match segment {
            Segment::Seq { index } => Some(index.to_string()),
            Segment::Map { key } => Some(key.clone()),
            Segment::Enum { variant } => Some(variant.clone()),
            Segment::Unknown => None,
        })
        .collect();
    pointer(&steps)
}

/// serde's text without "at line 1 column 8": the pointer says it better.
fn without_position(text: &str) -> String {
    text.split(" at line ").next().unwrap_or(text).to_owned()
}

fn field_code(text: &str) -> &'static str {
    if text.starts_with("unknown field") {
        "unknown_field"
    } else if text.starts_with("missing field") {
        "missing"
    } else if text.starts_with("unknown variant") {
        "unknown_value"
    } else if text.starts_with("invalid type") {
        "wrong_type"
    } else {
        "out_of_range"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Body {
        #[allow(dead_code, reason = "only parsed")]
        gpus: u32,
        #[allow(dead_code, reason = "only parsed")]
        inner: Option<Inner>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        #[allow(dead_code, reason = "only parsed")]
        name: String,
    }

    #[test]
    fn a_wrong_field_is_named_with_its_fault() {
        for (text, place, code) in [
            (r#"{"gpus":1.5}"#, "/gpus", "wrong_type"),
            (r#"{"gpus":-1}"#, "/gpus", "out_of_range"),
            (r#"{"gpus":99999999999}"#, "/gpus", "out_of_range"),
            (r#"{"gpus":1,"gpuz":2}"#, "/gpuz", "unknown_field"),
            (r#"{"gpus":1,"inner":{"name":7}}"#, "/inner/name", "wrong_type"),
            (r#"{}"#, "", "missing"),
            (r#"[]"#, "", "out_of_range"),
            (r#""x""#, "", "wrong_type"),
        ] {
            let problem = parse::<Body>(text.as_bytes()).expect_err(text);
            assert_eq!(problem.code, Code::InvalidBody, "{text}");
            assert_eq!(
                (problem.errors[0].pointer.as_str(), problem.errors[0].code.as_str()),
                (place, code),
                "{text}"
            );
        }
    }
}
