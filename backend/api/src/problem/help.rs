//! `/problems/{code}`: what an error code means and what to do, for people who follow the `type` of a problem.

use super::answer::{Problem, Result};
use super::codes::Code;
use axum::extract::Path;
use axum::response::Html;

/// The help page of a code. Plain HTML without scripts or styles.
///
/// # Errors
/// 404 for a code that does not exist.
pub async fn page(Path(code): Path<String>) -> Result<Html<String>> {
    let code = Code::ALL.iter().find(|known| known.as_str() == code).ok_or_else(Problem::not_found)?;
    Ok(Html(format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title><h1>{title}</h1>\
         <p><code>{name}</code>, status {status}</p><p>{help}</p><p><a href=\"/api/docs\">API reference</a></p>",
        title = code.title(),
        name = code.as_str(),
        status = code.status(),
        help = code.help(),
    )))
}
