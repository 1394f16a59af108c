//! `GET /audit/export`: the log as a file, streamed: memory holds one batch, however long the log is.

use super::filter::AuditParams;
use super::view::{COLUMNS, csv_row};
use crate::app::AppState;
use crate::extract::{Caller, List};
use crate::problem::{Code, Problem, Result};
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use futures::stream::try_unfold;
use reeve_core::csv_text::{BOM, Cell, row};
use reeve_core::text_enum;
use reeve_store::audit::checkpoint::{self, Checkpoint};
use reeve_store::audit::export::{End, Head, Line, VERSION, event_line, line};
use reeve_store::audit::list::{self, AuditFilter};
use reeve_store::event::{self, GENESIS};
use reeve_store::{Store, StoreError};
use serde::Deserialize;
use std::collections::VecDeque;
use utoipa::IntoParams;
use uuid::Uuid;

/// Events read at once.
const BATCH: i64 = 2_000;

text_enum! {
    /// How a log is written down.
    AuditExportFormat {
        /// JSON Lines: without a filter, what `reeve audit verify` takes.
        Jsonl = "jsonl",
        /// For people.
        Csv = "csv",
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct AuditExportParams {
    /// `jsonl` (the default) or `csv`.
    format: Option<String>,
    /// CSV only: begin with a byte order mark, by which some spreadsheets know UTF-8.
    bom: Option<bool>,
    /// Only events after this position.
    #[param(minimum = 0)]
    after: Option<i64>,
    /// An id, or a name exactly as it was then.
    actor: Option<String>,
    /// An action, for example `job.submitted`, or the beginning of some: `job.*`.
    action: Option<String>,
    subject_type: Option<String>,
    subject_id: Option<Uuid>,
    /// A team's slug or id, everything below it included.
    team: Option<String>,
    /// Not before.
    #[param(value_type = Option<DateTime<Utc>>)]
    from: Option<String>,
    /// Before.
    #[param(value_type = Option<DateTime<Utc>>)]
    to: Option<String>,
    /// `allowed` or `denied`.
    outcome: Option<String>,
    request_id: Option<String>,
}

/// The log as JSON Lines or CSV, oldest first, up to the moment of the request.
///
/// JSON Lines without a filter hold the chain, its checkpoints and their keys: `reeve audit verify FILE` proves them without a
/// server. A filtered export says so in its first line, and cannot be verified.
#[utoipa::path(get, path = "/api/v1/audit/export", operation_id = "export_audit", tag = "audit", params(AuditExportParams),
    responses((status = 200, content_type = "application/jsonl", body = String)))]
pub(crate) async fn export(
    State(app): State<AppState>,
    caller: Caller,
    list: List<AuditExportParams>,
) -> Result<Response> {
    let asked = &list.filter;
    let filter = asked.events().allowed(&app, &caller).await?;
    let format = asked.format()?;
    let writer = Writer::begin(&app.store, filter, format, asked, app.clock.now()).await?;
    let kind = match format {
        AuditExportFormat::Jsonl => "application/jsonl",
        AuditExportFormat::Csv => "text/csv; charset=utf-8",
    };
    let name = format!("reeve-audit-{}.{format}", writer.last);
    let stream = try_unfold(writer, async |mut writer| {
        let text = writer.next().await?;
        Ok::<_, StoreError>(text.map(|text| (Bytes::from(text), writer)))
    });
    let mut response = Body::from_stream(stream).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    Ok(response)
}

impl AuditExportParams {
    fn events(&self) -> AuditParams {
        AuditParams {
            actor: self.actor.clone(),
            action: self.action.clone(),
            subject_type: self.subject_type.clone(),
            subject_id: self.subject_id,
            team: self.team.clone(),
            from: self.from.clone(),
            to: self.to.clone(),
            outcome: self.outcome.clone(),
            request_id: self.request_id.clone(),
        }
    }

