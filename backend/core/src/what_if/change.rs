//! Changes that can be imagined, and the snapshot in which they are true.

use crate::approval::{Exception, Raise, apply_exceptions};
use crate::id::{JobId, NodeId};
use crate::node::NodeState;
use crate::policy::Policy;
use crate::priority::Priority;
use crate::scenario::cluster::Cluster;
use crate::schedule::snapshot::{Job, Quota, Snapshot};

/// One change.
#[derive(Debug, Clone)]
pub enum Change {
    /// A job stands in line.
    Submit(Box<Job>),
    Priority {
        job: JobId,
        priority: Priority,
    },
    /// An escalation becomes active: the jobs that it reaches count as more.
    Raise(Raise),
    /// A job is not evicted any more.
    NeverEvict(JobId),
    /// In place of the team's quota in that pool, if it has one.
    Quota(Quota),
    Policy(Box<Policy>),
    /// A lost node loses what runs on it.
    Node {
        node: NodeId,
        state: NodeState,
    },
}

/// The change speaks of something that is not there (any more).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unknown {
    #[error("the job has ended, or never was")]
    Job,
    #[error("there is no such node")]
    Node,
}

/// The world with all changes made, in their order.
///
/// # Errors
/// [`Unknown`].
pub fn imagine(snapshot: &Snapshot, changes: Vec<Change>) -> Result<Snapshot, Unknown> {
    let mut world = Cluster::new(snapshot.clone());
    for change in changes {
        match change {
            Change::Submit(job) => world.snapshot.jobs.push(*job),
            Change::Priority { job, priority } => world.job_mut(job).ok_or(Unknown::Job)?.priority = priority,
            Change::Raise(raise) => apply_exceptions(&mut world.snapshot, &[Exception::Raise(raise)]),
            Change::NeverEvict(job) => world.job_mut(job).ok_or(Unknown::Job)?.never_evict = true,
            Change::Quota(quota) => {
                let quotas = &mut world.snapshot.quotas;
                quotas.retain(|other| (other.team, other.pool) != (quota.team, quota.pool));
                quotas.push(quota);
            }
            Change::Policy(policy) => world.snapshot.policy = *policy,
            Change::Node { node, state } => {
                if !world.snapshot.nodes.iter().any(|other| other.id == node) {
                    return Err(Unknown::Node);
                }
                world.set_node(node, state);
            }
        }
    }
    Ok(world.snapshot)
}
