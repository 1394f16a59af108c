//! Problem details (RFC 9457): every error reply of the server, from one type and one table of codes.

mod codes;
mod fields;
mod from_store;
pub mod help;
mod problem;

pub use codes::Code;
pub use fields::Fields;
pub use problem::{FieldError, Problem, ProblemView, Result};
