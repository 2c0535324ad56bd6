//! What a seed draws: how large the world is, how long the storm, and what may go wrong in it.

use std::time::Duration;

use mainspring_engine::Settings;

use super::Chance;

#[derive(Clone, Debug)]
pub struct Plan {
    pub nodes: usize,
    pub workers: usize,
    pub clients: usize,
    pub schedules: usize,
    pub storm: Duration,
    /// Whether clocks may be stepped. If not, "silent for so long" can be judged by the world's time.
    pub clocks_are_off: bool,
    /// How long a worker may be silent.
    pub lease: Duration,
    term: Duration,
}

impl Plan {
    pub fn draw(chance: &Chance) -> Plan {
        Plan {
            nodes: chance.between(3, 7) as usize,
            workers: chance.between(6, 24) as usize,
            clients: chance.between(1, 3) as usize,
            schedules: chance.between(1, 4) as usize,
            storm: chance.ms(15_000, 45_000),
            clocks_are_off: chance.percent(40),
            lease: chance.ms(3_000, 8_000),
            term: chance.ms(5_000, 8_000),
        }
    }

    pub fn settings(&self) -> Settings {
        Settings {
            lease_default: self.lease,
            term: self.term,
            claim_wait_max: Duration::from_secs(10),
            gather_calls_max: 4,
            ..Settings::default()
        }
    }
}
