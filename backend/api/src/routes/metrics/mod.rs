//! `GET /metrics`: what Prometheus reads. `backend/METRICS.md` lists every name.

pub(crate) mod dcgm;
mod gauges;
pub(crate) mod show;
