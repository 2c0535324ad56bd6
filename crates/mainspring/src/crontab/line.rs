//! One line of a crontab. Positions are bytes of the line and become columns here.

use std::collections::BTreeMap;

use mainspring_core::name::{ScheduleName, TenantName};
use mainspring_core::schedule::{BadSchedule, Calendar, ScheduleRef, Spec, When};

use super::{BadLine, Entry, Form, command};

#[derive(Debug)]
pub enum Line {
    Nothing,
    Variable { name: String, value: String },
    AtReboot,
    Entry(Written),
}

/// An entry as it stands in its line.
#[derive(Debug)]
pub struct Written {
    text: String,
    /// The bytes of the line that say when.
    when: std::ops::Range<usize>,
    user: Option<String>,
    command: String,
    stdin: Option<String>,
}

/// What is wrong, with its column.
type Wrong = (usize, String);

const FIELDS: usize = 5;

pub fn read(line: &str, form: Form) -> Result<Line, Wrong> {
    let text = line.trim_end();
    let start = text.len() - text.trim_start().len();
    match text[start..].chars().next() {
        None | Some('#') => Ok(Line::Nothing),
        Some(first) if first.is_ascii_alphabetic() || matches!(first, '_' | '"' | '\'') => variable(text, start),
        Some(_) => entry(text, start, form),
    }
}

/// `NAME=value`, with spaces around the sign and quotes around either side if need be.
fn variable(text: &str, start: usize) -> Result<Line, Wrong> {
    let Some(sign) = text.find('=') else {
        let problem = "this is neither NAME=value nor five fields and a command";
        return Err((column(text, start), problem.to_owned()));
    };
    let name = unquoted(text, start, text[start..sign].trim())?;
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if name.is_empty() || !name.chars().all(is_letter) {
        return Err((column(text, start), format!("{name:?} is not the name of a variable")));
    }
    let value = text[sign + 1..].trim();
    let value_at = text.len() - value.len();
    Ok(Line::Variable { name, value: unquoted(text, value_at, value)? })
}

fn unquoted(line: &str, at: usize, text: &str) -> Result<String, Wrong> {
    let quote = text.chars().next().filter(|first| matches!(first, '"' | '\''));
    match quote {
        None => Ok(text.to_owned()),
        Some(quote) => match text[1..].strip_suffix(quote) {
            Some(inner) => Ok(inner.to_owned()),
            None => Err((column(line, at), format!("the quote {quote} is not closed"))),
        },
    }
}

fn entry(text: &str, start: usize, form: Form) -> Result<Line, Wrong> {
    let mut words = Words { text, at: start };
    let mut end = start;
    let fields = if text[start..].starts_with('@') { 1 } else { FIELDS };
    for _ in 0..fields {
        let Some(word) = words.next() else {
            let problem = "an entry has five fields (minute hour day month weekday), or a nickname such as @daily";
            return Err((column(text, text.len()), problem.to_owned()));
        };
        end = word.end;
    }
    if text[start..end].eq_ignore_ascii_case("@reboot") {
        return Ok(Line::AtReboot);
    }
    let user = match form {
        Form::User => None,
        Form::System => words.next().map(|word| text[word].to_owned()),
    };
    let rest = text[words.at..].trim_start();
    if rest.is_empty() {
        return Err((column(text, text.len()), "there is no command".to_owned()));
    }
    let (command, stdin) = command::split(rest);
    Ok(Line::Entry(Written { text: text.to_owned(), when: start..end, user, command, stdin }))
}

impl Written {
    /// Where cron and we differ.
    pub fn remarks(&self) -> Vec<String> {
        let fields: Vec<&str> = self.text[self.when.clone()].split_whitespace().collect();
        let [_, _, day, _, weekday] = fields[..] else { return Vec::new() };
        // Vixie's cron takes everything that begins with a star for "not given".
        let odd = |field: &str| field.starts_with('*') && field != "*";
        let differs = odd(day) && weekday != "*" || odd(weekday) && day != "*";
        let remark = "the day and the weekday are both given: this runs when either matches, while cron wants both to match if \
                      one begins with *";
        if differs { vec![remark.to_owned()] } else { Vec::new() }
    }

    /// The entry with the variables that hold for it, if it can be understood.
    pub fn with(self, line: usize, env: &BTreeMap<String, String>) -> Result<Entry, BadLine> {
        let bad = |at: usize, problem: String| BadLine { line, column: column(&self.text, at), problem };
        let start = self.when.start;
        let mut env = env.clone();
        let zone = env.remove("CRON_TZ").or_else(|| env.get("TZ").cloned()).filter(|zone| !zone.is_empty());
        let delay = env.remove("RANDOM_DELAY");
        let delay_minutes_max = delay
            .map(|delay| {
                delay.parse().map_err(|_| bad(start, format!("RANDOM_DELAY is {delay:?}: it is a number of minutes")))
            })
            .transpose()?;
        if let Err(wrong) = compile(&self.text[self.when.clone()], zone.as_deref()) {
            let advice = format!("{}; {}", wrong.problem, wrong.advice);
            return Err(match wrong.field.ends_with("cron") {
                true => bad(start + wrong.position.unwrap_or(0), advice),
                false => bad(start, format!("the time zone of this line: {advice}")),
            });
        }
        let cron = self.text[self.when.clone()].split_whitespace().collect::<Vec<_>>().join(" ");
        let (user, command, stdin) = (self.user, self.command, self.stdin);
        Ok(Entry { line, cron, zone, delay_minutes_max, user, command, stdin, env })
    }
}

fn compile(cron: &str, zone: Option<&str>) -> Result<(), BadSchedule> {
    let mut when = When::new(vec![Spec::Cron(cron.to_owned())]);
    when.zone = zone.unwrap_or(When::ZONE_DEFAULT).to_owned();
    let name = ScheduleName::parse("crontab").expect("it is a name");
    Calendar::compile(&when, &ScheduleRef { tenant: TenantName::default_tenant(), name }).map(drop)
}

/// Counted in letters, from 1.
fn column(line: &str, byte: usize) -> usize {
    line.char_indices().take_while(|(at, _)| *at < byte).count() + 1
}

/// The words of a line, as places in it.
struct Words<'a> {
    text: &'a str,
    at: usize,
}

impl Iterator for Words<'_> {
    type Item = std::ops::Range<usize>;

    fn next(&mut self) -> Option<std::ops::Range<usize>> {
        let rest = &self.text[self.at..];
        let start = self.at + rest.find(|letter: char| !letter.is_whitespace())?;
        let length = self.text[start..].find(char::is_whitespace).unwrap_or(self.text.len() - start);
        self.at = start + length;
        Some(start..self.at)
    }
}
