//! The name of a gate as the writer's memory knows it: whose, and the hash of its text.

use std::hash::{BuildHasherDefault, Hash, Hasher};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GateKey {
    /// The tenant's number, which is good until the store is closed.
    pub tenant: u32,
    pub hash: u64,
}

impl Hash for GateKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Odd, so that no two tenants share the hashes of a text.
        state.write_u64(self.hash ^ u64::from(self.tenant).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }
}

/// Takes what it is given: a [`GateKey`] is a hash already.
pub type PlainHash = BuildHasherDefault<Plain>;

#[derive(Debug, Default)]
pub struct Plain(u64);

impl Hasher for Plain {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}
