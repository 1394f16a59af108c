//! Each loop's step on a real PostgreSQL, with a clock that moves only when it is told to.

mod base;
mod loops;
mod steps;
