//! A scenario's reservations and maintenance windows, with its names resolved.
//!
//! This module refuses names that the scenario does not have.

use super::format::{MaintenanceSpec, ReservationSpec, Scenario};
use super::world::World;
use super::yaml::FormatError;
use crate::id::{MaintenanceWindowId, ReservationId};
use crate::schedule::snapshot::{MaintenanceWindow, Reservation};
use chrono::{DateTime, TimeDelta, Utc};

pub(super) fn add(world: &mut World, scenario: &Scenario) -> Result<(), FormatError> {
    for spec in &scenario.reservations {
        let reservation = reservation(world, spec)?;
        world.cluster.snapshot.reservations.push(reservation);
    }
    for spec in &scenario.maintenance {
        let window = window(world, spec)?;
        world.cluster.snapshot.maintenance_windows.push(window);
    }
    Ok(())
}

fn reservation(world: &mut World, spec: &ReservationSpec) -> Result<Reservation, FormatError> {
    let pool = match &spec.pool {
        Some(name) => world.pool(name, spec.at)?,
        None => match world.cluster.snapshot.pools.as_slice() {
            [only] => only.id,
            _ => return Err(FormatError::new(spec.at, "there are several pools: say which `pool`")),
        },
    };
    let team = world.team(&spec.team, spec.at)?;
    Ok(Reservation {
        id: ReservationId(world.cluster.mint()),
        pool,
        team,
        gpus: spec.gpus,
        starts_at: after(world, spec.from_secs),
        ends_at: after(world, spec.to_secs),
    })
}

fn window(world: &mut World, spec: &MaintenanceSpec) -> Result<MaintenanceWindow, FormatError> {
    let nodes = spec.nodes.iter().map(|name| world.node(name, spec.at)).collect::<Result<_, _>>()?;
    Ok(MaintenanceWindow {
        id: MaintenanceWindowId(world.cluster.mint()),
        nodes,
        starts_at: after(world, spec.from_secs),
        ends_at: after(world, spec.to_secs),
    })
}

fn after(world: &World, secs: i64) -> DateTime<Utc> {
    world.cluster.snapshot.now + TimeDelta::seconds(secs)
}
