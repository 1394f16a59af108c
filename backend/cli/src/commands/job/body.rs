//! The body of a submission, from all that says something about it: the script's lines, the file, and the flags, each
//! over the one before.

use super::options::JobOptions;
use super::script::Script;
use anyhow::{Context, ensure};
use serde_json::{Map, Value, json};
use std::path::Path;

type Body = Map<String, Value>;

/// `command` is what follows `--`: the command, or a script's arguments.
pub(crate) fn body(options: &JobOptions, script: Option<&Path>, command: &[String]) -> anyhow::Result<Value> {
    let mut body = Body::new();
    let script = script.map(Script::read).transpose()?;
    if let Some(script) = &script {
        lay_over(&mut body, script.asks.clone())?;
    }
    if let Some(file) = &options.file {
        lay_over(&mut body, read(file)?)?;
    }
    lay_over(&mut body, said(options))?;
    match &script {
        Some(script) => {
            body.insert("command".into(), json!(script.command(command)));
            body.entry("name").or_insert_with(|| json!(script.name));
        }
        None if !command.is_empty() => {
            body.insert("command".into(), json!(command));
            let program = Path::new(&command[0]).file_name().map(|name| name.to_string_lossy().into_owned());
            body.entry("name").or_insert_with(|| json!(program));
        }
        None => {}
    }
    Ok(Value::Object(body))
}

/// Maps are joined; anything else is replaced.
pub(super) fn lay_over(body: &mut Body, over: Body) -> anyhow::Result<()> {
    for (key, value) in over {
        match (body.get_mut(&key), value) {
            (Some(Value::Object(below)), Value::Object(over)) => below.extend(over),
            (Some(_), Value::Object(_)) if ["env", "labels", "node_labels"].contains(&key.as_str()) => {
                anyhow::bail!("{key} in the file is no mapping")
            }
            (_, value) => {
                body.insert(key, value);
            }
        }
    }
    Ok(())
}

/// What was said by flags.
pub(super) fn said(options: &JobOptions) -> Body {
    let mut body = Body::new();
    let texts = [
        ("name", &options.name),
        ("team", &options.team),
        ("queue", &options.queue),
        ("kind", &options.kind),
        ("priority", &options.priority),
        ("gpu_model", &options.gpu_model),
        ("require_topology", &options.require_topology),
        ("prefer_topology", &options.prefer_topology),
        ("nvlink", &options.nvlink),
        ("checkpoint", &options.checkpoint),
        ("checkpoint_signal", &options.checkpoint_signal),
        ("working_dir", &options.working_dir),
    ];
    body.extend(texts.into_iter().filter_map(|(key, text)| Some((key.to_owned(), json!(text.as_ref()?)))));
    let numbers = [
        ("gpus", options.gpus.map(u64::from)),
        ("gpu_milli", options.gpu_milli.map(u64::from)),
        ("gpu_memory_mib", options.gpu_memory_mib),
        ("cpu_milli", options.cpu_milli),
        ("memory_mib", options.memory_mib),
        ("replicas", options.replicas.map(u64::from)),
        ("min_replicas", options.min_replicas.map(u64::from)),
        ("max_replicas", options.max_replicas.map(u64::from)),
        ("time_limit_secs", options.time_limit_secs),
        ("max_failures", options.max_failures.map(u64::from)),
    ];
    body.extend(numbers.into_iter().filter_map(|(key, number)| Some((key.to_owned(), json!(number?)))));
    if !options.pools.is_empty() {
        body.insert("pools".into(), json!(options.pools));
    }
    let maps = [("env", &options.env), ("labels", &options.labels), ("node_labels", &options.node_labels)];
    for (key, pairs) in maps.into_iter().filter(|(_, pairs)| !pairs.is_empty()) {
        let map: Body = pairs.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        body.insert(key.into(), Value::Object(map));
    }
    let conditions =
        [("ok", &options.after_ok), ("any", &options.after_any), ("failed", &options.after_failed)];
    let depends_on: Vec<Value> = conditions
        .into_iter()
        .flat_map(|(condition, jobs)| jobs.iter().map(move |job| json!({"job": job, "condition": condition})))
        .collect();
    if !depends_on.is_empty() {
        body.insert("depends_on".into(), json!(depends_on));
    }
    let flags =
        [("hold", options.hold, true), ("rdma", options.rdma, true), ("requeue", options.no_requeue, false)];
    body.extend(
        flags.into_iter().filter(|(_, said, _)| *said).map(|(key, _, value)| (key.to_owned(), json!(value))),
    );
    body
}

