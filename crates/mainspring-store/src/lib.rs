//! Who remembers: the stores behind the core's seams.

pub mod memory;

#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
#[cfg(any(test, feature = "conformance"))]
pub mod home;
#[cfg(any(test, feature = "conformance"))]
pub mod lockstep;
