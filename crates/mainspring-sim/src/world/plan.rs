//! What a seed draws: how large the world is, how long the storm, and what may go wrong in it.

use std::time::Duration;

use mainspring_engine::Settings;

use super::Chance;
use crate::checkers::Poisoned;
use crate::workload;

const DAY: Duration = Duration::from_secs(24 * 3600);

#[derive(Clone, Debug)]
pub struct Plan {
    pub nodes: usize,
    /// So many of the nodes join when the storm is under way.
    pub late_nodes: usize,
    pub workers: usize,
    pub clients: usize,
    pub schedules: usize,
    pub storm: Duration,
    /// Whether clocks may be stepped. If not, "silent for so long" can be judged by the world's time.
    pub clocks_are_off: bool,
    /// How long a worker may be silent.
    pub lease: Duration,
    /// Limits that are set at the beginning; operators set more, and clear some.
    pub limits: usize,
    /// Where everything goes wrong.
    pub poisoned: Poisoned,
    /// How long Succeeded and Cancelled jobs, Dead ones, and ledger rows are kept.
    retention: [Duration; 3],
    term: Duration,
}

impl Plan {
    pub fn draw(chance: &Chance) -> Plan {
        let nodes = chance.between(3, 7) as usize;
        let forgets = chance.percent(60);
        let kept = |first, last, else_kept| if forgets { chance.ms(first, last) } else { else_kept };
        Plan {
            nodes,
            late_nodes: if chance.percent(40) { chance.between(1, nodes as u64 - 2) as usize } else { 0 },
            workers: chance.between(6, 30) as usize,
            clients: chance.between(1, 3) as usize,
            schedules: chance.between(1, 4) as usize,
            storm: chance.ms(12_000, 35_000),
            clocks_are_off: chance.percent(40),
            lease: chance.ms(3_000, 8_000),
            limits: if chance.percent(70) { chance.between(1, 5) as usize } else { 0 },
            poisoned: workload::poisoned(chance),
            retention: [kept(1_000, 20_000, DAY), kept(3_000, 40_000, 30 * DAY), kept(5_000, 60_000, 90 * DAY)],
            term: chance.ms(5_000, 8_000),
        }
    }

    pub fn settings(&self) -> Settings {
        let [retention, dead_retention, ledger_retention] = self.retention;
        Settings {
            lease_default: self.lease,
            term: self.term,
            retention,
            dead_retention,
            ledger_retention,
            claim_wait_max: Duration::from_secs(10),
            gather_calls_max: 4,
            ..Settings::default()
        }
    }
}
