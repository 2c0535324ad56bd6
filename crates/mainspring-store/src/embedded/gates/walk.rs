//! Who can go: the merge of lanes and lots that a claim walks, best rank first, and the questions to the gates on the way.
//! Writes nothing: whoever is held back by another gate than the one it stands before is put there when the walk is over.
//!
//! What the walk owes (the memory store says it in full): a gate that did not let somebody in is shut for the rest of the request; a
//! job asks the gate it stands before first; behind a queue or a tenant that is shut, nobody is asked. A lot that is
//! known to be shut is not walked; it counts as having shut its gate from the rank of its front on.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use heed::types::Bytes;
use heed::{RoPrefix, RoTxn};
use mainspring_core::gate::{Ask, Entry, Part};
use mainspring_core::rank::{Priority, Rank};
use mainspring_core::store::Result;
use mainspring_core::time::Time;

use super::super::mirror::Queue;
use super::super::rows::{self, Slip};
use super::super::storage;
use super::super::tables::{self, Tables};
use super::lots::{Shut, Spot};
use super::pass::passes;
use super::{GateKey, Gates};

/// Jobs that one claim request puts elsewhere. A claim that comes upon more answers with what it has.
pub const PARK_STEP_MAX: usize = 1_000;

/// A ready job, and where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    pub spot: Spot,
    /// The gate whose lot it is in; none if it is in its lane.
    pub lot: Option<u64>,
    pub slip: Slip,
}

/// What one claim request has come to know and to do.
pub struct Request<'t> {
    pub txn: &'t RoTxn<'t, heed::WithoutTls>,
    pub tables: &'t Tables,
    pub queues: &'t [Queue],
    pub gates: &'t mut Gates,
    pub now: Time,
    shut: BTreeSet<GateKey>,
    /// Tenants some of whose gates may have been shut since this was last looked at, by number.
    pub held_back: BTreeSet<u32>,
    /// The line that each asked queue is in.
    lines: BTreeMap<u32, usize>,
    /// How far each line was walked.
    reached: Vec<Reached>,
    /// Queues that are shut were walked up to there.
    shut_queues: BTreeMap<u32, Rank>,
    /// Who goes to which lot when the walk is over.
    pub moved: Vec<(Head, u64)>,
    /// Lanes that turned out to be empty.
    pub empty: Vec<(u32, Priority)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reached {
    Nobody,
    Rank(Rank),
    /// All of it.
    End,
}

/// What became of asking for a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    CanGo,
    /// It stays, and those behind it in its lane or lot have to be asked.
    Stays,
    /// It stays, and so does everybody behind it in its lot, or in its lane.
    AllStay,
    /// Too many were put elsewhere: the request is over.
    Enough,
}

impl<'t> Request<'t> {
    pub fn new(
        (txn, tables): (&'t RoTxn<'t, heed::WithoutTls>, &'t Tables),
        queues: &'t [Queue],
        gates: &'t mut Gates,
        now: Time,
    ) -> Request<'t> {
        Request {
            txn,
            tables,
            queues,
            gates,
            now,
            shut: BTreeSet::new(),
            held_back: BTreeSet::new(),
            lines: BTreeMap::new(),
            reached: Vec::new(),
            shut_queues: BTreeMap::new(),
            moved: Vec::new(),
            empty: Vec::new(),
        }
    }

    /// Whether the best of a line can go. If not, the first gate that does not let it in is shut from now on.
    pub fn ask(&mut self, line: &Line<'t>, rank: Rank, head: &Head) -> Result<Asked> {
        if self.gates.is_idle() {
            return Ok(Asked::CanGo);
        }
        let queue = &self.queues[head.slip.queue as usize];
        if self.is_queue_shut(head.slip.queue) {
            return Ok(Asked::AllStay);
        }
        self.reach(line, queue.tenant, Reached::Rank(rank));
        self.gates.know_all(self.txn, self.tables, queue, (head.spot.id, &head.slip))?;
        let stands = head.lot.map(|hash| queue.gate(hash));
        let first = passes(queue, &head.slip).filter(|(key, _)| Some(*key) == stands);
        let others = passes(queue, &head.slip).filter(|(key, _)| Some(*key) != stands);
        let weight = head.slip.ways.weight;
        let found = first.chain(others).find(|&(key, part)| self.is_shut(key, Ask { now: self.now, weight, part }));
        let Some((key, part)) = found else { return Ok(Asked::CanGo) };
        let is_first = self.shut.insert(key);
        if is_first {
            self.held_back.insert(key.tenant);
        }
        if Some(key) == stands {
            // Later ones are not asked, and so may not be the front of their lot.
            if is_first {
                self.shut_lot(key, part, rank, head);
            }
            return Ok(Asked::AllStay);
        }
        if key == queue.tenant_gate() || key == queue.own_gate() {
            self.shut_queues.insert(head.slip.queue, rank);
            return Ok(Asked::AllStay);
        }
        Ok(self.put_elsewhere(head, key.hash))
    }

