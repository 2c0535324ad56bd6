//! The door as a client meets it: the whole router over a real engine on the memory store, under a clock that the tests
//! move.

mod bad_claims;
mod bad_commands;
mod bad_jobs;
mod bad_requests;
mod bad_schedules;
mod bad_workflows;
mod batch;
mod clock;
mod dead;
mod events;
mod forecast;
mod house;
mod idempotency;
mod jobs;
mod metrics;
mod openapi;
mod queues;
mod random;
mod schedules;
mod serve;
mod settle_and_claim;
mod work;
mod workflows;
