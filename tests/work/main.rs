//! Work and sharing over HTTP: what a client sees of jobs, queues, quotas, nodes and their agents.

mod agents;
mod app;
mod consolidation;
mod jobs;
mod sharing;
