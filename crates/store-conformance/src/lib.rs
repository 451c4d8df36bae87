//! The conformance suite of the engines of the store: a case for each guarantee of the [contract](ucp_store::Store), and
//! random sequences of commands whose replies are compared with those of [`Memory`](ucp_store::Memory).
//!
//! An engine passes one function to [`conformance!`](crate::conformance!).

#![expect(clippy::unwrap_used, reason = "the suite is test code: failures panic")]

pub mod accepting;
pub mod accounting;
mod act;
pub mod auditing;
pub mod broker;
pub mod concurrency;
pub mod counting;
pub mod credentials;
pub mod deciding;
pub mod deploying;
pub mod emptying;
pub mod ending;
mod fixture;
pub mod groups;
pub mod kept_plans;
mod leased;
pub mod leasing;
pub mod leftovers;
pub mod moving;
mod performing;
pub mod preconditions;
pub mod racing;
pub mod random;
pub mod rates;
pub mod refactors;
pub mod remembering;
pub mod resealing;
pub mod resolving;
pub mod respelling;
pub mod role_assignments;
pub mod sharing;
mod stage;
pub mod stepping;
pub mod tokens;
pub mod track_records;
pub mod type_schemas;
pub mod undoing;
pub mod watching;

/// Makes each case a test. `$fresh` is an async function without arguments that returns an empty store as
/// `Option<(Arc<dyn Store>, T)>`, where `T` is whatever must outlive the store. On `None` the cases are skipped.
#[macro_export]
macro_rules! conformance {
    ($fresh:path) => {
        $crate::conformance! { $fresh:
            accepting {
                a_new_alias_is_claimed_without_an_identifier
                a_known_alias_lends_its_identifier
                an_alias_needs_its_group
                a_busy_alias_is_refused_in_any_casing
                a_busy_target_is_refused_whatever_leads_to_it
                identifiers_compare_byte_for_byte
                an_alias_stays_in_its_account_and_region
                a_delete_needs_a_reference
                ownership_is_not_taken_from_another_reference
                what_is_refused_leaves_no_trace
                an_unreferenced_operation_needs_no_group
            }
            leasing {
                due_operations_are_claimed_earliest_first
                a_claimed_operation_brings_its_documents_and_baseline
                nobody_claims_what_is_held_or_not_yet_due
                a_lease_that_ran_out_is_taken_over
                take_overs_are_counted
                who_dies_with_what_is_armed_is_counted
                a_step_that_is_written_disarms
                a_lease_that_ran_out_is_good_until_it_is_taken
                a_lost_lease_writes_nothing
                a_lease_handed_back_writes_nothing
                renewing_prolongs
                all_leases_can_be_taken_over
                the_next_claim_is_foretold
                scopes_take_turns_beside_crowded_ones
                a_claim_beside_crowded_scopes_takes_few_statements
                what_is_handed_back_waits_for_others
            }
            stepping {
                a_step_is_remembered_in_every_state
                a_step_renews_the_lease
                the_document_stays_until_it_is_replaced
                the_reference_follows_the_identifier
                a_step_that_reveals_nothing_leaves_the_reference_alone
                a_created_resource_is_not_owned_before_the_end
                what_an_update_sends_is_unconfirmed_until_a_put_succeeds
                a_recreated_resource_has_no_baseline
                a_revealed_target_keeps_others_off
                a_busy_target_does_not_stop_a_step
                an_operation_knows_when_its_resource_was_last_seen
                what_is_lost_stays_referenced_until_the_new_one_stands
                ownership_does_not_pass_to_another_resource
                what_takes_the_place_of_the_lost_is_owned
                a_replacement_moves_the_reference_when_it_says_so
                a_replaced_resource_takes_its_other_references
                a_cancel_makes_the_operation_due_and_outlives_steps
                what_has_ended_is_not_cancelled
            }
            respelling {
                an_operation_keeps_the_spelling_it_was_asked_with
                a_respelled_target_keeps_others_off
                a_respelled_reference_keeps_what_is_known
                a_step_to_a_busy_respelled_target_is_refused
                a_step_to_a_busy_named_target_is_refused
                a_step_to_a_named_target_of_another_owner_is_written
                an_end_at_a_busy_respelled_target_is_refused
                a_respelled_resource_has_one_owner
                a_group_deletes_no_respelled_resource_of_another_owner
                what_was_created_is_written_whatever_holds_its_name
            }
            sharing {
                a_second_reference_is_compared_with_all_others
                what_a_failed_create_has_left_stays_while_others_stand_for_it
                what_an_operation_gives_up_is_passed_on
                nobody_inherits_of_an_operation_whose_group_is_being_deleted
                a_delete_is_refused_while_others_stand_for_the_resource
                what_has_no_region_is_one_resource_in_all
                what_is_named_is_deleted_for_all
                what_is_shared_or_not_owned_is_forgotten_by_an_order
                a_put_that_may_replace_knows_who_else_stands_for_the_resource
                a_group_is_not_deleted_while_other_groups_stand_for_what_it_owns
                a_group_is_deleted_that_owns_nothing_of_what_others_stand_for
                a_delete_of_a_respelled_resource_is_refused_before_it_is_sent
                a_reference_is_given_up_to_another_one
                nobody_inherits_whose_group_is_being_deleted
            }
            deciding {
                an_alias_is_read_with_its_group_and_its_resource
                a_resource_is_read_by_its_name
                what_a_put_has_learned_is_remembered
                only_what_was_read_is_remembered
                nothing_is_remembered_of_what_has_come_in_its_place
                nothing_is_remembered_of_what_others_work_on
                a_reference_is_adopted
                no_two_references_have_one_lineage
                an_adoption_needs_its_basis
                an_adoption_is_refused_as_an_operation_is
                a_look_goes_along_with_its_operation
                a_look_that_is_out_of_date_is_dropped
                a_step_or_the_end_erases_the_look
            }
            ending {
                applied_writes_the_reference
                kept_leaves_the_baseline
                untouched_restores_the_state
                removed_takes_the_reference
                ownership_once_had_stays
                a_reference_knows_whether_it_was_told_to_own
                a_reference_knows_whether_its_mark_was_seen
                only_one_reference_owns_a_resource
                who_makes_a_resource_owns_it
                a_delete_takes_all_references_of_the_resource
                a_delete_spares_references_that_are_worked_on
                an_unreferenced_delete_takes_the_references
                a_failed_delete_takes_no_other_reference
                the_end_erases_the_documents
                the_end_is_final
                the_end_frees_alias_and_target
                every_end_is_an_event
                a_creation_is_known_by_its_resource
                what_is_not_owned_can_be_forgotten
                what_is_owned_is_not_forgotten
                what_is_busy_or_unknown_is_not_forgotten
            }
            refactors {
                a_record_is_kept_as_it_is
                records_are_listed_latest_first_by_plane_and_group
                the_history_of_groups_is_what_was_applied
                old_records_are_removed
                only_so_many_plans_of_a_maker_are_kept
                a_deleted_group_takes_its_history
            }
            moving {
                a_reference_keeps_everything_but_its_id
                swaps_cycles_and_chains_move
                references_move_between_groups_and_planes
                what_is_worked_on_does_not_move
                only_what_was_planned_moves
                a_policy_is_not_left_behind
                a_refactor_is_applied_once_and_undone_once
                an_id_has_an_etag_once
                only_the_history_that_was_read_goes_on
            }
            emptying {
                only_groups_that_it_has_emptied_are_removed
                a_group_keeps_a_policy_that_the_caller_may_not_lower
                a_group_with_which_something_is_lost_stays
            }
            undoing {
                an_undo_restores_everything
                undos_can_be_stacked
                what_was_written_is_not_taken_back
            }
            deploying {
                a_deployment_is_accepted_with_the_moves
                a_set_is_accepted_with_its_moves
                a_deployment_holds_its_groups_until_it_ends
                what_a_live_deployment_has_moved_is_taken_back
                a_deployment_is_refused_by_the_policy_of_a_group
                a_group_that_does_not_exist_is_held
                a_deployment_creates_what_is_not_there_and_updates_what_is
                what_has_gone_meanwhile_is_not_taken_back
            }
            remembering {
                a_plane_keeps_its_first_casing
                planes_are_listed_once
                a_plane_is_deleted_once
                a_group_keeps_its_first_casing
                groups_are_listed_by_plane
                references_are_listed_by_group
                a_page_of_references_ends_by_bytes
                outlines_are_listed_by_group
                lists_are_read_by_page
                an_unknown_group_or_operation_is_not_found
                several_operations_are_read_at_once
                json_survives
                the_first_digest_key_stays
                the_store_answers
            }
            tokens {
                a_token_is_remembered
                a_token_is_revoked_once
                the_last_use_of_a_token_is_remembered
                tokens_have_a_limit_and_an_end
            }
            kept_plans {
                a_plan_is_kept_once
                a_plan_is_remembered
                a_plan_is_reviewed
                a_plan_follows_its_operation
                a_plan_is_used_once
                the_members_of_a_plan_are_used_one_by_one
                a_failed_member_is_in_nobody_elses_way
                an_apply_uses_the_whole_plan
                a_group_takes_what_its_policy_says
                another_caller_approves_where_the_group_says_so
                a_policy_keeps_references
                what_a_policy_protects_is_given_up_only_as_approved
                a_policy_holds_for_the_resource
                plans_are_counted
                the_oldest_plans_make_room
                plans_that_were_relied_on_do_not_count
                what_is_over_is_removed
            }
            role_assignments {
                a_role_assignment_is_remembered
                a_role_assignment_is_written_only_as_it_was_judged
                role_assignments_are_listed_by_page
                first_role_assignments_of_a_name_come_to_one
                a_removed_group_takes_the_roles_over_it
                a_role_over_a_group_that_has_gone_is_not_given
            }
            counting {
                a_count_has_a_limit
                references_are_counted_by_group
                live_operations_are_counted
                operations_are_counted_by_who_has_requested_them
                old_events_are_removed
            }
            preconditions {
                a_plane_is_written_when_the_precondition_holds
                a_group_is_written_when_the_precondition_holds
                a_group_is_updated_when_the_precondition_holds
                a_tag_never_comes_back
            }
            credentials {
                a_credential_is_remembered_with_its_secret
                a_credential_is_replaced_and_keeps_its_first_casing
                credentials_are_listed_by_page
                a_deleted_credential_leaves_nothing
                a_credential_is_written_only_as_its_precondition_holds
                first_writes_of_a_credential_come_to_one
            }
            resealing {
                every_sealed_value_is_walked
                a_walk_goes_on_behind_what_is_gone
                what_is_resealed_is_read_anew
                what_has_changed_is_not_resealed
                a_digest_key_can_be_replaced
            }
            groups {
                an_update_merges_the_tags_of_a_group
                an_empty_group_is_removed
                only_a_deletion_deletes_a_group
                a_busy_group_is_not_deleted
                one_apply_at_a_time
                a_deletion_closes_the_group
                a_child_needs_its_parents_lease
                what_is_released_is_not_deleted
                a_child_of_what_is_cancelled_is_cancelled
                a_deletion_is_limited_to_places
                a_deletion_learns_of_all_places
                the_end_of_a_child_wakes_its_parent
                a_group_with_a_live_child_is_not_removed
                a_finished_deletion_removes_the_group
                a_finished_deletion_takes_the_roles_over_the_group
                a_failed_deletion_opens_the_group
                an_import_is_remembered
                an_import_claims_a_new_alias
                a_reference_is_updated
                the_operations_of_a_group_are_listed
                ended_operations_are_removed
                a_cancel_of_a_group_operation_reaches_its_children
            }
            auditing {
                what_is_audited_is_listed_latest_first
                what_cannot_be_audited_is_no_outage
                the_audit_is_read_by_page_and_time
                old_audit_events_are_removed
            }
            broker {
                an_order_is_placed
                an_order_needs_the_revision_that_it_was_judged_with
                a_refused_order_leaves_nothing
                an_instance_has_so_many_bindings
                orders_of_a_group_run_beside_each_other
                an_order_is_refused_while_its_group_is_held_or_deleted
                a_group_with_a_running_order_is_not_deleted
                the_end_of_an_order_is_that_of_the_change
                the_end_of_an_order_of_a_binding_is_that_of_its_change
                a_change_that_was_replaced_has_no_end
                what_an_update_hands_out_is_laid_over
                the_outputs_of_an_order_are_not_kept
                the_bindings_of_a_deleted_instance_are_deleted
                a_deletion_that_fails_leaves_no_credentials_of_what_is_gone
                the_references_of_an_instance_are_listed
                references_get_the_tags_of_an_order
                an_order_changes_what_its_instance_has_made
                an_accepted_operation_tags_its_reference
                instances_go_with_their_group
                a_group_with_an_instance_is_not_removed_as_empty
                what_is_gone_is_removed_after_a_while
                records_of_services_are_sealed
            }
            accounting {
                what_is_accounted_for_is_told
            }
            leftovers {
                an_end_enters_what_it_leaves
                what_no_group_has_is_entered_for_its_place
                what_is_entered_again_keeps_its_name
                what_a_reference_stands_for_is_not_entered
                a_deleted_resource_is_no_longer_left_over
                a_referenced_resource_is_no_longer_left_over
                a_failed_delete_is_a_try
                due_leftovers_are_claimed_once
                only_what_is_left_over_is_tried
                a_leftover_is_forgotten_when_told
                leftovers_are_listed_by_page
                a_group_keeps_what_is_ours
                an_undecided_alias_is_not_put
                an_import_decides_an_alias
                a_delete_decides_an_alias
            }
            resolving {
                an_unknown_outcome_is_resolved
                only_what_is_unknown_is_resolved
                a_resolve_that_finds_nothing_out_is_a_try
                what_was_abandoned_is_not_resolved
                what_an_unknown_create_declared_is_kept
                what_an_unknown_create_declared_outlives_what_fails
                each_unknown_create_has_its_entry
                what_an_ended_put_abandoned_stays
                the_entry_of_an_undecided_alias_stays
                unknown_outcomes_under_an_alias_are_due
            }
            rates {
                a_bucket_is_shared
                what_waits_for_its_turn_is_not_claimed
                it_is_told_when_it_is_likely_to_have_its_turn
                what_nobody_releases_is_claimed_in_the_end
                groups_have_their_turn_one_after_the_other
                turns_are_shared_by_weight
                a_cancel_waits_for_no_turn
                who_lost_a_lease_lets_nobody_wait
                a_rate_is_learned_from_those_who_ask_one_after_the_other
                idle_buckets_go
            }
            track_records {
                a_prediction_is_part_of_the_track_record
                what_was_predicted_is_counted_once
                track_records_are_listed_by_page
            }
            watching {
                what_waits_is_listed_by_scope
                a_watch_has_one_owner
                what_takes_too_long_is_not_put_off
                what_waits_is_rescheduled
            }
            type_schemas {
                a_type_schema_belongs_to_an_account_and_a_region
                the_type_schema_fetched_last_is_current
                a_type_schema_stays_while_a_live_operation_needs_it
            }
            concurrency {
                fifty_puts_of_one_alias_come_to_one_operation
                fifty_puts_of_a_known_alias_come_to_one_operation
                fifty_puts_of_one_target_come_to_one_operation
                claimers_share_no_operation
                two_ends_make_one_owner
                offered_digest_keys_come_to_one
                fifty_first_puts_make_one_plane_and_one_group
                fifty_puts_after_one_look_come_to_one
                many_updates_of_one_group_lose_nothing
            }
            random {
                random_commands_get_the_replies_of_memory
            }
        }
    };
    ($fresh:path: $($topic:ident { $($case:ident)+ })+) => {$(
        mod $topic {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    if let Some((store, _guard)) = $fresh().await {
                        $crate::$topic::$case(store).await;
                    }
                }
            )+
        }
    )+};
}