    fn format(&self) -> Result<AuditExportFormat> {
        let refused = |name: &str, detail: String| {
            Problem::new(Code::InvalidQuery).detail(format!("{name}: {detail}")).error(
                name,
                "invalid_value",
                detail,
            )
        };
        if self.after.is_some_and(|after| after < 0) {
            return Err(refused("after", "0 or more".to_owned()));
        }
        let format = self.format.as_deref().unwrap_or(AuditExportFormat::Jsonl.as_str());
        format.parse().map_err(|error: reeve_core::status::UnknownText| refused("format", error.to_string()))
    }
}

/// Writes the log batch by batch.
struct Writer {
    store: Store,
    filter: AuditFilter,
    format: AuditExportFormat,
    /// Where the log ended when the export began: it ends there.
    last: i64,
    /// What stands before the first event.
    begin: Option<String>,
    position: i64,
    hash: String,
    events: i64,
    checkpoints: VecDeque<Checkpoint>,
    over: bool,
}

impl Writer {
    async fn begin(
        store: &Store,
        filter: AuditFilter,
        format: AuditExportFormat,
        asked: &AuditExportParams,
        now: DateTime<Utc>,
    ) -> Result<Self> {
        let last = event::last_position(store).await?;
        let position = asked.after.unwrap_or(0).min(last);
        let hash = match position {
            0 => hex::encode(GENESIS),
            _ => list::at(store, position).await?.sealed.hash,
        };
        let begin = match format {
            AuditExportFormat::Csv => csv_head(asked.bom.unwrap_or(false)),
            AuditExportFormat::Jsonl => {
                let head = Head {
                    version: VERSION,
                    after_position: position,
                    after_hash: hash.clone(),
                    filtered: filter.narrows(),
                    exported_at: now,
                };
                let mut text = line(&Line::Export(head))?;
                for key in checkpoint::keys(store).await? {
                    text.push_str(&line(&Line::Key((&key).into()))?);
                }
                text
            }
        };
        Ok(Self {
            store: store.clone(),
            filter,
            format,
            last,
            begin: Some(begin),
            position,
            hash,
            events: 0,
            checkpoints: VecDeque::new(),
            over: false,
        })
    }

    /// The next stretch of text; none after the end.
    async fn next(&mut self) -> Result<Option<String>, StoreError> {
        if let Some(begin) = self.begin.take() {
            return Ok(Some(begin));
        }
        if self.over {
            return Ok(None);
        }
        let found = list::after(&self.store, self.position, &self.filter, BATCH).await?;
        let chained = self.format == AuditExportFormat::Jsonl && !self.filter.narrows();
        if chained && self.checkpoints.is_empty() {
            self.checkpoints = checkpoint::after(&self.store, self.position, BATCH).await?.into();
        }
        let mut text = String::new();
        for event in found.iter().take_while(|event| event.sealed.position <= self.last) {
            self.position = event.sealed.position;
            self.hash.clone_from(&event.sealed.hash);
            self.events += 1;
            match self.format {
                AuditExportFormat::Csv => csv_row(event, &mut text),
                AuditExportFormat::Jsonl => event_line(&event.sealed, &mut text)?,
            }
            if chained
                && let Some(checkpoint) =
                    self.checkpoints.pop_front_if(|checkpoint| checkpoint.position == event.sealed.position)
            {
                text.push_str(&line(&Line::Checkpoint(checkpoint))?);
            }
        }
        let more = found.last().is_some_and(|last| last.sealed.position < self.last);
        if !more || self.position >= self.last {
            self.over = true;
            if self.format == AuditExportFormat::Jsonl {
                let end = End { position: self.position, hash: self.hash.clone(), events: self.events };
                text.push_str(&line(&Line::End(end))?);
            }
        }
        Ok(Some(text))
    }
}

fn csv_head(bom: bool) -> String {
    let mut text = String::from(if bom { BOM } else { "" });
    row(&mut text, COLUMNS.map(Cell::Text));
    text
}
