//! The difference for people: one line an item, the fields under it, in colours where there are any.

use std::fmt::Write as _;
use std::io::IsTerminal as _;

use serde_json::Value;

use super::plan::{Action, FieldChange, Item, Plan, What};

const GREEN: &str = "32";
const YELLOW: &str = "33";
const RED: &str = "31";
const DIM: &str = "2";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    Plain,
    Coloured,
}

impl Paint {
    /// Colours for a terminal, unless somebody does not want them (`NO_COLOR`).
    pub fn of_stdout() -> Paint {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if std::io::stdout().is_terminal() && !unwanted { Paint::Coloured } else { Paint::Plain }
    }

    fn paint(self, colour: &str, text: &str) -> String {
        match self {
            Paint::Plain => text.to_owned(),
            Paint::Coloured => format!("\x1b[{colour}m{text}\x1b[0m"),
        }
    }
}

pub fn text(plan: &Plan, paint: Paint) -> String {
    let mut text = String::new();
    for item in &plan.items {
        writeln!(text, "{}", head(item, paint)).expect("a text takes text");
        let width = item.fields.iter().map(|change| change.field.len()).max().unwrap_or_default();
        for change in &item.fields {
            writeln!(text, "    {:width$}  {}", change.field, values(change, item.action, paint))
                .expect("a text takes text");
        }
    }
    let counted = |action: Action, words: &str| match plan.count(action) {
        0 => None,
        count => Some(format!("{count} {words}")),
    };
    let counts = [
        counted(Action::Create, "to create"),
        counted(Action::Update, "to update"),
        counted(Action::Prune, "to remove"),
        counted(Action::Unchanged, "unchanged"),
    ];
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    let counts = if counts.is_empty() { "nothing".to_owned() } else { counts.join(", ") };
    writeln!(text, "{}: {counts}", plan.source).expect("a text takes text");
    text
}

fn head(item: &Item, paint: Paint) -> String {
    let what = match item.what {
        What::Queue => "queue",
        What::Limit => "limit",
        What::Schedule => "schedule",
    };
    let (sign, colour, beside) = match item.action {
        Action::Create => ("+", GREEN, ""),
        Action::Update => ("~", YELLOW, ""),
        Action::Unchanged => ("=", DIM, ""),
        Action::Prune => ("-", RED, "  not in the source any more"),
    };
    paint.paint(colour, &format!("{sign} {what} {}{beside}", item.name))
}

fn values(change: &FieldChange, action: Action, paint: Paint) -> String {
    let value = |value: &Option<Value>| value.as_ref().map_or_else(|| "(nothing)".to_owned(), ToString::to_string);
    match action {
        Action::Create => value(&change.to),
        _ => format!("{} → {}", paint.paint(RED, &value(&change.from)), paint.paint(GREEN, &value(&change.to))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::plan::Step;
    use super::*;

    fn plan() -> Plan {
        let item =
            |what, name: &str, action, fields| Item { what, name: name.into(), action, fields, step: Step::Nothing };
        let change = |field: &str, from, to| FieldChange { field: field.into(), from, to };
        Plan {
            source: "team.toml".into(),
            items: vec![
                item(What::Queue, "mail", Action::Update, vec![change("max_depth", Some(json!(5)), None)]),
                item(What::Schedule, "a", Action::Create, vec![change("cron", None, Some(json!("0 3 * * *")))]),
                item(What::Schedule, "b", Action::Unchanged, vec![]),
                item(What::Schedule, "c", Action::Prune, vec![]),
            ],
        }
    }

    #[test]
    fn the_difference_is_shown_item_by_item() {
        let expected = "~ queue mail\n    max_depth  5 → (nothing)\n+ schedule a\n    cron  \"0 3 * * *\"\n= schedule b\n\
            - schedule c  not in the source any more\nteam.toml: 1 to create, 1 to update, 1 to remove, 1 unchanged\n";
        assert_eq!(text(&plan(), Paint::Plain), expected);
        assert_eq!(text(&Plan { source: "s".into(), items: vec![] }, Paint::Plain), "s: nothing\n");
    }

    #[test]
    fn colours_are_only_around_the_words() {
        let coloured = text(&plan(), Paint::Coloured);
        assert!(
            coloured.contains("\x1b[32m+ schedule a\x1b[0m") && coloured.contains("\x1b[31m- schedule c"),
            "{coloured:?}"
        );
        let mut bare = coloured;
        for code in ["\x1b[32m", "\x1b[33m", "\x1b[31m", "\x1b[2m", "\x1b[0m"] {
            bare = bare.replace(code, "");
        }
        assert_eq!(bare, text(&plan(), Paint::Plain));
    }
}
