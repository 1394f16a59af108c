//! The trace's files.

use csv::{ReaderBuilder, StringRecord};
use flate2::read::GzDecoder;
use reeve_core::schedule::packing::{Ask, Mix, Models};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The seeds for which figures are published.
pub const SEEDS: std::ops::RangeInclusive<u32> = 42..=51;

/// Why a file could not be used.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    #[error("{}: {message}", path.display())]
    Bad { path: PathBuf, message: String },
}

/// A node of the trace.
#[derive(Debug, Clone)]
pub struct Node {
    pub name: String,
    pub cpu_milli: i64,
    pub memory_mib: i64,
    pub gpus: u16,
    /// An index into `Cluster::models`.
    pub model: u8,
}

/// All nodes, ordered by name.
#[derive(Debug, Clone)]
pub struct Cluster {
    pub nodes: Vec<Node>,
    pub models: Vec<String>,
}

impl Cluster {
    #[must_use]
    pub fn gpu_milli(&self) -> i64 {
        self.nodes.iter().map(|node| i64::from(node.gpus) * 1_000).sum()
    }

    /// By model.
    #[must_use]
    pub fn capacity_milli(&self) -> Vec<i64> {
        let mut capacity = vec![0; self.models.len()];
        for node in &self.nodes {
            capacity[usize::from(node.model)] += i64::from(node.gpus) * 1_000;
        }
        capacity
    }
}

/// A pod's request.
#[derive(Debug, Clone, Copy)]
pub struct Pod {
    pub ask: Ask,
    pub memory_mib: i64,
}

/// One list of pods and the orders in which they arrive.
#[derive(Debug, Clone)]
pub struct Workload {
    pub name: &'static str,
    /// Ordered by name.
    pub pods: Vec<(String, Pod)>,
    /// By seed; indices into `pods`. Pods recur once the list has run out.
    pub arrivals: BTreeMap<u32, Vec<usize>>,
}

impl Workload {
    /// What may be known beforehand: how often each request occurs in the list.
    #[must_use]
    pub fn mix(&self) -> Mix {
        Mix::new(self.pods.iter().map(|(_, pod)| (pod.ask, 1)))
    }
}

/// Allocated percent at 100 % arrival by workload, policy and seed.
pub type Published = BTreeMap<(String, String, u32), f64>;

/// `nodes.csv`.
///
/// # Errors
/// When it cannot be read or says something else than nodes.
pub fn read_nodes(folder: &Path) -> Result<Cluster, DataError> {
    let path = folder.join("nodes.csv");
    let (mut nodes, mut models) = (Vec::new(), Vec::new());
    for row in rows(&path)? {
        let model = row.text("model")?;
        let at = models.iter().position(|known: &String| *known == model).unwrap_or_else(|| {
            models.push(model);
            models.len() - 1
        });
        nodes.push(Node {
            name: row.text("sn")?,
            cpu_milli: row.number("cpu_milli")?,
            memory_mib: row.number("memory_mib")?,
            gpus: row.small("gpu")?,
            model: u8::try_from(at).map_err(|_| row.bad("too many models"))?,
        });
    }
    nodes.sort_by(|one: &Node, other| one.name.cmp(&other.name));
    Ok(Cluster { nodes, models })
}

