//! JSON merge patch (RFC 7396) over raw text: what the patch does not name stays as it was written, byte for byte. Knows
//! nothing of schedules.

use std::collections::BTreeMap;

use mainspring_wire::RawValue;

use crate::limits::PATCH_DEPTH_MAX;

/// The patch nests deeper than [`PATCH_DEPTH_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooDeep;

/// `target` with the changes of `patch`.
pub(crate) fn merge(target: &RawValue, patch: &RawValue) -> Result<Box<RawValue>, TooDeep> {
    let merged = merge_text(Some(target.get()), patch.get(), 0)?;
    Ok(RawValue::from_string(merged).expect("parts of JSON put together as JSON are JSON"))
}

fn merge_text(target: Option<&str>, patch: &str, depth: usize) -> Result<String, TooDeep> {
    let Some(changes) = members(patch) else { return Ok(patch.to_owned()) };
    if depth >= PATCH_DEPTH_MAX {
        return Err(TooDeep);
    }
    let mut merged: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in target.and_then(members).unwrap_or_default() {
        merged.insert(name, value.get().to_owned());
    }
    for (name, change) in changes {
        if change.get() == "null" {
            merged.remove(&name);
            continue;
        }
        let value = merge_text(merged.get(&name).map(String::as_str), change.get(), depth + 1)?;
        merged.insert(name, value);
    }
    Ok(print(&merged))
}

/// The members of an object; nothing if it is something else. Of a name that comes twice, the last counts.
fn members(text: &str) -> Option<BTreeMap<String, &RawValue>> {
    text.trim_start().starts_with('{').then(|| serde_json::from_str(text).ok()).flatten()
}

fn print(members: &BTreeMap<String, String>) -> String {
    let print =
        |(name, value): (&String, &String)| format!("{}:{value}", serde_json::to_string(name).expect("a text prints"));
    format!("{{{}}}", members.iter().map(print).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).expect("JSON")
    }

    #[test]
    fn a_patch_does_what_the_rfc_says() {
        // The examples of RFC 7396, appendix A.
        let check = |target: &str, patch: &str, expected: &str| {
            let merged = merge(&raw(target), &raw(patch)).expect("is not deep");
            let read = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
            assert_eq!(read(merged.get()), read(expected), "{target} + {patch}");
        };
        check(r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#);
        check(r#"{"a":"b"}"#, r#"{"b":"c"}"#, r#"{"a":"b","b":"c"}"#);
        check(r#"{"a":"b"}"#, r#"{"a":null}"#, "{}");
        check(r#"{"a":"b","b":"c"}"#, r#"{"a":null}"#, r#"{"b":"c"}"#);
        check(r#"{"a":["b"]}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#);
        check(r#"{"a":"c"}"#, r#"{"a":["b"]}"#, r#"{"a":["b"]}"#);
        check(r#"{"a":{"b":"c"}}"#, r#"{"a":{"b":"d","c":null}}"#, r#"{"a":{"b":"d"}}"#);
        check(r#"{"a":[{"b":"c"}]}"#, r#"{"a":[1]}"#, r#"{"a":[1]}"#);
        check(r#"["a","b"]"#, r#"["c","d"]"#, r#"["c","d"]"#);
        check(r#"{"a":"b"}"#, r#"["c"]"#, r#"["c"]"#);
        check(r#"{"a":"foo"}"#, "null", "null");
        check(r#"{"e":null}"#, r#"{"a":1}"#, r#"{"e":null,"a":1}"#);
        check("[1,2]", r#"{"a":"b","c":null}"#, r#"{"a":"b"}"#);
        check("{}", r#"{"a":{"bb":{"ccc":null}}}"#, r#"{"a":{"bb":{}}}"#);
    }

    #[test]
    fn what_is_not_named_stays_as_it_was_written() {
        let merged =
            merge(&raw(r#"{"a":{ "n" : 18446744073709551616.10 },"é":1}"#), &raw(r#"{"b":1}"#)).expect("is not deep");
        assert_eq!(merged.get(), r#"{"a":{ "n" : 18446744073709551616.10 },"b":1,"é":1}"#);
    }

    #[test]
    fn a_patch_may_nest_up_to_its_bound() {
        let nested = |depth: usize| raw(&format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth)));
        assert!(merge(&raw("{}"), &nested(PATCH_DEPTH_MAX)).is_ok());
        assert_eq!(merge(&raw("{}"), &nested(PATCH_DEPTH_MAX + 1)).err(), Some(TooDeep));
        assert_eq!(merge(&raw("{}"), &nested(100_000)).err(), Some(TooDeep));
    }
}
