//! Where the server is. Reads the address once, so that a wrong one is a clear error before the first call.

use http::Uri;
use http::uri::Scheme;

use crate::error::{Error, Result};

/// `http://host:port` and perhaps a path before `/v1`; no slash at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BaseUrl(String);

impl BaseUrl {
    pub fn parse(text: &str) -> Result<BaseUrl> {
        let wrong = |why: &str| Err(Error::Address(format!("{text:?} is not the address of a server: {why}")));
        let Ok(uri) = text.trim().parse::<Uri>() else {
            return wrong("expected something like http://127.0.0.1:7710");
        };
        let Some(authority) = uri.authority().filter(|authority| !authority.host().is_empty()) else {
            return wrong("it names no host; expected something like http://127.0.0.1:7710");
        };
        match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTP => {}
            Some(scheme) if *scheme == Scheme::HTTPS => return wrong("https is not supported yet, only http"),
            Some(scheme) => return wrong(&format!("{scheme} is not supported, only http")),
            None => return wrong(&format!("it has no scheme; did you mean http://{authority}?")),
        }
        if authority.as_str().contains('@') {
            return wrong("a user name or password does not belong in it");
        }
        if uri.query().is_some() {
            return wrong("a query does not belong in it");
        }
        let path = uri.path().trim_end_matches('/');
        Ok(BaseUrl(format!("http://{authority}{path}")))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The whole address of a path, which begins with a slash.
    pub fn join(&self, path: &str) -> String {
        format!("{}{path}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_without_its_last_slash() {
        let check = |text: &str, expected: &str| {
            let base = BaseUrl::parse(text).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(base.join("/v1/jobs"), expected);
        };
        check("http://127.0.0.1:7710", "http://127.0.0.1:7710/v1/jobs");
        check("http://localhost", "http://localhost/v1/jobs");
        check(" http://localhost:80/ ", "http://localhost:80/v1/jobs");
        check("http://[::1]:7710", "http://[::1]:7710/v1/jobs");
        check("http://proxy/jobs/", "http://proxy/jobs/v1/jobs");
    }

    #[test]
    fn a_wrong_address_says_what_is_wrong() {
        let check = |text: &str, words: &str| {
            let error = BaseUrl::parse(text).expect_err(text).to_string();
            assert!(error.contains(words), "{error:?} does not say {words:?}");
            assert!(error.contains(text), "{error:?} does not quote {text:?}");
        };
        check("", "expected something like http://127.0.0.1:7710");
        check("not an address", "expected something like http://127.0.0.1:7710");
        check("/v1", "names no host");
        check("localhost:7710", "did you mean http://localhost:7710?");
        check("https://localhost:7710", "https is not supported yet");
        check("ftp://localhost", "ftp is not supported");
        check("http://me:secret@localhost", "a user name or password");
        check("http://localhost?a=b", "a query");
    }
}
