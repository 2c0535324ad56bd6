//! A digest of what a client said under an idempotency key: the same words again are the same job. Only made when there
//! is a key.

use std::io::{self, Write};

use mainspring_wire::{NewJob, NewWorkflow, RawValue};
use serde::Serialize;
use sha2::{Digest, Sha256};

/// Over the job as we would print it, so that `90` and `"90s"` are alike, and its data without the space around its
/// parts. The key itself must have been taken out.
pub(crate) fn fingerprint(job: &mut NewJob) -> [u8; 16] {
    let mut digest = Hashing(Sha256::new());
    let data = job.data.take();
    job.serialize(&mut serde_json::Serializer::new(&mut digest)).expect("a digest takes all");
    if let Some(data) = &data {
        hash_compact(&mut digest.0, data);
    }
    job.data = data;
    let whole = digest.0.finalize();
    std::array::from_fn(|at| whole[at])
}

/// Over every step with its name and what it comes after, in their order, and the callback. The key itself must have been
/// taken out.
pub(crate) fn workflow_fingerprint(workflow: &mut NewWorkflow) -> [u8; 16] {
    let mut digest = Hashing(Sha256::new());
    for step in &mut workflow.jobs {
        // A printed list is no beginning of another, so no two workflows run together.
        (&step.name, &step.after).serialize(&mut serde_json::Serializer::new(&mut digest)).expect("a digest takes all");
        digest.0.update(fingerprint(&mut step.job));
    }
    digest.0.update([u8::from(workflow.callback.is_some())]);
    if let Some(callback) = &mut workflow.callback {
        digest.0.update(fingerprint(callback));
    }
    let whole = digest.0.finalize();
    std::array::from_fn(|at| whole[at])
}

/// Its bytes without the white space outside of strings.
fn hash_compact(digest: &mut Sha256, data: &RawValue) {
    let bytes = data.get().as_bytes();
    let (mut from, mut in_string, mut escaped) = (0, false, false);
    for (at, &byte) in bytes.iter().enumerate() {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = byte == b'\\' && !escaped;
        } else if byte == b'"' {
            in_string = true;
        } else if byte.is_ascii_whitespace() {
            digest.update(&bytes[from..at]);
            from = at + 1;
        }
    }
    digest.update(&bytes[from..]);
}

struct Hashing(Sha256);

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str) -> [u8; 16] {
        let mut job: NewJob = serde_json::from_str(json).expect("a job");
        let printed = serde_json::to_string(&job).expect("prints");
        let made = fingerprint(&mut job);
        assert_eq!(serde_json::to_string(&job).expect("prints"), printed, "the job is as it was");
        made
    }

    #[test]
    fn the_same_words_have_the_same_fingerprint() {
        let job = of(r#"{"type":"a","delay":"90s","data":{"x":[1,"a b"],"y":"\\\" "}}"#);
        assert_eq!(job, of(r#"{ "delay": 90, "data": { "x" : [ 1 , "a b" ] , "y" : "\\\" " }, "type": "a" }"#));
    }

    #[test]
    fn a_workflow_is_known_by_all_its_words() {
        let of = |json: &str| workflow_fingerprint(&mut serde_json::from_str(json).expect("a workflow"));
        let first = of(r#"{"jobs":[{"name":"a","type":"t","data":[1, 2]},{"name":"b","type":"t","after":["a"]}]}"#);
        assert_eq!(
            first,
            of(r#"{"jobs":[{"type":"t","name":"a","data":[1,2]},{"name":"b","type":"t","after":[{"job":"a"}]}]}"#)
        );
        for other in [
            r#"{"jobs":[{"name":"a","type":"t","data":[1,2]},{"name":"b","type":"t"}]}"#,
            r#"{"jobs":[{"name":"a","type":"t","data":[1,2]},{"name":"c","type":"t","after":["a"]}]}"#,
            r#"{"jobs":[{"name":"a","type":"t","data":[1,3]},{"name":"b","type":"t","after":["a"]}]}"#,
            r#"{"jobs":[{"name":"a","type":"t","data":[1,2]},{"name":"b","type":"t","after":[{"job":"a","on_failure":"run"}]}]}"#,
            r#"{"jobs":[{"name":"a","type":"t","data":[1,2]},{"name":"b","type":"t","after":["a"]}],"callback":{"type":"t"}}"#,
        ] {
            assert_ne!(first, of(other), "{other}");
        }
    }

    #[test]
    fn other_words_have_another_fingerprint() {
        let job = of(r#"{"type":"a","data":{"x":"a b"}}"#);
        for other in [
            r#"{"type":"b","data":{"x":"a b"}}"#,
            r#"{"type":"a","data":{"x":"ab"}}"#,
            r#"{"type":"a","data":{"x":"a  b"}}"#,
            r#"{"type":"a","data":{"x":"a b"},"priority":5}"#,
            r#"{"type":"a"}"#,
        ] {
            assert_ne!(job, of(other), "{other}");
        }
    }
}
