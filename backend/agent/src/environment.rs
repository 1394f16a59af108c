//! What a job finds in its environment: a minimal base, the job's own variables, and Reeve's.
//!
//! It refuses to pass on anything of the agent's environment: no variable of the agent reaches a job.

use reeve_wire::desired::DesiredMember;
use std::collections::BTreeMap;
use std::path::PathBuf;
use uuid::Uuid;

/// What the node adds to a job's environment.
#[derive(Debug, Clone)]
pub(crate) struct Base {
    pub(crate) path: String,
    pub(crate) home: String,
    pub(crate) node_name: String,
    /// Marks every process of the node's jobs: strays are found by it.
    pub(crate) node_id: Uuid,
    /// Where `reeve-ctl` lies.
    pub(crate) tools: PathBuf,
}

/// Where a member and the agent talk.
#[derive(Debug, Clone)]
pub(crate) struct JobFiles {
    pub(crate) checkpoint_dir: PathBuf,
    /// The member writes it when its checkpoint is written.
    pub(crate) checkpoint_file: PathBuf,
    /// Appears when the member is told to leave.
    pub(crate) eviction_file: PathBuf,
}

/// Reeve's variables win over the job's, the job's over the base.
pub(crate) fn environment(base: &Base, member: &DesiredMember, files: &JobFiles) -> BTreeMap<String, String> {
    let spec = &member.spec;
    let mut env = BTreeMap::from([
        ("PATH".to_owned(), base.path.clone()),
        ("HOME".to_owned(), base.home.clone()),
        ("LANG".to_owned(), "C.UTF-8".to_owned()),
    ]);
    env.extend(spec.env.clone());
    let gpus: Vec<String> = spec.gpu_indices.iter().map(ToString::to_string).collect();
    let mut set = |name: &str, value: String| env.insert(name.to_owned(), value);
    // Set and empty for a job without GPUs: unset would mean all of them.
    set("CUDA_VISIBLE_DEVICES", gpus.join(","));
    set("REEVE_JOB_ID", member.job_id.to_string());
    set("REEVE_JOB_NAME", spec.job_name.clone());
    set("REEVE_TEAM", spec.team.clone());
    set("REEVE_QUEUE", spec.queue.clone());
    set("REEVE_RUN", member.run_number.to_string());
    set("REEVE_ATTEMPT", spec.attempt.to_string());
    set("REEVE_RANK", member.member.to_string());
    set("REEVE_REPLICAS", spec.replicas.to_string());
    set("REEVE_NODE", base.node_name.clone());
    set("REEVE_NODE_ID", base.node_id.to_string());
    set("REEVE_CHECKPOINT_DIR", files.checkpoint_dir.display().to_string());
    set("REEVE_CHECKPOINT_FILE", files.checkpoint_file.display().to_string());
    set("REEVE_EVICTION_FILE", files.eviction_file.display().to_string());
    if let Some(milli) = spec.gpu_milli {
        set("REEVE_GPU_MILLI", milli.to_string());
    }
    if let Some(mib) = spec.gpu_memory_mib {
        set("REEVE_GPU_MEMORY_MIB", mib.to_string());
    }
    if spec.resume {
        set("REEVE_RESUME", "1".to_owned());
    } else {
        env.remove("REEVE_RESUME");
    }
    // Last, so that it hides no program of the job's.
    let path = env.get("PATH").filter(|path| !path.is_empty());
    let tools = base.tools.display();
    let path = path.map_or_else(|| tools.to_string(), |path| format!("{path}:{tools}"));
    env.insert("PATH".to_owned(), path);
    env
}

#[cfg(test)]
mod tests {
    use super::*;
    use reeve_wire::desired::{MemberSpec, Order};

    fn member() -> DesiredMember {
        DesiredMember {
            job_id: Uuid::from_u128(1),
            run_number: 2,
            member: 1,
            order: Order::Run,
            spec: MemberSpec {
                job_name: "train".into(),
                team: "vision".into(),
                queue: "main".into(),
                kind: "training".into(),
                command: vec!["true".into()],
                env: BTreeMap::from([
                    ("PATH".to_owned(), "/opt/bin".to_owned()),
                    ("REEVE_RUN".to_owned(), "99".to_owned()),
                    ("REEVE_RESUME".to_owned(), "1".to_owned()),
                ]),
                working_dir: None,
                gpu_indices: vec![2, 5],
                gpu_milli: None,
                gpu_memory_mib: None,
                cpu_milli: 0,
                memory_mib: 0,
                replicas: 4,
                attempt: 1,
                resume: false,
                checkpoint: reeve_core::job::CheckpointMode::OnSignal,
                checkpoint_signal: "USR1".into(),
                time_limit_secs: None,
            },
        }
    }

    fn of(member: &DesiredMember) -> BTreeMap<String, String> {
        let base = Base {
            path: "/usr/bin".into(),
            home: "/home/x".into(),
            node_name: "n1".into(),
            node_id: Uuid::from_u128(9),
            tools: "/state/bin".into(),
        };
        let files = JobFiles {
            checkpoint_dir: "/c".into(),
            checkpoint_file: "/c/done".into(),
            eviction_file: "/c/leave".into(),
        };
        environment(&base, member, &files)
    }

    #[test]
    fn the_job_may_set_path_but_not_what_is_reeve_s() {
        let env = of(&member());
        assert_eq!(env["PATH"], "/opt/bin:/state/bin", "and what it may call comes last");
        assert_eq!(env["REEVE_RUN"], "2");
        assert_eq!(env.get("REEVE_RESUME"), None);
        assert_eq!(env["CUDA_VISIBLE_DEVICES"], "2,5");
        assert_eq!((env["REEVE_RANK"].as_str(), env["REEVE_REPLICAS"].as_str()), ("1", "4"));
    }

    #[test]
    fn a_resumed_share_says_so_and_no_gpus_means_none() {
        let mut member = member();
        member.spec.resume = true;
        member.spec.gpu_milli = Some(250);
        member.spec.gpu_memory_mib = Some(20_480);
        assert_eq!(of(&member)["REEVE_RESUME"], "1");
        assert_eq!(of(&member)["REEVE_GPU_MILLI"], "250");
        assert_eq!(of(&member)["REEVE_GPU_MEMORY_MIB"], "20480");
        member.spec.gpu_indices.clear();
        assert_eq!(of(&member)["CUDA_VISIBLE_DEVICES"], "");
    }
}
