//! Exports of the ledger and of bills as files: CSV, JSON Lines, XLSX, FOCUS. Rows come page by page and leave in chunks:
//! memory does not grow with the file.

mod focus_rows;
mod interval_rows;
mod job;
mod sink;
mod statement_rows;
pub mod step;
mod table;
