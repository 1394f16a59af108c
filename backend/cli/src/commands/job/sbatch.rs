//! The common `#SBATCH` options in this product's words, after sbatch(1) of Slurm 24.05.
//!
//! What has no counterpart is either said and left out, where the job means the same without it, or refused: a script is
//! never run as something else than it says.

use super::sbatch_time::{mebibytes, time_secs};
use super::script::first_line;
use anyhow::bail;
use clap::Parser;
use serde_json::{Map, Value, json};

/// An `#SBATCH` line.
#[derive(Debug, Default, Parser)]
#[command(name = "#SBATCH", no_binary_name = true, disable_help_flag = true)]
struct Line {
    #[arg(short = 'J', long)]
    job_name: Option<String>,
    #[arg(short = 'A', long)]
    account: Option<String>,
    #[arg(short = 'p', long)]
    partition: Option<String>,
    #[arg(short = 'q', long)]
    qos: Option<String>,
    #[arg(short = 'N', long)]
    nodes: Option<u32>,
    #[arg(short = 'n', long)]
    ntasks: Option<u32>,
    #[arg(long)]
    ntasks_per_node: Option<u32>,
    #[arg(short = 'G', long, value_parser = gpus)]
    gpus: Option<Gpus>,
    #[arg(long, value_parser = gpus)]
    gpus_per_node: Option<Gpus>,
    #[arg(long, value_parser = gpus)]
    gpus_per_task: Option<Gpus>,
    #[arg(long, value_parser = gres)]
    gres: Option<Gpus>,
    #[arg(short = 'c', long)]
    cpus_per_task: Option<u64>,
    #[arg(long, value_parser = mebibytes)]
    mem: Option<u64>,
    #[arg(short = 't', long, value_parser = time_secs)]
    time: Option<u64>,
    #[arg(short = 'D', long)]
    chdir: Option<String>,
    #[arg(long)]
    export: Option<String>,
    #[arg(long)]
    signal: Option<String>,
    #[arg(short = 'd', long)]
    dependency: Option<String>,
    #[arg(long)]
    comment: Option<String>,
    #[arg(short = 'H', long)]
    hold: bool,
    #[arg(long)]
    requeue: bool,
    #[arg(long, conflicts_with = "requeue")]
    no_requeue: bool,
    // Said, and left out.
    #[arg(short = 'o', long)]
    output: Option<String>,
    #[arg(short = 'e', long)]
    error: Option<String>,
    #[arg(long)]
    open_mode: Option<String>,
    #[arg(long)]
    mail_type: Option<String>,
    #[arg(long)]
    mail_user: Option<String>,
    #[arg(long)]
    nice: Option<String>,
    #[arg(short = 'Q', long)]
    quiet: bool,
    #[arg(long)]
    parsable: bool,
}

/// GPUs, of a model where one is named.
#[derive(Debug, Clone)]
struct Gpus {
    model: Option<String>,
    count: u32,
}

/// `N` or `MODEL:N`.
fn gpus(text: &str) -> Result<Gpus, String> {
    let (model, count) = text.rsplit_once(':').map_or((None, text), |(model, count)| (Some(model), count));
    let count = count.parse().map_err(|_| format!("{text} is no number of GPUs: N or MODEL:N"))?;
    Ok(Gpus { model: model.map(str::to_owned), count })
}

/// `gpu`, `gpu:N` or `gpu:MODEL:N`.
fn gres(text: &str) -> Result<Gpus, String> {
    match text.split_once(':') {
        None if text == "gpu" => Ok(Gpus { model: None, count: 1 }),
        Some(("gpu", rest)) => gpus(rest),
        _ => Err(format!("{text}: only gpu[:MODEL]:N is known")),
    }
}

type Asks = Map<String, Value>;

