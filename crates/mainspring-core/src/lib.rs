//! What a job is and what may happen to it. Pure: no IO, no clock, no randomness.
