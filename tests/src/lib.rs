//! What the tests share. It refuses to know the product's internals where a process or a request can be used.

pub mod processes;
