//! Rows as text or as a workbook.

use super::sink::Sink;
use super::step::ExportError;
use reeve_core::csv_text::{BOM, Cell, Field, row};
use reeve_core::money::export::ExportFormat;
use rust_xlsxwriter::{Format, Workbook};
use serde_json::{Map, Value};
use std::io::{Read, Seek, SeekFrom};

/// Of a worksheet, its head left out.
const SHEET_ROWS: u32 = 1_048_575;
/// Read back at once.
const READ_BYTES: usize = 256 * 1_024;

/// A table being written.
pub(super) enum Table {
    Text { columns: &'static [&'static str], json: bool },
    Sheets(Box<Sheets>),
}

impl Table {
    pub(super) async fn begin(
        format: ExportFormat,
        columns: &'static [&'static str],
        bom: bool,
        sink: &mut Sink,
    ) -> Result<Self, ExportError> {
        match format {
            ExportFormat::Xlsx => Ok(Self::Sheets(Box::new(Sheets::begin(columns)?))),
            ExportFormat::Jsonl => Ok(Self::Text { columns, json: true }),
            ExportFormat::Csv | ExportFormat::Focus => {
                let mut text = String::from(if bom { BOM } else { "" });
                row(&mut text, columns.iter().map(|name| Cell::Text(name)));
                sink.write(text.as_bytes()).await?;
                Ok(Self::Text { columns, json: false })
            }
        }
    }

    pub(super) async fn rows(&mut self, rows: &[Vec<Field>], sink: &mut Sink) -> Result<(), ExportError> {
        match self {
            Self::Sheets(sheets) => rows.iter().try_for_each(|fields| sheets.row(fields)),
            Self::Text { columns, json } => {
                let mut text = String::new();
                for fields in rows {
                    if *json {
                        json_row(columns, fields, &mut text);
                    } else {
                        row(&mut text, fields.iter().map(Cell::from));
                    }
                }
                Ok(sink.write(text.as_bytes()).await?)
            }
        }
    }

    pub(super) async fn end(self, sink: &mut Sink) -> Result<(), ExportError> {
        let Self::Sheets(sheets) = self else { return Ok(()) };
        // Packing a large workbook takes seconds of a core.
        let saved = tokio::task::spawn_blocking(move || sheets.save()).await;
        let mut file = saved.map_err(|_| ExportError::Lost)??;
        let mut buffer = vec![0; READ_BYTES];
        loop {
            let read = file.read(&mut buffer)?;
            if read == 0 {
                return Ok(());
            }
            sink.write(&buffer[..read]).await?;
        }
    }
}

/// Numbers stay decimals in text: JSON's own would be read as floats.
fn json_row(columns: &[&str], fields: &[Field], out: &mut String) {
    let mut object = Map::new();
    for (name, field) in columns.iter().zip(fields) {
        let value = match field {
            Field::Empty => Value::Null,
            Field::Text(text) | Field::Number(text) => Value::from(text.as_str()),
        };
        object.insert((*name).to_owned(), value);
    }
    out.push_str(&Value::Object(object).to_string());
    out.push('\n');
}

/// A workbook whose rows go to a file as they come.
pub(super) struct Sheets {
    workbook: Workbook,
    columns: &'static [&'static str],
    sheets: usize,
    /// Rows in the last sheet, its head left out.
    rows: u32,
    bold: Format,
}

impl Sheets {
    fn begin(columns: &'static [&'static str]) -> Result<Self, ExportError> {
        let mut sheets =
            Self { workbook: Workbook::new(), columns, sheets: 0, rows: 0, bold: Format::new().set_bold() };
        sheets.next_sheet()?;
        Ok(sheets)
    }

    fn next_sheet(&mut self) -> Result<(), ExportError> {
        self.sheets += 1;
        self.rows = 0;
        let sheet = self.workbook.add_worksheet_with_constant_memory()?;
        sheet.set_name(format!("reeve {}", self.sheets))?;
        sheet.set_freeze_panes(1, 0)?;
        for (column, name) in (0_u16..).zip(self.columns) {
            sheet.write_string_with_format(0, column, *name, &self.bold)?;
        }
        Ok(())
    }

    fn row(&mut self, fields: &[Field]) -> Result<(), ExportError> {
        if self.rows == SHEET_ROWS {
            self.next_sheet()?;
        }
        self.rows += 1;
        let sheet = self.workbook.worksheet_from_index(self.sheets - 1)?;
        for (column, field) in (0_u16..).zip(fields) {
            match field {
                Field::Empty => {}
                // A string cell is never run as a formula.
                Field::Text(text) => {
                    sheet.write_string(self.rows, column, text.chars().take(32_767).collect::<String>())?;
                }
                Field::Number(text) => {
                    sheet.write_number(self.rows, column, text.parse::<f64>().unwrap_or(f64::NAN))?;
                }
            }
        }
        Ok(())
    }

    fn save(mut self) -> Result<std::fs::File, ExportError> {
        let mut file = tempfile::tempfile()?;
        self.workbook.save_to_writer(&mut file)?;
        file.seek(SeekFrom::Start(0))?;
        Ok(file)
    }
}
