//! The text/event-stream format: bytes in, the data of each message out. Knows nothing of what is in them.
//!
//! Of the fields only `data` is kept: the server's event is whole in it. Comments keep the connection alive and are skipped.

use std::collections::VecDeque;
use std::string::FromUtf8Error;

/// Messages cut out of a stream of bytes that arrives in any pieces.
#[derive(Debug, Default)]
pub(super) struct Frames {
    /// The line that has not ended yet.
    line: Vec<u8>,
    /// The last piece ended in a carriage return; a line feed right after it belongs to the same line end.
    after_return: bool,
    /// The `data` lines of the message that has not ended yet.
    data: Option<Vec<u8>>,
    whole: VecDeque<Vec<u8>>,
}

impl Frames {
    pub fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            let after_return = std::mem::replace(&mut self.after_return, byte == b'\r');
            match byte {
                b'\n' if after_return => {}
                b'\n' | b'\r' => self.end_line(),
                byte => self.line.push(byte),
            }
        }
    }

    /// How much has come of a message that has not ended yet.
    pub fn unended_bytes(&self) -> usize {
        self.line.len() + self.data.as_ref().map_or(0, Vec::len)
    }

    /// The data of the next whole message.
    pub fn next(&mut self) -> Option<Result<String, FromUtf8Error>> {
        self.whole.pop_front().map(String::from_utf8)
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            self.whole.extend(self.data.take());
            return;
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (field, value) = line.split_at(colon);
        if field != b"data" {
            return;
        }
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &mut self.data {
            None => self.data = Some(value.to_vec()),
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(pieces: &[&[u8]]) -> Vec<String> {
        let mut frames = Frames::default();
        pieces.iter().for_each(|piece| frames.push(piece));
        std::iter::from_fn(|| frames.next()).map(|data| data.expect("text")).collect()
    }

    #[test]
    fn a_message_is_the_data_between_empty_lines() {
        let check = |text: &str, expected: &[&str]| assert_eq!(messages(&[text.as_bytes()]), expected, "{text:?}");
        check("data: one\n\ndata:two\n\n", &["one", "two"]);
        check("event: claimed\nid: 7\ndata: one\nretry: 5\n\n", &["one"]);
        check("data: one\ndata: more\n\n", &["one\nmore"]);
        check(": keep-alive\n\n:\n\n", &[]);
        check("data\n\n", &[""]);
        check("data:  two spaces\n\n", &[" two spaces"]);
        check("data: {\"a\": \"b:c\"}\n\n", &["{\"a\": \"b:c\"}"]);
        check("data: not ended\n", &[]);
        check("database: no\n\n", &[]);
    }

    #[test]
    fn what_has_not_ended_is_measured() {
        let mut frames = Frames::default();
        frames.push(b"data: 12345\ndata: 123");
        assert_eq!(frames.unended_bytes(), 5 + "data: 123".len());
        frames.push(b"\n\n");
        assert_eq!(frames.unended_bytes(), 0);
    }

    #[test]
    fn every_line_end_counts_once() {
        for text in ["data: a\n\ndata: b\n\n", "data: a\r\n\r\ndata: b\r\n\r\n", "data: a\r\rdata: b\r\r"] {
            assert_eq!(messages(&[text.as_bytes()]), ["a", "b"], "{text:?}");
        }
    }

    #[test]
    fn the_pieces_a_stream_arrives_in_change_nothing() {
        let text = "event: x\r\ndata: é1\r\n\r\n: hello\n\ndata: 2\ndata: 3\n\n".as_bytes();
        let whole = messages(&[text]);
        assert_eq!(whole, ["é1", "2\n3"]);
        for cut in 0..text.len() {
            let (one, other) = text.split_at(cut);
            assert_eq!(messages(&[one, other]), whole, "cut at {cut}");
        }
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(messages(&bytes), whole);
    }
}
