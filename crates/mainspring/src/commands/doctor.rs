//! `mainspring doctor`: what is wrong with a server, where, and what to do. Mends nothing.

use clap::Args;
use comfy_table::Table;
use mainspring_wire::{Doctor, Severity};
use mainspring_worker::Client;

use crate::exit::Ailing;
use crate::output::{Format, table};

#[derive(Args, Debug)]
pub struct DoctorArgs {
    /// Also show what was found to be well
    #[arg(long)]
    all: bool,
}

impl DoctorArgs {
    pub async fn run(self, client: &Client, format: Format) -> anyhow::Result<()> {
        let found = client.doctor().await?;
        format.print(&found, |found| findings(found, self.all))?;
        if format == Format::Table {
            eprintln!("{}", summary(&found));
        }
        if found.severity > Severity::Notice { Err(Ailing.into()) } else { Ok(()) }
    }
}

fn findings(found: &Doctor, all: bool) -> Table {
    let mut rows = table(["SEVERITY", "NAME", "WHAT", "WHERE", "DO"]);
    for finding in found.findings.iter().filter(|finding| all || finding.severity > Severity::Ok) {
        let remedy = if finding.remedy.is_empty() { "-" } else { &finding.remedy };
        rows.add_row([finding.severity.as_str(), &finding.name, &finding.what, &finding.place, remedy]);
    }
    rows
}

/// How much was looked at, and what came of it.
fn summary(found: &Doctor) -> String {
    let count = |severity| found.findings.iter().filter(|finding| finding.severity == severity).count();
    let bad: Vec<String> = [Severity::Critical, Severity::Warning, Severity::Notice]
        .into_iter()
        .filter(|severity| count(*severity) > 0)
        .map(|severity| format!("{} {}", count(severity), severity.as_str()))
        .collect();
    let looked = found.findings.len();
    match bad.is_empty() {
        true => format!("{looked} things were looked at, and all are well"),
        false => format!("{looked} things were looked at: {}, {} ok", bad.join(", "), count(Severity::Ok)),
    }
}

#[cfg(test)]
mod tests {
    use mainspring_wire::{Finding, Timestamp};

    use super::*;

    fn finding(severity: Severity, name: &str, remedy: &str) -> Finding {
        Finding { name: name.into(), severity, what: "w".into(), place: "p".into(), remedy: remedy.into() }
    }

    #[test]
    fn what_is_wrong_is_shown_and_the_rest_is_counted() {
        let critical = finding(Severity::Critical, "leader", "start a node");
        let findings_of =
            |found| Doctor { now: Timestamp::from_millis(0), severity: Severity::Critical, findings: found };
        let found = findings_of(vec![critical, finding(Severity::Ok, "versions", "")]);
        let shown = findings(&found, false).to_string();
        assert!(shown.contains("start a node") && !shown.contains("versions"), "{shown}");
        assert!(findings(&found, true).to_string().contains("versions"));
        assert_eq!(summary(&found), "2 things were looked at: 1 critical, 1 ok");
        let well = findings_of(vec![finding(Severity::Ok, "versions", "")]);
        assert_eq!(summary(&well), "1 things were looked at, and all are well");
    }
}