/// What a line asks for, and notes on what was left out.
pub(super) fn read(words: &[String]) -> anyhow::Result<(Asks, Vec<String>)> {
    let line = Line::try_parse_from(words).map_err(|error| first_line(&error))?;
    let mut asks = Asks::new();
    let texts = [
        ("name", &line.job_name),
        ("team", &line.account),
        ("queue", &line.partition),
        ("priority", &line.qos),
        ("working_dir", &line.chdir),
    ];
    asks.extend(texts.into_iter().filter_map(|(key, text)| Some((key.to_owned(), json!(text.as_ref()?)))));
    amounts(&line, &mut asks)?;
    if let Some(said) = &line.signal {
        asks.insert("checkpoint".into(), json!("on_signal"));
        asks.insert("checkpoint_signal".into(), json!(signal(said)));
    }
    if let Some(said) = &line.export {
        asks.insert("env".into(), Value::Object(exported(said)));
    }
    if let Some(said) = &line.dependency {
        asks.insert("depends_on".into(), json!(dependencies(said)?));
    }
    if line.hold {
        asks.insert("hold".into(), json!(true));
    }
    if line.no_requeue || line.requeue {
        asks.insert("requeue".into(), json!(line.requeue));
    }
    Ok((asks, notes(&line)))
}

fn amounts(line: &Line, asks: &mut Asks) -> anyhow::Result<()> {
    if line.ntasks_per_node.is_some_and(|tasks| tasks != 1) {
        bail!("--ntasks-per-node: a member of a job is one process; start more in the script");
    }
    let members = line.nodes.max(line.ntasks);
    if line.nodes.zip(line.ntasks).is_some_and(|(nodes, tasks)| nodes != tasks) {
        bail!("--nodes and --ntasks differ: a member of a job is one process, so one number says both");
    }
    let each = line.gpus_per_node.as_ref().or(line.gpus_per_task.as_ref()).or(line.gres.as_ref());
    let all = line.gpus.as_ref();
    let gpus = match (all, members.filter(|members| *members > 1)) {
        (Some(all), Some(members)) if all.count % members != 0 => {
            bail!("--gpus={} cannot be shared out evenly among {members} members", all.count)
        }
        (Some(all), Some(members)) => Some(all.count / members),
        (Some(all), None) => Some(all.count),
        (None, _) => each.map(|each| each.count),
    };
    let model = all.or(each).and_then(|gpus| gpus.model.clone());
    asks.extend(model.map(|model| ("gpu_model".to_owned(), json!(model))));
    let numbers = [
        ("replicas", members.map(u64::from)),
        ("gpus", gpus.map(u64::from)),
        ("cpu_milli", line.cpus_per_task.map(|cpus| cpus.saturating_mul(1_000))),
        ("memory_mib", line.mem),
        ("time_limit_secs", line.time),
    ];
    asks.extend(numbers.into_iter().filter_map(|(key, number)| Some((key.to_owned(), json!(number?)))));
    Ok(())
}

/// `[B:]SIGNAL[@SECONDS]`: the signal's name alone; how long before the end is the kind's grace.
fn signal(said: &str) -> String {
    let said = said.rsplit_once(':').map_or(said, |(_, signal)| signal);
    let name = said.split('@').next().unwrap_or(said);
    let name = match name {
        "10" => "USR1",
        "12" => "USR2",
        "15" => "TERM",
        "2" => "INT",
        "1" => "HUP",
        other => other,
    };
    name.trim_start_matches("SIG").to_owned()
}

/// `afterok:ID[:ID…][,afterany:…]`: all of them, with the ids of this product.
fn dependencies(said: &str) -> anyhow::Result<Vec<Value>> {
    if said.contains('?') {
        bail!("--dependency={said}: one of several (?) is not known; a job waits for all that it names");
    }
    let mut found = Vec::new();
    for part in said.split(',') {
        let mut words = part.split(':');
        let condition = match words.next().unwrap_or_default() {
            "afterok" => "ok",
            "afterany" => "any",
            "afternotok" => "failed",
            other => bail!("--dependency={other}: afterok, afterany and afternotok are known"),
        };
        found.extend(words.map(|job| json!({"job": job, "condition": condition})));
    }
    Ok(found)
}

