//! What can be wrong with a data directory: no room for more jobs, in the store or on its disk. Frees nothing.

use mainspring_core::store::{Ailment, Result, Severity};

use super::open::{Disk, Room};

/// Full to so many per cent, it is time to do something; jobs are refused at 100.
const NEARLY_FULL_PER_CENT: u64 = 80;
/// A disk with less than so many times what is kept free is nearly full.
const NEARLY_RESERVE_TIMES: u64 = 4;

pub fn ailments(disk: &Disk) -> Result<Vec<Ailment>> {
    let place = disk.dir().display().to_string();
    let room = disk.room()?;
    Ok(vec![store_room(room, &place), disk_room(room, &place)])
}

fn store_room(room: Room, place: &str) -> Ailment {
    let name = "store_size";
    let Room { used, max, .. } = room;
    let per_cent = used.saturating_mul(100) / max.max(1);
    let what = format!("{used} of {max} bytes are used ({per_cent} %)");
    let severity = match per_cent {
        100.. => Severity::Critical,
        NEARLY_FULL_PER_CENT.. => Severity::Warning,
        _ => return Ailment::well(name, what, place),
    };
    let remedy = "raise store.max_size, or shorten jobs.retention; once it is full, submits are refused".into();
    Ailment { name, severity, what, place: place.into(), remedy }
}

fn disk_room(room: Room, place: &str) -> Ailment {
    let name = "disk_space";
    let Room { free, reserve, .. } = room;
    let what = format!("{free} bytes are free on the disk, {reserve} of them are kept for settling");
    let severity = match free {
        free if free < reserve => Severity::Critical,
        free if free < reserve.saturating_mul(NEARLY_RESERVE_TIMES) => Severity::Warning,
        _ => return Ailment::well(name, what, place),
    };
    let remedy = "free some space on this disk, or move the store; below store.reserve, submits are refused".into();
    Ailment { name, severity, what, place: place.into(), remedy }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_that_runs_out_is_told_before_it_is_gone() {
        let check = |room: Room, store: Severity, disk: Severity| {
            let found = [store_room(room, "d"), disk_room(room, "d")];
            assert_eq!(found.clone().map(|it| it.severity), [store, disk], "{found:?}");
            assert!(found.iter().all(|it| it.place == "d" && it.remedy.is_empty() == (it.severity == Severity::Ok)));
        };
        let room = Room { used: 10, max: 100, free: 1_000, reserve: 100 };
        check(room, Severity::Ok, Severity::Ok);
        check(Room { used: 79, free: 400, ..room }, Severity::Ok, Severity::Ok);
        check(Room { used: 80, free: 399, ..room }, Severity::Warning, Severity::Warning);
        check(Room { used: 99, free: 100, ..room }, Severity::Warning, Severity::Warning);
        check(Room { used: 100, free: 99, ..room }, Severity::Critical, Severity::Critical);
        check(Room { max: u64::MAX, reserve: 0, free: 0, ..room }, Severity::Ok, Severity::Ok);
    }
}
