//! Time zones by name, from the IANA database that is compiled into the binary, so that all nodes agree. Never asks the
//! machine.

use std::sync::OnceLock;

use jiff::tz::{TimeZone, TimeZoneDatabase};

use super::bad::BadSchedule;

pub(super) fn find(name: &str) -> Result<TimeZone, BadSchedule> {
    if let Ok(zone) = database().get(name) {
        return Ok(zone);
    }
    let advice = match nearest(name) {
        Some(near) => format!("did you mean {near}?"),
        None => "write an IANA name, as Europe/Berlin".into(),
    };
    Err(BadSchedule::new(format!("{name:?} is not a time zone"), advice))
}

/// Every zone there is, by name.
pub fn zones() -> Vec<String> {
    database().available().map(|name| name.to_string()).collect()
}

fn database() -> &'static TimeZoneDatabase {
    static DATABASE: OnceLock<TimeZoneDatabase> = OnceLock::new();
    DATABASE.get_or_init(TimeZoneDatabase::bundled)
}

/// A zone whose city is the word that was written, or that differs from it by a letter or two.
fn nearest(name: &str) -> Option<String> {
    const NAME_MAX: usize = 64;
    if name.len() > NAME_MAX {
        return None;
    }
    let wanted = name.to_ascii_lowercase().replace(' ', "_");
    let distance = |zone: &String| {
        let zone = zone.to_ascii_lowercase();
        let city = zone.rsplit('/').next().unwrap_or(&zone);
        edits(&wanted, &zone).min(edits(&wanted, city))
    };
    zones()
        .into_iter()
        .map(|zone| (distance(&zone), zone))
        .filter(|(distance, _)| *distance <= 2)
        .min()
        .map(|(_, zone)| zone)
}

/// How many letters must be put in, taken out or changed.
fn edits(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.chars().enumerate() {
        let mut corner = row[0];
        row[0] = at + 1;
        for (column, &against) in other.iter().enumerate() {
            let changed = corner + usize::from(letter != against);
            corner = row[column + 1];
            row[column + 1] = changed.min(row[column] + 1).min(corner + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_zone_names_the_one_that_was_meant() {
        let check = |name: &str, expected: &str| assert_eq!(find(name).unwrap_err().advice, expected, "{name}");
        check("Europe/Berln", "did you mean Europe/Berlin?");
        check("berlin", "did you mean Europe/Berlin?");
        check("New York", "did you mean America/New_York?");
        check("Middle-earth/Shire", "write an IANA name, as Europe/Berlin");
        check(&"x".repeat(100_000), "write an IANA name, as Europe/Berlin");
        assert!(find("Europe/Berlin").is_ok() && find("europe/berlin").is_ok() && find("UTC").is_ok());
        assert!(zones().len() > 400);
    }
}
