//! Whether the installation can take a submission: its queue, its pools' shapes, its topology levels.

use super::fault::Fault;
use super::parse::JobSpec;
use crate::job::GpuAsk;
use crate::kind::Kind;
use crate::policy::{Origin, Place, Policy};
use crate::priority::PriorityClass;
use crate::queue::QueueState;
use std::collections::BTreeSet;

/// What a queue admits.
#[derive(Debug, Clone)]
pub struct QueueRules {
    pub slug: String,
    pub state: QueueState,
    /// `None` = every kind.
    pub allowed_kinds: Option<Vec<Kind>>,
}

/// The biggest that a pool offers to one member, and in all: of nodes that are not removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PoolReach {
    pub slug: String,
    pub models: BTreeSet<String>,
    pub gpus: i64,
    pub most_gpus_a_node: i64,
    pub most_cpu_milli: i64,
    pub most_memory_mib: i64,
    pub most_gpu_memory_mib: i64,
}

/// Something that is accepted and that its submitter should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    pub code: &'static str,
    pub detail: String,
}

/// Whether `queue` takes a job of this kind now.
///
/// # Errors
/// The fault, with what the queue does take.
pub fn queue_takes(queue: &QueueRules, kind: Kind) -> Result<(), Fault> {
    if queue.state == QueueState::Draining {
        return Err(Fault::new(
            "/queue",
            "queue_draining",
            format!("queue {} takes no more jobs: it is being drained; use another queue", queue.slug),
        ));
    }
    match &queue.allowed_kinds {
        Some(kinds) if !kinds.contains(&kind) => Err(Fault::new(
            "/queue",
            "kind_not_allowed",
            format!(
                "queue {} takes only {}: submit the {kind} job to another queue",
                queue.slug,
                kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(", ")
            ),
        )),
        _ => Ok(()),
    }
}

/// The class that the job gets at its place: the one asked for, or the kind's default there (product rule 4.1). Above the
/// ceiling, and up to what an active escalation of its team gives (`raised`), it gets the ceiling: the rest is the
/// escalation's, and goes with it.
///
/// # Errors
/// The fault of a class above the ceiling, with who set that ceiling and how to ask for more.
pub fn priority_class(
    spec: &JobSpec,
    policy: &Policy,
    place: Place<'_>,
    raised: Option<PriorityClass>,
) -> Result<PriorityClass, Fault> {
    let rules = policy.effective_rules(spec.kind, place);
    let Some(class) = spec.priority else { return Ok(rules.default_priority.value) };
    if class <= rules.ceiling.value || Some(class) <= raised {
        return Ok(class.min(rules.ceiling.value));
    }
    let whose = match rules.ceiling.from {
        Origin::Queue(slug) => format!(" of queue {slug}"),
        Origin::Team(slug) => format!(" of team {slug}"),
        Origin::Installation => String::new(),
    };
    Err(Fault::new(
        "/priority",
        "priority_above_ceiling",
        format!(
            "{class} is above the ceiling for {} jobs{whose}, which is {}: submit with at most that, and ask for an \
             escalation of the job (`reeve escalate JOB --level {class} --for 2h --reason …`, or POST \
             /api/v1/escalations), or of the team beforehand",
            spec.kind, rules.ceiling.value
        ),
    ))
}

/// Levels named by the job that no node has (product rule 5.2: an unknown level is refused).
#[must_use]
pub fn unknown_levels(spec: &JobSpec, known: &BTreeSet<String>) -> Vec<Fault> {
    [("/require_topology", &spec.require_topology), ("/prefer_topology", &spec.prefer_topology)]
        .into_iter()
        .filter_map(|(pointer, level)| level.as_ref().map(|level| (pointer, level)))
        .filter(|(_, level)| !known.contains(*level))
        .map(|(pointer, level)| {
            let have = if known.is_empty() {
                "no node names any level".to_owned()
            } else {
                format!("use one of {}", known.iter().cloned().collect::<Vec<_>>().join(", "))
            };
            Fault::new(pointer, "unknown_topology_level", format!("{level:?} is no level here: {have}"))
        })
        .collect()
}

/// What its submitter should know: that the job can never start as things stand, and why.
#[must_use]
pub fn warnings(spec: &JobSpec, pools: &[PoolReach]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if let GpuAsk::Share { memory, .. } = spec.shape.gpus
        && memory.0 == 0
    {
        warnings.push(Warning {
            code: "gpu_memory_not_accounted",
            detail: "a share without gpu_memory_mib reserves no GPU memory: others may fill the card"
                .to_owned(),
        });
    }
    if !pools.iter().any(|pool| never_fits(spec, pool).is_none()) {
        let why = pools.iter().filter_map(|pool| never_fits(spec, pool)).collect::<Vec<_>>().join("; ");
        let why = if why.is_empty() { "there is no pool".to_owned() } else { why };
        warnings.push(Warning {
            code: "never_fits",
            detail: format!("accepted, but it cannot start on the nodes there are: {why}"),
        });
    }
    warnings
}

