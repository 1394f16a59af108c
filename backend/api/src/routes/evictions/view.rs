//! An eviction and its answer to "who asked, by which rule, why this one", as JSON.

use crate::refs::{JobRef, NodeRef, TeamRef};
use crate::routes::sentence_view::SentenceView;
use chrono::{DateTime, Utc};
use reeve_core::schedule::plan::{EvictionRecord, TeamShare};
use reeve_core::sentence::eviction::{Why, eviction};
use reeve_core::units::MilliGpu;
use reeve_store::evictions::{Eviction, Names, names, node_names};
use reeve_store::{Store, StoreError};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct EvictionView {
    pub id: Uuid,
    pub reclaim_id: Uuid,
    pub job: JobRef,
    pub run_number: i32,
    pub team: TeamRef,
    pub members: Vec<i32>,
    /// Only surplus members: the job runs on.
    pub surplus_only: bool,
    pub gpus: f64,
    pub cause: String,
    pub outcome: String,
    pub notified_at: DateTime<Utc>,
    pub leave_by: DateTime<Utc>,
    pub checkpointed_at: Option<DateTime<Utc>>,
    pub vacated_at: Option<DateTime<Utc>>,
    pub why: WhyView,
    pub shares_before: Vec<ShareView>,
    pub shares_after: Vec<ShareView>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct WhyView {
    /// The rule of the product's rule book.
    pub rule: String,
    pub sentence: SentenceView,
    pub evictor_job: Option<JobRef>,
    pub evictor_team: Option<TeamRef>,
    pub evictor_priority: Option<i32>,
    pub victim_priority: i32,
    /// 0 to 3: each is exhausted before the next.
    pub tier: u8,
    pub lost_gpu_secs: i64,
    /// How many jobs could have been chosen under the rule.
    pub candidates: u32,
    pub runner_up: Option<RunnerUpView>,
    /// Where the job runs again, member by member; empty unless it only moves.
    pub moves_to: Vec<NodeRef>,
}

/// The best candidate that was not chosen, and the key that decided.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct RunnerUpView {
    pub job: Option<JobRef>,
    pub decided_by: String,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ShareView {
    pub team: TeamRef,
    pub used_gpus: f64,
    pub guaranteed_gpus: f64,
}

/// Evictions with all names that their records point to: two look-ups a page.
pub(crate) async fn views(store: &Store, evictions: Vec<Eviction>) -> Result<Vec<EvictionView>, StoreError> {
    let mut read = Vec::with_capacity(evictions.len());
    let (mut jobs, mut teams, mut nodes) = (Vec::new(), Vec::new(), Vec::new());
    for eviction in evictions {
        let record = eviction.record()?;
        jobs.extend(record.evictor.map(|job| job.0));
        jobs.extend(record.runner_up.as_ref().map(|runner_up| runner_up.job.0));
        teams.extend(record.evictor_team.map(|team| team.0));
        teams.extend(record.shares_before.iter().chain(&record.shares_after).map(|share| share.team.0));
        nodes.extend(record.moves_to.iter().map(|member| member.node.0));
        read.push((eviction, record));
    }
    let names = names(store, &jobs, &teams).await?;
    let nodes = node_names(store, &nodes).await?;
    let view = |(eviction, record): (Eviction, EvictionRecord)| {
        let moves_to = record.moves_to.iter().filter_map(|member| {
            Some(NodeRef { id: member.node.0, name: nodes.get(&member.node.0)?.clone() })
        });
        let moves_to = moves_to.collect();
        view(eviction, record, moves_to, &names)
    };
    Ok(read.into_iter().map(view).collect())
}

fn view(row: Eviction, record: EvictionRecord, moves_to: Vec<NodeRef>, names: &Names) -> EvictionView {
    let team = TeamRef { id: row.team_id, slug: row.team_slug, name: row.team_name };
    EvictionView {
        id: row.id,
        reclaim_id: row.reclaim_id,
        job: JobRef { id: row.job_id, name: row.job_name, team: team.clone() },
        run_number: row.run_number,
        members: row.members,
        surplus_only: row.surplus_only,
        gpus: MilliGpu(row.gpu_milli).as_gpus(),
        outcome: row.outcome,
        notified_at: row.notified_at,
        leave_by: row.leave_by,
        checkpointed_at: row.checkpointed_at,
        vacated_at: row.vacated_at,
        shares_before: shares(&record.shares_before, names),
        shares_after: shares(&record.shares_after, names),
        why: why(record, &row.cause, &team, moves_to, names),
        cause: row.cause,
        team,
    }
}

fn why(
    record: EvictionRecord,
    cause: &str,
    victim: &TeamRef,
    moves_to: Vec<NodeRef>,
    names: &Names,
) -> WhyView {
    let evictor_job = record.evictor.and_then(|job| job_ref(job.0, names));
    let evictor_team = record.evictor_team.and_then(|team| team_ref(team.0, names));
    let runner_up = record.runner_up.map(|runner_up| RunnerUpView {
        job: job_ref(runner_up.job.0, names),
        decided_by: runner_up.decided_by,
    });
    let sentence = eviction(&Why {
        cause: cause.parse().unwrap_or(reeve_core::eviction::EvictionCause::Operator),
        evictor_team: evictor_team.as_ref().map(|team| team.name.as_str()),
        evictor_job: evictor_job.as_ref().map(|job| job.name.as_str()),
        victim_team: &victim.name,
        tier: record.tier,
        lost_gpu_secs: record.lost_gpu_secs,
        candidates: record.candidates,
        runner_up: runner_up.as_ref().and_then(|runner_up| {
            Some((runner_up.job.as_ref()?.name.as_str(), runner_up.decided_by.as_str()))
        }),
    });
    WhyView {
        rule: record.rule,
        sentence: sentence.into(),
        evictor_job,
        evictor_team,
        evictor_priority: record.evictor_priority.map(|priority| priority.0),
        victim_priority: record.victim_priority.0,
        tier: record.tier,
        lost_gpu_secs: record.lost_gpu_secs,
        candidates: record.candidates,
        runner_up,
        moves_to,
    }
}

fn shares(shares: &[TeamShare], names: &Names) -> Vec<ShareView> {
    shares
        .iter()
        .filter_map(|share| {
            Some(ShareView {
                team: team_ref(share.team.0, names)?,
                used_gpus: share.used.as_gpus(),
                guaranteed_gpus: share.guaranteed.as_gpus(),
            })
        })
        .collect()
}

fn team_ref(id: Uuid, names: &Names) -> Option<TeamRef> {
    let team = names.teams.get(&id)?;
    Some(TeamRef { id, slug: team.slug.clone(), name: team.name.clone() })
}

fn job_ref(id: Uuid, names: &Names) -> Option<JobRef> {
    let job = names.jobs.get(&id)?;
    Some(JobRef { id, name: job.name.clone(), team: team_ref(job.team_id, names)? })
}
