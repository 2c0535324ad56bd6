//! What a request says: its body, path, query and tenant, and what is wrong with it. Knows the shape of values, not
//! whether a job may have them: that is `accept`.

mod body;
mod field;
mod key;
mod misread;
mod path;
mod precondition;
mod query;
mod tenant;

pub(crate) use body::{MaybeSaid, Said, parse_text};
pub(crate) use field::FieldError;
pub(crate) use key::HeaderKey;
pub(crate) use path::{JobPath, QueuePath, ReachPath, SchedulePath, WorkerPath, WorkflowPath};
pub(crate) use precondition::Precondition;
pub(crate) use query::Pairs;
pub(crate) use tenant::Tenant;