/// Makes each race between writers a test. `$fresh` is as for [`conformance!`](crate::conformance!), but returns a
/// [`Database`](racing::Database) beside the store. An engine whose transactions have several statements calls
/// [`before_statement`](ucp_store::holding::before_statement).
#[macro_export]
macro_rules! races {
    ($fresh:path) => {
        $crate::races! { $fresh:
            first_puts_of_an_alias
            changes_of_a_reference
            ends_of_operations
            what_passes_to_an_heir
            ends_of_one_type
            what_a_put_has_learned
            others_on_a_resource
            adoptions
            looks
            planes_credentials_and_schemas
            roles_over_a_group
            uses_of_a_plan
            moves_of_references
            moves_that_are_taken_back
            orders_of_a_service
            the_deletion_of_a_group
            parent_and_children
            spellings_of_a_resource
            leases_that_have_run_out
            what_is_left_over
            unknown_outcomes
            what_a_search_has_found
            what_is_abandoned
        }
    };
    ($fresh:path: $($case:ident)+) => {
        $crate::races! { $fresh: racing { $($case)+ } }
        $crate::pairs! { $fresh }
    };
    ($fresh:path: $topic:ident { $($case:ident)+ }) => {
        mod $topic {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    if let Some((store, database)) = $fresh().await {
                        $crate::racing::$case(store, &database).await;
                    }
                }
            )+
        }
    };
}

/// Makes the races of all writers against each other tests, and no others; see [`races!`](crate::races!).
#[macro_export]
macro_rules! pairs {
    ($fresh:path) => {
        $crate::races! { $fresh: pairs {
            first_quarter_of_all_pairs
            second_quarter_of_all_pairs
            third_quarter_of_all_pairs
            fourth_quarter_of_all_pairs
        } }
    };
}
