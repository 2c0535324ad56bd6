//! What a server refuses to start with: values that are each well formed and together are not safe or make no sense.

use anyhow::{Result, bail};
use mainspring_core::limits;

use crate::config::Config;
use crate::exit::Usage;
use crate::roles::Roles;
use crate::store_kind::StoreKind;

pub fn check(config: &Config) -> Result<()> {
    let listen = config.server.listen;
    if !listen.ip().is_loopback() && !config.server.allow_remote {
        bail!(Usage(format!(
            "{listen} can be reached from other machines, and there are no tokens and no TLS yet: anybody there could run \
             jobs. Listen on 127.0.0.1, or say --allow-remote if something in front of it keeps strangers out"
        )));
    }
    let is_alone = !matches!(config.store.kind, StoreKind::Postgres(_));
    if is_alone && config.server.roles != Roles::default() {
        bail!(Usage(format!(
            "roles are {}, but this store has one node, which must do everything; leave --roles out",
            config.server.roles
        )));
    }
    let lease = config.workers.lease.duration();
    if !(limits::LEASE_MIN..=limits::LEASE_MAX).contains(&lease) {
        bail!(Usage(format!(
            "workers.lease is {}: it must be from {:?} to {:?}",
            config.workers.lease,
            limits::LEASE_MIN,
            limits::LEASE_MAX
        )));
    }
    let term = config.server.term.duration();
    if !(limits::TERM_MIN..=limits::TERM_MAX).contains(&term) {
        bail!(Usage(format!(
            "server.term is {}: it must be from {:?} to {:?}",
            config.server.term,
            limits::TERM_MIN,
            limits::TERM_MAX
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use mainspring_wire::Span;

    use super::*;

    fn listening_on(address: &str, allow_remote: bool) -> Result<()> {
        let mut config = Config::default();
        config.server.listen = address.parse().expect("an address");
        config.server.allow_remote = allow_remote;
        check(&config)
    }

    #[test]
    fn a_server_that_strangers_can_reach_needs_to_be_told() {
        for address in ["127.0.0.1:7710", "127.5.5.5:0", "[::1]:7710"] {
            listening_on(address, false).expect("is on loopback");
        }
        for address in ["0.0.0.0:7710", "[::]:7710", "192.0.2.1:7710"] {
            let error = listening_on(address, false).expect_err("is not").to_string();
            assert!(error.contains("--allow-remote"), "{error}");
            listening_on(address, true).expect("was told to");
        }
    }

    #[test]
    fn a_node_that_is_alone_does_everything() {
        let mut config = Config::default();
        config.server.roles = "api,dispatcher".parse().expect("roles");
        let error = check(&config).expect_err("nobody would schedule").to_string();
        assert!(error.contains("roles are api,dispatcher") && error.contains("leave --roles out"), "{error}");
        config.store.kind = StoreKind::Postgres(vec!["postgres://db/jobs".into()]);
        check(&config).expect("other nodes can do the rest");
    }

    #[test]
    fn a_lease_out_of_bounds_is_refused_by_name() {
        let mut config = Config::default();
        config.workers.lease = Span::from_millis(10);
        assert!(check(&config).expect_err("is too short").to_string().starts_with("workers.lease is 10ms"));
        config.workers.lease = Span::from_secs(3601);
        assert!(check(&config).is_err());
    }

    #[test]
    fn a_term_out_of_bounds_is_refused_by_name() {
        let with_term = |term: Span| {
            let mut config = Config::default();
            config.server.term = term;
            check(&config)
        };
        for (term, past) in [(limits::TERM_MIN, Span::from_millis(999)), (limits::TERM_MAX, Span::from_secs(301))] {
            with_term(term.into()).expect("is at the limit");
            let error = with_term(past).expect_err("is past it").to_string();
            assert!(error.starts_with("server.term is ") && error.contains("from 1s to 300s"), "{error}");
        }
    }
}
