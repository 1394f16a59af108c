//! Reads traces: csv, or csv.gz, columns mapped by format. Rows without GPUs, team or duration are counted, and are
//! no jobs. It refuses a file without the columns that its format names.

use chrono::{DateTime, NaiveDateTime};
use flate2::read::MultiGzDecoder;
use reeve_core::text_enum;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Why a file can't be used, with what would help.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    #[error("{}", path.display())]
    Open { path: PathBuf, source: std::io::Error },
    #[error("{}", path.display())]
    In { path: PathBuf, source: Box<TraceError> },
    #[error(
        "there is no column {column:?} for {what}; the file has {have}. Say which one it is by --columns {what}=COLUMN"
    )]
    NoColumn { what: &'static str, column: String, have: String },
    #[error("neither a duration nor an end column is named: --columns duration=COLUMN, or end=COLUMN")]
    NoDuration,
    #[error("no {0:?} in --columns; there are {known}", known = WHATS.join(", "))]
    UnknownWhat(String),
    #[error(
        "line {line}: {text:?} in column {column:?} is no time (seconds, 2017-10-09 07:01:55, or RFC 3339)"
    )]
    NoTime { line: u64, column: String, text: String },
    #[error("line {line}: {text:?} is no {what}")]
    Wrong { line: u64, text: String, what: &'static str },
    #[error("not a table")]
    Csv(#[from] csv::Error),
}

/// What `--columns` can map.
const WHATS: &[&str] =
    &["submit", "duration", "end", "team", "gpus", "gpu_milli", "name", "kind", "priority"];

/// A job of the trace. Seconds are the trace's own; `at_secs` counts from its first job.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its line in the file, which makes its idempotency key.
    pub line: u64,
    pub at_secs: f64,
    pub duration_secs: f64,
    pub team: String,
    pub gpus: u32,
    pub gpu_milli: Option<u32>,
    pub name: Option<String>,
    pub kind: Option<String>,
    pub priority: Option<String>,
}

text_enum! {
    /// Whose columns they are.
    Format {
        /// timestamp, duration, num_gpus, cluster (Microsoft, 2017)
        Philly = "philly",
        /// creation_time, deletion_time, num_gpu, gpu_milli, qos as team (Alibaba, 2023)
        Openb = "openb",
        /// at_secs, duration_secs, team, gpus; name, kind, priority if present
        Reeve = "reeve",
    }
}

/// Which column says what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    submit: String,
    duration: Option<String>,
    /// Without a duration column: the end.
    end: Option<String>,
    team: String,
    gpus: String,
    gpu_milli: Option<String>,
    name: Option<String>,
    kind: Option<String>,
    priority: Option<String>,
}

impl Columns {
    #[must_use]
    pub fn of(format: Format) -> Self {
        let text = |name: &str| Some(name.to_owned());
        let base = |submit: &str, team: &str, gpus: &str| Self {
            submit: submit.to_owned(),
            duration: None,
            end: None,
            team: team.to_owned(),
            gpus: gpus.to_owned(),
            gpu_milli: None,
            name: None,
            kind: None,
            priority: None,
        };
        match format {
            Format::Philly => Self { duration: text("duration"), ..base("timestamp", "cluster", "num_gpus") },
            Format::Openb => Self {
                end: text("deletion_time"),
                gpu_milli: text("gpu_milli"),
                name: text("name"),
                ..base("creation_time", "qos", "num_gpu")
            },
            Format::Reeve => Self {
                duration: text("duration_secs"),
                name: text("name"),
                kind: text("kind"),
                priority: text("priority"),
                ..base("at_secs", "team", "gpus")
            },
        }
    }

    /// `submit=timestamp,duration=secs,…` over the format's own.
    ///
    /// # Errors
    /// A word that names nothing of a job.
    pub fn with(mut self, pairs: &[(String, String)]) -> Result<Self, TraceError> {
        for (what, column) in pairs {
            let column = column.clone();
            match what.as_str() {
                "submit" => self.submit = column,
                "duration" => self.duration = Some(column),
                "end" => (self.end, self.duration) = (Some(column), None),
                "team" => self.team = column,
                "gpus" => self.gpus = column,
                "gpu_milli" => self.gpu_milli = Some(column),
                "name" => self.name = Some(column),
                "kind" => self.kind = Some(column),
                "priority" => self.priority = Some(column),
                _ => return Err(TraceError::UnknownWhat(what.clone())),
            }
        }
        Ok(self)
    }
}

/// The jobs in order of submission, and how many rows were no jobs.
#[derive(Debug, PartialEq)]
pub struct Trace {
    pub rows: Vec<Row>,
    pub skipped: u64,
    /// When the first of them was submitted, in the trace's own time.
    pub first_at_secs: f64,
}

