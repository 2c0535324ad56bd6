//! Sorts what PostgreSQL says by what a caller can do about it. Logs nothing and repeats nothing.

use std::error::Error as _;

use mainspring_core::store::Error;
use tokio_postgres::error::SqlState;

/// The store's own, which inside of a transaction is one with a [`Fault`].
pub(super) type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a transaction did not come to its end: the database said so, or we did.
#[derive(Debug)]
pub(super) enum Fault {
    Sql(tokio_postgres::Error),
    Store(Error),
    /// Somebody else was faster, and we noticed it before the database did.
    Raced(&'static str),
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Fault {
        Fault::Sql(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::Store(error)
    }
}

impl Fault {
    /// Somebody else was in the way, and nothing of the transaction happened: the same again may well succeed.
    pub fn is_passing(&self) -> bool {
        // A row that is there twice came from somebody else after we had looked.
        const PASSING: [SqlState; 3] =
            [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED, SqlState::UNIQUE_VIOLATION];
        match self {
            Fault::Sql(error) => error.code().is_some_and(|code| PASSING.contains(code)),
            Fault::Store(_) => false,
            Fault::Raced(_) => true,
        }
    }

    /// A statement was prepared before a migration changed what it answers. Prepared again, it works.
    pub fn is_outdated_plan(&self) -> bool {
        matches!(self, Fault::Sql(error) if error.code() == Some(&SqlState::FEATURE_NOT_SUPPORTED))
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Error {
        match fault {
            Fault::Sql(error) => sorted(&error),
            Fault::Store(error) => error,
            Fault::Raced(how) => Error::Unavailable(format!("{how}, again and again; try later")),
        }
    }
}

/// A stored value that we cannot have written.
pub(super) fn damaged(what: impl std::fmt::Display) -> Error {
    Error::Damaged(format!("PostgreSQL holds {what}; restore it from a backup, or report this as a bug"))
}

pub(super) fn sorted(error: &tokio_postgres::Error) -> Error {
    let said = said(error);
    let Some(code) = error.code() else {
        // Without a code it was not the server that refused. What cannot be read back is ours to mend; the rest is the
        // way there: a closed connection, a name that does not resolve, a certificate.
        let is_ours = error.source().is_some_and(|cause| cause.is::<tokio_postgres::types::WrongType>());
        return if is_ours {
            Error::Damaged(format!("{said}; report this as a bug"))
        } else {
            Error::Unavailable(said)
        };
    };
    if [SqlState::DISK_FULL, SqlState::OUT_OF_MEMORY].contains(code) {
        return Error::Full(said);
    }
    // The last one is what a node hears that was frozen in the middle of a transaction.
    const PASSING: [SqlState; 3] = [
        SqlState::READ_ONLY_SQL_TRANSACTION,
        SqlState::LOCK_NOT_AVAILABLE,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
    ];
    if PASSING.contains(code) {
        return Error::Unavailable(said);
    }
    // The first two characters are the class.
    match &code.code()[..2] {
        // Connection, authorization, rollback, resources, an operator, the system.
        "08" | "28" | "40" | "53" | "57" | "58" => Error::Unavailable(said),
        // A plan from before a migration: the next try prepares anew.
        "0A" => Error::Unavailable(said),
        // A table is missing, a right is missing, a constraint does not hold, the server is broken.
        _ => Error::Damaged(format!("{said} (SQLSTATE {})", code.code())),
    }
}

/// What was said, with where and with advice if the server gave them.
pub(super) fn said(error: &tokio_postgres::Error) -> String {
    let Some(said) = error.as_db_error() else {
        let said = error.to_string();
        return match error.source().map(ToString::to_string) {
            // Some errors say their cause themselves.
            Some(cause) if !said.contains(&cause) => format!("PostgreSQL: {said}: {cause}"),
            _ => format!("PostgreSQL: {said}"),
        };
    };
    let mut text = format!("PostgreSQL: {}", said.message());
    let more = [("in", said.where_()), ("detail", said.detail()), ("hint", said.hint())];
    for (name, more) in more.into_iter().filter_map(|(name, more)| Some((name, more?))) {
        text.push_str(&format!("; {name}: {more}"));
    }
    text
}
