//! The store's rules on a real PostgreSQL: the server that `REEVE_TEST_DATABASE_URL` names, else one of our own.

mod base;
mod calendar;
mod checker;
mod kept;
mod large;
mod reclaims;
mod reports;
mod seals;
mod storm;
mod submits;
mod tampering;
mod ticks;
mod words;
mod world;
mod writes;
