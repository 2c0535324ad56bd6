//! What a doctor found, as it is shown.

use mainspring_core::store::{Ailment, Severity};
use mainspring_engine::Diagnosis;
use mainspring_wire as wire;

use crate::convert::stamp;

pub(crate) fn doctor(diagnosis: Diagnosis) -> wire::Doctor {
    let worst = severity(diagnosis.severity());
    let findings = diagnosis.findings.into_iter().map(finding).collect();
    wire::Doctor { now: stamp(diagnosis.now), severity: worst, findings }
}

fn finding(found: Ailment) -> wire::Finding {
    let Ailment { name, severity: how, what, place, remedy } = found;
    wire::Finding { name: name.to_owned(), severity: severity(how), what, place, remedy }
}

fn severity(severity: Severity) -> wire::Severity {
    match severity {
        Severity::Ok => wire::Severity::Ok,
        Severity::Notice => wire::Severity::Notice,
        Severity::Warning => wire::Severity::Warning,
        Severity::Critical => wire::Severity::Critical,
    }
}
