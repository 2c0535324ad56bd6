//! Who remembers: the stores behind the core's seams.
