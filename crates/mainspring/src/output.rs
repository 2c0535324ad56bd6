//! How answers are shown: data on stdout as a table or as the API's JSON. Talk goes to stderr and never through here.

use std::io::Write as _;

use comfy_table::{Row, Table, presets};
use serde::Serialize;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Table,
    /// The API's own answer, for programs
    Json,
}

impl Format {
    /// Prints an answer; the table is made only if it is wanted.
    pub fn print<T: Serialize>(self, answer: &T, as_table: impl FnOnce(&T) -> Table) -> anyhow::Result<()> {
        match self {
            Format::Json => print_json(answer),
            Format::Table => print_text(&as_table(answer).to_string()),
        }
    }
}

pub fn print_json(answer: &impl Serialize) -> anyhow::Result<()> {
    print_text(&serde_json::to_string_pretty(answer)?)
}

/// One object on one line, for what comes one after the other.
pub fn print_json_line(answer: &impl Serialize) -> anyhow::Result<()> {
    print_text(&serde_json::to_string(answer)?)
}

/// A line, or lines, on stdout. A reader that has gone away is an error like any other; `println!` would panic.
pub fn print_text(text: &str) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    for line in text.lines() {
        writeln!(stdout, "{}", line.trim_end())?;
    }
    Ok(stdout.flush()?)
}

/// Columns under a header, without lines: easy to read, and to cut.
pub fn table(header: impl Into<Row>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    table
}

/// One fact a line.
pub fn facts<'a>(facts: impl IntoIterator<Item = (&'a str, Option<String>)>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    for (name, fact) in facts {
        if let Some(fact) = fact {
            table.add_row([name.to_owned(), fact]);
        }
    }
    table
}

/// For a cell that may have nothing to say.
pub fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_plain_columns() {
        let mut shown = table(["ID", "STATUS"]);
        shown.add_row(["1", "PENDING"]);
        let lines: Vec<String> = shown.to_string().lines().map(|line| line.trim().to_owned()).collect();
        assert_eq!(lines, ["ID  STATUS", "1   PENDING"]);
    }

    #[test]
    fn facts_that_are_not_there_take_no_line() {
        let shown = facts([("id", Some("1".to_owned())), ("error", None)]).to_string();
        assert_eq!(shown.trim(), "id  1");
    }
}
