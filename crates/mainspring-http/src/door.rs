//! What every route holds: the engine, the options, the default tenant. No per-request state.

use std::ops::Deref;
use std::sync::Arc;

use bytes::Bytes;
use mainspring_core::name::TenantName;
use mainspring_engine::Engine;

use crate::limits;

/// What an operator can turn at the door.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    pub body_bytes_max: usize,
    /// What `/readyz` says the server is.
    pub version: String,
}

impl Default for Options {
    fn default() -> Options {
        Options { body_bytes_max: limits::BODY_BYTES_MAX, version: env!("CARGO_PKG_VERSION").to_owned() }
    }
}

/// A cheap handle, cloned for every request.
#[derive(Clone, Debug)]
pub(crate) struct Door(Arc<Inside>);

#[derive(Debug)]
pub(crate) struct Inside {
    pub engine: Engine,
    pub options: Options,
    pub tenant: TenantName,
    /// The OpenAPI document, printed once.
    pub document: Bytes,
}

impl Door {
    pub(crate) fn new(engine: Engine, options: Options, document: Bytes) -> Door {
        Door(Arc::new(Inside { engine, options, tenant: TenantName::default_tenant(), document }))
    }
}

impl Deref for Door {
    type Target = Inside;

    fn deref(&self) -> &Inside {
        &self.0
    }
}
