//! What binds a job to others: dependencies, a workflow, a schedule, the keys of limits. Most jobs have none of these, and
//! for them nothing is written: the row is the end of the record, and a record may end before it.

use std::fmt;
use std::marker::PhantomData;

use mainspring_core::id::{JobId, WorkflowId};
use mainspring_core::job::{Dependency, Job, Keys, Membership, OnFailure, Origin, Role};
use mainspring_core::name::{BadName, LimitKey, ScheduleName, StepName};
use mainspring_core::time::Time;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::stored;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct BondsRow<'a> {
    depends_on: Vec<([u8; 16], OnFailureRow)>,
    #[serde(borrow)]
    workflow: Option<([u8; 16], &'a str, RoleRow)>,
    #[serde(borrow)]
    origin: Option<(&'a str, u64)>,
    concurrency: Option<&'a str>,
    rate: Option<&'a str>,
    weight: u16,
}

stored!(OnFailureRow is OnFailure { Cancel, Run, Hold });
stored!(RoleRow is Role { Step, Callback });

impl<'a> BondsRow<'a> {
    /// `None` for a job that stands alone.
    pub fn of(job: &'a Job) -> Option<BondsRow<'a>> {
        let alone = job.depends_on.is_empty() && job.workflow.is_none() && job.origin.is_none();
        if alone && job.keys == Keys::default() {
            return None;
        }
        Some(BondsRow {
            depends_on: job.depends_on.iter().map(|it| (*it.parent.as_bytes(), it.on_failure.into())).collect(),
            workflow: job.workflow.as_ref().map(|it| (it.workflow.0.into_bytes(), it.step.as_str(), it.role.into())),
            origin: job.origin.as_ref().map(|it| (it.schedule.as_str(), it.occurrence.as_millis())),
            concurrency: job.keys.concurrency.as_ref().map(LimitKey::as_str),
            rate: job.keys.rate.as_ref().map(LimitKey::as_str),
            weight: job.keys.weight,
        })
    }

    /// Whether a job tied so can be Blocked.
    pub fn may_block(&self) -> bool {
        !self.depends_on.is_empty() || matches!(self.workflow, Some((_, _, RoleRow::Callback)))
    }

    pub fn membership(&self) -> Option<(WorkflowId, Role)> {
        self.workflow.map(|(id, _, role)| (WorkflowId(uuid::Uuid::from_bytes(id)), role.into()))
    }

    /// Its concurrency key, its rate key, and its weight.
    pub fn keys(&self) -> (Option<&'a str>, Option<&'a str>, u16) {
        (self.concurrency, self.rate, self.weight)
    }

    /// Ties the job as the row says.
    pub fn tie(self, job: &mut Job) -> Result<(), BadName> {
        let dependency = |(parent, on_failure): ([u8; 16], OnFailureRow)| Dependency {
            parent: JobId::from_bytes(parent),
            on_failure: on_failure.into(),
        };
        job.depends_on = self.depends_on.into_iter().map(dependency).collect();
        if let Some((id, step, role)) = self.workflow {
            let workflow = WorkflowId(uuid::Uuid::from_bytes(id));
            job.workflow = Some(Box::new(Membership { workflow, step: StepName::parse(step)?, role: role.into() }));
        }
        if let Some((schedule, occurrence)) = self.origin {
            let schedule = ScheduleName::parse(schedule)?;
            job.origin = Some(Box::new(Origin { schedule, occurrence: Time::from_millis(occurrence) }));
        }
        job.keys = Keys {
            concurrency: self.concurrency.map(LimitKey::parse).transpose()?,
            rate: self.rate.map(LimitKey::parse).transpose()?,
            weight: self.weight,
        };
        Ok(())
    }
}

/// The last field of a row, which older rows and most newer ones end without.
#[derive(Debug, PartialEq)]
pub struct Trailing<T>(pub Option<T>);

impl<T: Serialize> Serialize for Trailing<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            None => serializer.serialize_unit(),
            Some(value) => (true, value).serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Trailing<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Trailing<T>, D::Error> {
        deserializer.deserialize_tuple(2, Reading(PhantomData)).map(Trailing)
    }
}

struct Reading<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Reading<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the end of the row, or one more field")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Option<T>, A::Error> {
        // The only thing that can be wrong with one byte of our own is that it is not there.
        match seq.next_element::<bool>() {
            Ok(Some(true)) => seq.next_element(),
            Ok(_) | Err(_) => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_may_end_before_its_last_field() {
        let check = |value: Trailing<u32>, length: usize| {
            let bytes = postcard::to_allocvec(&(7u8, &value)).unwrap();
            assert_eq!(bytes.len(), length);
            assert_eq!(postcard::from_bytes::<(u8, Trailing<u32>)>(&bytes).unwrap(), (7, value));
        };
        check(Trailing(None), 1);
        check(Trailing(Some(5)), 3);
    }

    #[test]
    fn a_field_that_is_cut_short_is_damage() {
        let bytes = postcard::to_allocvec(&(7u8, Trailing(Some(500u32)))).unwrap();
        assert!(postcard::from_bytes::<(u8, Trailing<u32>)>(&bytes[..3]).is_err());
    }
}
