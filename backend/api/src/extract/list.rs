//! A list's query: its filter as a type, and the page. The cursor is bound to the filter.

use crate::problem::{Code, Problem, Result};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use reeve_store::page::{DEFAULT_LIMIT, MAX_LIMIT, Page, decode, encode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use utoipa::{IntoParams, ToSchema};

/// The page's parameters, for the OpenAPI document.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "read by hand in List; here for the document")]
pub struct ListParams {
    /// Rows of a page: 1 to 200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
    /// Where to go on: `next_cursor` of the page before, with the same filter.
    cursor: Option<String>,
}

/// The same for lists of small rows that a picture is drawn from.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "read by hand in List; here for the document")]
pub struct LongListParams {
    /// Rows of a page: 1 to 1000.
    #[param(minimum = 1, maximum = 1000, default = 50)]
    limit: Option<u32>,
    /// Where to go on: `next_cursor` of the page before, with the same filter.
    cursor: Option<String>,
}

/// Most rows of a page of [`LongListParams`].
pub const LONG_LIMIT: u32 = 1_000;

/// A filter and a page of it, of `MOST` rows at most. `F` denies unknown fields.
#[derive(Debug)]
pub struct List<F, const MOST: u32 = MAX_LIMIT> {
    pub filter: F,
    pub limit: u32,
    cursor: Option<String>,
    /// Path and filter as they were written: what a cursor is bound to.
    scope: String,
}

/// A page as it is sent.
#[derive(Debug, Serialize, ToSchema)]
pub struct PageView<T> {
    pub items: Vec<T>,
    /// Null on the last page.
    pub next_cursor: Option<String>,
}

impl<S: Send + Sync, F: DeserializeOwned, const MOST: u32> FromRequestParts<S> for List<F, MOST> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let query = parts.uri.query().unwrap_or_default();
        let mut limit = DEFAULT_LIMIT;
        let mut cursor = None;
        let mut filter = form_urlencoded::Serializer::new(String::new());
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            if value.contains('\0') {
                return Err(invalid(&name, "nul_character", "no NUL"));
            }
            match name.as_ref() {
                "limit" => limit = parse_limit(&value, MOST)?,
                "cursor" => cursor = Some(value.into_owned()),
                // It would filter by nothing, and so show more than was meant.
                _ if value.is_empty() => return Err(invalid(&name, "empty", "leave the parameter out")),
                _ => {
                    filter.append_pair(&name, &value);
                }
            }
        }
        let filter_text = filter.finish();
        let filter = serde_path_to_error::deserialize(serde_html_form::Deserializer::new(
            form_urlencoded::parse(filter_text.as_bytes()),
        ))
        .map_err(|error| {
            let name = error.path().to_string();
            let text = error.into_inner().to_string();
            let code = if text.starts_with("unknown field") { "unknown_parameter" } else { "invalid_value" };
            invalid(&name, code, &text)
        })?;
        Ok(Self { filter, limit, cursor, scope: format!("{}?{filter_text}", parts.uri.path()) })
    }
}

fn parse_limit(text: &str, most: u32) -> Result<u32> {
    text.parse()
        .ok()
        .filter(|limit| (1..=most).contains(limit))
        .ok_or_else(|| invalid("limit", "out_of_range", &format!("1 to {most}")))
}

fn invalid(name: &str, code: &str, detail: &str) -> Problem {
    Problem::new(Code::InvalidQuery).detail(format!("{name}: {detail}")).error(name, code, detail)
}

impl<F, const MOST: u32> List<F, MOST> {
    /// The key after which the page begins.
    ///
    /// # Errors
    /// 400 for a cursor that is none of this list's.
    pub fn after<K: DeserializeOwned>(&self) -> Result<Option<K>> {
        Ok(self.cursor.as_deref().map(|cursor| decode(cursor, &self.scope)).transpose()?)
    }

    /// How many rows to ask the store for: one more than shown says that there is more.
    #[must_use]
    pub fn fetch(&self) -> i64 {
        i64::from(self.limit) + 1
    }

    /// Cuts rows fetched with [`List::fetch`] to the page.
    #[must_use]
    pub fn cut<T, K: Serialize>(&self, rows: Vec<T>, key: impl Fn(&T) -> K) -> Page<T> {
        Page::cut(rows, self.limit, &self.scope, key)
    }

    /// The cursor after a key, for lists that cut by themselves.
    #[must_use]
    pub fn cursor_after(&self, key: &impl Serialize) -> String {
        encode(key, &self.scope)
    }

    /// The reply: items, cursor and `Link: rel="next"`.
    pub fn reply<T: Serialize>(&self, page: Page<T>) -> Response {
        self.reply_with(page, |items, next_cursor| PageView { items, next_cursor })
    }

    /// The same around another body, for lists that say more than a page.
    pub fn reply_with<T, B: Serialize>(
        &self,
        page: Page<T>,
        body: impl FnOnce(Vec<T>, Option<String>) -> B,
    ) -> Response {
        let link = page.next_cursor.as_ref().map(|cursor| {
            let separator = if self.scope.ends_with('?') { "" } else { "&" };
            format!("<{}{separator}limit={}&cursor={cursor}>; rel=\"next\"", self.scope, self.limit)
        });
        let mut response = axum::Json(body(page.items, page.next_cursor)).into_response();
        if let Some(Ok(link)) = link.map(|link| HeaderValue::from_str(&link)) {
            response.headers_mut().insert(header::LINK, link);
        }
        response
    }
}
