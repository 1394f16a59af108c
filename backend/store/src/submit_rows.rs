//! The rows of submissions as the parameters of one statement, each with the number of its submission.
//!
//! This module refuses to know what becomes of them.

use crate::submit::{NewJob, SeenQueue, Submission};
use crate::write_tx::{EventRow, NewEvent};
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// Something of the n-th submission.
#[derive(Debug, Serialize)]
pub(crate) struct Of<T> {
    nth: i32,
    #[serde(flatten)]
    row: T,
}

/// A submission itself.
#[derive(Debug, Serialize)]
pub(crate) struct Head {
    policy_version: Option<i64>,
}

/// A queue that must be as it was seen. One that gets a job must also take jobs now.
#[derive(Debug, Serialize)]
pub(crate) struct Stand {
    queue_id: Uuid,
    queue_version: Option<i64>,
    team_version: Option<i64>,
    takes: bool,
}

/// What is inserted, table by table.
#[derive(Debug, Default)]
pub(crate) struct Rows<'a> {
    pub(crate) heads: Vec<Of<Head>>,
    pub(crate) stands: Vec<Of<Stand>>,
    /// To be locked.
    pub(crate) queues: Vec<Uuid>,
    pub(crate) jobs: Vec<Of<&'a NewJob>>,
    pub(crate) events: Vec<Of<EventRow<'a>>>,
    pub(crate) keyed_nths: Vec<i32>,
    pub(crate) callers: Vec<Uuid>,
    pub(crate) keys: Vec<String>,
    pub(crate) request_hashes: Vec<Vec<u8>>,
    pub(crate) statuses: Vec<i16>,
    pub(crate) headers: Vec<Value>,
    pub(crate) bodies: Vec<Vec<u8>>,
    pub(crate) created_ats: Vec<DateTime<Utc>>,
}

impl<'a> Rows<'a> {
    /// Of these submissions and their events.
    pub(crate) fn of(submissions: &'a [Submission], events: &'a [Vec<NewEvent>]) -> Self {
        let mut rows = Self::default();
        for ((nth, submission), events) in (0..).zip(submissions).zip(events) {
            rows.add(nth, submission, events);
        }
        let queues: BTreeSet<Uuid> = rows.stands.iter().map(|stand| stand.row.queue_id).collect();
        rows.queues = queues.into_iter().collect();
        rows
    }

    fn add(&mut self, nth: i32, submission: &'a Submission, events: &'a [NewEvent]) {
        self.heads.push(Of { nth, row: Head { policy_version: submission.policy_version } });
        self.stands.extend(stands(submission).into_iter().map(|row| Of { nth, row }));
        self.jobs.extend(submission.jobs.iter().map(|row| Of { nth, row }));
        for event in events {
            // Counted over the whole transaction: it is the order in which they are sealed.
            let ordinal = i32::try_from(self.events.len()).unwrap_or(i32::MAX);
            self.events.push(Of { nth, row: EventRow::new(&submission.context, event, ordinal) });
        }
        let Some((key, reply)) = &submission.reply else { return };
        self.keyed_nths.push(nth);
        self.callers.push(key.caller);
        self.keys.push(key.key.clone());
        self.request_hashes.push(key.request_hash.clone());
        self.statuses.push(i16::try_from(reply.status).unwrap_or(201));
        self.headers.push(reply.headers.clone());
        self.bodies.push(reply.body.clone());
        self.created_ats.push(submission.context.now);
    }
}

fn stands(submission: &Submission) -> Vec<Stand> {
    let mut seen: BTreeMap<Uuid, Stand> =
        submission.seen.iter().map(|queue| (queue.queue_id, seen(queue))).collect();
    for job in &submission.jobs {
        let queue_id = job.queue_id.0;
        seen.entry(queue_id)
            .or_insert(Stand { queue_id, queue_version: None, team_version: None, takes: true })
            .takes = true;
    }
    seen.into_values().collect()
}

fn seen(queue: &SeenQueue) -> Stand {
    Stand {
        queue_id: queue.queue_id,
        queue_version: Some(queue.queue_version),
        team_version: Some(queue.team_version),
        takes: false,
    }
}
