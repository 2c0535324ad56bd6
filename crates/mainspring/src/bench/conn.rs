//! One keep-alive HTTP/1.1 connection, as lean as it gets: client and server share the cores, so what the client burns the
//! server lacks. Knows paths and bytes, not jobs.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, bail};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST};
use http::{HeaderValue, Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::clock;

/// How often one request is pushed back (429, 503) before the bench gives up.
const PUSH_BACKS_MAX: u32 = 500;
const PUSH_BACK_WAIT: Duration = Duration::from_millis(10);
/// No answer takes longer, waiting claims included.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(120);
const REFUSAL_CHARS_MAX: usize = 500;

#[derive(Debug)]
pub struct Conn {
    sender: SendRequest<Full<Bytes>>,
    host: HeaderValue,
    answer: Vec<u8>,
    driver: tokio::task::AbortHandle,
}

impl Conn {
    pub async fn open(address: SocketAddr) -> anyhow::Result<Conn> {
        let stream = TcpStream::connect(address).await.with_context(|| format!("could not connect to {address}"))?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        // Its error reaches us as the error of the request under way.
        let driver = tokio::spawn(async move { drop(connection.await) }).abort_handle();
        let host = HeaderValue::from_str(&address.to_string())?;
        Ok(Conn { sender, host, answer: Vec::new(), driver })
    }

    pub async fn get(&mut self, uri: &Uri) -> anyhow::Result<&[u8]> {
        self.ask(Method::GET, uri, Bytes::new()).await
    }

    pub async fn post(&mut self, uri: &Uri, body: Bytes) -> anyhow::Result<&[u8]> {
        self.ask(Method::POST, uri, body).await
    }

    /// Waits and asks again while it is pushed back; any other refusal is an error.
    async fn ask(&mut self, method: Method, uri: &Uri, body: Bytes) -> anyhow::Result<&[u8]> {
        for _ in 0..PUSH_BACKS_MAX {
            let asked = self.ask_once(method.clone(), uri, body.clone());
            let status = tokio::time::timeout(ANSWER_WAIT_MAX, asked)
                .await
                .map_err(|_| anyhow::anyhow!("{method} {uri} was not answered within {ANSWER_WAIT_MAX:?}"))?
                .with_context(|| format!("could not {method} {uri}"))?;
            match status {
                StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => clock::sleep(PUSH_BACK_WAIT).await,
                status if status.is_success() => return Ok(&self.answer),
                status => bail!("{method} {uri} was answered {status}: {}", self.refusal()),
            }
        }
        bail!("{method} {uri} was pushed back {PUSH_BACKS_MAX} times: {}", self.refusal())
    }

    async fn ask_once(&mut self, method: Method, uri: &Uri, body: Bytes) -> anyhow::Result<StatusCode> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = uri.clone();
        request.headers_mut().insert(HOST, self.host.clone());
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        self.sender.ready().await?;
        let response = self.sender.send_request(request).await?;
        let status = response.status();
        let mut body = response.into_body();
        self.answer.clear();
        while let Some(frame) = body.frame().await {
            if let Ok(data) = frame?.into_data() {
                self.answer.extend_from_slice(&data);
            }
        }
        Ok(status)
    }

    fn refusal(&self) -> String {
        String::from_utf8_lossy(&self.answer).chars().take(REFUSAL_CHARS_MAX).collect()
    }
}

impl Drop for Conn {
    fn drop(&mut self) {
        self.driver.abort();
    }
}
