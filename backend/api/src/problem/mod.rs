//! Problem details (RFC 9457): every error reply of the server, from one type and one table of codes.

mod answer;
mod codes;
mod fields;
mod from_store;
pub mod help;

pub use answer::{FieldError, Problem, ProblemView, Result};
pub use codes::Code;
pub use fields::Fields;