fn read(file: &Path) -> anyhow::Result<Body> {
    let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    // JSON is YAML.
    let value: Value = serde_yaml_ng::from_str(&text).with_context(|| file.display().to_string())?;
    ensure!(value.is_object(), "{}: a job is a mapping", file.display());
    Ok(value.as_object().cloned().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use std::path::PathBuf;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        options: JobOptions,
        script: Option<PathBuf>,
        #[arg(last = true)]
        command: Vec<String>,
    }

    fn try_line(line: &[&str]) -> anyhow::Result<Value> {
        let line =
            Line::try_parse_from(std::iter::once("submit").chain(line.iter().copied())).expect("parses");
        body(&line.options, line.script.as_deref(), &line.command)
    }

    fn from_line(line: &[&str]) -> Value {
        try_line(line).expect("a body")
    }

    fn script(text: &str) -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("train.sh");
        std::fs::write(&path, text).expect("written");
        let path = path.to_string_lossy().into_owned();
        (folder, path)
    }

    #[test]
    fn flags_become_the_words_of_the_api() {
        let line = [
            "--team",
            "a",
            "--gpus",
            "2",
            "--env",
            "LR=0.1=x",
            "--pools",
            "p,q",
            "--",
            "/bin/train",
            "--fast",
        ];
        let expected = json!({"name": "train", "team": "a", "gpus": 2, "env": {"LR": "0.1=x"},
            "pools": ["p", "q"], "command": ["/bin/train", "--fast"]});
        assert_eq!(from_line(&line), expected);
    }

    #[test]
    fn flags_win_over_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("job.yaml");
        std::fs::write(&file, "name: x\nteam: a\ngpus: 4\nenv: {A: '1'}\ncommand: [train]\n")
            .expect("written");
        let file = file.to_string_lossy();
        let got = from_line(&["--file", &file, "--gpus", "8", "--env", "B=2"]);
        let expected =
            json!({"name": "x", "team": "a", "gpus": 8, "env": {"A": "1", "B": "2"}, "command": ["train"]});
        assert_eq!(got, expected);
    }

    #[test]
    fn a_scripts_own_lines_are_its_flags_and_the_command_lines_win() {
        let text = "#!/bin/bash\n#SBATCH --account=vision -G 4\n#REEVE --gpus 2 --env LR=1\nset -e\n#REEVE --gpus 64\ntrain\n";
        let (_folder, path) = script(text);
        let got = from_line(&[&path, "--env", "SEED=7", "--", "one", "two"]);
        assert_eq!((&got["team"], &got["gpus"]), (&json!("vision"), &json!(2)), "REEVE goes over SBATCH");
        assert_eq!(got["env"], json!({"LR": "1", "SEED": "7"}));
        assert_eq!(got["name"], "train.sh");
        assert_eq!(got["command"], json!(["/bin/bash", "-c", text, "train.sh", "one", "two"]));
        assert_eq!(from_line(&[&path, "--gpus", "8"])["gpus"], 8);
    }

    #[test]
    fn what_a_line_says_wrongly_is_named_with_its_number() {
        let wrong = |text: &str| {
            let (_folder, path) = script(text);
            format!("{:#}", try_line(&[&path]).expect_err("wrong"))
        };
        let said = wrong("#!/bin/sh\n#SBATCH --gpus=two\n");
        assert!(said.contains("train.sh, line 2") && said.contains("two"), "{said}");
        let said = wrong("#!/bin/sh\n\n#SBATCH --cluster-constraint=x\n");
        assert!(said.contains("line 3") && said.contains("--cluster-constraint"), "{said}");
        let said = wrong("#!/bin/sh\n#REEVE --name 'open\n");
        assert!(said.contains("line 2") && said.contains("quote"), "{said}");
        let said = wrong("#!/bin/sh\n#REEVE --file x.yaml\n");
        assert!(said.contains("line 2") && said.contains("--file"), "{said}");
        let said = wrong("echo hello\n");
        assert!(said.contains("#!"), "{said}");
        let said = wrong("#!/usr/bin/ruby\nputs 1\n");
        assert!(said.contains("ruby") && said.contains("--"), "{said}");
    }
}