/// # Errors
/// When it can't be read, or a value is none; naming the line.
pub fn read(path: &Path, columns: &Columns) -> Result<Trace, TraceError> {
    parse(open(path)?, columns)
        .map_err(|source| TraceError::In { path: path.to_owned(), source: Box::new(source) })
}

/// A file, unpacked if its name ends in `.gz`.
///
/// # Errors
/// When it can't be opened.
pub fn open(path: &Path) -> Result<Box<dyn Read>, TraceError> {
    let file = File::open(path).map_err(|source| TraceError::Open { path: path.to_owned(), source })?;
    let zipped = path.extension().is_some_and(|ending| ending == "gz");
    Ok(if zipped { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) })
}

/// Where the columns lie.
struct Places {
    submit: usize,
    duration: Option<usize>,
    end: Option<usize>,
    team: usize,
    gpus: usize,
    milli: Option<usize>,
    name: Option<usize>,
    kind: Option<usize>,
    priority: Option<usize>,
}

impl Places {
    fn find(headers: &csv::StringRecord, columns: &Columns) -> Result<Self, TraceError> {
        let place = |name: &str| headers.iter().position(|header| header == name);
        let must = |what: &'static str, name: &str| {
            place(name).ok_or_else(|| TraceError::NoColumn {
                what,
                column: name.to_owned(),
                have: headers.iter().collect::<Vec<_>>().join(", "),
            })
        };
        let may = |name: &Option<String>| name.as_deref().and_then(place);
        let places = Self {
            submit: must("submit", &columns.submit)?,
            duration: columns.duration.as_deref().map(|name| must("duration", name)).transpose()?,
            end: columns.end.as_deref().map(|name| must("end", name)).transpose()?,
            team: must("team", &columns.team)?,
            gpus: must("gpus", &columns.gpus)?,
            milli: may(&columns.gpu_milli),
            name: may(&columns.name),
            kind: may(&columns.kind),
            priority: may(&columns.priority),
        };
        if places.duration.is_none() && places.end.is_none() {
            return Err(TraceError::NoDuration);
        }
        Ok(places)
    }
}

fn parse(source: impl Read, columns: &Columns) -> Result<Trace, TraceError> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(source);
    let places = Places::find(&reader.headers()?.clone(), columns)?;
    let mut trace = Trace { rows: Vec::new(), skipped: 0, first_at_secs: 0.0 };
    for record in reader.records() {
        match row(&record?, &places, columns)? {
            Some(row) => trace.rows.push(row),
            None => trace.skipped += 1,
        }
    }
    trace.rows.sort_by(|a, b| a.at_secs.total_cmp(&b.at_secs).then(a.line.cmp(&b.line)));
    let first = trace.rows.first().map_or(0.0, |row| row.at_secs);
    trace.rows.iter_mut().for_each(|row| row.at_secs -= first);
    trace.first_at_secs = first;
    Ok(trace)
}