/// `pods_<workload>.csv.gz` and `arrivals_<workload>.csv.gz`.
///
/// # Errors
/// When one cannot be read or names a pod or model that is not there.
pub fn read_workload(folder: &Path, name: &'static str, cluster: &Cluster) -> Result<Workload, DataError> {
    let mut pods = Vec::new();
    for row in rows(&folder.join(format!("pods_{name}.csv.gz")))? {
        let models = models(&row, cluster)?;
        let ask = Ask {
            cpu_milli: row.number("cpu_milli")?,
            gpus: row.small("num_gpu")?,
            milli: row.small("gpu_milli")?,
            models,
        };
        pods.push((row.text("name")?, Pod { ask, memory_mib: row.number("memory_mib")? }));
    }
    pods.sort_by(|one, other| one.0.cmp(&other.0));
    let by_name: HashMap<&str, usize> =
        pods.iter().enumerate().map(|(at, (name, _))| (name.as_str(), at)).collect();
    let mut arrivals: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for row in rows(&folder.join(format!("arrivals_{name}.csv.gz")))? {
        let pod = *by_name.get(row.text("pod")?.as_str()).ok_or_else(|| row.bad("an unknown pod"))?;
        let seed = u32::from(row.small("seed")?);
        let order = arrivals.entry(seed).or_default();
        if row.number("seq")? != i64::try_from(order.len()).unwrap_or(-1) {
            return Err(row.bad("arrivals out of sequence"));
        }
        order.push(pod);
    }
    Ok(Workload { name, pods, arrivals })
}

/// No `gpu_spec`, or an empty one, accepts every model.
fn models(row: &Row, cluster: &Cluster) -> Result<Models, DataError> {
    let spec = row.text("gpu_spec").unwrap_or_default();
    let mut accepted: Option<Models> = None;
    for name in spec.split('|').filter(|name| !name.is_empty()) {
        let at = cluster.models.iter().position(|model| model == name);
        let model = at.and_then(|at| u8::try_from(at).ok()).ok_or_else(|| row.bad("an unknown model"))?;
        accepted = Some(accepted.map_or(Models::only(model), |models| models.or(Models::only(model))));
    }
    Ok(accepted.unwrap_or(Models::ANY))
}

/// `published_allocated_percent.csv`.
///
/// # Errors
/// When it cannot be read.
pub fn read_published(folder: &Path) -> Result<Published, DataError> {
    let mut published = Published::new();
    for row in rows(&folder.join("published_allocated_percent.csv"))? {
        let at_100 = row.text("at_100")?.parse().map_err(|_| row.bad("at_100 is not a number"))?;
        published.insert((row.text("workload")?, row.text("policy")?, u32::from(row.small("seed")?)), at_100);
    }
    Ok(published)
}

struct Row {
    path: PathBuf,
    columns: StringRecord,
    record: StringRecord,
}

impl Row {
    fn bad(&self, message: impl Into<String>) -> DataError {
        let line = self.record.position().map_or(0, csv::Position::line);
        DataError::Bad { path: self.path.clone(), message: format!("line {line}: {}", message.into()) }
    }

    fn text(&self, column: &str) -> Result<String, DataError> {
        let at = self.columns.iter().position(|name| name == column);
        let value = at.and_then(|at| self.record.get(at));
        value.map(str::to_owned).ok_or_else(|| self.bad(format!("no column {column}")))
    }

    fn number(&self, column: &str) -> Result<i64, DataError> {
        self.text(column)?.parse().map_err(|_| self.bad(format!("{column} is not a whole number")))
    }

    fn small(&self, column: &str) -> Result<u16, DataError> {
        self.text(column)?.parse().map_err(|_| self.bad(format!("{column} is not a small whole number")))
    }
}

fn rows(path: &Path) -> Result<Vec<Row>, DataError> {
    let bad = |message: String| DataError::Bad { path: path.to_owned(), message };
    let file = File::open(path).map_err(|error| bad(error.to_string()))?;
    let reader: Box<dyn Read> = if path.extension().is_some_and(|end| end == "gz") {
        Box::new(GzDecoder::new(file))
    } else {
        Box::new(file)
    };
    let mut reader = ReaderBuilder::new().from_reader(reader);
    let columns = reader.headers().map_err(|error| bad(error.to_string()))?.clone();
    let records: Result<Vec<StringRecord>, csv::Error> = reader.records().collect();
    let records = records.map_err(|error| bad(error.to_string()))?;
    Ok(records
        .into_iter()
        .map(|record| Row { path: path.to_owned(), columns: columns.clone(), record })
        .collect())
}