    /// Past the bound, a lot is left as it is for this request, so that others can go; a lane ends it. Whoever waits is told
    /// to ask again.
    fn put_elsewhere(&mut self, head: &Head, hash: u64) -> Asked {
        if self.moved.len() < PARK_STEP_MAX {
            self.moved.push((*head, hash));
            return Asked::Stays;
        }
        self.gates.ring_queue(head.slip.queue);
        if head.lot.is_some() { Asked::AllStay } else { Asked::Enough }
    }

    /// Keeps a lot out of the next claims. Not if its gate would have let it in, were it not shut for the request.
    fn shut_lot(&mut self, key: GateKey, part: Part, front: Rank, head: &Head) {
        let gate = self.gates.gate(key);
        let ask = Ask { now: self.now, weight: head.slip.ways.weight, part };
        if gate.state.entry(&gate.rule(), ask) != Entry::Open {
            let shut = Shut { front, expires_at: head.slip.expires_at() };
            self.gates.lots.shut((head.slip.queue, key.hash), shut);
            // It may have been open at a later `now`, and its alarm may have rung.
            self.gates.set_alarm(key, self.now);
        }
    }

    fn is_shut(&self, key: GateKey, ask: Ask) -> bool {
        if self.shut.contains(&key) {
            return true;
        }
        let Some(gate) = self.gates.live.get(&key) else { return false };
        gate.state.entry(&gate.rule(), ask) != Entry::Open || self.is_shut_by_lot(key, &gate.lots)
    }

    /// Whether somebody stands before it whom it does not let in, and whom the walk has passed.
    fn is_shut_by_lot(&self, key: GateKey, lots: &BTreeSet<u32>) -> bool {
        lots.iter().any(|&queue| {
            let (Some(&line), Some(front)) = (self.lines.get(&queue), self.gates.lots.front((queue, key.hash))) else {
                return false;
            };
            let is_before_end = match self.reached[line] {
                Reached::Nobody => false,
                Reached::Rank(rank) => front < rank,
                Reached::End => true,
            };
            is_before_end && self.shut_queues.get(&queue).is_none_or(|&shut_at| front < shut_at)
        })
    }

    fn is_queue_shut(&self, number: u32) -> bool {
        let queue = &self.queues[number as usize];
        self.shut.contains(&queue.tenant_gate()) || self.shut.contains(&queue.own_gate())
    }

    /// Counts a job that can go into its gates.
    pub fn enter(&mut self, head: &Head) {
        if !self.gates.is_idle() {
            self.gates.enter(&self.queues[head.slip.queue as usize], &head.slip, self.now);
        }
    }

    /// A line was walked up to there, past the fronts of lots that keep their gates shut.
    fn reach(&mut self, line: &Line<'t>, tenant: u32, reached: Reached) {
        if self.reached[line.number] != reached {
            self.reached[line.number] = reached;
            self.held_back.insert(tenant);
        }
    }
}

/// The ready jobs of some queues in the order of their ranks.
pub struct Line<'t> {
    number: usize,
    /// Whose all of them are.
    tenant: Option<u32>,
    sources: Vec<Source<'t>>,
    order: BinaryHeap<Reverse<(Rank, Next)>>,
    /// Where the head came from that was given last.
    current: Option<usize>,
}

/// Where the next one comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    Source(usize),
    /// A lot of this queue that was not looked into yet.
    Lot(u32, u64),
}

/// A lane of a queue or of a lot.
struct Source<'t> {
    rows: RoPrefix<'t, Bytes, Bytes>,
    queue: u32,
    lot: Option<u64>,
    head: Option<Head>,
}

