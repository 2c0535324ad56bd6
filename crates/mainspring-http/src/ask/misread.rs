//! Why a body could not be read: the place, the field, the words. Only on the way of errors, so it parses again with
//! the path in hand.

use http::StatusCode;
use mainspring_wire::problem;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::problem::Refusal;

/// What is wrong with a text that did not parse as a `T`.
pub(crate) fn explain<T: DeserializeOwned>(text: &str, error: &serde_json::Error) -> Refusal {
    // A wrong field before the place where the text breaks must not hide that it breaks.
    if let Err(broken) = serde_json::from_str::<IgnoredAny>(text) {
        let detail = format!("the body is not JSON: {broken}");
        return Refusal::new(problem::INVALID_BODY, StatusCode::BAD_REQUEST, detail);
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let path = match serde_path_to_error::deserialize::<_, T>(&mut deserializer) {
        Err(found) => found.path().to_string(),
        Ok(_) => String::new(),
    };
    wrong_shape(&path, &words(error))
}

/// JSON, but not of the shape that was asked for.
fn wrong_shape(path: &str, message: &str) -> Refusal {
    let path = if path == "." { "" } else { path };
    let unprocessable = StatusCode::UNPROCESSABLE_ENTITY;
    if let Some(name) = named(message, "unknown field `") {
        let detail =
            message.replacen(", expected", "; allowed here:", 1).replace("allowed here: one of", "allowed here:");
        return Refusal::new(problem::UNKNOWN_FIELD, unprocessable, detail).at(join(path, name));
    }
    if let Some(name) = named(message, "missing field `") {
        let detail = format!("`{name}` must be given");
        return Refusal::new(problem::INVALID_FIELD, unprocessable, detail).at(below(path, name));
    }
    if let Some(name) = named(message, "duplicate field `") {
        let detail = format!("`{name}` is given twice");
        return Refusal::new(problem::INVALID_FIELD, unprocessable, detail).at(join(path, name));
    }
    if path.is_empty() {
        return Refusal::new(problem::INVALID_BODY, unprocessable, message);
    }
    Refusal::new(problem::INVALID_FIELD, unprocessable, message).at(path)
}

/// serde's words in ours, without its line and column: the path says where.
fn words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = match text.rfind(" at line ") {
        Some(end) => &text[..end],
        None => &text,
    };
    let Some((said, expected)) = text.rsplit_once("expected ") else { return text.to_owned() };
    let ours = match expected {
        "i32" | "i64" => "a whole number",
        "u32" | "u64" => "a whole number that is not negative",
        "f32" | "f64" => "a number",
        "a sequence" => "a list",
        "a boolean" => "true or false",
        "any valid JSON value" => "any JSON",
        _ if expected.starts_with("struct ") => "an object",
        _ if expected.starts_with("string or map") => "a word",
        _ => expected,
    };
    format!("{said}expected {ours}")
}

fn named<'a>(message: &'a str, before: &str) -> Option<&'a str> {
    message.strip_prefix(before)?.split('`').next()
}

/// The path may end with the field already: it does where serde had read the name.
fn join(path: &str, name: &str) -> String {
    let ends_with_it = path == name || path.strip_suffix(name).is_some_and(|parent| parent.ends_with('.'));
    if ends_with_it { path.to_owned() } else { below(path, name) }
}

/// A field that is missing was never read, even if what it is missing in has the same name.
fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

#[cfg(test)]
mod tests {
    use mainspring_wire::{Batch, Fail, NewJob, NewSchedule, SettleRequest};

    use super::*;

    fn check<T: DeserializeOwned + std::fmt::Debug>(body: &str, status: u16, field: Option<&str>, words: &str) {
        let error = serde_json::from_str::<T>(body).expect_err("is refused");
        let problem = explain::<T>(body, &error).0;
        assert_eq!((problem.status, problem.field.as_deref()), (status, field), "{body}: {problem:?}");
        assert!(problem.detail.contains(words), "{body}: {:?} does not say {words:?}", problem.detail);
    }

    #[test]
    fn what_is_no_json_says_where_it_breaks() {
        check::<NewJob>("{\n  \"type\" 1}", 400, None, "line 2 column 10");
        check::<NewJob>(r#"{"type":"a""#, 400, None, "EOF");
        check::<NewJob>(r#"{"type":"a"} x"#, 400, None, "trailing characters");
        check::<NewJob>("nonsense", 400, None, "line 1 column 2");
        check::<NewJob>(r#"{"unknown":1,"type" 1}"#, 400, None, "line 1 column 21");
    }

    #[test]
    fn what_has_the_wrong_shape_names_the_field() {
        check::<NewJob>("[]", 422, None, "expected");
        check::<NewJob>("7", 422, None, "expected an object");
        check::<NewJob>(r#"{"type":7}"#, 422, Some("type"), "integer `7`, expected a string");
        check::<NewJob>("{}", 422, Some("type"), "must be given");
        check::<NewJob>(r#"{"type":"a","type":"b"}"#, 422, Some("type"), "given twice");
        check::<NewJob>(r#"{"type":"a","priority":"x"}"#, 422, Some("priority"), "expected a whole number");
        check::<NewJob>(r#"{"type":"a","tags":{}}"#, 422, Some("tags"), "expected a list");
        check::<NewJob>(r#"{"type":"a","tags":["b",1]}"#, 422, Some("tags[1]"), "expected a string");
        check::<NewJob>(
            r#"{"type":"a","retry":{"base":"soon"}}"#,
            422,
            Some("retry.base"),
            "\"soon\" is not a duration",
        );
        check::<NewJob>(r#"{"type":"a","retry":{"strategy":"x"}}"#, 422, Some("retry.strategy"), "`fixed`, `linear`");
        check::<Batch>(
            r#"{"jobs":[{"type":"a"},{"type":"b","data":{"x":1},"priority":1.5}]}"#,
            422,
            Some("jobs[1].priority"),
            "expected",
        );
        check::<Batch>(r#"{"jobs":[{"queue":"b"}]}"#, 422, Some("jobs[0].type"), "must be given");
        check::<Fail>(r#"{"fence":1,"error":{}}"#, 422, Some("error.message"), "must be given");
        check::<NewSchedule>(r#"{"every":{"anchor":0},"job":{"type":"a"}}"#, 422, Some("every.every"), "must be given");
        check::<SettleRequest>(
            r#"{"settlements":[{"job_id":"x","fence":1,"outcome":"success"}]}"#,
            422,
            Some("settlements[0].job_id"),
            "UUID",
        );
    }

    #[test]
    fn what_is_not_known_is_named_with_what_is() {
        check::<NewJob>(r#"{"type":"a","prority":1}"#, 422, Some("prority"), "allowed here: `type`, `queue`");
        check::<Batch>(
            r#"{"jobs":[{"type":"a"},{"type":"a","prority":1}]}"#,
            422,
            Some("jobs[1].prority"),
            "unknown field `prority`",
        );
        check::<NewJob>(r#"{"type":"a","retry":{"bse":1}}"#, 422, Some("retry.bse"), "`base`");
    }
}
