//! What time opens: when the next gate lets somebody in by itself, and behind which queues that was. Hints for those who
//! wait, and the reason to look into a shut lot again.

use std::collections::BTreeSet;

use mainspring_core::gate::{Ask, GateName, Part};
use mainspring_core::name::QueueRef;
use mainspring_core::time::Time;

use super::super::mirror::{Mirror, Queue};
use super::{Gate, GateKey, Gates};

/// Alarms that are looked at for one that somebody waits for. With more, the last of them is told: it may be too early.
const LOOKED_AT_MAX: usize = 64;

/// Opens what time has opened by `now`. To be called before gates are asked, passed or changed, so that no alarm that is
/// due is lost.
pub fn see(mirror: &mut Mirror, now: Time) {
    let Mirror { queues, gates, .. } = mirror;
    if gates.is_idle() {
        return;
    }
    if now < gates.seen_at {
        // Who had expired may not have. What was shut later is shut now, too.
        gates.lots.step_back();
    }
    gates.seen_at = now;
    gates.lots.ring(now);
    while let Some(&(at, key)) = gates.alarms.first()
        && at <= now
    {
        gates.open_lots(key);
        let mut behind = BTreeSet::new();
        gates.add_behind_any(queues, key, &mut behind);
        gates.rung.extend(behind);
        gates.set_alarm(key, now);
    }
    if std::mem::take(&mut gates.is_stale) {
        gates.set_all_alarms(now);
    }
}

/// The queues behind gates that time has opened since the last time this was asked, and when it opens the next one that
/// somebody stands before.
pub fn tell(mirror: &mut Mirror, now: Time) -> (Vec<QueueRef>, Option<Time>) {
    see(mirror, now);
    let Mirror { queues, gates, .. } = mirror;
    let rung = std::mem::take(&mut gates.rung);
    let with_ready = rung.into_iter().filter(|&number| queues[number as usize].has_ready());
    let mut opened: Vec<QueueRef> = with_ready.map(|number| queues[number as usize].name.clone()).collect();
    opened.sort();
    (opened, gates.next_alarm(queues))
}

impl Gates {
    /// Whoever was passed by may come upon this queue again.
    pub fn ring_queue(&mut self, queue: u32) {
        self.rung.insert(queue);
    }

    /// Somebody came who is heavier than all before, and whom gates may let in later than these.
    pub fn note_heaviest(&mut self, weight: u16) {
        self.heaviest = weight;
        self.is_stale = true;
    }

    fn set_all_alarms(&mut self, now: Time) {
        let timed = self.live.iter().filter(|(_, gate)| gate.has_memory() || gate.state.closed_until.is_some());
        timed.map(|(&key, _)| key).collect::<Vec<_>>().into_iter().for_each(|key| self.set_alarm(key, now));
    }

    /// To be called whenever a gate has changed or has let somebody stand: what opens it later is found now, since nobody may
    /// look before then.
    pub(super) fn set_alarm(&mut self, key: GateKey, now: Time) {
        let heaviest = self.heaviest;
        let Some(gate) = self.live.get_mut(&key) else { return };
        let (before, after) = (gate.alarm, gate.opens_next(now, heaviest));
        gate.alarm = after;
        if before != after {
            self.alarms.extend(after.map(|at| (at, key)));
            before.map(|at| self.alarms.remove(&(at, key)));
        }
        self.drop_if_nothing(key);
    }

    fn next_alarm(&self, queues: &[Queue]) -> Option<Time> {
        let is_awaited = |key| {
            let mut behind = BTreeSet::new();
            self.add_behind_any(queues, key, &mut behind);
            !behind.is_empty()
        };
        let mut alarms = self.alarms.iter().enumerate();
        let next = alarms.find(|&(looked_at, &(_, key))| looked_at == LOOKED_AT_MAX || is_awaited(key));
        next.map(|(_, &(at, _))| at)
    }

    /// The queues that may have somebody behind a gate of any kind.
    fn add_behind_any(&self, queues: &[Queue], key: GateKey, behind: &mut BTreeSet<u32>) {
        match self.live.get(&key).and_then(|gate| gate.name.as_ref()).map(|name| &name.gate) {
            Some(GateName::Tenant | GateName::Queue(_)) => {
                let of_gate = |queue: &&Queue| queue.own_gate() == key || queue.tenant_gate() == key;
                let ready = queues.iter().filter(of_gate).filter(|queue| queue.has_ready());
                behind.extend(ready.map(|queue| queue.number));
            }
            _ => self.add_behind_narrow(queues, key, behind),
        }
    }
}

impl Gate {
    /// The next instant at which time alone opens it for somebody whom it does not let in now.
    fn opens_next(&self, now: Time, heaviest: u16) -> Option<Time> {
        if !self.has_memory() && self.state.closed_until.is_none() {
            return None;
        }
        let parts = [Part::Concurrency, Part::Rate].into_iter();
        parts.filter_map(|part| self.opens_next_for(now, heaviest.max(1), part)).min()
    }

    /// Who is heavier is let in later: of all who are held back, the lightest is the next.
    fn opens_next_for(&self, now: Time, heaviest: u16, part: Part) -> Option<Time> {
        let rule = self.rule();
        let is_held = |weight| self.state.opens_at(&rule, Ask { now, weight, part }) != Some(now);
        if !is_held(heaviest) {
            return None;
        }
        let (mut free, mut held) = (0, heaviest);
        while held - free > 1 {
            let middle = free + (held - free) / 2;
            if is_held(middle) { held = middle } else { free = middle }
        }
        self.state.opens_at(&rule, Ask { now, weight: held, part })
    }
}