impl<'t> Line<'t> {
    pub fn new(request: &mut Request<'t>, queues: &[u32]) -> Result<Line<'t>> {
        let number = request.reached.len();
        request.reached.push(Reached::Nobody);
        let tenant = queues.first().map(|&number| request.queues[number as usize].tenant);
        let mut line = Line { number, tenant, sources: Vec::new(), order: BinaryHeap::new(), current: None };
        for &number in queues {
            request.lines.insert(number, line.number);
            let queue = &request.queues[number as usize];
            for &lane in &queue.lanes {
                let prefix = tables::lane_prefix(number, lane);
                let rows = request.tables.ready.prefix_iter(request.txn, &prefix).map_err(storage)?;
                if !line.add(request, rows, number, None)? {
                    request.empty.push((number, lane));
                }
            }
            line.add_next_lot(request, number, None);
        }
        Ok(line)
    }

    /// The best one that is left and not past its expiry: such a one waits for the reclaim that cancels it.
    pub fn next(&mut self, request: &mut Request<'t>) -> Result<Option<(Rank, Head)>> {
        loop {
            if let Some(current) = self.current.take() {
                self.advance(request, current)?;
            }
            let Some(Reverse((rank, next))) = self.order.pop() else { return Ok(None) };
            match next {
                Next::Lot(queue, _) if request.is_queue_shut(queue) => {}
                Next::Lot(queue, hash) => {
                    self.look_into(request, queue, hash)?;
                    self.add_next_lot(request, queue, Some((rank, hash)));
                }
                Next::Source(at) => {
                    self.current = Some(at);
                    let head = self.sources[at].head.take().expect("a source in the order has a head");
                    if !head.slip.is_expired(request.now) {
                        return Ok(Some((rank, head)));
                    }
                }
            }
        }
    }

    /// Nobody else comes from where the last one came from.
    pub fn drop_source(&mut self) {
        self.current = None;
    }

    fn add_next_lot(&mut self, request: &Request<'t>, queue: u32, after: Option<(Rank, u64)>) {
        if let Some((rank, hash)) = request.gates.lots.next_open(queue, after) {
            self.order.push(Reverse((rank, Next::Lot(queue, hash))));
        }
    }

    fn look_into(&mut self, request: &mut Request<'t>, queue: u32, hash: u64) -> Result<()> {
        if request.shut.contains(&request.queues[queue as usize].gate(hash)) {
            return Ok(());
        }
        for lane in request.gates.lots.lanes((queue, hash)) {
            let prefix = tables::lot_prefix(queue, hash, lane);
            let rows = request.tables.lots.prefix_iter(request.txn, &prefix).map_err(storage)?;
            self.add(request, rows, queue, Some(hash))?;
        }
        Ok(())
    }

    /// Whether there is anybody.
    fn add(
        &mut self,
        request: &mut Request<'t>,
        rows: RoPrefix<'t, Bytes, Bytes>,
        queue: u32,
        lot: Option<u64>,
    ) -> Result<bool> {
        self.sources.push(Source { rows, queue, lot, head: None });
        self.advance(request, self.sources.len() - 1)
    }

    fn advance(&mut self, request: &mut Request<'t>, at: usize) -> Result<bool> {
        let source = &mut self.sources[at];
        let Some(row) = source.rows.next() else { return Ok(false) };
        #[cfg(test)]
        {
            request.gates.looked_at += 1;
        }
        let (key, bytes) = row.map_err(storage)?;
        let spot = match source.lot {
            None => {
                let (_, lane, ready_at, id) = tables::read_ready(key);
                Spot { lane, ready_at, id }
            }
            Some(_) => tables::read_lot(key).1,
        };
        let head = Head { spot, lot: source.lot, slip: rows::decode("ready", bytes)? };
        let aging = request.queues[source.queue as usize].aging;
        source.head = Some(head);
        self.order.push(Reverse((Rank::new(spot.lane, spot.ready_at, aging, spot.id), Next::Source(at))));
        Ok(true)
    }
}

/// The best of a line that can go, which comes to stand at its head.
pub fn next_to_go<'t>(request: &mut Request<'t>, line: &mut Line<'t>) -> Result<Option<(Rank, Head)>> {
    while let Some((rank, head)) = line.next(request)? {
        match request.ask(line, rank, &head)? {
            Asked::CanGo => return Ok(Some((rank, head))),
            Asked::Stays => {}
            Asked::AllStay => line.drop_source(),
            Asked::Enough => return Ok(None),
        }
    }
    if let Some(tenant) = line.tenant {
        request.reach(line, tenant, Reached::End);
    }
    Ok(None)
}

/// The best `max` of a line that can go, best first; they have entered their gates.
pub fn take<'t>(request: &mut Request<'t>, line: &mut Line<'t>, max: usize) -> Result<Vec<Head>> {
    let mut heads = Vec::new();
    while heads.len() < max
        && let Some((_, head)) = next_to_go(request, line)?
    {
        request.enter(&head);
        heads.push(head);
    }
    Ok(heads)
}
