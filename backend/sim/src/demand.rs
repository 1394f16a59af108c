//! Jobs cut from a demand curve: how many GPUs each tenant wanted, minute by minute.
//!
//! A job is a rectangle under the curve: it is there as long as demand stays at or above its level, whatever becomes
//! of it, so that waiting adds up to demand less use as it does on the curve. A rise is cut into jobs of 8 GPUs and
//! of 1; a fall takes the youngest jobs away. This module refuses to guess durations that the curve does not say.

use crate::setup::Tenant;
use crate::trace::{self, TraceError};
use crate::workload::{Micros, SECOND, Task, Workload};
use std::collections::BTreeMap;
use std::path::Path;

pub const MINUTE: Micros = 60 * SECOND;

/// GPUs of the larger jobs: a node's.
const GANG: u32 = 8;

/// Demand and supply by minute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Demand {
    pub tenants: Vec<Tenant>,
    /// By tenant and minute: GPUs asked for, running or waiting.
    pub gpus: Vec<Vec<u32>>,
    /// By tenant and minute, as it was on the real cluster.
    pub waited: Vec<Vec<u32>>,
}

/// Reads `minute,tenant,quota_gpus,running_gpus,waiting_gpus`; a minute that a tenant lacks has no demand.
///
/// # Errors
/// When it can't be read, or a value is no number; naming the line.
pub fn read(path: &Path) -> Result<Demand, TraceError> {
    let inside = |source: TraceError| TraceError::In { path: path.to_owned(), source: Box::new(source) };
    parse(trace::open(path)?).map_err(inside)
}

fn parse(source: impl std::io::Read) -> Result<Demand, TraceError> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(source);
    let headers = reader.headers()?.clone();
    let place = |name: &'static str| {
        headers.iter().position(|header| header == name).ok_or_else(|| TraceError::NoColumn {
            what: name,
            column: name.to_owned(),
            have: headers.iter().collect::<Vec<_>>().join(", "),
        })
    };
    let (minute, tenant, quota) = (place("minute")?, place("tenant")?, place("quota_gpus")?);
    let (running, waiting) = (place("running_gpus")?, place("waiting_gpus")?);
    let mut demand = Demand::default();
    let mut index: BTreeMap<String, usize> = BTreeMap::new();
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record)? {
        let number = |column: usize, what: &'static str| {
            let text = record.get(column).unwrap_or_default();
            text.parse::<u32>().map_err(|_| TraceError::Wrong {
                line: record.position().map_or(0, csv::Position::line),
                text: text.to_owned(),
                what,
            })
        };
        let team = record.get(tenant).unwrap_or_default();
        let at = match index.get(team) {
            Some(&at) => at,
            None => {
                let guaranteed_gpus = number(quota, "quota_gpus")?;
                demand.tenants.push(Tenant { team: team.to_owned(), guaranteed_gpus });
                demand.gpus.push(Vec::new());
                demand.waited.push(Vec::new());
                index.insert(team.to_owned(), demand.gpus.len() - 1);
                demand.gpus.len() - 1
            }
        };
        let minute = number(minute, "minute")? as usize;
        let (running, waiting) = (number(running, "running_gpus")?, number(waiting, "waiting_gpus")?);
        let length = demand.gpus[at].len().max(minute + 1);
        demand.gpus[at].resize(length, 0);
        demand.waited[at].resize(length, 0);
        demand.gpus[at][minute] = running + waiting;
        demand.waited[at][minute] = waiting;
    }
    Ok(demand)
}

/// What any scheduler could reach that lends every idle GPU and takes it back at once, jobs divisible at will.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fluid {
    pub waiting_gpus: f64,
    pub allocated_percent: f64,
    /// Falls of what may be on loan, a day.
    pub recalled_gpus_a_day: f64,
}

impl Demand {
    #[must_use]
    pub fn minutes(&self) -> usize {
        self.gpus.iter().map(Vec::len).max().unwrap_or(0)
    }

    #[must_use]
    pub fn capacity_gpus(&self) -> u32 {
        self.tenants.iter().map(|tenant| tenant.guaranteed_gpus).sum()
    }

    fn at(&self, tenant: usize, minute: usize) -> u32 {
        self.gpus[tenant].get(minute).copied().unwrap_or(0)
    }

    /// The jobs, earliest first, and how many of the larger ones the curve's falls cut into small ones.
    #[must_use]
    pub fn jobs(&self) -> (Workload, usize) {
        let mut cutter = Cutter::default();
        let minutes = self.minutes();
        for minute in 0..minutes {
            for tenant in 0..self.tenants.len() {
                cutter.step(tenant, minute, self.at(tenant, minute));
            }
        }
        for tenant in 0..self.tenants.len() {
            cutter.step(tenant, minutes, 0);
        }
        let teams = self.tenants.iter().map(|tenant| tenant.team.clone()).collect();
        (Workload { teams, tasks: cutter.tasks }, cutter.cut)
    }

