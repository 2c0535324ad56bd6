//! One call: sends it, waits for the whole answer, and sorts what comes back. Repeats it at another node only if nobody has
//! heard it, or if it only reads.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, HeaderName, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use mainspring_wire::problem::{self, Problem};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Client;
use super::nodes::{At, Fate};
use crate::error::{BoxError, Error, Result};

/// No answer is larger: a thousand claimed jobs of the largest size, and room beside them.
const ANSWER_BYTES_MAX: usize = 512 * 1024 * 1024;
/// Of an answer that is not understood, this much is quoted.
const QUOTED_CHARS_MAX: usize = 200;

/// Whose call it is.
const TENANT: HeaderName = HeaderName::from_static("mainspring-tenant");

const AGENT: &str = concat!("mainspring-worker/", env!("CARGO_PKG_VERSION"));

/// What RFC 3986 leaves bare in a path.
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A call before it is sent.
#[derive(Debug)]
pub(super) struct Call {
    method: Method,
    path: String,
    body: Option<Bytes>,
    /// What must hold for the server to do it.
    condition: Option<(HeaderName, String)>,
    /// What the server may wait before it answers, on top of the client's timeout.
    wait: Duration,
}

impl Call {
    pub fn new(method: Method, path: impl Into<String>) -> Call {
        Call { method, path: path.into(), body: None, condition: None, wait: Duration::ZERO }
    }

    pub fn get(path: impl Into<String>) -> Call {
        Call::new(Method::GET, path)
    }

    pub fn post(path: impl Into<String>) -> Call {
        Call::new(Method::POST, path)
    }

    pub fn query(mut self, query: &impl Serialize) -> Call {
        let query = serde_urlencoded::to_string(query).expect("queries are flat, so they print");
        if !query.is_empty() {
            self.path = format!("{}?{query}", self.path);
        }
        self
    }

    pub fn body(mut self, body: &impl Serialize) -> Call {
        self.body = Some(serde_json::to_vec(body).expect("wire types print").into());
        self
    }

    pub fn only_if(mut self, condition: Option<(HeaderName, String)>) -> Call {
        self.condition = condition;
        self
    }

    pub fn waiting(mut self, wait: Duration) -> Call {
        self.wait = wait;
        self
    }
}

/// One part of a path, such as the name of a queue, so that it can hold anything.
pub(super) fn segment(text: &str) -> String {
    utf8_percent_encode(text, PATH).to_string()
}

/// An answer that came whole.
pub(super) struct Answer {
    name: String,
    pub status: StatusCode,
    headers: HeaderMap,
    pub body: Bytes,
}

impl Client {
    /// Sends the call and reads the answer as JSON.
    pub(super) async fn ask<A: DeserializeOwned>(&self, call: Call) -> Result<A> {
        self.tell(call).await?.read()
    }

    /// Sends the call; an answer that is a success is all that is wanted.
    pub(super) async fn tell(&self, call: Call) -> Result<Answer> {
        let answer = self.send(call).await?;
        if answer.status.is_success() { Ok(answer) } else { Err(answer.error()) }
    }

    /// Sends the call and waits for the whole answer, whatever it says.
    pub(super) async fn send(&self, call: Call) -> Result<Answer> {
        let mut tries_left = self.shared.nodes.count();
        loop {
            let at = self.shared.nodes.current();
            let sent = self.send_to(at, &call).await;
            tries_left -= 1;
            if !self.goes_on(at, &call, sent.as_ref().map(|answer| answer.status)) || tries_left == 0 {
                return sent;
            }
        }
    }

    /// Sends the call and answers when the head of the answer is there; its body is still to come.
    pub(super) async fn open(&self, call: Call, accept: &'static str) -> Result<(String, Response<Incoming>)> {
        let mut tries_left = self.shared.nodes.count();
        loop {
            let at = self.shared.nodes.current();
            let opened = self.open_at(at, &call, accept).await;
            tries_left -= 1;
            let status = opened.as_ref().map(|(_, response)| response.status());
            if !self.goes_on(at, &call, status) || tries_left == 0 {
                return opened;
            }
        }
    }

    /// Writes down what became of the call, and answers whether it is to be sent to another node.
    fn goes_on(&self, at: At, call: &Call, sent: std::result::Result<StatusCode, &Error>) -> bool {
        let fate = match sent {
            Ok(status) => Fate::Answered(status),
            Err(Error::Unreachable { source, .. }) if is_unsent(source) => Fate::NotSent,
            Err(_) => Fate::Unanswered,
        };
        self.shared.nodes.note(at, fate);
        fate == Fate::NotSent || fate.is_elsewhere_better() && call.method == Method::GET
    }

