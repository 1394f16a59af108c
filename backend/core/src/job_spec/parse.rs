//! From a raw submission to a [`JobSpec`].

use super::fault::{Fault, Faults};
use super::raw::{RawDependency, RawJob};
use super::{shape, text};
use crate::dependency::{Dependency, DependencyCondition};
use crate::id::JobId;
use crate::job::{CheckpointMode, NvLink, Shape};
use crate::kind::Kind;
use crate::priority::PriorityClass;
use std::collections::{BTreeMap, BTreeSet};

/// What kind a submission without one is: the kind whose rules protect running work most.
pub const DEFAULT_KIND: Kind = Kind::Training;
const MAX_POOLS: usize = 20;
/// Ten years.
const MAX_TIME_LIMIT_SECS: i64 = 315_360_000;
const MAX_FAILURES: i64 = 100;
const MAX_DEPENDENCIES: usize = 1_000;

/// A submission that is right in itself. Team, queue and pools are still names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobSpec {
    pub name: String,
    pub team: String,
    pub queue: Option<String>,
    pub kind: Kind,
    /// `None` = the default of its place ([`super::admit::priority_class`]).
    pub priority: Option<PriorityClass>,
    pub shape: Shape,
    pub min_replicas: u32,
    pub max_replicas: u32,
    pub pools: Vec<String>,
    pub gpu_model: Option<String>,
    pub node_labels: BTreeMap<String, String>,
    pub require_topology: Option<String>,
    pub prefer_topology: Option<String>,
    pub nvlink: NvLink,
    pub rdma: bool,
    pub time_limit_secs: Option<i64>,
    pub preemptible: bool,
    pub evict_others: bool,
    pub requeue: bool,
    pub checkpoint: CheckpointMode,
    pub checkpoint_signal: String,
    pub max_failures: u32,
    pub command: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub working_dir: Option<String>,
    pub labels: BTreeMap<String, String>,
    pub hold: bool,
    pub depends_on: Vec<Dependency>,
}

/// Reads a submission.
///
/// # Errors
/// All faults of the submission, in the order of its fields.
pub fn parse(raw: RawJob) -> Result<JobSpec, Vec<Fault>> {
    let mut faults = Faults::default();
    text::name("/name", &raw.name, text::MAX_NAME_CHARS, &mut faults);
    let kind = raw
        .kind
        .as_deref()
        .map_or(Some(DEFAULT_KIND), |kind| faults.word("/kind", "unknown_kind", kind))
        .unwrap_or(DEFAULT_KIND);
    let asked = raw.priority.as_deref();
    let priority = asked.and_then(|class| faults.word("/priority", "unknown_priority", class));
    let shape = shape::shape(&raw, &mut faults);
    let replicas = shape::replicas(&raw, &mut faults);
    pools(&raw.pools, &mut faults);
    texts(&raw, &mut faults);
    let checkpoint = raw
        .checkpoint
        .as_deref()
        .map_or(Some(CheckpointMode::None), |mode| faults.word("/checkpoint", "unknown_checkpoint", mode))
        .unwrap_or(CheckpointMode::None);
    let nvlink = raw.nvlink.as_deref().and_then(|word| faults.word("/nvlink", "unknown_nvlink", word));
    let signal = raw.checkpoint_signal.as_deref().and_then(|signal| text::signal(signal, &mut faults));
    let time_limit_secs =
        faults.optional("/time_limit_secs", raw.time_limit_secs.as_ref(), 1, MAX_TIME_LIMIT_SECS);
    let max_failures =
        faults.optional("/max_failures", raw.max_failures.as_ref(), 0, MAX_FAILURES).unwrap_or(0);
    let depends_on = dependencies(&raw.depends_on, &mut faults);
    if !faults.0.is_empty() {
        return Err(faults.0);
    }
    Ok(JobSpec {
        name: raw.name,
        team: raw.team,
        queue: raw.queue,
        kind,
        priority,
        shape,
        min_replicas: replicas.min,
        max_replicas: replicas.max,
        pools: raw.pools,
        gpu_model: raw.gpu_model,
        node_labels: raw.node_labels,
        require_topology: raw.require_topology,
        prefer_topology: raw.prefer_topology,
        nvlink: nvlink.unwrap_or_default(),
        rdma: raw.rdma,
        time_limit_secs,
        preemptible: raw.preemptible.unwrap_or(true),
        evict_others: raw.evict_others.unwrap_or(true),
        requeue: raw.requeue.unwrap_or(true),
        checkpoint,
        checkpoint_signal: signal.unwrap_or_else(|| "USR1".to_owned()),
        max_failures: u32::try_from(max_failures).unwrap_or(0),
        command: raw.command,
        env: raw.env,
        working_dir: raw.working_dir,
        labels: raw.labels,
        hold: raw.hold,
        depends_on,
    })
}

