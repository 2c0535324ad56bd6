//! Draws calls that belong together: what single calls drawn at random come to hardly ever. Each of them stands for
//! itself in the script, so that a difference needs no more of them than it needs.

use mainspring_core::gate::Rule;
use mainspring_core::store::Whose;
use proptest::collection::vec;
use proptest::prelude::*;

use super::draw;
use super::limits::{self, Place};
use super::script::*;
use super::words::*;

/// A type whose jobs fail until its breaker opens, and one that finds out whether it can close.
pub fn breaker() -> impl Strategy<Value = Vec<Call>> {
    let jobs = vec(draw::new_job(), 3..5);
    let wait = prop::sample::select(vec![99i64, 100, 100, 1000]).prop_map(Span);
    let probed = prop_oneof![2 => Just(End::Succeed(None)), 1 => draw::end()];
    (jobs, limits::breaker(), wait, probed).prop_map(|(jobs, breaker, wait, probed)| {
        let of_one_type = |job: NewJob| {
            let (tenant, queue, kind, run) = (T(0), Q(0), K(0), Span(0));
            Lot::Job(NewJob { tenant, queue, kind, run, expires: None, key: None, after: Vec::new(), ..job })
        };
        let rule = Rule { breaker: Some(breaker), ..Rule::default() };
        let (worker, tenant, whose, queues) = (W(0), T(0), Whose::Own, vec![Q(0)]);
        let claim = |max| Call::Claim(vec![Ask { worker, tenant, whose, queues: queues.clone(), max }]);
        let failed = End::Bury { cause: 0, error: 0 };
        vec![
            Call::Submit(jobs.into_iter().map(of_one_type).collect()),
            Call::Command(vec![Wish::SetLimit(tenant, Place::Type(K(0)), rule)]),
            claim(2),
            Call::Settle(vec![(Which::Recent(0), failed.clone()), (Which::Recent(1), failed)]),
            Call::Clock(wait),
            claim(1),
            Call::Settle(vec![(Which::Recent(0), probed)]),
            claim(1),
        ]
    })
}
