//! What an export is asked for, as an operation keeps it.

use super::month::Month;
use crate::text_enum;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

text_enum! {
    ExportFormat {
        Csv = "csv",
        Jsonl = "jsonl",
        Xlsx = "xlsx",
        /// CSV with the columns of FOCUS 1.2.
        Focus = "focus",
    }
}

text_enum! {
    ExportContent {
        /// The ledger's lines.
        Intervals = "intervals",
        /// Statements' lines, of whole months.
        Statement = "statement",
    }
}

/// The parameters; days are given as the moments at which they begin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportParams {
    pub format: ExportFormat,
    pub content: ExportContent,
    pub from: DateTime<Utc>,
    /// Exclusive.
    pub to: DateTime<Utc>,
    /// Of a statement.
    pub month: Option<String>,
    #[serde(default)]
    pub bom: bool,
}

impl ExportParams {
    /// The statement's month.
    #[must_use]
    pub fn month(&self) -> Month {
        let asked = self.month.as_deref().and_then(|text| text.parse().ok());
        asked.unwrap_or_else(|| Month::of(self.from.date_naive()))
    }

    #[must_use]
    pub fn file_name(&self) -> String {
        let what = match self.month.as_deref() {
            Some(month) => month.to_owned(),
            None => format!("{}-{}", self.from.format("%Y%m%d"), self.to.format("%Y%m%d")),
        };
        let (kind, ending) = match self.format {
            ExportFormat::Focus => ("focus", "csv"),
            ExportFormat::Csv => (self.content.as_str(), "csv"),
            ExportFormat::Jsonl => (self.content.as_str(), "jsonl"),
            ExportFormat::Xlsx => (self.content.as_str(), "xlsx"),
        };
        format!("reeve-{kind}-{what}.{ending}")
    }

    #[must_use]
    pub const fn content_type(&self) -> &'static str {
        match self.format {
            ExportFormat::Csv | ExportFormat::Focus => "text/csv; charset=utf-8",
            ExportFormat::Jsonl => "application/jsonl",
            ExportFormat::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        }
    }
}
