//! The last bytes of an output. Keeps a bounded number of them, however much comes.

use std::collections::VecDeque;

use serde::Serialize;
use tokio::io::{AsyncRead, AsyncReadExt};

/// Bytes kept of each of stdout and stderr. Both fit into the `detail` of an error (8 KiB) with their headings, and into a
/// result (64 KiB) however they are escaped.
pub const TAIL_BYTES_MAX: usize = 3 * 1024;

#[derive(Debug, Default)]
pub struct Tail {
    kept: VecDeque<u8>,
    total_bytes: u64,
}

/// A tail as it is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Output {
    pub text: String,
    /// How many bytes came before `text`.
    pub cut_bytes: u64,
}

impl Tail {
    pub fn push(&mut self, bytes: &[u8]) {
        self.total_bytes += bytes.len() as u64;
        let bytes = &bytes[bytes.len().saturating_sub(TAIL_BYTES_MAX)..];
        let overflow = (self.kept.len() + bytes.len()).saturating_sub(TAIL_BYTES_MAX);
        self.kept.drain(..overflow);
        self.kept.extend(bytes);
    }

    /// Reads to the end. An error is an end too: what was read before it is kept.
    pub async fn drain(&mut self, mut from: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; 16 * 1024];
        while let Ok(read @ 1..) = from.read(&mut buffer).await {
            self.push(&buffer[..read]);
        }
    }

    pub fn output(mut self) -> Output {
        let cut_bytes = self.total_bytes - self.kept.len() as u64;
        let bytes = self.kept.make_contiguous();
        // A character that was cut in two is dropped with the rest of its half.
        let is_continuation = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
        let torn = if cut_bytes > 0 { bytes.iter().take(3).take_while(is_continuation).count() } else { 0 };
        let text = String::from_utf8_lossy(&bytes[torn..]).into_owned();
        Output { text, cut_bytes: cut_bytes + torn as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(chunks: &[&[u8]], expected: &str, cut_bytes: u64) {
        let mut tail = Tail::default();
        chunks.iter().for_each(|chunk| tail.push(chunk));
        assert_eq!(tail.output(), Output { text: expected.into(), cut_bytes });
    }

    #[test]
    fn a_short_output_is_kept_whole() {
        check(&[], "", 0);
        check(&[b"one\n", b"two\n"], "one\ntwo\n", 0);
        check(&[b"\xff!"], "\u{fffd}!", 0);
    }

    #[test]
    fn of_a_long_output_the_end_is_kept_and_the_rest_counted() {
        let long = [b'a'; TAIL_BYTES_MAX];
        check(&[&long, b"b"], &format!("{}b", "a".repeat(TAIL_BYTES_MAX - 1)), 1);
        let longer = [b'c'; 3 * TAIL_BYTES_MAX];
        check(&[b"b", &longer], &"c".repeat(TAIL_BYTES_MAX), 2 * TAIL_BYTES_MAX as u64 + 1);
    }

    #[test]
    fn a_character_is_not_cut_in_two() {
        let euros = "€".repeat(TAIL_BYTES_MAX / 3);
        check(&[euros.as_bytes(), b"!"], &format!("{}!", "€".repeat(TAIL_BYTES_MAX / 3 - 1)), 3);
    }
}
