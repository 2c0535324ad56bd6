//! One keep-alive HTTP/1.1 connection, as lean as it gets: client and server share the cores, so what the client burns the
//! server lacks. A general client cost 18 µs a request, which was a fourth of all there is to a single job. Knows paths and
//! bytes, not jobs; reads no answer that does not say its length, which every answer of ours does.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use bytes::Buf;
use http::StatusCode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::clock;

/// How often one request is pushed back (429, 503) before the bench gives up.
const PUSH_BACKS_MAX: u32 = 500;
const PUSH_BACK_WAIT: Duration = Duration::from_millis(10);
/// No answer takes longer, waiting claims included.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(120);
/// No answer is larger.
const ANSWER_BYTES_MAX: usize = 1 << 30;
const HEADERS_MAX: usize = 32;
/// What is read at a time while the length is not known.
const READ_BYTES: usize = 4096;
const REFUSAL_CHARS_MAX: usize = 500;

#[derive(Debug)]
pub struct Conn {
    stream: TcpStream,
    address: SocketAddr,
    /// The head of the request under way.
    request: Vec<u8>,
    /// The whole answer as it came.
    answer: Vec<u8>,
}

/// What the head of an answer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Head {
    status: StatusCode,
    body_at: usize,
    body_bytes: usize,
}

impl Conn {
    pub async fn open(address: SocketAddr) -> anyhow::Result<Conn> {
        let stream = TcpStream::connect(address).await.with_context(|| format!("could not connect to {address}"))?;
        stream.set_nodelay(true)?;
        Ok(Conn { stream, address, request: Vec::new(), answer: Vec::new() })
    }

    pub async fn get(&mut self, path: &str) -> anyhow::Result<&[u8]> {
        self.ask("GET", path, &[]).await
    }

    pub async fn post(&mut self, path: &str, body: &[u8]) -> anyhow::Result<&[u8]> {
        self.ask("POST", path, body).await
    }

    /// Waits and asks again while it is pushed back; any other refusal is an error.
    async fn ask(&mut self, method: &str, path: &str, body: &[u8]) -> anyhow::Result<&[u8]> {
        self.request.clear();
        write_head(&mut self.request, method, path, self.address, body.len());
        let mut last = None;
        for _ in 0..PUSH_BACKS_MAX {
            let head = tokio::time::timeout(ANSWER_WAIT_MAX, self.ask_once(body))
                .await
                .map_err(|_| anyhow::anyhow!("{method} {path} was not answered within {ANSWER_WAIT_MAX:?}"))?
                .with_context(|| format!("could not {method} {path}"))?;
            match head.status {
                StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => clock::sleep(PUSH_BACK_WAIT).await,
                status if status.is_success() => return Ok(&self.answer[head.body_at..]),
                status => bail!("{method} {path} was answered {status}: {}", self.refusal(head)),
            }
            last = Some(head);
        }
        let said = last.map(|head| self.refusal(head)).unwrap_or_default();
        bail!("{method} {path} was pushed back {PUSH_BACKS_MAX} times: {said}")
    }

    async fn ask_once(&mut self, body: &[u8]) -> anyhow::Result<Head> {
        self.stream.write_all_buf(&mut Buf::chain(&self.request[..], body)).await?;
        self.answer.clear();
        let head = loop {
            self.answer.reserve(READ_BYTES);
            ensure!(self.stream.read_buf(&mut self.answer).await? > 0, "the server closed the connection");
            if let Some(head) = read_head(&self.answer)? {
                break head;
            }
        };
        let whole = head.body_at + head.body_bytes;
        self.answer.reserve(whole.saturating_sub(self.answer.len()));
        while self.answer.len() < whole {
            ensure!(self.stream.read_buf(&mut self.answer).await? > 0, "the server closed the connection");
        }
        ensure!(self.answer.len() == whole, "more came than the answer");
        Ok(head)
    }

    fn refusal(&self, head: Head) -> String {
        String::from_utf8_lossy(&self.answer[head.body_at..]).chars().take(REFUSAL_CHARS_MAX).collect()
    }
}

fn write_head(head: &mut Vec<u8>, method: &str, path: &str, address: SocketAddr, body_bytes: usize) {
    use std::io::Write as _;
    write!(
        head,
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         content-length: {body_bytes}\r\n\r\n"
    )
    .expect("memory takes all");
}

/// Nothing while some of the head is still to come.
fn read_head(answer: &[u8]) -> anyhow::Result<Option<Head>> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(body_at) = response.parse(answer).context("the answer is not HTTP/1.1")? else {
        ensure!(answer.len() <= ANSWER_BYTES_MAX, "the head of the answer does not end");
        return Ok(None);
    };
    let length = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length = length.and_then(|header| std::str::from_utf8(header.value).ok()?.parse().ok());
    let body_bytes: usize = length.context("the answer does not say its length")?;
    ensure!(body_bytes <= ANSWER_BYTES_MAX, "an answer of {body_bytes} bytes is too large");
    let status = StatusCode::from_u16(response.code.unwrap_or_default())?;
    Ok(Some(Head { status, body_at, body_bytes }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_when_all_of_it_has_come() {
        let answer = b"HTTP/1.1 202 Accepted\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
        let body_at = answer.len() - 2;
        for end in 0..body_at {
            assert_eq!(read_head(&answer[..end]).expect("is a head so far"), None, "{end} bytes");
        }
        let head = Head { status: StatusCode::ACCEPTED, body_at, body_bytes: 2 };
        assert_eq!(read_head(&answer[..body_at]).expect("is a head"), Some(head));
        assert_eq!(read_head(answer).expect("is a head"), Some(head));
    }

    #[test]
    fn an_answer_that_cannot_be_measured_is_refused() {
        let refused = |answer: &str| read_head(answer.as_bytes()).expect_err("is refused").to_string();
        assert!(refused("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").contains("does not say its length"));
        assert!(refused("HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n").contains("does not say its length"));
        assert!(refused("HTTP/1.1 200 OK\r\ncontent-length: 1073741825\r\n\r\n").contains("too large"));
        assert!(refused("SSH-2.0-OpenSSH_9.6\r\n").contains("not HTTP/1.1"));
    }

    #[test]
    fn a_request_names_its_host_and_length() {
        let mut head = Vec::new();
        write_head(&mut head, "POST", "/v1/jobs", ([127, 0, 0, 1], 7710).into(), 12);
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut request = httparse::Request::new(&mut headers);
        assert!(request.parse(&head).expect("is a request").is_complete());
        assert_eq!((request.method, request.path), (Some("POST"), Some("/v1/jobs")));
        let values: Vec<&[u8]> = request.headers.iter().map(|header| header.value).collect();
        assert_eq!(values, [&b"127.0.0.1:7710"[..], b"application/json", b"12"]);
    }
}