    async fn send_to(&self, at: At, call: &Call) -> Result<Answer> {
        let name = self.name(at, call);
        let limit = self.timeout + call.wait;
        let whole = async {
            let response = self.reach(at, call, "application/json").await?;
            let (head, body) = response.into_parts();
            let body = Limited::new(body, ANSWER_BYTES_MAX).collect().await?.to_bytes();
            Ok::<_, BoxError>((head, body))
        };
        let answered = tokio::select! {
            biased;
            answered = tokio::time::timeout(limit, whole) => answered.unwrap_or_else(|_| Err(no_answer_within(limit))),
            () = self.shared.nodes.silence(at), if !call.wait.is_zero() => Err("another call found it silent".into()),
        };
        match answered {
            Ok((head, body)) => Ok(Answer { name, status: head.status, headers: head.headers, body }),
            Err(source) => Err(Error::Unreachable { call: name, source }),
        }
    }

    async fn open_at(&self, at: At, call: &Call, accept: &'static str) -> Result<(String, Response<Incoming>)> {
        let name = self.name(at, call);
        let limit = self.timeout;
        match tokio::time::timeout(limit, self.reach(at, call, accept)).await {
            Ok(Ok(response)) => Ok((name, response)),
            Ok(Err(source)) => Err(Error::Unreachable { call: name, source }),
            Err(_) => Err(Error::Unreachable { call: name, source: no_answer_within(limit) }),
        }
    }

    async fn reach(&self, at: At, call: &Call, accept: &str) -> std::result::Result<Response<Incoming>, BoxError> {
        let mut request = Request::builder()
            .method(&call.method)
            .uri(self.shared.nodes.base(at).join(&call.path))
            .header(USER_AGENT, AGENT)
            .header(ACCEPT, accept);
        if call.body.is_some() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        if let Some(tenant) = &self.tenant {
            request = request.header(TENANT, tenant);
        }
        if let Some((name, value)) = &call.condition {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(call.body.clone().unwrap_or_default()))?;
        Ok(self.shared.http.request(request).await?)
    }

    fn name(&self, at: At, call: &Call) -> String {
        format!("{} {}", call.method, self.shared.nodes.base(at).join(&call.path))
    }
}

/// There was no connection to send it through.
fn is_unsent(source: &BoxError) -> bool {
    source.downcast_ref::<hyper_util::client::legacy::Error>().is_some_and(|error| error.is_connect())
}

fn no_answer_within(limit: Duration) -> BoxError {
    format!("no answer within {limit:?}").into()
}

impl Answer {
    pub fn read<A: DeserializeOwned>(&self) -> Result<A> {
        serde_json::from_slice(&self.body)
            .map_err(|error| Error::Protocol { call: self.name.clone(), reason: error.to_string() })
    }

    pub fn text(self) -> Result<String> {
        String::from_utf8(self.body.into())
            .map_err(|error| Error::Protocol { call: self.name, reason: error.to_string() })
    }

    /// What an answer that is no success means.
    pub fn error(self) -> Error {
        let problem = serde_json::from_slice::<Problem>(&self.body).ok();
        let said = self.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
        sort(Failed { call: self.name, status: self.status, problem, retry_after_s: said, body: &self.body })
    }
}

impl Answer {
    /// The answer to a call whose body was read elsewhere.
    pub fn new(name: String, status: StatusCode, headers: HeaderMap, body: Bytes) -> Answer {
        Answer { name, status, headers, body }
    }
}

impl Error {
    /// A refusal that came inside an answer.
    pub(crate) fn of(problem: Problem) -> Error {
        let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        sort(Failed { call: String::new(), status, problem: Some(problem), retry_after_s: None, body: &[] })
    }
}

struct Failed<'a> {
    call: String,
    status: StatusCode,
    problem: Option<Problem>,
    retry_after_s: Option<u64>,
    body: &'a [u8],
}

fn sort(failed: Failed<'_>) -> Error {
    let Failed { call, status, problem, retry_after_s, body } = failed;
    let passing = matches!(status.as_u16(), 408 | 429 | 502 | 503 | 504 | 507);
    let known = problem.is_some();
    let problem = Box::new(problem.unwrap_or_else(|| unknown_problem(status, body)));
    match status {
        _ if passing => {
            let seconds = problem.retry_after.or(retry_after_s);
            Error::Busy { retry_after: seconds.map(Duration::from_secs), problem }
        }
        status if status.is_server_error() => Error::Broken(problem),
        _ if !known => {
            let reason = format!("{problem}; is this a Mainspring server?");
            Error::Protocol { call, reason }
        }
        _ if problem.kind == problem::STALE => Error::Stale(problem),
        _ => Error::Refused(problem),
    }
}