    #[must_use]
    pub fn fluid(&self) -> Fluid {
        let minutes = self.minutes();
        let capacity = i64::from(self.capacity_gpus());
        let (mut waiting, mut used, mut recalled, mut before) = (0, 0, 0, 0);
        for minute in 0..minutes {
            let demand = self.sum(|tenant, _| self.at(tenant, minute).into());
            let inside = self.sum(|tenant, quota| i64::from(self.at(tenant, minute)).min(quota));
            used += demand.min(capacity);
            waiting += (demand - capacity).max(0);
            let on_loan = (demand - inside).min(capacity - inside);
            // Only an owner's rise recalls: a borrower whose own demand falls gives back by itself.
            let kept = (demand - inside).min(before);
            recalled += (kept - on_loan).max(0);
            before = on_loan;
        }
        let over = |sum: i64| sum as f64 / minutes.max(1) as f64;
        Fluid {
            waiting_gpus: over(waiting),
            allocated_percent: 100.0 * over(used) / capacity.max(1) as f64,
            recalled_gpus_a_day: over(recalled) * 1_440.0,
        }
    }

    fn sum(&self, of: impl Fn(usize, i64) -> i64) -> i64 {
        self.tenants.iter().enumerate().map(|(at, tenant)| of(at, tenant.guaranteed_gpus.into())).sum()
    }
}

#[derive(Default)]
struct Cutter {
    tasks: Vec<Task>,
    /// By tenant: tasks that are there, oldest first.
    there: BTreeMap<usize, Vec<usize>>,
    cut: usize,
}

impl Cutter {
    fn step(&mut self, tenant: usize, minute: usize, wanted: u32) {
        let at = i64::try_from(minute).unwrap_or(0) * MINUTE;
        let there = self.there.get(&tenant).into_iter().flatten();
        let have: u32 = there.map(|&task| self.tasks[task].gpus).sum();
        if wanted < have {
            self.fall(tenant, at, have - wanted);
        } else {
            self.rise(tenant, at, wanted - have);
        }
    }

    fn rise(&mut self, tenant: usize, at: Micros, gpus: u32) {
        let sizes = (0..gpus / GANG).map(|_| GANG).chain((0..gpus % GANG).map(|_| 1));
        for gpus in sizes {
            self.there.entry(tenant).or_default().push(self.tasks.len());
            self.tasks.push(Task {
                name: format!("d{}", self.tasks.len()),
                team: tenant,
                at,
                runs: 1,
                until: None,
                gpus,
                milli: None,
                kind: None,
                priority: None,
            });
        }
    }

    fn fall(&mut self, tenant: usize, at: Micros, mut gpus: u32) {
        while gpus > 0 {
            let there = self.there.entry(tenant).or_default();
            let fits = there.iter().rposition(|&task| self.tasks[task].gpus <= gpus);
            // Only large ones left: one goes, and what it leaves of the demand is small.
            let Some(place) = fits.or_else(|| there.len().checked_sub(1)) else { return };
            let task = there.remove(place);
            let job = &mut self.tasks[task];
            (job.until, job.runs) = (Some(at), (at - job.at).max(1));
            if job.gpus > gpus {
                self.cut += 1;
                let rest = job.gpus - gpus;
                return self.rise(tenant, at, rest);
            }
            gpus -= job.gpus;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(gpus: &[&[u32]], quotas: &[u32]) -> Demand {
        let tenants = quotas.iter().enumerate();
        Demand {
            tenants: tenants
                .map(|(at, &guaranteed_gpus)| Tenant { team: format!("t{at}"), guaranteed_gpus })
                .collect(),
            gpus: gpus.iter().map(|gpus| gpus.to_vec()).collect(),
            waited: Vec::new(),
        }
    }

    #[test]
    fn jobs_add_up_to_the_curve_at_every_minute() {
        let curve = [3, 12, 20, 9, 9, 0, 8, 4, 17];
        let (workload, cut) = demand(&[&curve], &[8]).jobs();
        for (minute, &wanted) in (0_i64..).zip(&curve) {
            let at = minute * MINUTE;
            let there = workload
                .tasks
                .iter()
                .filter(|task| task.at <= at && task.until.is_some_and(|until| at < until));
            assert_eq!(there.map(|task| task.gpus).sum::<u32>(), wanted, "minute {minute}");
        }
        assert!(workload.tasks.iter().any(|task| task.gpus == 8) && cut > 0);
        assert!(workload.tasks.windows(2).all(|pair| pair[0].at <= pair[1].at));
    }

    #[test]
    fn the_fluid_ceiling_lends_all_and_recalls_at_once() {
        // 12 GPUs: the first tenant's loan of 4 is recalled in the third minute.
        let fluid = demand(&[&[8, 12, 12], &[0, 0, 6]], &[8, 4]).fluid();
        assert_eq!((fluid.waiting_gpus, fluid.recalled_gpus_a_day), (2.0, 4.0 / 3.0 * 1_440.0));
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let text = "minute,tenant,quota_gpus,running_gpus,waiting_gpus\n0,a,8,1,0\n1,a,8,many,0\n";
        let wrong = parse(text.as_bytes()).expect_err("no number").to_string();
        assert!(wrong.contains("line 3") && wrong.contains("many"), "{wrong}");
        assert!(parse("minute,tenant\n".as_bytes()).expect_err("columns").to_string().contains("quota_gpus"));
    }
}
