//! The time zone of this machine: cron goes by it, while a schedule that says nothing goes by UTC.

use std::path::Path;

/// As the environment, the link or the file says; `None` if none does.
pub fn of_this_machine() -> Option<String> {
    let variable = std::env::var("TZ").ok().map(|zone| zone.trim_start_matches(':').to_owned());
    let link = std::fs::read_link("/etc/localtime").ok().and_then(|link| of_link(&link));
    let file = || std::fs::read_to_string("/etc/timezone").ok().map(|text| text.trim().to_owned());
    variable
        .filter(|zone| !zone.is_empty() && !zone.starts_with('/'))
        .or(link)
        .or_else(file)
        .filter(|zone| !zone.is_empty())
}

fn of_link(link: &Path) -> Option<String> {
    let (_, zone) = link.to_str()?.rsplit_once("/zoneinfo/")?;
    Some(zone.trim_start_matches("posix/").trim_start_matches("right/").to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_zone_is_behind_the_link() {
        let zone = |link: &str| of_link(Path::new(link));
        assert_eq!(zone("/usr/share/zoneinfo/Europe/Berlin").as_deref(), Some("Europe/Berlin"));
        assert_eq!(zone("../usr/share/zoneinfo/posix/Etc/UTC").as_deref(), Some("Etc/UTC"));
        assert_eq!(zone("/etc/somewhere"), None);
    }
}