fn pools(names: &[String], faults: &mut Faults) {
    if names.len() > MAX_POOLS {
        faults.add("/pools", "too_many", format!("name at most {MAX_POOLS} pools"));
    }
    let mut seen = BTreeSet::new();
    for (index, name) in names.iter().enumerate().take(MAX_POOLS) {
        if !seen.insert(name) {
            faults.add(&format!("/pools/{index}"), "duplicate", "this pool is named twice: name it once");
        }
    }
}

fn dependencies(raw: &[RawDependency], faults: &mut Faults) -> Vec<Dependency> {
    if raw.len() > MAX_DEPENDENCIES {
        faults.add("/depends_on", "too_many", format!("a job waits for at most {MAX_DEPENDENCIES} others"));
    }
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (index, one) in raw.iter().enumerate().take(MAX_DEPENDENCIES) {
        let pointer = format!("/depends_on/{index}");
        let condition = one.condition.as_deref().map_or(Some(DependencyCondition::Ok), |condition| {
            faults.word(&format!("{pointer}/condition"), "unknown_condition", condition)
        });
        match one.job.parse::<JobId>() {
            Ok(job) if seen.insert(job) => {
                found.extend(condition.map(|condition| Dependency { job, condition }))
            }
            Ok(_) => faults.add(&pointer, "duplicate", "this job is named twice: name it once"),
            Err(_) => faults.add(
                &format!("{pointer}/job"),
                "unknown_job",
                "give the id of a job that was submitted before",
            ),
        }
    }
    found
}

