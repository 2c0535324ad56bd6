//! Whom a bench measures: a server that runs, or one of its own. Only on this machine: over a network it would measure that.

use std::net::{SocketAddr, ToSocketAddrs};

use anyhow::{Context, bail};
use http::Uri;
use mainspring_wire::Ready;

use crate::bench::conn::Conn;
use crate::bench::figures::Figures;
use crate::bench::server::{End, Options, OwnServer};

#[derive(Debug)]
pub struct Target {
    address: SocketAddr,
    pub own: Option<OwnServer>,
    pub ready: Ready,
}

impl Target {
    pub async fn open(server: Option<&str>, options: &Options) -> anyhow::Result<Target> {
        let own = match server {
            Some(_) => None,
            None => Some(OwnServer::start(options).await?),
        };
        let address = match (&own, server) {
            (Some(own), _) => own.address,
            (None, server) => loopback(server.unwrap_or_default())?,
        };
        let ready = readiness(address).await?;
        Ok(Target { address, own, ready })
    }

    /// A server of its own has another one after a restart.
    pub fn address(&self) -> SocketAddr {
        self.own.as_ref().map_or(self.address, |own| own.address)
    }

    /// The filesystem under the data, if it is one that makes fsync mean nothing.
    pub fn warning(&self) -> Option<&'static str> {
        const TMPFS_MAGIC: u64 = 0x0102_1994;
        let own = self.own.as_ref()?;
        let kind = rustix::fs::statfs(own.dir()).ok()?.f_type;
        (kind as u64 == TMPFS_MAGIC)
            .then_some("the data is on tmpfs, where fsync costs nothing; choose --data-dir on a disk")
    }

    pub fn put_usage(&self, figures: &mut Figures) -> anyhow::Result<()> {
        if let Some(own) = &self.own {
            let usage = own.usage()?;
            figures.add("server_cpu_seconds", usage.cpu_seconds);
            figures.add("server_rss_anon_mib", usage.rss_anon_bytes as f64 / f64::from(1 << 20));
        }
        Ok(())
    }

    pub async fn close(mut self) -> anyhow::Result<()> {
        match &mut self.own {
            Some(own) => own.end(End::Asked).await,
            None => Ok(()),
        }
    }
}

async fn readiness(address: SocketAddr) -> anyhow::Result<Ready> {
    let mut conn = Conn::open(address).await?;
    let answer = conn.get("/readyz").await?;
    serde_json::from_slice(answer).context("/readyz was not readable")
}

fn loopback(server: &str) -> anyhow::Result<SocketAddr> {
    let uri: Uri =
        server.parse().with_context(|| format!("{server:?} is not an address such as http://127.0.0.1:7710"))?;
    let (Some("http"), Some(host)) = (uri.scheme_str(), uri.host()) else {
        bail!("{server:?} is not an address such as http://127.0.0.1:7710");
    };
    let port = uri.port_u16().unwrap_or(80);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let mut found = (host, port).to_socket_addrs().with_context(|| format!("{host} is not known"))?;
    match found.find(|address| address.ip().is_loopback()) {
        Some(address) => Ok(address),
        None => bail!("{server} is not on this machine: a bench measures over loopback only"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_server_on_this_machine_is_measured() {
        assert_eq!(loopback("http://127.0.0.1:7710").expect("is here"), ([127, 0, 0, 1], 7710).into());
        assert!(loopback("http://[::1]:7710/").expect("is here").is_ipv6());
        let refused = |server: &str| loopback(server).expect_err("is refused").to_string();
        assert!(refused("http://192.0.2.1:7710").contains("is not on this machine"));
        assert!(refused("https://127.0.0.1:7710").contains("is not an address such as"));
        assert!(refused("127.0.0.1").contains("is not an address such as"));
    }
}
