//! Rows that SQL need not look into, as bytes: the same forms that the embedded store keeps, after a byte that says which
//! form it is. A form that is not known is refused, not guessed at.

use serde::{Deserialize, Serialize};

use super::error::{Result, damaged};

/// The form that is written. A later one goes on reading this one.
const FORM: u8 = 1;

pub(super) fn pack(row: &impl Serialize) -> Vec<u8> {
    postcard::to_extend(row, vec![FORM]).expect("rows hold nothing that postcard refuses")
}

pub(super) fn unpack<'a, T: Deserialize<'a>>(table: &str, bytes: &'a [u8]) -> Result<T> {
    match bytes {
        [FORM, row @ ..] => postcard::from_bytes(row)
            .map_err(|error| damaged(format!("a row of table {table} that cannot be read: {error}"))),
        [other, ..] => {
            Err(damaged(format!("a row of table {table} in form {other}, which a newer version of this program wrote")))
        }
        [] => Err(damaged(format!("an empty row in table {table}"))),
    }
}

#[cfg(test)]
mod tests {
    use mainspring_core::store::Error;

    use super::*;

    #[test]
    fn what_is_packed_reads_back_and_anything_else_is_refused() {
        let bytes = pack(&(7u64, "text"));
        assert_eq!(unpack::<(u64, &str)>("t", &bytes).unwrap(), (7, "text"));
        let refused = |bytes: &[u8], words: &str| {
            let error = unpack::<(u64, &str)>("t", bytes).unwrap_err();
            assert!(matches!(&error, Error::Damaged(why) if why.contains(words)), "{error}");
        };
        refused(&[], "empty row in table t");
        refused(&[FORM + 1, 7], "form 2");
        refused(&bytes[..bytes.len() - 1], "cannot be read");
    }
}
