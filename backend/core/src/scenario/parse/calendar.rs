//! `reservations` and `maintenance`: `from` and `to` count from the scenario's beginning.
//!
//! This module refuses windows that end before they begin, and resolves no names.

use super::super::format::{MaintenanceSpec, ReservationSpec};
use super::super::read::{Fields, Read, duration_secs, integer, list, names, owned};
use super::super::yaml::{FormatError, Node};

pub(super) fn reservations(node: &Node) -> Read<Vec<ReservationSpec>> {
    list(node, "reservations")?.iter().map(reservation).collect()
}

fn reservation(node: &Node) -> Read<ReservationSpec> {
    let fields = Fields::of(node, "a reservation", &["pool", "team", "gpus", "from", "to"])?;
    let (from_secs, to_secs) = span(&fields)?;
    Ok(ReservationSpec {
        at: fields.at,
        pool: fields.read("pool", owned)?,
        team: required(&fields, "team", owned)?,
        gpus: required(&fields, "gpus", integer)?,
        from_secs,
        to_secs,
    })
}

pub(super) fn maintenance(node: &Node) -> Read<Vec<MaintenanceSpec>> {
    list(node, "maintenance")?.iter().map(window).collect()
}

fn window(node: &Node) -> Read<MaintenanceSpec> {
    let fields = Fields::of(node, "a maintenance window", &["nodes", "from", "to"])?;
    let (from_secs, to_secs) = span(&fields)?;
    Ok(MaintenanceSpec { at: fields.at, nodes: required(&fields, "nodes", names)?, from_secs, to_secs })
}

fn span(fields: &Fields<'_>) -> Read<(i64, i64)> {
    let from = required(fields, "from", duration_secs)?;
    let to = required(fields, "to", duration_secs)?;
    if from >= to {
        return Err(FormatError::new(fields.key_at("to"), "`to` must come after `from`"));
    }
    Ok((from, to))
}

fn required<'a, T>(fields: &Fields<'a>, name: &str, read: impl FnOnce(&'a Node) -> Read<T>) -> Read<T> {
    fields.read(name, read)?.ok_or_else(|| FormatError::new(fields.at, format!("`{name}` is missing")))
}