/// `K=V,…`; names without a value would come from the submitter's environment, which a job never sees.
fn exported(said: &str) -> Asks {
    said.split(',')
        .filter_map(|pair| pair.split_once('='))
        .map(|(key, value)| (key.to_owned(), json!(value)))
        .collect()
}

fn notes(line: &Line) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |said: bool, text: &str| {
        if said {
            notes.push(text.to_owned());
        }
    };
    let files = line.output.is_some() || line.error.is_some() || line.open_mode.is_some();
    note(files, "--output and --error are left out: `reeve logs` has what the job writes");
    note(line.mail_type.is_some() || line.mail_user.is_some(), "mail is left out: see `reeve notifications`");
    note(line.nice.is_some(), "--nice is left out: see --priority");
    note(line.comment.is_some(), "--comment is left out: see --label");
    let names = line.export.iter().flat_map(|said| said.split(','));
    let from_here = names.filter(|name| !name.contains('=') && *name != "NONE").collect::<Vec<_>>().join(",");
    note(!from_here.is_empty(), "--export: a job sees nothing of this environment but what K=V says");
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> anyhow::Result<Value> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        read(&words).map(|(asks, _)| Value::Object(asks))
    }

    fn asks(line: &str) -> Value {
        of(line).expect("known")
    }

    #[test]
    fn common_options_become_the_apis_words() {
        assert_eq!(
            asks("-J bert -A vision -p long --qos=high --time=1-0 --chdir=/data"),
            json!({"name": "bert", "team": "vision", "queue": "long", "priority": "high", "time_limit_secs": 86_400,
                "working_dir": "/data"})
        );
        assert_eq!(
            asks("--gres=gpu:A100-80G:8 -N 4 -c 16 --mem=64G"),
            json!({"gpu_model": "A100-80G", "gpus": 8, "replicas": 4, "cpu_milli": 16_000, "memory_mib": 65_536})
        );
        assert_eq!(asks("--gres=gpu"), json!({"gpus": 1}));
        assert_eq!(
            asks("--signal=B:SIGUSR1@120 --requeue --hold"),
            json!({"checkpoint": "on_signal", "checkpoint_signal": "USR1", "requeue": true, "hold": true})
        );
        assert_eq!(
            asks("--dependency=afterok:a:b,afternotok:c"),
            json!({"depends_on": [{"job": "a", "condition": "ok"}, {"job": "b", "condition": "ok"},
                {"job": "c", "condition": "failed"}]})
        );
        assert_eq!(asks("--export=NONE,LR=0.1,SEED=7"), json!({"env": {"LR": "0.1", "SEED": "7"}}));
    }

    #[test]
    fn gpus_of_the_whole_job_are_shared_out_among_its_members() {
        assert_eq!(asks("--gpus=16 --nodes=2"), json!({"gpus": 8, "replicas": 2}));
        assert_eq!(asks("-G 3"), json!({"gpus": 3}));
        assert!(of("--gpus=9 --nodes=2").is_err());
        assert!(of("--nodes=2 --ntasks=8").is_err());
    }

    #[test]
    fn what_changes_nothing_is_said_and_what_changes_the_job_is_refused() {
        let words = ["--output=o.txt", "--mail-type=END", "--export=ALL"].map(str::to_owned);
        let (asks, notes) = read(&words).expect("known");
        assert!(asks.get("output").is_none());
        assert_eq!(notes.len(), 3, "{notes:?}");
        for refused in
            ["--array=0-9", "--dependency=singleton", "--exclusive", "--gres=tmpfs:10G", "--time=soon"]
        {
            assert!(of(refused).is_err(), "{refused}");
        }
    }
}