/// For what a proxy says in the server's place.
fn unknown_problem(status: StatusCode, body: &[u8]) -> Problem {
    let text = String::from_utf8_lossy(body);
    let title = status.canonical_reason().unwrap_or("Unknown status").to_owned();
    let detail = text.trim().chars().take(QUOTED_CHARS_MAX).collect();
    Problem { kind: "about:blank".to_owned(), title, status: status.as_u16(), detail, ..Problem::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, retry_after: Option<&str>, body: &str) -> Answer {
        let mut headers = HeaderMap::new();
        if let Some(seconds) = retry_after {
            headers.insert(RETRY_AFTER, seconds.parse().expect("a header value"));
        }
        let status = StatusCode::from_u16(status).expect("a status");
        Answer::new("GET http://h/v1/jobs".to_owned(), status, headers, Bytes::copy_from_slice(body.as_bytes()))
    }

    fn problem(kind: &str, status: u16) -> String {
        format!(r#"{{"type":"{kind}","title":"T","status":{status},"detail":"d"}}"#)
    }

    #[test]
    fn a_refusal_is_sorted_by_what_the_caller_can_do() {
        let check = |kind: &str, status: u16, expected: fn(&Error) -> bool| {
            let error = answer(status, None, &problem(kind, status)).error();
            assert!(expected(&error), "{status} {kind} became {error:?}");
        };
        check(problem::INVALID_FIELD, 422, |error| matches!(error, Error::Refused(_)));
        check(problem::CONFLICT, 409, |error| matches!(error, Error::Refused(_)));
        check(problem::STALE, 409, |error| matches!(error, Error::Stale(_)));
        check(problem::NOT_FOUND, 404, |error| matches!(error, Error::Refused(_)) && error.is_not_found());
        check(problem::UNKNOWN_WORKER, 404, |error| error.is_unknown_worker() && !error.is_passing());
        check(problem::QUEUE_FULL, 429, |error| matches!(error, Error::Busy { retry_after: None, .. }));
        check(problem::STORE_FULL, 507, |error| matches!(error, Error::Busy { .. }) && error.is_passing());
        check(problem::INTERNAL, 500, |error| matches!(error, Error::Broken(_)));
    }

    #[test]
    fn whoever_is_told_to_wait_hears_for_how_long() {
        let wait = |answer: Answer| match answer.error() {
            Error::Busy { retry_after, .. } => retry_after,
            other => panic!("{other:?}"),
        };
        let body = problem(problem::UNAVAILABLE, 503);
        assert_eq!(wait(answer(503, Some("7"), &body)), Some(Duration::from_secs(7)));
        assert_eq!(wait(answer(503, Some("Wed, 21 Oct 2026 07:28:00 GMT"), &body)), None);
        let body = body.replace("}", r#","retry_after":3}"#);
        assert_eq!(wait(answer(503, Some("7"), &body)), Some(Duration::from_secs(3)));
    }

    #[test]
    fn what_is_no_problem_is_not_taken_for_one() {
        let error = answer(404, None, "<html>nothing here</html>").error();
        assert!(matches!(&error, Error::Protocol { .. }), "{error:?}");
        assert!(error.to_string().contains("is this a Mainspring server?"), "{error}");
        let error = answer(502, None, "<html>bad gateway</html>").error();
        assert!(matches!(&error, Error::Busy { .. }), "{error:?}");
        let error = answer(200, None, "pong").read::<Problem>().expect_err("not JSON");
        assert!(matches!(error, Error::Protocol { .. }), "{error:?}");
    }

    #[test]
    fn a_long_answer_is_not_quoted_whole() {
        let error = answer(404, None, &"é".repeat(10_000)).error();
        assert!(error.to_string().chars().count() < 2 * QUOTED_CHARS_MAX);
    }

    #[test]
    fn a_name_cannot_leave_its_place_in_the_path() {
        assert_eq!(segment("mail-1.x_y~z"), "mail-1.x_y~z");
        assert_eq!(segment("a/../b?c=d e"), "a%2F..%2Fb%3Fc%3Dd%20e");
    }

    #[test]
    fn a_query_leaves_out_what_is_absent() {
        let query = mainspring_wire::JobQuery { kind: Some("a b".to_owned()), limit: Some(5), ..Default::default() };
        assert_eq!(Call::get("/v1/jobs").query(&query).path, "/v1/jobs?type=a+b&limit=5");
        let pairs = [("queue", Some("a&b")), ("kind", None)];
        assert_eq!(Call::get("/v1/events").query(&pairs).path, "/v1/events?queue=a%26b");
        let nothing = mainspring_wire::JobQuery::default();
        assert_eq!(Call::get("/v1/jobs").query(&nothing).path, "/v1/jobs");
    }
}
