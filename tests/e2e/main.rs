//! The product as its users meet it: real PostgreSQL, server, agents and processes on loopback, told by the REST API.
//!
//! It refuses to look into the database where a request can tell.

mod bad_commands_and_tokens;
mod cli;
mod demo_lends_and_takes_back;
mod escalation_ends_and_the_process_runs_on;
mod examples_resume;
mod gpu_use_arrives;
mod idle_is_stopped;
mod policy_as_code;
mod run_as_if_it_ran_here;
mod site;
mod story_borrow_and_give_back;
mod webhooks_arrive;
