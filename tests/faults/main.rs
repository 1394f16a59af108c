//! Faults that must be survived: real processes, real PostgreSQL, real sockets, on loopback and bounded in time.
//!
//! After each, nothing is lost, nothing ran twice, nothing is booked twice: `check_database` says so.

mod cluster;
mod cut_off;
mod kill_amid_submissions;
mod kill_everything;
mod pair;
mod server_away;
mod two_servers;
