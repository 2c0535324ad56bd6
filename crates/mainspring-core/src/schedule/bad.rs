//! Why a schedule is refused: which field, what is wrong, at which byte, and what to do. Refuses nothing itself.

use std::fmt::Display;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}{}; {advice}", place(*.position))]
pub struct BadSchedule {
    /// The path of the field, as a person wrote it: `when.specs[1].cron`.
    pub field: String,
    pub problem: String,
    /// The byte of the field's text where the problem begins.
    pub position: Option<usize>,
    pub advice: String,
}

fn place(position: Option<usize>) -> String {
    position.map_or(String::new(), |at| format!(" (position {at})"))
}

impl BadSchedule {
    pub(super) fn new(problem: impl Into<String>, advice: impl Into<String>) -> BadSchedule {
        BadSchedule { field: String::new(), problem: problem.into(), position: None, advice: advice.into() }
    }

    pub(super) fn never() -> BadSchedule {
        BadSchedule::new("this never happens", "look at the days and months that it names")
    }

    pub(super) fn at(mut self, position: usize) -> BadSchedule {
        self.position = Some(position);
        self
    }

    /// Moves a position that was counted from `start` of a longer text.
    pub(super) fn shifted(mut self, start: usize) -> BadSchedule {
        self.position = self.position.map(|at| at + start);
        self
    }

    /// Names the field it was found in, from the inside out.
    pub(super) fn within(mut self, outer: impl Display) -> BadSchedule {
        self.field = match self.field.is_empty() {
            true => outer.to_string(),
            false if self.field.starts_with('[') => format!("{outer}{}", self.field),
            false => format!("{outer}.{}", self.field),
        };
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_field_the_problem_the_place_and_the_way_out() {
        let bad = BadSchedule::new("\"60\" is not a minute", "0–59 are allowed").at(0);
        let bad = bad.within("cron").within("[1]").within("specs").within("when");
        assert_eq!(bad.to_string(), "when.specs[1].cron: \"60\" is not a minute (position 0); 0–59 are allowed");
        assert_eq!(BadSchedule::new("no", "yes").within("a").to_string(), "a: no; yes");
    }
}