/// Why a gang of this size cannot start in an empty pool; `None` when it might.
fn never_fits(spec: &JobSpec, pool: &PoolReach) -> Option<String> {
    let devices = i64::from(spec.shape.gpus.devices());
    let slug = &pool.slug;
    if let Some(model) = spec.gpu_model.as_ref().filter(|model| !pool.models.contains(*model)) {
        return Some(format!("pool {slug} has no {model}"));
    }
    if devices > pool.most_gpus_a_node {
        return Some(format!(
            "a member asks for {devices} GPUs and the largest node of pool {slug} has {}",
            pool.most_gpus_a_node
        ));
    }
    if spec.shape.cpu.0 > pool.most_cpu_milli || spec.shape.memory.0 > pool.most_memory_mib {
        return Some(format!("no node of pool {slug} has the cpu or memory that a member asks for"));
    }
    if let GpuAsk::Share { memory, .. } = spec.shape.gpus
        && memory.0 > pool.most_gpu_memory_mib
    {
        return Some(format!("no GPU of pool {slug} has {} MiB", memory.0));
    }
    let asks = spec.shape.gpus.milli().times(spec.min_replicas);
    if asks.0 > pool.gpus.saturating_mul(1_000) {
        return Some(format!("the gang asks for {} GPUs and pool {slug} has {}", asks.as_gpus(), pool.gpus));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::super::raw::RawJob;
    use super::*;
    use crate::policy::Policy;

    fn spec(gpus: i64, replicas: i64) -> JobSpec {
        let raw = RawJob {
            name: "n".to_owned(),
            team: "t".to_owned(),
            gpus: Some(gpus.into()),
            replicas: Some(replicas.into()),
            command: vec!["true".to_owned()],
            ..RawJob::default()
        };
        parse(raw).expect("good")
    }

    fn pool() -> PoolReach {
        PoolReach {
            slug: "h100".to_owned(),
            models: BTreeSet::from(["H100-80G".to_owned()]),
            gpus: 16,
            most_gpus_a_node: 8,
            most_cpu_milli: 64_000,
            most_memory_mib: 1_000_000,
            most_gpu_memory_mib: 81_920,
        }
    }

    #[test]
    fn a_gang_that_fits_the_empty_pool_brings_no_warning() {
        assert_eq!(warnings(&spec(8, 2), &[pool()]), []);
    }

    #[test]
    fn a_gang_that_can_never_fit_is_told_so_with_numbers() {
        let warning = warnings(&spec(8, 3), &[pool()]).remove(0);
        assert_eq!(warning.code, "never_fits");
        assert!(warning.detail.contains("24") && warning.detail.contains("16"), "{}", warning.detail);
        assert!(warnings(&spec(9, 1), &[pool()])[0].detail.contains("largest node"));
        assert!(warnings(&spec(1, 1), &[])[0].detail.contains("no pool"));
    }

    #[test]
    fn a_queue_takes_only_its_kinds() {
        let mut queue = QueueRules {
            slug: "q".to_owned(),
            state: QueueState::Open,
            allowed_kinds: Some(vec![Kind::Batch]),
        };
        assert_eq!(queue_takes(&queue, Kind::Batch), Ok(()));
        assert_eq!(queue_takes(&queue, Kind::Training).expect_err("not allowed").code, "kind_not_allowed");
        queue.state = QueueState::Held;
        assert_eq!(queue_takes(&queue, Kind::Batch), Ok(()), "a held queue takes jobs");
        queue.state = QueueState::Draining;
        assert_eq!(queue_takes(&queue, Kind::Batch).expect_err("draining").code, "queue_draining");
    }

    #[test]
    fn levels_that_no_node_has_are_refused() {
        let mut spec = spec(1, 1);
        spec.require_topology = Some("rak".to_owned());
        let known = BTreeSet::from(["rack".to_owned()]);
        assert_eq!(unknown_levels(&spec, &known)[0].code, "unknown_topology_level");
        spec.require_topology = Some("rack".to_owned());
        assert_eq!(unknown_levels(&spec, &known), []);
    }

    #[test]
    fn the_nearest_ceiling_holds_and_says_whose_it_is_and_how_to_ask() {
        let rules = serde_json::json!({"ceiling": "high", "default_priority": "low"});
        let mut document = serde_json::to_value(Policy::default()).expect("JSON");
        document["queue_rules"] = serde_json::json!({"urgent": {"training": rules}});
        document["team_rules"] =
            serde_json::json!({"lab": {"training": {"ceiling": "low", "default_priority": "low"}}});
        let policy: Policy = serde_json::from_value(document).expect("a policy");
        let class = |asked: Option<PriorityClass>, queue: &str, teams: &[&str]| {
            let spec = JobSpec { priority: asked, ..spec(1, 1) };
            priority_class(&spec, &policy, Place { queue: Some(queue), teams }, None)
        };
        let (high, normal) = (PriorityClass::High, PriorityClass::Normal);
        assert_eq!(class(None, "other", &["elsewhere"]), Ok(normal));
        assert_eq!(class(None, "urgent", &["below", "lab"]), Ok(PriorityClass::Low));
        assert_eq!(class(Some(high), "urgent", &["below", "lab"]), Ok(high));
        let fault = class(Some(normal), "other", &["below", "lab"]).expect_err("above the ceiling");
        assert_eq!((fault.pointer.as_str(), fault.code), ("/priority", "priority_above_ceiling"));
        assert!(
            fault.detail.contains("of team lab, which is low") && fault.detail.contains("escalation"),
            "{fault:?}"
        );
        let spec = JobSpec { priority: Some(high), ..spec(1, 1) };
        let place = Place { queue: Some("other"), teams: &["below", "lab"] };
        let raised = |to: PriorityClass| priority_class(&spec, &policy, place, Some(to));
        assert_eq!(raised(high), Ok(PriorityClass::Low), "what is above the ceiling is the escalation's");
        assert_eq!(raised(normal).expect_err("above it").code, "priority_above_ceiling");
        let fault = class(Some(PriorityClass::Critical), "other", &["elsewhere"]).expect_err("above it too");
        assert!(fault.detail.contains("training jobs, which is normal"), "{fault:?}");
    }
}
