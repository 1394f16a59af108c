//! `POST /operations`.

use super::view::OperationView;
use crate::app::AppState;
use crate::extract::{Caller, Keyed};
use crate::problem::{Code, Fields, Problem, Result};
use crate::routes::usage::span::{days, seen_teams};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use reeve_core::access::{Action, Resource};
use reeve_core::money::export::{ExportContent, ExportFormat, ExportParams};
use reeve_core::money::month::Month;
use reeve_store::operations::{self, OperationKind};
use serde::Deserialize;
use utoipa::ToSchema;

/// Most of a person's that are not over.
const MOST_LIVE: i64 = 5;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewOperation {
    /// `usage_export`.
    kind: String,
    /// `csv`, `jsonl`, `xlsx`, or `focus`: CSV with the columns of FOCUS 1.2.
    format: String,
    /// `intervals`: the ledger's lines; `statement` (the default): statements of a month. FOCUS has rows of its own.
    content: Option<String>,
    /// The first day (UTC) of intervals or of FOCUS.
    #[schema(value_type = Option<NaiveDate>)]
    from: Option<String>,
    /// The day after the last.
    #[schema(value_type = Option<NaiveDate>)]
    to: Option<String>,
    /// A month as 2026-11, instead of days.
    month: Option<String>,
    /// A team's slug or id, everything below it included; all that the caller oversees when left out.
    team: Option<String>,
    /// CSV: begin with a byte order mark.
    #[serde(default)]
    bom: bool,
}

/// Asks for an export. It is made meanwhile: watch it, then fetch its result, which is kept for seven days.
#[utoipa::path(post, path = "/api/v1/operations", operation_id = "create_operation", tag = "operations", request_body = NewOperation,
    responses((status = 202, body = OperationView)))]
pub(crate) async fn create(
    State(app): State<AppState>,
    caller: Caller,
    keyed: Keyed<NewOperation>,
) -> Result<Response> {
    let Keyed { body, once } = keyed;
    app.allow(&caller, Action::OperationCreate, &Resource::Installation).await?;
    if let Some(reply) = once.replay().await? {
        return Ok(reply);
    }
    let params = checked(&body)?;
    let teams = seen_teams(&app, &caller, Action::UsageRead, body.team.as_deref()).await?;
    let by = caller.actor.id;
    if operations::live_of(&app.store, by).await? >= MOST_LIVE {
        return Err(Problem::new(Code::RateLimited)
            .detail(format!("{MOST_LIVE} of your exports are not over yet: wait, or cancel one")));
    }
    let params = serde_json::to_value(params).map_err(|error| Problem::internal(&error))?;
    let mut tx = app.begin(&caller).await?;
    let id = operations::create(&mut tx, OperationKind::UsageExport, &params, teams.as_deref(), by).await?;
    let view = OperationView::asked(id, params, &caller, tx.now());
    let location = [("location", format!("/api/v1/operations/{id}"))];
    once.commit_with(tx, StatusCode::ACCEPTED, &view, &location).await
}

fn checked(body: &NewOperation) -> Result<ExportParams> {
    let mut fields = Fields::new();
    fields.word::<OperationKind>("/kind", &body.kind);
    let format = fields.word::<ExportFormat>("/format", &body.format);
    let content = body.content.as_deref().unwrap_or(ExportContent::Statement.as_str());
    let content = fields.word::<ExportContent>("/content", content);
    let month = match body.month.as_deref().map(str::parse::<Month>) {
        Some(Err(error)) => {
            fields.add("/month", "invalid_value", error.to_string());
            None
        }
        Some(Ok(month)) => Some(month),
        None => None,
    };
    let span = match (month, &body.from, &body.to) {
        (Some(month), None, None) => Some((month.first_day(), month.next().first_day())),
        (None, Some(from), Some(to))
            if content != Some(ExportContent::Statement) || format == Some(ExportFormat::Focus) =>
        {
            match days(from, to) {
                Ok(span) => Some(span),
                Err(problem) => {
                    fields.add("/to", "out_of_range", problem.detail);
                    None
                }
            }
        }
        _ => {
            let detail = "give a month; intervals and FOCUS take from and to instead";
            fields.add("/month", "missing", detail);
            None
        }
    };
    fields.done()?;
    let (Some(format), Some(content), Some((from, to))) = (format, content, span) else {
        return Err(Problem::new(Code::InvalidBody));
    };
    let month = month.map(|month| month.to_string());
    Ok(ExportParams { format, content, from: begin(from), to: begin(to), month, bom: body.bom })
}

fn begin(day: NaiveDate) -> DateTime<Utc> {
    day.and_time(NaiveTime::MIN).and_utc()
}
