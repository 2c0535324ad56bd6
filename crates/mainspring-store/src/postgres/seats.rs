//! Seats of nodes that share a database. Assigns nothing.
//!
//! Isolation: READ COMMITTED. Whoever writes in the name of a seat holds an advisory lock in common until the write is done
//! ([`super::warrant`]); whoever takes a seat, which may change its epoch, holds it alone. So an epoch does not change
//! under a write, and renewals, which change no epoch, wait for nobody.

use std::collections::BTreeMap;

use async_trait::async_trait;
use mainspring_core::id::NodeId;
use mainspring_core::limits;
use mainspring_core::seats::{Assign, Assigned, NodeInfo, NodeView, Roles, Roll, Seat, Seats, Term};
use mainspring_core::segment::Segment;
use mainspring_core::store::Error;
use mainspring_core::time::Time;
use tokio_postgres::Row;

use super::error::{Fault, Result, damaged};
use super::numbers::{ms, time};
use super::pipeline::{Step, ask, pipeline};
use super::pool::{Pool, Transaction, transact};
use super::warrant::{SEATS_LOCK, number, seat, stands};

/// Nodes and terms in tables, one row each.
#[derive(Clone, Debug)]
pub struct PostgresSeats {
    pool: Pool,
}

impl PostgresSeats {
    pub(super) fn new(pool: Pool) -> PostgresSeats {
        PostgresSeats { pool }
    }
}

#[async_trait]
impl Seats for PostgresSeats {
    async fn renew(&self, now: Time, node: NodeInfo, until: Time) -> Result<Roll> {
        let (id, now, until) = (node.id.0, ms(now), ms(until));
        let roll = transact!(self.pool, |txn| {
            let room = &ask(&txn, include_str!("sql/nodes_room.sql"), &[&id]).await?[0];
            let (others, known): (i64, bool) = (room.get(0), room.get(1));
            if !known && others >= limits::NODES_MAX as i64 {
                Err(too_many(others))?;
            }
            put(&txn, &node, now, until).await?;
            ask(&txn, include_str!("sql/seats_renew.sql"), &[&id, &until]).await?;
            roll(&txn).await?
        });
        Ok(roll)
    }

