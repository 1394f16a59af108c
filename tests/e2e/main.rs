//! The product as its users meet it: real PostgreSQL, server, agents and processes on loopback, told by the REST API.
//!
//! It refuses to look into the database where a request can tell.

mod demo_lends_and_takes_back;
mod story_borrow_and_give_back;
