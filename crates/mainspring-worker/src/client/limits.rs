//! Limits: `/v1/limits` and what is below it. A reach is `queue:NAME`, `type:NAME`, `key:TEXT`, each also as `PREFIX*`, or `tenant`.

use http::Method;
use mainspring_wire::{LimitRule, LimitView, Limits};

use super::Client;
use super::call::{Call, segment};
use crate::error::Result;

impl Client {
    /// Every limit, and how each gate stands that something is held, spent or closed at.
    pub async fn limits(&self) -> Result<Limits> {
        self.ask(Call::get("/v1/limits")).await
    }

    /// What holds in a reach, and how it stands.
    pub async fn limit(&self, reach: &str) -> Result<LimitView> {
        self.ask(Call::get(path(reach))).await
    }

    /// Sets what holds in a reach, in place of what held there before. It holds when this answers.
    pub async fn set_limit(&self, reach: &str, rule: &LimitRule) -> Result<LimitView> {
        self.ask(Call::new(Method::PUT, path(reach)).body(rule)).await
    }

    /// What is wrong with a limit, or how it would be kept, with every default. Sets nothing.
    pub async fn check_limit(&self, reach: &str, rule: &LimitRule) -> Result<LimitView> {
        self.ask(Call::new(Method::PUT, format!("{}?dry_run=true", path(reach))).body(rule)).await
    }

    /// Limits nothing by this rule any more. One that is not there is [not found](crate::Error::is_not_found).
    pub async fn remove_limit(&self, reach: &str) -> Result<()> {
        self.tell(Call::new(Method::DELETE, path(reach))).await.map(drop)
    }

    /// Forgets what workers were told to keep away from, and closes the breakers, at every gate in reach.
    pub async fn reopen_limit(&self, reach: &str) -> Result<LimitView> {
        self.ask(Call::post(format!("{}/reopen", path(reach)))).await
    }
}

fn path(reach: &str) -> String {
    format!("/v1/limits/{}", segment(reach))
}

#[cfg(test)]
mod tests {
    use super::path;

    #[test]
    fn a_reach_stays_one_part_of_the_path() {
        assert_eq!(path("key:https://a b/*"), "/v1/limits/key%3Ahttps%3A%2F%2Fa%20b%2F%2A");
    }
}
