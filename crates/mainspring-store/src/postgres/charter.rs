//! Which of how many databases this one is, and of which set: written down when it is first opened, and never changed once
//! something hangs on it. Refuses what does not fit, and says what to do. Moves nothing.
//!
//! Two nodes that open fresh databases at once agree: whoever has the lock of the first database names the set, and the
//! other finds it named.

use mainspring_core::placement::Placement;
use mainspring_core::segment::Segment;
use tokio_postgres::Client;
use uuid::Uuid;

use super::error::said;
use super::open::OpenError;

/// Held while a database is told which it is.
const LOCK: i64 = 0x6d61_696e_6465_616c;

/// What a database was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Deal {
    shard: i32,
    shards: i32,
    cluster: Uuid,
}

/// What a database says of itself.
#[derive(Debug)]
struct Charter {
    /// `None` if it was never opened.
    deal: Option<Deal>,
    in_use: bool,
    /// The same for two addresses that lead to one database.
    whereabouts: String,
}

impl Charter {
    /// Which of how many it is. One that was never opened and is in use has been given jobs by SQL, as a database of its own.
    fn stands(&self) -> (i32, i32) {
        self.deal.map_or((0, 1), |deal| (deal.shard, deal.shards))
    }
}

/// A database on its way to being opened.
pub(super) struct Candidate {
    pub client: Client,
    pub place: String,
}

/// Makes sure that these are the databases of one set, in this order, or makes them one. Answers the set's name.
pub(super) async fn agree(candidates: &[Candidate]) -> Result<Uuid, OpenError> {
    let placement = Placement::new(candidates.len()).ok_or(OpenError::TooMany { asked: candidates.len() })?;
    let shards = placement.count() as i32;
    // Looked at first, so that nothing is written anywhere if one of them is refused.
    let mut charters: Vec<Charter> = Vec::new();
    for (shard, candidate) in (0..).zip(candidates) {
        let charter = read(candidate).await?;
        if let Some(before) = charters.iter().position(|before| before.whereabouts == charter.whereabouts) {
            let place = candidate.place.clone();
            return Err(OpenError::Twice { place, first: before + 1, second: charters.len() + 1 });
        }
        if charter.in_use && charter.stands() != (shard, shards) {
            return Err(refused(candidate, charter.stands(), (shard, shards)));
        }
        charters.push(charter);
    }
    // The set is named by those that can no longer be renamed, or else by the first.
    let mut cluster = charters.iter().filter(|charter| charter.in_use).find_map(|charter| Some(charter.deal?.cluster));
    for (shard, candidate) in (0..).zip(candidates) {
        let dealt = deal(candidate, (shard, shards), cluster).await?;
        if cluster.is_some_and(|cluster| cluster != dealt.cluster) {
            return Err(OpenError::OtherSet { place: candidate.place.clone(), number: shard + 1 });
        }
        cluster = Some(dealt.cluster);
    }
    Ok(cluster.expect("there is at least one"))
}

/// Tells a database which it is, if nothing hangs on what it was; what it is after that.
async fn deal(candidate: &Candidate, asked: (i32, i32), cluster: Option<Uuid>) -> Result<Deal, OpenError> {
    let unreachable = |error| OpenError::Unreachable { place: candidate.place.clone(), why: said(&error) };
    candidate.client.query("SELECT pg_advisory_lock($1)", &[&LOCK]).await.map_err(unreachable)?;
    let dealt = deal_locked(candidate, asked, cluster).await;
    // Whatever came of it; a connection that is lost has given it back already.
    candidate.client.query("SELECT pg_advisory_unlock($1)", &[&LOCK]).await.ok();
    dealt
}

async fn deal_locked(candidate: &Candidate, asked: (i32, i32), cluster: Option<Uuid>) -> Result<Deal, OpenError> {
    let unreachable = |error| OpenError::Unreachable { place: candidate.place.clone(), why: said(&error) };
    let charter = read(candidate).await?;
    if charter.in_use && charter.stands() != asked {
        return Err(refused(candidate, charter.stands(), asked));
    }
    if let Some(deal) = charter.deal.filter(|_| charter.in_use) {
        return Ok(deal);
    }
    let sql = include_str!("sql/charter_deal.sql");
    candidate.client.execute(sql, &[&asked.0, &asked.1, &cluster]).await.map_err(unreachable)?;
    Ok(read(candidate).await?.deal.expect("it has just been told"))
}

async fn read(candidate: &Candidate) -> Result<Charter, OpenError> {
    let place = &candidate.place;
    let unreachable = |error| OpenError::Unreachable { place: place.clone(), why: said(&error) };
    let row = candidate.client.query_one(include_str!("sql/charter.sql"), &[]).await.map_err(unreachable)?;
    let found: i16 = row.get(0);
    if found != i16::from(Segment::COUNT) {
        return Err(OpenError::Segments { place: place.clone(), found });
    }
    let (shard, shards, cluster): (Option<i32>, Option<i32>, Option<Uuid>) = (row.get(1), row.get(2), row.get(3));
    let deal = shard.zip(shards).zip(cluster).map(|((shard, shards), cluster)| Deal { shard, shards, cluster });
    Ok(Charter { deal, in_use: row.get(4), whereabouts: row.get(5) })
}

fn refused(candidate: &Candidate, was: (i32, i32), asked: (i32, i32)) -> OpenError {
    OpenError::Dealt { place: candidate.place.clone(), was: which(was), asked: which(asked) }
}

fn which((shard, shards): (i32, i32)) -> String {
    if shards == 1 { "a database of its own".into() } else { format!("database {} of {shards}", shard + 1) }
}
