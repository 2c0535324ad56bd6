//! Every promise by name, and the macro that makes one test of each. A promise that is not listed here fails a test.

/// One test for each promise, in a module per verb: `conformance!(MemoryHome::default)`. The argument makes an empty
/// [`Home`](crate::home::Home).
#[macro_export]
macro_rules! conformance {
    (@verb $new_home:expr; $verb:ident: $($promise:ident)*) => {
        mod $verb {
            use super::*;

            $(
                #[test]
                fn $promise() {
                    $crate::conformance::keeps($new_home, $crate::conformance::$verb::$promise);
                }
            )*
        }
    };
    ($new_home:expr) => {
        $crate::conformance! { @verb $new_home; submit:
            nothing_accepted_is_lost_every_field_is_there_after_a_reopen
            nothing_accepted_is_lost_of_a_large_batch
            a_due_job_is_ready_and_a_later_one_waits
            an_id_seen_before_is_accepted_again_and_changes_nothing
            an_id_seen_before_answers_where_the_job_is_now
            an_id_twice_in_one_batch_is_one_job
            repeating_a_submit_is_safe_in_a_full_queue
            a_key_seen_before_answers_the_job_it_made
            a_key_is_free_again_when_its_time_is_over
            a_key_belongs_to_its_tenant
            a_key_twice_in_one_batch_makes_one_job
            a_key_outlives_its_job
            limits_are_named_a_full_queue_says_its_depth_and_keeps_what_it_has
            limits_are_named_a_refused_job_does_not_use_up_its_key
            limits_are_named_running_and_finished_jobs_take_no_room
            a_failure_stays_where_it_is_a_full_queue_stops_no_other
            an_empty_call_is_answered_by_nothing
        }
        $crate::conformance! { @verb $new_home; promote:
            a_job_becomes_ready_on_its_millisecond
            what_is_ready_stays_ready_when_the_clock_steps_back
            what_is_ready_stays_ready_through_a_reopen
            no_state_without_an_exit_every_overdue_job_is_found_in_small_steps
            no_state_without_an_exit_a_far_job_falls_due_after_years_and_reopens
            no_state_without_an_exit_the_last_instant_there_is_can_be_reached
            nothing_accepted_is_lost_when_due_times_are_scattered
            promoted_jobs_are_counted_by_queue_and_the_oldest_is_named
            a_failure_stays_where_it_is_other_segments_are_left_alone
            a_paused_job_does_not_become_ready_until_it_is_resumed
            a_job_of_a_paused_queue_becomes_ready_all_the_same
            the_next_instants_are_listed_once_each_and_in_order
        }
        $crate::conformance! { @verb $new_home; claim:
            no_two_holders_a_job_is_handed_out_once
            no_two_holders_a_fence_is_never_used_twice
            no_two_holders_a_claimed_job_stays_claimed_through_a_reopen
            order_is_fair_the_higher_priority_goes_first
            order_is_fair_a_long_wait_beats_a_priority
            order_is_fair_equal_ranks_go_to_the_older_id
            order_is_fair_a_near_deadline_goes_first
            order_is_fair_over_all_asked_queues_together
            order_is_fair_each_queue_ages_at_its_own_rate
            order_is_fair_a_new_aging_counts_for_what_waits_already
            order_is_fair_a_new_priority_counts_for_what_waits_already
            order_is_fair_survives_a_reopen
            limits_are_named_a_claim_takes_no_more_than_it_asked
            a_failure_stays_where_it_is_a_paused_queue_gives_nothing_and_stops_no_other
            a_failure_stays_where_it_is_a_paused_job_is_passed_over
            a_failure_stays_where_it_is_a_tenant_is_given_only_its_own
            a_waiting_job_is_not_handed_out_before_it_is_promoted
            a_job_past_its_expiry_is_not_handed_out
            a_stranger_gets_nothing
            a_worker_told_to_be_quiet_gets_nothing
            a_claim_counts_the_attempt_and_sets_its_own_timeout
            an_unknown_queue_gives_nothing_and_is_not_made
        }
        $crate::conformance! { @verb $new_home; heartbeat:
            a_cancel_that_was_asked_is_not_forgotten_when_a_claim_never_arrived
            a_worker_lives_from_beat_to_beat
            a_silent_worker_that_was_not_written_off_comes_back_with_what_it_holds
            a_worker_that_left_is_not_brought_back_nor_spared
            a_beat_of_a_stranger_changes_nothing
            a_beat_never_shortens_a_life
            a_worker_is_shown_as_it_registered
            registering_again_keeps_what_a_worker_holds
            a_failure_stays_where_it_is_nobody_beats_for_the_worker_of_another_tenant
            a_worker_is_told_what_to_stop
            an_order_reaches_its_worker
            nothing_accepted_is_lost_what_never_arrived_is_given_back_uncounted
            a_fresh_claim_that_is_still_on_its_way_is_not_given_back
            a_worker_learns_what_it_has_lost
            no_state_without_an_exit_what_a_leaving_worker_holds_is_given_back_and_not_counted
            answers_come_in_the_order_of_the_beats
        }
        $crate::conformance! { @verb $new_home; report:
            a_start_is_told_once
            a_checkpoint_reaches_the_next_attempt
            what_is_not_said_is_kept
            progress_ends_with_its_attempt
            no_two_holders_a_late_worker_cannot_speak_for_its_successor
            a_report_is_told_of_a_cancel
        }
        $crate::conformance! { @verb $new_home; settle:
            no_two_holders_a_late_worker_cannot_settle_its_successor
            no_two_holders_a_lease_is_settled_once
            no_two_holders_the_first_of_two_settlements_in_a_batch_counts
            a_failure_stays_where_it_is_a_stale_settlement_stops_no_other
            every_verdict_sends_the_job_where_the_core_says
            nothing_accepted_is_lost_an_end_survives_a_reopen
            nothing_accepted_is_lost_a_retry_survives_a_reopen
            only_a_dead_job_keeps_its_checkpoint
            an_error_stays_until_another_one_replaces_it
            every_attempt_is_in_the_history_oldest_first
            order_is_fair_a_released_job_keeps_its_place
            a_lease_past_its_timeout_counts_until_somebody_takes_it
        }
        $crate::conformance! { @verb $new_home; reclaim:
            no_state_without_an_exit_what_a_silent_worker_holds_is_taken_back
            no_state_without_an_exit_an_attempt_past_its_timeout_is_taken_back
            a_silent_worker_counts_for_more_than_a_timeout
            no_state_without_an_exit_a_take_over_that_nobody_settles_runs_out_again
            no_two_holders_what_is_taken_back_is_lost_to_its_worker
            a_lost_attempt_is_written_down_when_it_is_settled
            a_live_worker_keeps_what_it_holds
            silent_workers_are_spared_when_nobody_could_hear_them
            a_timeout_passes_even_while_silent_workers_are_spared
            a_worker_is_written_off_once_it_holds_nothing
            limits_are_named_a_sweep_takes_no_more_than_its_limit
            no_state_without_an_exit_what_did_not_start_in_time_is_cancelled
            a_job_that_was_tried_does_not_expire_while_it_waits_for_a_retry
            a_job_that_started_in_time_is_not_cancelled
            a_cancel_that_was_asked_is_not_forgotten_when_a_worker_dies
        }
        $crate::conformance! { @verb $new_home; command:
            a_waiting_job_can_be_run_now
            running_a_ready_job_now_leaves_it_in_its_place
            a_paused_job_keeps_its_state_and_says_paused
            a_resumed_job_waits_for_its_own_time
            a_job_that_has_not_started_is_cancelled_at_once
            a_running_job_is_asked_to_stop_and_its_worker_decides
            a_cancel_asked_of_one_attempt_is_not_asked_of_the_next
            no_state_without_an_exit_a_dead_job_can_be_revived
            a_revived_job_keeps_an_expiry_that_lies_ahead
            a_deleted_job_is_gone_with_its_history
            an_update_moves_a_job_to_its_new_time
            an_update_changes_what_it_names_and_nothing_else
            what_does_not_fit_the_state_is_refused_and_changes_nothing
            a_failure_stays_where_it_is_a_job_of_another_tenant_is_missing
            settings_of_a_queue_are_made_and_kept
            answers_come_in_the_order_of_the_commands
            a_cancelled_retry_drops_its_checkpoint_and_keeps_its_error
        }
        $crate::conformance! { @verb $new_home; prune:
            nothing_accepted_is_lost_what_is_not_final_is_never_forgotten
            what_ended_before_its_retention_is_forgotten_and_no_other
            the_first_to_end_is_the_first_to_be_forgotten
            limits_are_named_one_call_forgets_no_more_than_its_limit
            a_key_is_forgotten_after_its_time_and_not_before
            a_revived_job_is_not_forgotten
        }
        $crate::conformance! { @verb $new_home; find:
            jobs_come_in_the_order_asked
            a_failure_stays_where_it_is_a_tenant_reads_only_its_own
            pages_go_from_the_newest_to_the_oldest_and_miss_none
            a_filter_finds_what_matches_all_it_names
            every_status_can_be_found
            a_job_that_is_not_there_has_no_history
            order_is_fair_a_job_knows_how_many_go_before_it
            counts_follow_every_job_through_its_life
            the_oldest_ready_job_of_a_queue_is_shown
            queues_come_by_tenant_and_name
            a_store_says_what_it_is
        }
        $crate::conformance! { @verb $new_home; depend:
            a_child_of_an_unfinished_parent_is_blocked
            nothing_accepted_is_lost_a_job_shows_its_bonds_as_they_were_submitted
            a_parent_that_succeeded_is_waited_for_no_more
            a_parent_must_be_there_or_come_earlier_in_the_same_call
            a_failure_stays_where_it_is_a_job_of_another_tenant_is_no_parent
            a_parent_that_was_forgotten_is_unknown
            what_becomes_of_a_child_of_a_failed_parent_is_its_own_choice
            the_first_parent_that_cannot_be_waited_for_is_named
            repeating_a_submit_is_safe_after_its_parent_failed
            limits_are_named_a_blocked_job_takes_room_in_its_queue
            limits_are_named_a_job_can_wait_for_as_many_as_the_limit
            no_state_without_an_exit_a_blocked_job_can_be_run_now
            no_state_without_an_exit_a_blocked_job_can_be_cancelled_and_takes_its_children_along
            no_state_without_an_exit_a_blocked_job_expires_and_takes_its_children_along
            a_paused_blocked_job_keeps_its_pause_when_its_parent_ends
            an_update_of_a_blocked_job_leaves_it_blocked
            what_does_not_fit_a_blocked_job_is_refused
        }
        $crate::conformance! { @verb $new_home; release:
            a_failure_stays_where_it_is_an_end_touches_no_child_before_promote
            an_attempt_that_does_not_end_its_job_releases_nobody
            nothing_accepted_is_lost_a_release_survives_a_reopen_before_and_after_promote
            a_child_becomes_ready_with_the_last_of_its_parents
            order_is_fair_a_child_is_due_from_its_release_or_its_own_time
            a_child_is_cancelled_with_its_parent_and_says_why
            a_child_that_runs_all_the_same_runs_after_a_failure
            a_held_child_waits_until_its_parent_is_revived_and_succeeds
            a_held_child_can_be_run_or_cancelled_by_a_person
            a_parent_that_was_revived_in_time_is_waited_for_again
            what_a_failed_parent_decided_stays_when_it_is_revived_later
            a_cancelled_child_takes_its_own_children_along
            the_lowest_parent_and_its_lowest_child_come_first_whatever_the_limit
            every_way_to_end_releases_those_who_wait
            limits_are_named_promote_goes_over_no_more_than_its_limit
            nothing_accepted_is_lost_of_many_children
            a_failure_stays_where_it_is_children_of_other_segments_are_left_alone
            a_parent_that_was_forgotten_leaves_held_children_to_a_person
            a_parent_that_was_forgotten_before_promote_still_releases_its_children
            each_edge_decides_for_itself
        }
        $crate::conformance! { @verb $new_home; workflow:
            all_jobs_of_a_workflow_are_taken_in
            a_refused_job_gives_its_answer_to_its_whole_workflow
            limits_are_named_a_workflow_fits_into_its_queue_or_stays_out
            repeating_the_submit_of_a_workflow_is_safe
            a_workflow_runs_from_its_first_step_to_its_callback
            no_state_without_an_exit_a_callback_follows_the_last_step_however_the_steps_ended
            a_failure_stays_where_it_is_the_last_step_touches_no_callback_before_promote
            a_callback_waits_for_its_own_time
            a_callback_is_blocked_once_and_not_again
            a_callback_that_a_person_ran_is_not_run_again
            a_job_can_wait_for_a_callback_and_for_a_step_from_outside
            counts_of_a_workflow_follow_its_steps
            a_dead_step_that_is_revived_is_counted_where_it_is
            a_workflow_is_forgotten_with_the_last_of_its_jobs
            a_callback_keeps_its_workflow_in_mind
            a_failure_stays_where_it_is_a_workflow_is_its_tenants_own
            the_jobs_of_a_workflow_are_found
            nothing_accepted_is_lost_of_a_large_workflow
        }
        $crate::conformance! { @verb $new_home; turn:
            nothing_accepted_is_lost_a_turn_is_there_as_a_whole_after_a_reopen
            a_turn_of_what_has_changed_is_lost_and_changes_nothing
            what_is_not_there_can_only_be_put
            a_schedule_that_is_gone_leaves_its_jobs_and_its_ledger
            a_version_is_never_used_twice
            a_job_that_is_refused_undoes_its_whole_turn
            firing_twice_makes_one_job
            an_id_may_lie_in_the_past_or_in_the_future
            turns_happen_in_the_order_of_the_call
            a_schedule_is_listed_from_its_instant_on_until_it_is_turned
            order_is_fair_the_longest_overdue_schedule_is_listed_first
            limits_are_named_every_due_schedule_is_found_in_small_steps
            a_failure_stays_where_it_is_schedules_of_other_segments_are_left_alone
            the_next_instants_are_those_of_jobs_and_schedules_together
            schedules_are_listed_by_name_and_miss_none
            the_jobs_of_a_schedule_are_found
            nothing_accepted_is_lost_every_field_of_a_schedule_is_there_after_a_reopen
        }
        $crate::conformance! { @verb $new_home; ledger:
            rows_come_latest_occurrence_first_and_pages_miss_none
            nothing_accepted_is_lost_every_sort_of_row_is_there_after_a_reopen
            a_failure_stays_where_it_is_names_that_begin_alike_are_kept_apart
            rows_are_forgotten_by_when_they_were_written
            limits_are_named_rows_are_part_of_what_one_call_forgets
        }
        $crate::conformance! { @verb $new_home; agenda:
            waiting_jobs_are_counted_by_the_step_they_fall_due_in
            an_agenda_begins_with_its_first_instant_and_ends_before_its_last
            only_what_waits_for_its_time_is_on_the_agenda
            a_failure_stays_where_it_is_an_agenda_is_of_one_tenant_or_of_all
            limits_are_named_an_agenda_looks_at_no_more_than_it_was_asked_and_says_so
            an_agenda_reaches_to_the_last_instant_there_is
        }
    };
}
