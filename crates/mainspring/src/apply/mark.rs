//! Which schedules came from where: a reserved tag on their jobs, `applied:SOURCE`. It shows on every job that they make, and is all
//! that `--prune` goes by: what a person made by hand carries none and is never removed.

use std::path::{Path, PathBuf};

use mainspring_core::name::Tag;
use mainspring_wire::{NewSchedule, ScheduleView};

use crate::exit::Usage;

const PREFIX: &str = "applied:";

/// The name of a file, a directory, or what somebody called it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source(String);

impl Source {
    pub fn new(name: &str) -> Result<Source, Usage> {
        let mark = format!("{PREFIX}{name}");
        match Tag::parse(&mark) {
            Ok(_) if !name.is_empty() => Ok(Source(mark)),
            Ok(_) => Err(Usage("a source must not be empty".into())),
            Err(bad) => Err(Usage(format!("{name:?} cannot be the name of a source: {bad}"))),
        }
    }

    pub fn name(&self) -> &str {
        &self.0[PREFIX.len()..]
    }

    /// Marks a schedule as ours, and as nobody else's.
    pub fn mark(&self, schedule: &mut NewSchedule) {
        schedule.job.tags.retain(|tag| !tag.starts_with(PREFIX));
        schedule.job.tags.push(self.0.clone());
    }

    pub fn has_marked(&self, view: &ScheduleView) -> bool {
        view.schedule.job.tags.contains(&self.0)
    }
}

/// What was given, or the name of the only path.
pub fn source_of(given: Option<&str>, paths: &[PathBuf]) -> Result<Source, Usage> {
    if let Some(given) = given {
        return Source::new(given);
    }
    let name = |path: &Path| {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        path.file_name().map(|name| name.to_string_lossy().into_owned())
    };
    match paths {
        [path] => Source::new(&name(path).unwrap_or_default()),
        _ => Err(Usage("several files have no name in common: say --source NAME, the same each time".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_has_one_mark_and_keeps_its_own_tags() {
        let source = Source::new("team.toml").expect("a name");
        let mut schedule = NewSchedule::new("s", "t");
        schedule.job.tags = vec!["mine".into(), "applied:other".into()];
        source.mark(&mut schedule);
        source.mark(&mut schedule);
        assert_eq!(schedule.job.tags, ["mine", "applied:team.toml"]);
        assert_eq!(source.name(), "team.toml");
    }

    #[test]
    fn a_source_is_named_or_is_the_only_path() {
        let named = |given: Option<&str>, paths: &[&str]| {
            source_of(given, &paths.iter().map(PathBuf::from).collect::<Vec<_>>())
                .map(|source| source.name().to_owned())
        };
        assert_eq!(named(None, &["a/b/c.toml"]).expect("one"), "c.toml");
        assert_eq!(named(None, &["a/conf.d/"]).expect("one"), "conf.d");
        assert_eq!(named(Some("x"), &["a", "b"]).expect("given"), "x");
        assert!(named(None, &["a", "b"]).expect_err("two").0.contains("--source"));
        assert!(named(Some(""), &["a"]).is_err() && named(Some(&"x".repeat(200)), &["a"]).is_err());
    }
}
