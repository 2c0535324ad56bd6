//! Ends leases with success and hands out the next jobs in one statement, which is how busy workers go on. Both are done as they are done
//! alone: [`super::succeed`], [`super::claim`]; much of both side by side, so that two processors have something to do.
//!
//! Isolation. Read committed. The claim does not see what the settlements changed, and need not: a success makes no job ready by itself,
//! and while there are limits nothing is done here.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use mainspring_core::id::LeaseId;
use mainspring_core::store::{Claim, ClaimAnswer, Settled, SettledAndClaimed, Settlement, settle_then_claim};
use mainspring_core::time::Time;
use mainspring_core::verdict::Verdict;
use tokio_postgres::Row;

use super::Postgres;
use super::claim::{ask_alike, claim, handed_over, wanted};
use super::error::Result;
use super::lend::{TAKE_WITH, Taking};
use super::line::Line;
use super::moves::Moves;
use super::pipeline::ask_at_once;
use super::settle::{asked_of, settle, settle_rest};
use super::succeed::{ANSWER_COLUMNS, SUCCEED_WITH, Successes, settled};

/// The parameters of the settlements, then those of the claim.
static SUCCEED_AND_TAKE: LazyLock<String> = LazyLock::new(|| {
    let take = shifted(TAKE_WITH, Successes::PARAMS);
    format!("WITH {SUCCEED_WITH}, {take}{}", include_str!("sql/succeed_and_take_answer.sql"))
});

pub(super) async fn settle_and_claim(
    store: &Postgres,
    now: Time,
    settlements: Vec<Settlement>,
    claims: Vec<Claim>,
) -> SettledAndClaimed {
    let asked = asked_of(&settlements);
    // What does not succeed may be ready again at once, and limits may let somebody in: the claim has to find it.
    let are_successes = asked.values().all(|verdict| matches!(verdict, Verdict::Succeed { .. }));
    if asked.is_empty() || !are_successes || store.limits.last_version() != 0 {
        return settle_then_claim(store, now, settlements, claims).await;
    }
    if asked.len().max(wanted(&claims)) > Line::ROWS_MAX {
        return tokio::join!(biased; settle(store, now, settlements), claim(store, now, claims));
    }
    match at_once(store, now, &asked, &claims).await {
        Ok(Some(Done { settled, claimed })) => {
            let settled = settle_rest(store, now, &settlements, asked, settled).await;
            let claimed = match claimed {
                Some(answers) => Ok(answers),
                None => claim(store, now, claims).await,
            };
            (settled, claimed)
        }
        Ok(None) => settle_then_claim(store, now, settlements, claims).await,
        Err(error) => (Err(error.clone()), Err(error)),
    }
}

/// What one statement did.
struct Done {
    settled: HashMap<LeaseId, Settled>,
    /// Nothing if it left the claims.
    claimed: Option<Vec<ClaimAnswer>>,
}

/// Nothing if these claims do not ask alike, or somebody else was in the way.
async fn at_once(
    store: &Postgres,
    now: Time,
    asked: &BTreeMap<LeaseId, &Verdict>,
    claims: &[Claim],
) -> Result<Option<Done>> {
    let all: Vec<(usize, &Claim)> = claims.iter().enumerate().collect();
    if !ask_alike(&all) {
        return Ok(None);
    }
    let connection = store.turn_line.get(&store.pool, asked.len().max(wanted(claims))).await?;
    let successes = Successes::of(now, asked, false);
    let taking = Taking::of(store, &*connection, now, &all, false).await?;
    let mut params = successes.step().params;
    params.extend(taking.step().params);
    let Some(rows) = ask_at_once(&connection, &SUCCEED_AND_TAKE, &params).await? else { return Ok(None) };
    let (ended, taken): (Vec<Row>, Vec<Row>) =
        rows.into_iter().partition(|row| row.get::<_, Option<i64>>(Successes::FENCE).is_some());
    let settled = settled(store, &*connection, &ended, &mut Moves::default()).await?;
    let claimed = taking.hand_out(store, &*connection, taken, ANSWER_COLUMNS).await?;
    let claimed = claimed.map(|(claimed, _)| handed_over(store, claims, claimed));
    Ok(Some(Done { settled, claimed }))
}

/// A part of a statement whose parameters come after so many others.
fn shifted(sql: &str, by: usize) -> String {
    let mut parts = sql.split('$');
    let mut shifted = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.len() - part.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number: usize = part[..digits].parse().expect("a dollar is followed by the number of a parameter");
        shifted.push_str(&format!("${}{}", number + by, &part[digits..]));
    }
    shifted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_counted_on() {
        assert_eq!(shifted("SELECT $1, $12::int[] FROM $2", 6), "SELECT $7, $18::int[] FROM $8");
        assert_eq!(shifted("SELECT 1", 6), "SELECT 1");
    }
}