/// `None`: no GPUs, no team, or no duration.
fn row(record: &csv::StringRecord, places: &Places, columns: &Columns) -> Result<Option<Row>, TraceError> {
    let line = record.position().map_or(0, csv::Position::line);
    let text = |column: usize| record.get(column).unwrap_or_default();
    let optional =
        |column: Option<usize>| column.map(text).filter(|text| !text.is_empty()).map(str::to_owned);
    let at_secs = instant(text(places.submit)).ok_or_else(|| TraceError::NoTime {
        line,
        column: columns.submit.clone(),
        text: text(places.submit).to_owned(),
    })?;
    let duration_secs = match (places.duration, places.end) {
        (Some(column), _) => number(text(column)),
        (None, Some(column)) => instant(text(column)).map(|end| end - at_secs),
        (None, None) => None,
    };
    let gpus = number(text(places.gpus)).filter(|gpus| *gpus >= 1.0 && gpus.fract() == 0.0 && *gpus < 1e6);
    let (Some(duration_secs), Some(gpus)) = (duration_secs.filter(|secs| *secs > 0.0), gpus) else {
        return Ok(None);
    };
    if text(places.team).is_empty() {
        return Ok(None);
    }
    // A share of one GPU only; `1000` of several means whole ones.
    let gpu_milli = places
        .milli
        .and_then(|column| text(column).parse().ok())
        .filter(|milli| gpus == 1.0 && *milli < 1000);
    Ok(Some(Row {
        line,
        at_secs,
        duration_secs,
        team: text(places.team).to_owned(),
        gpus: gpus as u32,
        gpu_milli,
        name: optional(places.name),
        kind: optional(places.kind),
        priority: optional(places.priority),
    }))
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Seconds, `2017-10-09 07:01:55`, `2017-10-09`, or RFC 3339; as seconds.
#[must_use]
pub fn instant(text: &str) -> Option<f64> {
    let naive =
        || NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S").map(|naive| naive.and_utc().timestamp());
    let day = || {
        let day = chrono::NaiveDate::parse_from_str(text, "%Y-%m-%d");
        day.map(|day| day.and_time(chrono::NaiveTime::MIN).and_utc().timestamp())
    };
    let zoned = || DateTime::parse_from_rfc3339(text).map(|at| at.timestamp());
    number(text).or_else(|| naive().or_else(|_| day()).or_else(|_| zoned()).ok().map(|secs| secs as f64))
}

/// `vc,node num`: nodes of each tenant.
///
/// # Errors
/// When it can't be read, or a row has no number of nodes.
pub fn read_nodes(path: &Path) -> Result<Vec<(String, u32)>, TraceError> {
    let inside = |source: TraceError| TraceError::In { path: path.to_owned(), source: Box::new(source) };
    let mut reader = csv::Reader::from_reader(open(path)?);
    let mut teams = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| inside(error.into()))?;
        let nodes = record.get(1).unwrap_or_default().trim();
        let nodes = nodes.parse().map_err(|_| {
            let line = record.position().map_or(0, csv::Position::line);
            inside(TraceError::Wrong { line, text: nodes.to_owned(), what: "number of nodes" })
        })?;
        teams.push((record.get(0).unwrap_or_default().trim().to_owned(), nodes));
    }
    Ok(teams)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn from(text: &str, format: Format) -> Result<Trace, TraceError> {
        parse(text.as_bytes(), &Columns::of(format))
    }

    #[test]
    fn philly_is_put_in_order_and_counted_from_its_first_job() {
        let text = "timestamp,duration,num_gpus,gpu_time,cluster\n\
                    2017-10-09 07:01:55,66.0,1,66.0,11cb48\n\
                    2017-10-09 06:13:03,2951.0,16,1.0,6214e9\n\
                    2017-10-09 06:14:03,0.0,1,0.0,6214e9\n\
                    2017-10-09 06:15:03,5.0,0,0.0,6214e9\n";
        let trace = from(text, Format::Philly).expect("reads");
        assert_eq!(trace.skipped, 2, "no duration, no GPU");
        let got: Vec<_> =
            trace.rows.iter().map(|row| (row.line, row.at_secs, row.gpus, row.team.as_str())).collect();
        assert_eq!(got, [(3, 0.0, 16, "6214e9"), (2, 2932.0, 1, "11cb48")]);
    }

    #[test]
    fn openb_has_shares_and_an_end() {
        let text = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n\
                    openb-pod-0000,12000,16384,2,1000,,LS,Running,0,100,0\n\
                    openb-pod-0001,6000,12288,1,460,,BE,Running,427,500,427\n\
                    openb-pod-0002,6000,12288,0,0,,LS,Running,500,600,500\n";
        let trace = from(text, Format::Openb).expect("reads");
        let got: Vec<_> = trace.rows.iter().map(|row| (row.gpus, row.gpu_milli, row.duration_secs)).collect();
        assert_eq!(got, [(2, None, 100.0), (1, Some(460), 73.0)]);
        assert_eq!(trace.skipped, 1);
    }

    #[test]
    fn columns_can_be_mapped() {
        let columns = Columns::of(Format::Reeve)
            .with(&[
                ("submit".into(), "when".into()),
                ("end".into(), "until".into()),
                ("team".into(), "who".into()),
            ])
            .expect("known");
        let trace = parse("when,until,who,gpus\n10,25,a,4\n".as_bytes(), &columns).expect("reads");
        assert_eq!((trace.rows[0].duration_secs, trace.rows[0].team.as_str()), (15.0, "a"));
        assert!(Columns::of(Format::Reeve).with(&[("size".into(), "x".into())]).is_err());
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let missing = from("timestamp,num_gpus,cluster\n", Format::Philly).expect_err("no duration");
        assert!(missing.to_string().contains("duration"), "{missing}");
        let text = "at_secs,duration_secs,team,gpus\n1,5,a,1\nsoon,5,a,1\n";
        let wrong = format!("{:#}", from(text, Format::Reeve).expect_err("no time"));
        assert!(wrong.contains("line 3") && wrong.contains("soon"), "{wrong}");
    }

    #[test]
    fn a_zipped_trace_reads_like_a_plain_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.csv.gz");
        let file = File::create(&path).expect("created");
        let mut zipped = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        zipped.write_all(b"at_secs,duration_secs,team,gpus\n1,5,a,1\n").expect("written");
        zipped.finish().expect("finished");
        assert_eq!(read(&path, &Columns::of(Format::Reeve)).expect("reads").rows.len(), 1);
    }
}
