//! What a person sees when the server is ready: where it is, what it keeps jobs in, and one command to try. In JSON logs it is
//! one line like the others.

use std::net::SocketAddr;

use crate::config::{Config, LogFormat};
use crate::store_kind::StoreKind;

/// Before the address. Whoever starts a server on port 0 reads the address behind it.
pub const ADDRESS_LABEL: &str = "address";

pub fn show(config: &Config, address: SocketAddr, store: &str) {
    let data = match &config.store.kind {
        StoreKind::Embedded => std::path::absolute(&config.store.data_dir)
            .unwrap_or_else(|_| config.store.data_dir.clone())
            .display()
            .to_string(),
        StoreKind::Memory => "none: NOTHING SURVIVES this process".into(),
        StoreKind::Postgres(_) => config.store.kind.to_string(),
    };
    match config.log.format {
        LogFormat::Json => tracing::info!(address = %url(address), store, data, "ready"),
        LogFormat::Text => eprint!("{}", text(address, store, &data)),
    }
}

fn text(address: SocketAddr, store: &str, data: &str) -> String {
    let (version, url) = (env!("CARGO_PKG_VERSION"), url(address));
    format!(
        "mainspring {version} is ready\n  \
         {ADDRESS_LABEL}  {url}\n  \
         store    {store}\n  \
         data     {data}\n  \
         try      curl {url}/v1/jobs -H 'content-type: application/json' -d '{{\"type\":\"hello\"}}'\n"
    )
}

/// An address that listens everywhere is tried on this machine.
fn url(address: SocketAddr) -> String {
    let mut reachable = address;
    if address.ip().is_unspecified() {
        let loopback: [std::net::IpAddr; 2] = [[127, 0, 0, 1].into(), std::net::Ipv6Addr::LOCALHOST.into()];
        reachable.set_ip(loopback[usize::from(address.is_ipv6())]);
    }
    format!("http://{reachable}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_on_a_line_of_its_own_and_can_be_reached() {
        let address_of = |listening: &str| {
            let text = text(listening.parse().expect("an address"), "memory", "none");
            let line =
                text.lines().find_map(|line| line.trim().strip_prefix(ADDRESS_LABEL)).expect("the line is there");
            line.trim().to_owned()
        };
        assert_eq!(address_of("127.0.0.1:7710"), "http://127.0.0.1:7710");
        assert_eq!(address_of("0.0.0.0:7710"), "http://127.0.0.1:7710");
        assert_eq!(address_of("[::]:7710"), "http://[::1]:7710");
    }
}
