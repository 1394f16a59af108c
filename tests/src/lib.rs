//! What the tests share. It refuses to know the product's internals where a process or a request can be used.

pub mod app;
pub mod cable;
pub mod client;
pub mod database;
pub mod node;
pub mod processes;
pub mod provider;
pub mod receiver;
pub mod world;

pub use app::TestApp;
