//! What a store finds wrong with itself and with whatever it lives in. Mends nothing: a finding tells a person what to do.

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It was looked at, and nothing is wrong.
    Ok,
    /// Worth knowing; nothing has to be done.
    Notice,
    /// It will hurt if it stays.
    Warning,
    /// It hurts now, or a promise does not hold.
    Critical,
}

impl Severity {
    pub const ALL: [Severity; 4] = [Severity::Ok, Severity::Notice, Severity::Warning, Severity::Critical];

    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Ok => "ok",
            Severity::Notice => "notice",
            Severity::Warning => "warning",
            Severity::Critical => "critical",
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ailment {
    /// What is looked at, in snake_case: the same name whether it is well or not.
    pub name: &'static str,
    pub severity: Severity,
    /// What is wrong, or what was found to be well.
    pub what: String,
    /// Where that is.
    pub place: String,
    /// What to do about it; empty if nothing is to be done.
    pub remedy: String,
}

impl Ailment {
    /// Nothing is wrong with it.
    pub fn well(name: &'static str, what: impl Into<String>, place: impl Into<String>) -> Ailment {
        Ailment { name, severity: Severity::Ok, what: what.into(), place: place.into(), remedy: String::new() }
    }
}
