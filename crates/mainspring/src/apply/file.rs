//! Files that say what should be: `[schedules.NAME]`, `[queues.NAME]`, `[limits."REACH"]`, `[calendars.NAME]`. Several files are read as one; what two of
//! them name is an error. Whether an expression or a zone makes sense is the server's to say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use mainspring_wire::{LimitRule, NewSchedule};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use toml::Spanned;

use super::calendars::Calendars;
use super::json::from_toml;
use super::{Wanted, WantedQueue};

/// A longer file is not what somebody wrote.
pub const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Document {
    schedules: BTreeMap<String, Spanned<toml::Value>>,
    queues: BTreeMap<String, Spanned<QueueTable>>,
    limits: BTreeMap<String, Spanned<toml::Value>>,
    calendars: BTreeMap<String, Spanned<CalendarTable>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CalendarTable {
    exclude: Vec<toml::Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct QueueTable {
    paused: Option<bool>,
    #[serde(default, deserialize_with = "depth")]
    max_depth: Option<Option<u64>>,
    age_factor: Option<f64>,
}

/// A number, or `"none"`: TOML has no word for nothing.
fn depth<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<u64>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a number of jobs, or \"none\"")]
    enum Depth {
        Bound(u64),
        Word(None),
    }
    #[derive(Deserialize)]
    enum None {
        #[serde(rename = "none")]
        None,
    }
    Depth::deserialize(deserializer).map(|depth| match depth {
        Depth::Bound(bound) => Some(Some(bound)),
        Depth::Word(None::None) => Some(Option::None),
    })
}

/// Files, and the `.toml` files of directories, by name.
pub fn read_all(paths: &[PathBuf]) -> Result<Wanted> {
    let mut documents = Vec::new();
    for path in paths {
        for file in files(path)? {
            let size = std::fs::metadata(&file).with_context(|| format!("could not read {}", file.display()))?.len();
            if size > FILE_BYTES_MAX {
                bail!("{} has {size} bytes, and {FILE_BYTES_MAX} are allowed", file.display());
            }
            let text = std::fs::read_to_string(&file).with_context(|| format!("could not read {}", file.display()))?;
            documents.push((file.display().to_string(), text));
        }
    }
    read(&documents)
}

fn files(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = std::fs::read_dir(path).with_context(|| format!("could not read {}", path.display()))?;
    let mut files = entries.map(|entry| entry.map(|entry| entry.path())).collect::<std::io::Result<Vec<_>>>()?;
    files.retain(|file| file.extension().is_some_and(|ending| ending == "toml"));
    files.sort();
    if files.is_empty() {
        bail!("there is no .toml file in {}", path.display());
    }
    Ok(files)
}

/// Each with its name.
fn read(documents: &[(String, String)]) -> Result<Wanted> {
    let mut places = Places::default();
    let mut parsed = Vec::new();
    let mut calendars = Calendars::default();
    for (file, text) in documents {
        let mut document: Document = toml::from_str(text).map_err(|error| bad_toml(file, text, &error))?;
        for (name, table) in std::mem::take(&mut document.calendars) {
            let place = places.take("calendars", &name, file, text, &table)?;
            let exclusions = table.into_inner().exclude.into_iter().map(from_toml).collect::<Option<Vec<_>>>();
            calendars.0.insert(name, exclusions.with_context(|| format!("{place}: not every value has a JSON"))?);
        }
        parsed.push((file, text, document));
    }
    let mut wanted = Wanted::default();
    for (file, text, document) in parsed {
        for (name, table) in document.queues {
            places.take("queues", &name, file, text, &table)?;
            let QueueTable { paused, max_depth, age_factor } = table.into_inner();
            wanted.queues.insert(name, WantedQueue { paused, max_depth, age_factor });
        }
        for (reach, table) in document.limits {
            let place = places.take("limits", &reach, file, text, &table)?;
            let rule = limit(table.into_inner()).map_err(|problem| anyhow::anyhow!("{place}: {problem}"))?;
            wanted.limits.insert(reach, rule);
        }
        for (name, table) in document.schedules {
            let place = places.take("schedules", &name, file, text, &table)?;
            let schedule = schedule(&name, table.into_inner(), &calendars);
            wanted.schedules.insert(name, schedule.map_err(|problem| anyhow::anyhow!("{place}: {problem}"))?);
        }
    }
    Ok(wanted)
}

fn limit(table: toml::Value) -> Result<LimitRule, String> {
    let json = from_toml(table).ok_or("a number has no JSON: infinity and nan are none")?;
    serde_json::from_value(json).map_err(|error| error.to_string())
}

fn schedule(name: &str, table: toml::Value, calendars: &Calendars) -> Result<NewSchedule, String> {
    let mut json = from_toml(table).ok_or("a number has no JSON: infinity and nan are none")?;
    if json.get("schedule_id").is_some() {
        return Err("schedule_id: the name is in the header already".to_owned());
    }
    calendars.write_out(&mut json)?;
    let job = json.get("job").is_some_and(Value::is_object);
    if !job {
        return Err("job: what should it make? write job = { type = \"…\" }".to_owned());
    }
    let schedule: NewSchedule = serde_json::from_value(json).map_err(|error| error.to_string())?;
    Ok(NewSchedule { schedule_id: Some(name.to_owned()), ..schedule })
}

/// Where each thing was named first.
#[derive(Debug, Default)]
struct Places(BTreeMap<String, String>);

impl Places {
    fn take<T>(&mut self, what: &str, name: &str, file: &str, text: &str, table: &Spanned<T>) -> Result<String> {
        let (line, _) = line_and_column(text, table.span().start);
        let path = format!("{what}.{name}");
        let place = format!("{file}:{line}: {path}");
        match self.0.insert(path, format!("{file}:{line}")) {
            Some(first) => bail!("{place} is in {first} already: say it once"),
            None => Ok(place),
        }
    }
}

fn bad_toml(file: &str, text: &str, error: &toml::de::Error) -> anyhow::Error {
    let place = error.span().map(|span| line_and_column(text, span.start));
    let place = place.map_or_else(String::new, |(line, column)| format!(":{line}:{column}"));
    anyhow::anyhow!("{file}{place}: {}", error.message().trim())
}

fn line_and_column(text: &str, byte: usize) -> (usize, usize) {
    let before = &text[..byte.min(text.len())];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
