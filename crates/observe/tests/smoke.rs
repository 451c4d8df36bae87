//! Runs a case for each trait of the store on an observed one. A nightly run has the whole suite (`observed_conformance`).

mod observed;

ucp_store_conformance::conformance! { crate::observed::observed:
    auditing {
        what_is_audited_is_listed_latest_first
    }
    credentials {
        a_credential_is_remembered_with_its_secret
    }
    groups {
        an_update_merges_the_tags_of_a_group
    }
    kept_plans {
        a_plan_is_reviewed
    }
    leasing {
        a_claimed_operation_brings_its_documents_and_baseline
    }
    leftovers {
        due_leftovers_are_claimed_once
    }
    ending {
        every_end_is_an_event
    }
    accepting {
        a_known_alias_lends_its_identifier
    }
    remembering {
        a_plane_is_deleted_once
        the_store_answers
    }
    rates {
        a_bucket_is_shared
    }
    moving {
        a_refactor_is_applied_once_and_undone_once
    }
    deciding {
        what_a_put_has_learned_is_remembered
    }
    role_assignments {
        a_role_assignment_is_remembered
    }
    resealing {
        every_sealed_value_is_walked
    }
    broker {
        an_order_is_placed
    }
    tokens {
        a_token_is_remembered
    }
    track_records {
        track_records_are_listed_by_page
    }
    type_schemas {
        a_type_schema_belongs_to_an_account_and_a_region
    }
    watching {
        what_waits_is_listed_by_scope
    }
}
