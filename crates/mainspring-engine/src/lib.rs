//! What moves jobs: time, gathering, leases, sweeps.
