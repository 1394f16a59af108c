//! What queues use of their own limits, now and later.
//!
//! This module knows no quota, and starts nobody.

use super::snapshot::Queue;
use super::space::Count;
use super::state::State;
use std::collections::BTreeMap;

/// Use of a queue against its limits.
#[derive(Debug, Clone, Default)]
pub(super) struct QueueUse {
    pub(super) jobs: u32,
    pub(super) milli: i64,
    /// Counted only where the queue limits each user.
    pub(super) by_user: BTreeMap<uuid::Uuid, u32>,
}

/// A limit of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QueueLimit {
    Jobs,
    JobsPerUser,
    Gpus,
}

/// Whether a start in the queue may have to wait for another's end there.
pub(super) const fn has_limits(queue: &Queue) -> bool {
    queue.max_running_jobs.is_some()
        || queue.max_running_jobs_per_user.is_some()
        || queue.max_running_gpus.is_some()
}

impl State<'_, '_> {
    pub(super) fn count_queue(&mut self, job: usize, count: Count, sign: i32) {
        let row = &self.problem.jobs[job];
        let Some(queue) = row.queue else { return };
        let by_user = self.problem.queues[queue].max_running_jobs_per_user.is_some();
        let step = |uses: &mut QueueUse| {
            uses.jobs = uses.jobs.saturating_add_signed(sign);
            if !by_user {
                return;
            }
            let by_user = uses.by_user.entry(row.job.user.0).or_default();
            *by_user = by_user.saturating_add_signed(sign);
        };
        if count != Count::Later {
            step(&mut self.queue_now[queue]);
        }
        if count != Count::Now {
            step(&mut self.queue_later[queue]);
        }
    }

    /// The queue limit that another start of the job would break, with what is used and the limit.
    /// `Count::Both` counts the leaving as well.
    pub(super) fn queue_limit(&self, job: usize, count: Count) -> Option<(QueueLimit, i64, i64)> {
        let row = &self.problem.jobs[job];
        let at = row.queue?;
        let queue = self.problem.queues[at];
        let (now, later) = (&self.queue_now[at], &self.queue_later[at]);
        let most = |now: i64, later: i64| if count == Count::Later { later } else { now.max(later) };
        let user = |uses: &QueueUse| i64::from(uses.by_user.get(&row.job.user.0).copied().unwrap_or(0));
        let jobs = most(now.jobs.into(), later.jobs.into());
        let mine = queue.max_running_jobs_per_user.map_or(0, |_| most(user(now), user(later)));
        let milli = most(now.milli, later.milli);
        let over = |used: i64, more: i64, limit: Option<i64>| {
            limit.filter(|limit| used + more > *limit).map(|limit| (used, limit))
        };
        let by_jobs = over(jobs, 1, queue.max_running_jobs.map(i64::from));
        let by_user = over(mine, 1, queue.max_running_jobs_per_user.map(i64::from));
        let by_gpus = over(milli, row.base_milli, queue.max_running_gpus.map(|gpus| gpus.0));
        let named = |found: Option<(i64, i64)>, limit| found.map(|(used, most)| (limit, used, most));
        named(by_jobs, QueueLimit::Jobs)
            .or_else(|| named(by_user, QueueLimit::JobsPerUser))
            .or_else(|| named(by_gpus, QueueLimit::Gpus))
    }

    /// Whether the queue's GPU limit leaves room for one more member.
    pub(super) fn queue_lets_grow(&self, job: usize) -> bool {
        let row = &self.problem.jobs[job];
        let Some(at) = row.queue else { return false };
        let used = self.queue_now[at].milli.max(self.queue_later[at].milli);
        self.problem.queues[at].max_running_gpus.is_none_or(|most| used + row.member_milli <= most.0)
    }
}