    async fn take(&self, now: Time, node: NodeId, seats: Vec<Seat>, until: Time) -> Result<Vec<Term>> {
        let mut numbers: Vec<i16> = seats.iter().copied().map(number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let (now, until) = (ms(now), ms(until));
        let rows = transact!(self.pool, |txn| {
            let steps = [
                Step::new(include_str!("sql/seats_lock_alone.sql"), vec![&SEATS_LOCK]),
                Step::new(include_str!("sql/seats_take.sql"), vec![&now, &node.0, &numbers, &until]),
                Step::new(include_str!("sql/seats.sql"), Vec::new()),
            ];
            pipeline(&txn, &steps).await?.remove(2)
        });
        let terms = rows.iter().map(term).collect::<Result<Vec<Term>>>()?;
        let terms: BTreeMap<Seat, Term> = terms.into_iter().map(|term| (term.seat, term)).collect();
        let taken = |seat| terms.get(seat).copied().ok_or_else(|| damaged("no row for a seat that was taken"));
        seats.iter().map(taken).collect()
    }

    async fn give_up(&self, _: Time, node: NodeId, seats: Vec<Seat>) -> Result<()> {
        let numbers: Vec<i16> = seats.into_iter().map(number).collect();
        transact!(self.pool, |txn| {
            ask(&txn, include_str!("sql/seats_give_up.sql"), &[&node.0, &numbers]).await?;
        });
        Ok(())
    }

    async fn assign(&self, _: Time, assign: Assign) -> Result<Assigned> {
        let (segments, nodes): (Vec<i16>, Vec<uuid::Uuid>) =
            assign.to.iter().map(|(segment, node)| (i16::from(segment.index()), node.0)).unzip();
        let before = ms(assign.forget_before);
        let stands = transact!(self.pool, |txn| {
            let stands = stands(&txn, Some(assign.warrant)).await?;
            if stands {
                let steps = [
                    Step::new(include_str!("sql/seats_assign.sql"), vec![&segments, &nodes]),
                    Step::new(include_str!("sql/nodes_forget.sql"), vec![&before]),
                ];
                pipeline(&txn, &steps).await?;
            }
            stands
        });
        Ok(if stands { Assigned::Done } else { Assigned::Deposed })
    }

    async fn leave(&self, _: Time, node: NodeId) -> Result<()> {
        transact!(self.pool, |txn| {
            let steps = [
                Step::new(include_str!("sql/seats_leave.sql"), vec![&node.0]),
                Step::new(include_str!("sql/nodes_leave.sql"), vec![&node.0]),
            ];
            pipeline(&txn, &steps).await?;
        });
        Ok(())
    }

    async fn roll(&self) -> Result<Roll> {
        let roll = transact!(self.pool, |txn| roll(&txn).await?);
        Ok(roll)
    }

    async fn clock(&self) -> Result<Option<Time>> {
        let rows = transact!(self.pool, |txn| ask(&txn, include_str!("sql/clock.sql"), &[]).await?);
        Ok(rows.first().map(|row| time(row.get(0))))
    }
}

fn too_many(nodes: i64) -> Error {
    Error::Invalid(format!(
        "there are {nodes} nodes, which is the limit (NODES_MAX); stop some, or wait until those that are gone are forgotten"
    ))
}

async fn put(txn: &Transaction<'_>, node: &NodeInfo, seen_at: i64, until: i64) -> Result<(), Fault> {
    let (roles, protocol) = (i16::from(node.roles.bits()), i64::from(node.protocol) as i32);
    let (segments, shards, started_at) = (i16::from(node.segments), node.shards as i64, ms(node.started_at));
    let (id, address, version) = (&node.id.0, &node.address, &node.version);
    ask(
        txn,
        include_str!("sql/nodes_put.sql"),
        &[
            id,
            address,
            &roles,
            version,
            &protocol,
            &segments,
            &shards,
            &started_at,
            &node.skew_ms,
            &node.willing,
            &seen_at,
            &until,
        ],
    )
    .await?;
    Ok(())
}

async fn roll(txn: &Transaction<'_>) -> Result<Roll, Fault> {
    let steps = [
        Step::new(include_str!("sql/nodes.sql"), Vec::new()),
        Step::new(include_str!("sql/seats.sql"), Vec::new()),
        Step::new(include_str!("sql/assigned.sql"), Vec::new()),
    ];
    let found = pipeline(txn, &steps).await?;
    let assigned = |row: &Row| Ok((segment(row.get(0))?, NodeId(row.get(1))));
    Ok(Roll {
        nodes: found[0].iter().map(node).collect(),
        terms: found[1].iter().map(term).collect::<Result<_>>()?,
        assigned: found[2].iter().map(assigned).collect::<Result<_>>()?,
    })
}

fn node(row: &Row) -> NodeView {
    let info = NodeInfo {
        id: NodeId(row.get(0)),
        address: row.get(1),
        roles: Roles::from_bits(row.get::<_, i16>(2) as u8),
        version: row.get(3),
        protocol: row.get::<_, i32>(4) as u32,
        segments: row.get::<_, i16>(5) as u8,
        shards: row.get::<_, i64>(6) as u64,
        started_at: time(row.get(7)),
        skew_ms: row.get(8),
        willing: row.get(9),
    };
    NodeView { info, seen_at: time(row.get(10)), until: time(row.get(11)) }
}

fn segment(index: i16) -> Result<Segment> {
    let known = u8::try_from(index).ok().and_then(Segment::new);
    known.ok_or_else(|| damaged(format!("a segment numbered {index}")))
}

fn term(row: &Row) -> Result<Term> {
    Ok(Term {
        seat: seat(row.get(0))?,
        holder: NodeId(row.get(1)),
        epoch: row.get::<_, i64>(2) as u64,
        until: time(row.get(3)),
    })
}
