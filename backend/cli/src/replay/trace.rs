//! Reads traces: csv, or csv.gz, columns mapped by format. Rows without GPUs, team or duration are counted, not
//! submitted. It refuses a file without the columns that its format names.

use anyhow::{Context, bail, ensure};
use chrono::{DateTime, NaiveDateTime};
use clap::ValueEnum;
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A job of the trace. Seconds are the trace's own; `at_secs` counts from its first job.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    /// Its line in the file, which makes its idempotency key.
    pub(crate) line: u64,
    pub(crate) at_secs: f64,
    pub(crate) duration_secs: f64,
    pub(crate) team: String,
    pub(crate) gpus: u32,
    pub(crate) gpu_milli: Option<u32>,
    pub(crate) name: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) priority: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// timestamp, duration, num_gpus, cluster (Microsoft, 2017)
    Philly,
    /// creation_time, deletion_time, num_gpu, gpu_milli, qos as team (Alibaba, 2023)
    Openb,
    /// at_secs, duration_secs, team, gpus; name, kind, priority if present
    Reeve,
}

/// Which column says what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Columns {
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
    pub(crate) fn of(format: Format) -> Self {
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
    pub(crate) fn with(mut self, pairs: &[(String, String)]) -> anyhow::Result<Self> {
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
                _ => bail!(
                    "--columns: no {what:?}; there are submit, duration, end, team, gpus, gpu_milli, name, kind, priority"
                ),
            }
        }
        Ok(self)
    }
}

/// The jobs in order of submission, and how many rows were no jobs.
#[derive(Debug, PartialEq)]
pub(crate) struct Trace {
    pub(crate) rows: Vec<Row>,
    pub(crate) skipped: u64,
}

/// # Errors
/// When it can't be read, or a value is none; naming the line.
pub(crate) fn read(path: &Path, columns: &Columns) -> anyhow::Result<Trace> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    let zipped = path.extension().is_some_and(|ending| ending == "gz");
    let source: Box<dyn Read> = if zipped { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
    parse(source, columns).with_context(|| path.display().to_string())
}

fn parse(source: impl Read, columns: &Columns) -> anyhow::Result<Trace> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(source);
    let headers = reader.headers()?.clone();
    let place = |name: &str| headers.iter().position(|header| header == name);
    let must = |name: &str| place(name).with_context(|| format!("there is no column {name:?}"));
    let may = |name: &Option<String>| name.as_deref().and_then(place);
    let (submit, team, gpus) = (must(&columns.submit)?, must(&columns.team)?, must(&columns.gpus)?);
    let duration = columns.duration.as_deref().map(must).transpose()?;
    let end = columns.end.as_deref().map(must).transpose()?;
    ensure!(duration.is_some() || end.is_some(), "neither a duration nor an end column is named");
    let (milli, name, kind, priority) =
        (may(&columns.gpu_milli), may(&columns.name), may(&columns.kind), may(&columns.priority));
    let mut trace = Trace { rows: Vec::new(), skipped: 0 };
    for record in reader.records() {
        let record = record?;
        let line = record.position().map_or(0, csv::Position::line);
        let text = |column: usize| record.get(column).unwrap_or_default();
        let optional =
            |column: Option<usize>| column.map(text).filter(|text| !text.is_empty()).map(str::to_owned);
        let at_secs = instant(text(submit)).with_context(|| format!("line {line}"))?;
        let duration_secs = match (duration, end) {
            (Some(column), _) => number(text(column)),
            (None, Some(column)) => instant(text(column)).ok().map(|end| end - at_secs),
            (None, None) => None,
        };
        let gpus = number(text(gpus)).filter(|gpus| *gpus >= 1.0 && gpus.fract() == 0.0 && *gpus < 1e6);
        let (Some(duration_secs), Some(gpus)) = (duration_secs.filter(|secs| *secs > 0.0), gpus) else {
            trace.skipped += 1;
            continue;
        };
        if text(team).is_empty() {
            trace.skipped += 1;
            continue;
        }
        // A share of one GPU only; `1000` of several means whole ones.
        let gpu_milli =
            milli.and_then(|column| text(column).parse().ok()).filter(|milli| gpus == 1.0 && *milli < 1000);
        trace.rows.push(Row {
            line,
            at_secs,
            duration_secs,
            team: text(team).to_owned(),
            gpus: gpus as u32,
            gpu_milli,
            name: optional(name),
            kind: optional(kind),
            priority: optional(priority),
        });
    }
    trace.rows.sort_by(|a, b| a.at_secs.total_cmp(&b.at_secs).then(a.line.cmp(&b.line)));
    let first = trace.rows.first().map_or(0.0, |row| row.at_secs);
    trace.rows.iter_mut().for_each(|row| row.at_secs -= first);
    Ok(trace)
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Seconds, `2017-10-09 07:01:55`, or RFC 3339.
fn instant(text: &str) -> anyhow::Result<f64> {
    if let Some(secs) = number(text) {
        return Ok(secs);
    }
    let naive =
        NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S").map(|naive| naive.and_utc().timestamp());
    let secs = naive.or_else(|_| DateTime::parse_from_rfc3339(text).map(|at| at.timestamp()));
    secs.map(|secs| secs as f64).map_err(|_| anyhow::anyhow!("{text:?} is no time"))
}

/// `vc,node num`: nodes of each tenant.
pub(crate) fn read_nodes(path: &Path) -> anyhow::Result<Vec<(String, u32)>> {
    let mut reader = csv::Reader::from_path(path).with_context(|| path.display().to_string())?;
    let mut teams = Vec::new();
    for record in reader.records() {
        let record = record?;
        let nodes = record.get(1).and_then(|nodes| nodes.trim().parse().ok());
        let nodes =
            nodes.with_context(|| format!("{}: a number of nodes is wanted: {record:?}", path.display()))?;
        teams.push((record.get(0).unwrap_or_default().trim().to_owned(), nodes));
    }
    Ok(teams)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn from(text: &str, format: Format) -> anyhow::Result<Trace> {
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
