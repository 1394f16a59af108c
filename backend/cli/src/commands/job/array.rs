//! Arrays: the same job many times, each with its index. The tasks are jobs of their own with a label in common, by which
//! the whole array is waited for, listed and cancelled.
//!
//! How many run at once is the queue's limit to say, not the array's.

use crate::client::{Call, Client};
use anyhow::{Context, bail, ensure};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::str::FromStr;
use uuid::Uuid;

/// The label whose value is the array's id.
pub(crate) const LABEL: &str = "array";
/// As many as one batch takes: all are submitted, or none.
const MOST: usize = 1_000;

/// Which indices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Indices(BTreeSet<u32>);

impl FromStr for Indices {
    type Err = String;

    /// `0-9`, `0-9:2`, `1,3,5-7`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |part: &str| format!("{part} is no index, range FROM-TO or FROM-TO:STEP");
        if text.contains('%') {
            return Err(format!("{text}: how many run at once is the queue's limit (max_running_jobs)"));
        }
        let mut indices = BTreeSet::new();
        for part in text.split(',') {
            let (range, step) = part.split_once(':').unwrap_or((part, "1"));
            let (from, to) = range.split_once('-').unwrap_or((range, range));
            let number = |text: &str| text.parse::<u32>().map_err(|_| wrong(part));
            let (from, to, step) = (number(from)?, number(to)?, number(step)?);
            if from > to || step == 0 {
                return Err(wrong(part));
            }
            for index in (from..=to).step_by(step as usize) {
                indices.insert(index);
                if indices.len() > MOST {
                    return Err(format!("{text}: an array has at most {MOST} tasks; submit several"));
                }
            }
        }
        Ok(Self(indices))
    }
}

/// The id that goes with an idempotency key: submitted again, it is the same array.
pub(crate) fn id_of(key: &str) -> Uuid {
    let digest = Sha256::digest(key.as_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid()
}

/// The tasks of an array, from the job that they have in common.
pub(crate) fn tasks(job: &Value, indices: &Indices, array: Uuid) -> anyhow::Result<Value> {
    let whole = job.as_object().context("a job is a mapping")?;
    let tasks = indices.0.iter().map(|index| {
        let mut task = whole.clone();
        let name = whole.get("name").and_then(Value::as_str).unwrap_or("array");
        task.insert("name".into(), json!(format!("{name}[{index}]")));
        extend(
            &mut task,
            "env",
            [("ARRAY_INDEX", index.to_string()), ("SLURM_ARRAY_TASK_ID", index.to_string())],
        )?;
        extend(&mut task, "labels", [(LABEL, array.to_string())])?;
        Ok(Value::Object(task))
    });
    Ok(json!({"jobs": tasks.collect::<anyhow::Result<Vec<_>>>()?}))
}

fn extend<const N: usize>(
    task: &mut Map<String, Value>,
    key: &str,
    pairs: [(&str, String); N],
) -> anyhow::Result<()> {
    let map = task.entry(key).or_insert_with(|| json!({}));
    let map = map.as_object_mut().with_context(|| format!("{key} in the file is no mapping"))?;
    map.extend(pairs.map(|(name, value)| (name.to_owned(), json!(value))));
    Ok(())
}

/// Puts the tasks where `depends_on` names an array, as `array:ID`.
pub(crate) async fn expand(client: &Client, job: &mut Value) -> anyhow::Result<()> {
    let Some(named) = job.get("depends_on").and_then(Value::as_array) else { return Ok(()) };
    let mut all = Vec::new();
    for one in named {
        match one["job"].as_str().and_then(|job| job.strip_prefix("array:")) {
            Some(array) => {
                let tasks = of(client, array, None).await?;
                all.extend(
                    tasks.iter().map(|task| json!({"job": task["id"], "condition": one["condition"]})),
                );
            }
            None => all.push(one.clone()),
        }
    }
    job["depends_on"] = json!(all);
    Ok(())
}

/// The jobs of an array; with `states`, those that are in one of them.
pub(crate) async fn of(client: &Client, array: &str, states: Option<&[&str]>) -> anyhow::Result<Vec<Value>> {
    if array.parse::<Uuid>().is_err() {
        bail!("{array} is no array's id: `reeve submit --array` prints it");
    }
    let mut call = Call::get("/jobs").query("label", Some(format!("{LABEL}={array}")));
    for state in states.into_iter().flatten() {
        call = call.query("state", Some(state));
    }
    let tasks = client.all(call, MOST).await?;
    ensure!(states.is_some() || !tasks.is_empty(), "there is no array {array}");
    Ok(tasks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_ranges_steps_and_lists() {
        let of =
            |text: &str| text.parse::<Indices>().map(|indices| indices.0.into_iter().collect::<Vec<_>>());
        assert_eq!(of("0-3"), Ok(vec![0, 1, 2, 3]));
        assert_eq!(of("0-9:4,20,1"), Ok(vec![0, 1, 4, 8, 20]));
        for wrong in ["", "a", "3-1", "0-9:0", "-1", "0-9%2", "0-1000"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn each_task_knows_its_index_and_all_have_the_label() {
        let array = Uuid::nil();
        let job = json!({"name": "sweep", "env": {"LR": "1"}, "command": ["x"]});
        let tasks = tasks(&job, &"2,5".parse().expect("indices"), array).expect("tasks");
        assert_eq!(tasks["jobs"][1]["name"], "sweep[5]");
        assert_eq!(
            tasks["jobs"][1]["env"],
            json!({"LR": "1", "ARRAY_INDEX": "5", "SLURM_ARRAY_TASK_ID": "5"})
        );
        assert_eq!(tasks["jobs"][0]["labels"], json!({"array": array.to_string()}));
    }
}
