//! Holds several stores to the promises of one: memory stores to all of them and to lockstep, databases to all of them.

mod memory {
    use crate::sharded::home::MemorySet;

    crate::conformance!(|| MemorySet::of(3));
    // In three, the two tenants of a script live apart.
    crate::lockstep!(sharded, || MemorySet::comparable(3));
}

/// What differs between one database and two; all of it would take minutes.
mod postgres {
    use crate::sharded::home::PostgresPair;

    crate::conformance! { @verb PostgresPair::new; promote:
        no_state_without_an_exit_every_overdue_job_is_found_in_small_steps
        a_failure_stays_where_it_is_other_segments_are_left_alone
        the_next_instants_are_listed_once_each_and_in_order
    }
    crate::conformance! { @verb PostgresPair::new; claim:
        no_two_holders_a_job_is_handed_out_once
        no_two_holders_a_claimed_job_stays_claimed_through_a_reopen
    }
    crate::conformance! { @verb PostgresPair::new; heartbeat:
        registering_again_keeps_what_a_worker_holds
        a_failure_stays_where_it_is_nobody_beats_for_the_worker_of_another_tenant
        a_worker_is_told_what_to_stop
        answers_come_in_the_order_of_the_beats
    }
    crate::conformance! { @verb PostgresPair::new; reclaim:
        a_worker_is_written_off_once_it_holds_nothing
        limits_are_named_a_sweep_takes_no_more_than_its_limit
    }
    crate::conformance! { @verb PostgresPair::new; prune:
        the_first_to_end_is_the_first_to_be_forgotten
    }
    crate::conformance! { @verb PostgresPair::new; release:
        nothing_accepted_is_lost_a_release_survives_a_reopen_before_and_after_promote
    }
    crate::conformance! { @verb PostgresPair::new; turn:
        a_failure_stays_where_it_is_schedules_of_other_segments_are_left_alone
        limits_are_named_every_due_schedule_is_found_in_small_steps
    }
    crate::conformance! { @verb PostgresPair::new; seats:
        no_two_holders_a_seat_is_one_nodes_until_its_term_is_over
        a_renewal_prolongs_what_the_node_holds_and_nothing_else
        no_state_without_an_exit_a_node_that_leaves_gives_up_everything_and_is_gone
        the_leader_assigns_and_one_that_was_deposed_does_not
        epochs_and_the_assignment_outlive_the_process
    }
    crate::conformance! { @verb PostgresPair::new; warrant:
        no_two_holders_a_promote_leaves_alone_the_segments_that_are_anothers_by_now
        no_two_holders_what_is_anothers_by_now_is_not_listed_either
        every_occurrence_once_a_turn_in_the_name_of_a_lost_seat_does_nothing
        no_two_holders_a_deposed_leader_takes_nothing_back
        nothing_accepted_is_lost_a_deposed_leader_forgets_nothing
    }
}

use mainspring_core::id::JobId;
use mainspring_core::job::Job;
use mainspring_core::name::TenantName;
use mainspring_core::segment::Segment;
use mainspring_core::store::{Error, Views};

use super::home::MemorySet;
use super::{Part, Sharded};
use crate::conformance::stage::{at, job, put};
use crate::home::Home;

#[tokio::test]
async fn an_id_of_another_database_than_its_tenants_is_refused_and_nothing_of_its_batch_happens() {
    let mut home = MemorySet::of(3);
    let store = home.open().await;
    let tenant = TenantName::default_tenant();
    let elsewhere = home.placement().shards().find(|shard| *shard != home.placement().home(&tenant)).unwrap();
    let segment: Segment = home.placement().segments_of(elsewhere).iter().next().unwrap();
    let lost = Job { id: JobId::mint(at(0), 9, segment, 9), ..job(9) };
    let fired = mainspring_core::store::Turn { jobs: vec![lost.clone()], ..put("a", None) };
    for refused in [
        store.submit(at(0), vec![job(1), lost]).await.map(drop).unwrap_err(),
        store.turn(at(0), vec![fired]).await.map(drop).unwrap_err(),
    ] {
        let Error::Invalid(why) = refused else { panic!("{refused}") };
        assert!(why.contains("tenant default lives in database") && why.contains("of 3"), "{why}");
    }
    assert_eq!(store.queues(None).await.unwrap(), []);
}

#[tokio::test]
async fn limits_are_named_a_set_has_at_least_one_database_and_not_one_too_many() {
    let part = || {
        let store = std::sync::Arc::new(crate::memory::Memory::new());
        Part { name: "memory".into(), store: store.clone(), seats: store }
    };
    let of = |count: u8| Sharded::new((0..count).map(|_| part()).collect());
    assert!(of(0).is_none() && of(mainspring_core::limits::SHARDS_MAX + 1).is_none());
    let most = of(mainspring_core::limits::SHARDS_MAX).expect("as many as there may be");
    assert!(most.describe().starts_with("16 databases: memory"), "{}", most.describe());
}
