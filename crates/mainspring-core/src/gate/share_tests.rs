//! The promises of fair sharing, in whole numbers: `served_a / weight_a` is compared as `served_a · weight_b`.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::limits;

/// A queue of tenants by number, each with a weight and what it was served.
struct Queue {
    share: Share,
    tenants: Vec<Tenant>,
}

struct Tenant {
    weight: u32,
    turn: Turn,
    has_work: bool,
    served: i128,
}

impl Queue {
    fn new(weights: &[u32]) -> Queue {
        let tenant = |&weight| Tenant { weight, turn: Turn::default(), has_work: false, served: 0 };
        let mut queue = Queue { share: Share::default(), tenants: weights.iter().map(tenant).collect() };
        (0..weights.len()).for_each(|at| queue.wake(at));
        queue
    }

    fn wake(&mut self, at: usize) {
        let tenant = &mut self.tenants[at];
        if !tenant.has_work {
            tenant.has_work = true;
            tenant.turn = self.share.join(tenant.turn, tenant.weight);
        }
    }

    fn serve(&mut self, cost: u16) -> Option<usize> {
        let with_work = self.tenants.iter().enumerate().filter(|(_, tenant)| tenant.has_work);
        let at = Share::pick(with_work.map(|(at, tenant)| (tenant.turn, at)))?;
        let tenant = &mut self.tenants[at];
        tenant.turn = self.share.charge(tenant.turn, tenant.weight, cost);
        tenant.served += i128::from(cost);
        Some(at)
    }
}

fn weights(most: usize) -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(prop_oneof![Just(1u32), 1u32..10, 1..=limits::SHARE_WEIGHT_MAX], 1..most)
}

proptest! {
    #[test]
    fn nobody_is_ahead_of_its_share_by_more_than_one_job(
        weights in weights(6), costs in prop::collection::vec(prop_oneof![Just(1u16), 1u16..50], 1..400),
    ) {
        let mut queue = Queue::new(&weights);
        let dearest = i128::from(*costs.iter().max().expect("one at least"));
        for cost in costs {
            queue.serve(cost);
            for a in &queue.tenants {
                for b in &queue.tenants {
                    let (weight_a, weight_b) = (i128::from(a.weight), i128::from(b.weight));
                    let ahead = a.served * weight_b - b.served * weight_a;
                    prop_assert!(ahead <= (dearest - 1) * weight_b + weight_a, "{} over {:?}", ahead, weights);
                }
            }
        }
    }

    #[test]
    fn a_first_job_waits_for_one_round_whatever_the_others_have(
        weights in weights(8), before in 0usize..300, weight in 1..=limits::SHARE_WEIGHT_MAX,
    ) {
        let mut queue = Queue::new(&weights);
        (0..before).for_each(|_| { queue.serve(1); });
        let newcomer = queue.tenants.len();
        queue.tenants.push(Tenant { weight, turn: Turn::default(), has_work: false, served: 0 });
        queue.wake(newcomer);
        let mut waited_for = vec![0u32; newcomer];
        while let Some(at) = queue.serve(1).filter(|&at| at != newcomer) {
            waited_for[at] += 1;
            prop_assert!(waited_for[at] <= weights[at] / weight + 1, "{:?} of {:?}", waited_for, weights);
        }
    }

    #[test]
    fn an_idle_tenant_saves_up_nothing(weights in weights(6), while_away in 0usize..500, after in 1usize..200) {
        let mut queue = Queue::new(&weights);
        let idler = queue.tenants.len();
        queue.tenants.push(Tenant { weight: 1, turn: Turn::default(), has_work: false, served: 0 });
        (0..while_away).for_each(|_| { queue.serve(1); });
        let before: Vec<i128> = queue.tenants.iter().map(|tenant| tenant.served).collect();
        queue.wake(idler);
        for _ in 0..after {
            queue.serve(1);
            let idler_served = queue.tenants[idler].served;
            for (at, &weight) in weights.iter().enumerate() {
                let served = queue.tenants[at].served - before[at];
                // Behind by one job of each at most, as if both had begun when it came.
                let ahead = idler_served * i128::from(weight) - served;
                prop_assert!(ahead <= i128::from(weight) + 1, "{} over weight {}", ahead, weight);
            }
        }
    }

    #[test]
    fn an_ordered_set_finds_whom_pick_finds(turns in prop::collection::vec(0u128..20, 1..20)) {
        let line = || turns.iter().enumerate().map(|(tenant, &turn)| (Turn(turn), tenant));
        let first = line().collect::<BTreeSet<_>>().first().map(|&(_, tenant)| tenant);
        prop_assert_eq!(Share::pick(line()), first);
    }
}

#[test]
fn a_million_jobs_of_one_tenant_delay_the_first_of_another_by_one() {
    let mut queue = Queue::new(&[1, 1]);
    queue.tenants[1].has_work = false;
    (0..1_000_000).for_each(|_| assert_eq!(queue.serve(1), Some(0)));
    queue.wake(1);
    let next: Vec<_> = (0..6).filter_map(|_| queue.serve(1)).collect();
    assert_eq!(next, [0, 1, 0, 1, 0, 1]);
}

#[test]
fn a_stream_of_newcomers_starves_nobody() {
    let mut queue = Queue::new(&[1]);
    for _ in 0..1000 {
        let newcomer = queue.tenants.len();
        queue.tenants.push(Tenant { weight: 1, turn: Turn::default(), has_work: false, served: 0 });
        queue.wake(newcomer);
        let served = queue.serve(1).expect("there is work");
        queue.tenants[served].has_work = served == 0;
    }
    // One newcomer a step: a round is as long as the line of them, which grows by one each round.
    assert!(queue.tenants[0].served >= 40, "{}", queue.tenants[0].served);
}

#[test]
fn one_who_comes_and_goes_without_being_served_gains_nothing_and_loses_nothing() {
    let mut share = Share::default();
    let other = share.join(Turn::default(), 1);
    let flapping = share.join(Turn::default(), 1);
    assert_eq!(share.join(flapping, 1), flapping);
    let served = share.charge(other, 1, 50);
    assert_eq!(share.join(served, 1), served, "what was served is not forgotten by leaving the line");
    assert_eq!(Share::pick([] as [(Turn, u8); 0]), None);
}
