//! The guards of the architecture: what the tree must never become. They read the sources as text; clippy holds
//! the finer rules (`clippy.toml`).

mod budgets;
mod direction;
mod sources;
mod words;