fn texts(raw: &RawJob, faults: &mut Faults) {
    for (pointer, value) in [
        ("/gpu_model", &raw.gpu_model),
        ("/require_topology", &raw.require_topology),
        ("/prefer_topology", &raw.prefer_topology),
    ] {
        if let Some(value) = value {
            text::word(pointer, value, faults);
        }
    }
    text::labels("/node_labels", &raw.node_labels, faults);
    text::command(&raw.command, faults);
    text::env(&raw.env, faults);
    if let Some(path) = &raw.working_dir {
        text::working_dir(path, faults);
    }
    text::labels("/labels", &raw.labels, faults);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::GpuAsk;
    use crate::units::{Mib, MilliGpu};
    use serde_json::Number;

    fn good() -> RawJob {
        RawJob {
            name: "train 🚀".to_owned(),
            team: "vision".to_owned(),
            command: vec!["python".to_owned(), "train.py".to_owned()],
            ..RawJob::default()
        }
    }

    fn number(text: &str) -> Option<Number> {
        Some(serde_json::from_str(text).expect("a JSON number"))
    }

    fn refused(change: impl FnOnce(&mut RawJob)) -> Vec<(String, &'static str)> {
        let mut raw = good();
        change(&mut raw);
        match parse(raw) {
            Ok(spec) => panic!("accepted: {spec:?}"),
            Err(faults) => faults
                .into_iter()
                .map(|fault| {
                    assert!(fault.detail.len() > 15, "{fault:?} says no remedy");
                    (fault.pointer, fault.code)
                })
                .collect(),
        }
    }

    #[test]
    fn a_short_submission_gets_the_defaults_of_its_kind() {
        let spec = parse(good()).expect("good");
        assert_eq!(spec.kind, Kind::Training);
        assert_eq!(spec.priority, None, "its place says");
        assert_eq!(spec.shape.gpus, GpuAsk::Whole { gpus: 1 });
        assert_eq!((spec.min_replicas, spec.max_replicas), (1, 1));
        assert!(spec.preemptible && spec.requeue && spec.evict_others);
    }

    #[test]
    fn gpus_that_cannot_be_are_refused_with_the_field() {
        for text in ["-1", "1000000000", "1.5", "18446744073709551616", "1e300"] {
            let faults = refused(|raw| raw.gpus = number(text));
            assert_eq!(faults.len(), 1, "{text}: {faults:?}");
            assert_eq!(faults[0].0, "/gpus", "{text}");
            assert!(matches!(faults[0].1, "out_of_range" | "not_a_whole_number"), "{text}");
        }
    }

    #[test]
    fn zero_gpus_is_a_cpu_job_when_it_says_its_cpu() {
        assert_eq!(refused(|raw| raw.gpus = number("0")), [("/gpus".to_owned(), "asks_for_nothing")]);
        let mut raw = good();
        raw.gpus = number("0");
        raw.cpu_milli = number("2000");
        assert_eq!(parse(raw).expect("good").shape.gpus, GpuAsk::None);
    }

    #[test]
    fn shares_are_read_and_a_whole_thousand_is_a_whole_gpu() {
        let ask = |milli: &str, memory: Option<&str>| {
            let mut raw = good();
            raw.gpu_milli = number(milli);
            raw.gpu_memory_mib = memory.and_then(number);
            parse(raw).map(|spec| spec.shape.gpus)
        };
        let share = GpuAsk::Share { devices: 1, milli: MilliGpu(250), memory: Mib(8_000) };
        assert_eq!(ask("250", Some("8000")), Ok(share));
        assert_eq!(ask("1000", None), Ok(GpuAsk::Whole { gpus: 1 }));
        assert_eq!(
            ask("1000", Some("1")).expect_err("whole GPUs bring their memory")[0].code,
            "needs_a_share"
        );
        assert_eq!(ask("1001", None).expect_err("above one GPU")[0].code, "out_of_range");
    }

    #[test]
    fn elastic_ranges_must_be_ranges() {
        let mut raw = good();
        raw.min_replicas = number("2");
        raw.max_replicas = number("8");
        let spec = parse(raw).expect("good");
        assert_eq!((spec.min_replicas, spec.max_replicas), (2, 8));
        let faults = refused(|raw| {
            raw.min_replicas = number("8");
            raw.max_replicas = number("2");
        });
        assert_eq!(faults, [("/max_replicas".to_owned(), "below_minimum")]);
        let faults = refused(|raw| {
            raw.replicas = number("9");
            raw.max_replicas = number("4");
        });
        assert_eq!(faults[0].0, "/max_replicas");
    }

    #[test]
    fn unknown_words_list_the_known_ones() {
        assert_eq!(refused(|raw| raw.kind = Some("game".into())), [("/kind".to_owned(), "unknown_kind")]);
        assert_eq!(
            refused(|raw| raw.priority = Some("urgent".into())),
            [("/priority".to_owned(), "unknown_priority")]
        );
        assert_eq!(refused(|raw| raw.checkpoint = Some("x".into()))[0].1, "unknown_checkpoint");
        assert_eq!(refused(|raw| raw.nvlink = Some("x".into()))[0].1, "unknown_nvlink");
        assert_eq!(refused(|raw| raw.checkpoint_signal = Some("KILL".into()))[0].1, "unknown_signal");
    }

    #[test]
    fn text_that_breaks_things_is_refused_and_emoji_are_not() {
        assert_eq!(refused(|raw| raw.name = "x".repeat(10_000)), [("/name".to_owned(), "too_long")]);
        assert_eq!(refused(|raw| raw.name = "a\0b".into()), [("/name".to_owned(), "control_character")]);
        assert_eq!(
            refused(|raw| raw.name = "a\u{1b}[2J".into()),
            [("/name".to_owned(), "control_character")]
        );
        assert_eq!(refused(|raw| raw.name = "  ".into()), [("/name".to_owned(), "empty")]);
        assert_eq!(refused(|raw| raw.command.clear()), [("/command".to_owned(), "empty")]);
        assert_eq!(refused(|raw| raw.command[1] = "\0".into())[0].0, "/command/1");
        assert_eq!(refused(|raw| raw.working_dir = Some("here".into()))[0].0, "/working_dir");
    }

    #[test]
    fn environments_are_bounded_and_reeves_own_names_are_reserved() {
        let set = |name: &str, value: &str| {
            let (name, value) = (name.to_owned(), value.to_owned());
            refused(move |raw| {
                raw.env.insert(name, value);
            })
        };
        assert_eq!(set("REEVE_JOB_ID", "1")[0].1, "reserved");
        assert_eq!(set("CUDA_VISIBLE_DEVICES", "0")[0].1, "reserved");
        assert_eq!(set("A B", "1")[0].1, "bad_name");
        assert_eq!(set("A", "\0")[0].1, "control_character");
        assert_eq!(set("A", &"x".repeat(70_000))[0].1, "too_large");
    }

    #[test]
    fn dependencies_name_jobs_once_and_conditions_that_exist() {
        let id = "01a22e00-de9f-79f7-98b9-709a41fc7ec3";
        let on = |job: &str, condition: Option<&str>| RawDependency {
            job: job.to_owned(),
            condition: condition.map(str::to_owned),
        };
        let spec = parse(RawJob { depends_on: vec![on(id, None)], ..good() }).expect("good");
        assert_eq!(spec.depends_on[0].condition, DependencyCondition::Ok);
        let faults = refused(|raw| {
            raw.depends_on = vec![on(id, Some("any")), on(id, None), on("7", None), on(id, Some("never"))];
        });
        let pointers: Vec<&str> = faults.iter().map(|(pointer, _)| pointer.as_str()).collect();
        assert_eq!(
            pointers,
            ["/depends_on/1", "/depends_on/2/job", "/depends_on/3/condition", "/depends_on/3"]
        );
    }

    #[test]
    fn all_faults_come_at_once() {
        let faults = refused(|raw| {
            raw.name.clear();
            raw.gpus = number("-1");
            raw.command.clear();
            raw.pools = vec!["a".into(), "a".into()];
        });
        let pointers: Vec<&str> = faults.iter().map(|(pointer, _)| pointer.as_str()).collect();
        assert_eq!(pointers, ["/name", "/gpus", "/pools/1", "/command"]);
    }
}
