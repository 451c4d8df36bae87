//! Limits: of each in `docs/limits.md`, the last value that is allowed, and the first that is not, which gets what the
//! table says.

mod requests;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::json;
use ucp_app::Regions;
use ucp_testkit::{Reply, World};

const PROJECT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const API: &str = "api-version=2023-10-01-preview";
const VPC: &str = "AWS.EC2/VPC";

/// A line of the table.
struct Row {
    name: String,
    /// The number in the third column, if it is fixed.
    most: Option<usize>,
    beyond: String,
}

/// A request without its headers.
struct Sent {
    method: &'static str,
    path: String,
    body: String,
}

/// How a limit is shown to hold.
enum Shown {
    /// A request with the last value that is allowed gets this status, and one with a value more what the table says.
    Here(u16, fn(&World, usize) -> Sent),
    /// This test sends both.
    By(&'static str, &'static str),
}

use Shown::{By, Here};

const SHOWN: &[(&str, Shown)] = &[
    ("url", Here(200, requests::url)),
    ("body", Here(200, requests::body)),
    ("refactor-body", Here(200, requests::refactor_body)),
    (
        "refactor-body-values",
        Here(200, requests::refactor_body_values),
    ),
    ("refactor-events", Here(200, requests::refactor_events)),
    (
        "refactor-event-moves",
        Here(200, requests::refactor_event_moves),
    ),
    (
        "refactor-event-name",
        Here(200, requests::refactor_event_name),
    ),
    (
        "bodies-in-flight",
        By(
            "crates/app/src/in_flight.rs",
            "a_caller_has_a_part_and_all_have_the_whole",
        ),
    ),
    (
        "all-bodies-in-flight",
        By(
            "crates/app/src/in_flight.rs",
            "a_caller_has_a_part_and_all_have_the_whole",
        ),
    ),
    (
        "work-in-flight",
        By(
            "crates/app/src/in_flight.rs",
            "a_caller_has_a_part_and_all_have_the_whole",
        ),
    ),
    (
        "all-work-in-flight",
        By(
            "crates/app/src/in_flight.rs",
            "a_caller_has_a_part_and_all_have_the_whole",
        ),
    ),
    (
        "small-work-in-flight",
        By(
            "crates/app/src/in_flight.rs",
            "small_requests_have_a_lane_of_their_own",
        ),
    ),
    (
        "work-beyond",
        By(
            "crates/app/src/in_flight.rs",
            "one_request_at_a_time_has_more_than_its_caller",
        ),
    ),
    (
        "large-bodies",
        By(
            "crates/api/src/large_bodies.rs",
            "only_so_many_large_bodies_are_read_at_once",
        ),
    ),
    (
        "body-time",
        By(
            "tests/e2e/processes/connections.rs",
            "slow_clients_are_let_go",
        ),
    ),
    ("body-depth", Here(201, requests::body_depth)),
    ("body-values", Here(201, requests::body_values)),
    ("member-name", Here(201, requests::member_name)),
    (
        "writes",
        By(
            "tests/e2e/rates.rs",
            "too_many_changes_in_a_scope_are_refused",
        ),
    ),
    (
        "aws-reads",
        By("tests/e2e/rates.rs", "too_many_reads_from_aws_are_refused"),
    ),
    (
        "counted-callers",
        By(
            "crates/rates/src/lib.rs",
            "who_has_not_asked_for_longest_is_forgotten",
        ),
    ),
    (
        "counted-scopes",
        By(
            "crates/rates/src/lib.rs",
            "only_so_many_scopes_of_a_caller_are_counted",
        ),
    ),
    ("page", Here(200, requests::page)),
    ("text", Here(200, requests::text)),
    ("grant-scopes", Here(201, requests::grant_scopes)),
    ("arm-tags", Here(200, requests::arm_tags)),
    (
        "arm-tags-update",
        By(
            "tests/e2e/default_tags.rs",
            "more_tags_than_a_resource_can_have_are_refused",
        ),
    ),
    ("arm-tag-key", Here(200, requests::arm_tag_key)),
    ("default-tag-key", Here(200, requests::default_tag_key)),
    ("arm-tag-value", Here(200, requests::arm_tag_value)),
    ("plane-settings", Here(200, requests::plane_settings)),
    ("request-id", By("tests/e2e/limits.rs", "ids_of_requests")),
    (
        "logged-path",
        By(
            "crates/api/src/logged.rs",
            "a_path_is_bounded_and_shows_what_it_has",
        ),
    ),
    (
        "request-time",
        By(
            "tests/e2e/processes/connections.rs",
            "every_request_is_answered_in_time",
        ),
    ),
    (
        "verdict-wait",
        By(
            "tests/e2e/looks/doubts.rs",
            "a_late_look_is_left_to_the_worker",
        ),
    ),
    (
        "group-delete-wait",
        By(
            "tests/e2e/group_deletes.rs",
            "a_deletion_that_takes_long_is_polled",
        ),
    ),
    (
        "service-body",
        By(
            "tests/e2e/broker/refusals.rs",
            "so_large_a_body_is_read_and_no_larger_one",
        ),
    ),
    (
        "service-id",
        By(
            "tests/e2e/broker/refusals.rs",
            "an_id_has_so_many_characters_and_no_more",
        ),
    ),
    (
        "service-parameters",
        By(
            "crates/offerings/tests/wrong.rs",
            "there_is_a_bound_to_everything",
        ),
    ),
    (
        "service-objections",
        By(
            "crates/offerings/tests/example.rs",
            "so_many_objections_are_told_and_no_more",
        ),
    ),
    (
        "tokens",
        By(
            "crates/store-conformance/src/tokens.rs",
            "tokens_have_a_limit_and_an_end",
        ),
    ),
    (
        "token-age",
        By(
            "tests/e2e/authentication.rs",
            "a_revoked_token_is_refused_within_five_seconds",
        ),
    ),
    (
        "token-lookups",
        By(
            "crates/authentication/src/known_tokens.rs",
            "tokens_that_are_made_up_do_not_crowd_out_known_ones",
        ),
    ),
    (
        "failed-logins",
        By(
            "crates/authentication/src/failures.rs",
            "each_further_failure_waits_longer",
        ),
    ),
    (
        "caller-groups",
        By(
            "crates/authentication/src/names.rs",
            "no_source_makes_names_of_another",
        ),
    ),
    ("plane-name", Here(200, requests::plane_name)),
    ("group-name", Here(200, requests::group_name)),
    ("alias", Here(201, requests::alias)),
    ("identifier", Here(404, requests::identifier)),
    ("account", Here(404, requests::account)),
    ("region", Here(404, requests::region)),
    ("tags", Here(201, requests::tags)),
    ("tag-key", Here(201, requests::tag_key)),
    ("tag-value", Here(201, requests::tag_value)),
    ("details", By("tests/e2e/limits.rs", "details_of_an_error")),
    ("properties", Here(201, requests::properties)),
    (
        "page-bytes",
        By("tests/e2e/paging.rs", "a_page_has_only_so_many_bytes"),
    ),
    (
        "service-bindings",
        By(
            "crates/store-conformance/src/broker.rs",
            "an_instance_has_so_many_bindings",
        ),
    ),
    ("import-resources", Here(202, requests::import_resources)),
    (
        "import-types",
        By(
            "tests/e2e/group_imports.rs",
            "the_types_of_an_import_are_limited",
        ),
    ),
    (
        "set-types",
        By("tests/e2e/sets.rs", "the_types_of_a_set_are_limited"),
    ),
    (
        "set-judgement",
        By(
            "crates/app/src/changes/drafts.rs",
            "a_change_takes_only_so_many_checks",
        ),
    ),
    (
        "set-unlisted",
        By(
            "crates/app/src/sets/judging.rs",
            "only_so_many_are_deleted_without_being_listed",
        ),
    ),
    ("refactor-groups", Here(200, requests::refactor_groups)),
    (
        "refactor-resources",
        By(
            "crates/refactor/tests/rules/bodies.rs",
            "so_many_resources_are_compared_and_no_more",
        ),
    ),
    ("refactor-types", Here(200, requests::refactor_types)),
    ("refactor-puts", Here(200, requests::refactor_puts)),
    (
        "refactor-plans",
        By(
            "crates/store-conformance/src/refactors.rs",
            "only_so_many_plans_of_a_maker_are_kept",
        ),
    ),
    (
        "refactor-plan-bytes",
        By(
            "crates/app/src/refactors/applying.rs",
            "the_larger_a_plan_is_the_fewer_are_kept",
        ),
    ),
    (
        "refactor-known",
        By(
            "crates/app/src/refactors/deployed.rs",
            "so_much_is_compared_and_no_more",
        ),
    ),
    (
        "refactor-history",
        By(
            "crates/store-conformance/src/refactors.rs",
            "the_history_of_groups_is_what_was_applied",
        ),
    ),
    (
        "planes",
        By("tests/e2e/quotas.rs", "there_are_only_so_many_planes"),
    ),
    (
        "credentials",
        By(
            "tests/e2e/quotas.rs",
            "a_plane_has_only_so_many_credentials",
        ),
    ),
    (
        "role-assignments",
        By(
            "tests/e2e/quotas.rs",
            "there_are_only_so_many_role_assignments",
        ),
    ),
    (
        "caller-role-assignments",
        By(
            "tests/e2e/quotas.rs",
            "no_caller_fills_the_quota_of_role_assignments_for_all",
        ),
    ),
    (
        "scope-role-assignments",
        By(
            "tests/e2e/quotas.rs",
            "only_so_many_role_assignments_name_a_scope",
        ),
    ),
    (
        "role-assignment-age",
        By(
            "tests/e2e/rights/role_assignments.rs",
            "what_another_process_takes_away_ends_within_five_seconds",
        ),
    ),
    (
        "role-assignment-grace",
        By(
            "crates/app/src/permissions/known_assignments/tests.rs",
            "what_was_read_is_used_for_a_while_without_a_database",
        ),
    ),
    (
        "groups",
        By("tests/e2e/quotas.rs", "a_plane_has_only_so_many_groups"),
    ),
    (
        "references",
        By("tests/e2e/quotas.rs", "a_group_has_only_so_many_references"),
    ),
    (
        "leftovers",
        By("tests/e2e/quotas.rs", "there_are_only_so_many_leftovers"),
    ),
    (
        "group-operations",
        By(
            "tests/e2e/quotas.rs",
            "only_so_many_operations_are_under_way_in_a_group",
        ),
    ),
    (
        "caller-operations",
        By(
            "tests/e2e/quotas.rs",
            "a_caller_has_only_so_many_operations_under_way",
        ),
    ),
    (
        "operations",
        By(
            "tests/e2e/quotas.rs",
            "only_so_many_operations_are_under_way",
        ),
    ),
    (
        "caller-plans",
        By("tests/e2e/kept_plans.rs", "a_caller_has_only_so_many_plans"),
    ),
    (
        "group-plans",
        By("tests/e2e/kept_plans.rs", "a_caller_has_only_so_many_plans"),
    ),
    (
        "plan",
        By(
            "tests/e2e/kept_plans.rs",
            "a_plan_that_is_too_large_is_not_kept",
        ),
    ),
    (
        "plan-lifetime",
        By(
            "tests/e2e/kept_plans.rs",
            "a_plan_lives_as_long_as_it_is_told_to",
        ),
    ),
    (
        "plan-lifetime-reader",
        By(
            "tests/e2e/kept_plans.rs",
            "the_plan_of_a_reader_lives_for_a_day",
        ),
    ),
    (
        "plan-approvals",
        By(
            "crates/model/src/kept_plan.rs",
            "so_many_approve_and_no_more",
        ),
    ),
    (
        "judgement-wait",
        By(
            "crates/cpu-pool/src/lib.rs",
            "who_waits_in_vain_for_a_turn_is_told",
        ),
    ),
    (
        "judgement-time",
        By(
            "crates/cpu-pool/src/lib.rs",
            "work_that_takes_too_long_is_given_up_and_keeps_its_turn",
        ),
    ),
    (
        "what-if-time",
        By(
            "tests/e2e/what_if/sets.rs",
            "what_was_not_looked_at_in_time_is_unsupported",
        ),
    ),
    (
        "what-if-shown",
        By(
            "crates/app/src/sets/what_if.rs",
            "so_much_is_shown_and_no_more",
        ),
    ),
    (
        "read-wait",
        By(
            "crates/live/tests/patience.rs",
            "a_read_without_an_answer_ends",
        ),
    ),
    (
        "schema",
        By(
            "crates/schema/tests/hostile.rs",
            "a_schema_has_only_so_many_bytes",
        ),
    ),
    (
        "schema-patterns",
        By(
            "crates/schema/src/pattern/budget.rs",
            "many_large_patterns_spend_the_budget",
        ),
    ),
    (
        "compiled-schemas",
        By("crates/schema/src/recent.rs", "what_was_used_last_stays"),
    ),
    (
        "schema-combined",
        By(
            "crates/schema/tests/hostile.rs",
            "a_schema_combines_only_so_many_others",
        ),
    ),
    (
        "judgement",
        By(
            "crates/schema/tests/hostile.rs",
            "a_value_that_multiplies_is_refused_with_its_place",
        ),
    ),
    (
        "judgement-alternatives",
        By(
            "crates/schema/tests/hostile.rs",
            "a_list_of_alternatives_is_weighed_before_it_is_judged",
        ),
    ),
    ("matched-string", Here(201, requests::matched_string)),
    (
        "set-resources",
        By(
            "crates/set/tests/linking.rs",
            "members_and_references_have_limits",
        ),
    ),
    (
        "set-references",
        By(
            "crates/set/tests/linking.rs",
            "members_and_references_have_limits",
        ),
    ),
    (
        "set-outside",
        By(
            "tests/e2e/sets.rs",
            "so_many_names_outside_of_a_set_and_no_more",
        ),
    ),
    (
        "set-referred",
        By(
            "tests/e2e/sets/referred.rs",
            "a_set_takes_only_so_much_of_what_it_refers_to",
        ),
    ),
    (
        "set-depends-on",
        By(
            "crates/set/tests/linking.rs",
            "members_and_references_have_limits",
        ),
    ),
    (
        "set-concat-parts",
        By(
            "crates/set/src/expression.rs",
            "a_concat_has_so_many_parts_and_no_more",
        ),
    ),
    (
        "set-outputs",
        By(
            "crates/set/tests/linking.rs",
            "members_and_references_have_limits",
        ),
    ),
    (
        "compared-model",
        By(
            "crates/look/src/planner.rs",
            "so_long_a_model_is_kept_and_no_longer_one",
        ),
    ),
    (
        "listed-resources",
        By(
            "crates/look/src/listing.rs",
            "a_list_has_only_so_many_resources",
        ),
    ),
    (
        "listed-pages",
        By(
            "crates/look/src/listing.rs",
            "a_list_has_only_so_many_pages",
        ),
    ),
    (
        "searched-pages",
        By(
            "crates/look/src/search.rs",
            "the_last_allowed_read_and_page_may_find_it_and_no_more_are_made",
        ),
    ),
    (
        "searched-reads",
        By(
            "crates/look/src/search.rs",
            "the_last_allowed_read_and_page_may_find_it_and_no_more_are_made",
        ),
    ),
    (
        "steps",
        By(
            "tests/e2e/workers.rs",
            "a_hanging_account_leaves_slots_to_others",
        ),
    ),
    (
        "takeovers",
        By(
            "tests/e2e/workers.rs",
            "what_kills_its_workers_in_an_unknown_way_is_given_up_later",
        ),
    ),
    (
        "operation-retention",
        By(
            "tests/e2e/group_deletes.rs",
            "what_happened_long_ago_is_removed",
        ),
    ),
    (
        "history-retention",
        By(
            "tests/e2e/group_deletes.rs",
            "what_happened_long_ago_is_removed",
        ),
    ),
    (
        "audit-retention",
        By(
            "tests/e2e/group_deletes.rs",
            "what_happened_long_ago_is_removed",
        ),
    ),
    (
        "oidc-token",
        By(
            "crates/oidc/src/token/tests.rs",
            "a_token_has_so_many_bytes",
        ),
    ),
    (
        "aws-clients",
        By(
            "crates/cloud-aws/src/clients.rs",
            "clients_do_not_fill_the_memory_and_sessions_in_use_stay",
        ),
    ),
    (
        "aws-reply",
        By(
            "crates/cloud-aws/tests/endless.rs",
            "a_reply_has_so_many_bytes",
        ),
    ),
    (
        "connections",
        By(
            "tests/e2e/processes/slow_readers.rs",
            "who_does_not_read_does_not_keep_others_out_for_long",
        ),
    ),
    (
        "peer-connections",
        By(
            "tests/e2e/processes/slow_readers.rs",
            "one_address_does_not_take_all_connections",
        ),
    ),
    (
        "streams",
        By(
            "crates/listen/src/http2/tests.rs",
            "requests_beyond_the_limit_are_refused",
        ),
    ),
    (
        "stream-resets",
        By(
            "crates/listen/src/http2/tests.rs",
            "who_takes_back_too_many_requests_is_let_go",
        ),
    ),
    (
        "stream-errors",
        By(
            "crates/listen/src/http2/tests.rs",
            "who_breaks_the_protocol_too_often_is_let_go",
        ),
    ),
    (
        "stream-frames",
        By(
            "crates/listen/src/http2/tests.rs",
            "a_flood_of_frames_ends_the_connection",
        ),
    ),
    (
        "ping-time",
        By(
            "crates/listen/src/http2/tests.rs",
            "who_does_not_answer_pings_is_let_go",
        ),
    ),
    (
        "head",
        By("tests/e2e/processes/connections.rs", "heads_are_bounded"),
    ),
    (
        "headers",
        By("tests/e2e/processes/connections.rs", "heads_are_bounded"),
    ),
    (
        "head-time",
        By(
            "tests/e2e/processes/connections.rs",
            "slow_clients_are_let_go",
        ),
    ),
    (
        "write-time",
        By("crates/listen/src/http1.rs", "who_does_not_read_is_let_go"),
    ),
    (
        "reply-time",
        By("crates/listen/src/http1.rs", "who_does_not_read_is_let_go"),
    ),
    (
        "probe-connections",
        By(
            "tests/e2e/processes/slow_readers.rs",
            "a_silent_probe_is_let_go",
        ),
    ),
    (
        "probe-time",
        By(
            "tests/e2e/processes/slow_readers.rs",
            "a_silent_probe_is_let_go",
        ),
    ),
    (
        "plan-line",
        By(
            "tests/plan/lines.rs",
            "a_line_without_end_is_skipped_and_the_last_line_needs_none",
        ),
    ),
    (
        "config-tags",
        By(
            "crates/ucp/src/config.rs",
            "default_tags_are_as_many_as_a_resource_can_have",
        ),
    ),
    (
        "config-grants",
        By(
            "crates/ucp/src/config.rs",
            "a_wrong_grant_is_named_with_its_line",
        ),
    ),
];

/// Reads a file of the project.
fn file(path: &str) -> String {
    let path = Path::new(PROJECT).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn rows() -> Vec<Row> {
    let page = file("docs/limits.md");
    let lines = page.lines().filter(|line| line.starts_with("| `"));
    let rows = lines.map(|line| {
        let cells: Vec<&str> = line.split(" | ").collect();
        let [name, _, most, set_by, beyond] = cells[..] else {
            panic!("{line}")
        };
        let number: String = most.chars().take_while(|&c| c != ' ').collect();
        let number = number.replace(',', "").parse().ok();
        Row {
            name: name.trim_matches(['|', ' ', '`']).to_owned(),
            most: number.filter(|_| set_by == "fixed"),
            beyond: beyond.trim_end_matches(" |").to_owned(),
        }
    });
    rows.collect()
}

impl Row {
    /// Whether a refusal is as the table says.
    fn tells(&self, refused: &Reply) -> bool {
        let Self { beyond, .. } = self;
        let (status, rest) = beyond.split_once(" [`").expect("a status");
        let (code, _) = rest.split_once("`]").expect("a code");
        let error = &refused.body["error"];
        let mut targets = if beyond.contains("`details`") {
            error["details"].as_array().into_iter().flatten().collect()
        } else {
            vec![error]
        };
        targets.retain(|named| !named["target"].is_null());
        let expected = beyond.split_once("`target` `");
        let is_named = match expected.map(|(_, target)| target.trim_end_matches('`')) {
            Some(expected) => targets.iter().any(|named| {
                let target = named["target"].as_str();
                target.is_some_and(|target| fits(target, expected))
            }),
            None => targets.is_empty(),
        };
        refused.status.to_string() == status && error["code"] == code && is_named
    }
}

/// Whether a text has the form of a template, in which braces stand for any text that is not empty.
fn fits(text: &str, template: &str) -> bool {
    let Some((start, rest)) = template.split_once('{') else {
        return text == template;
    };
    let Some((_, end)) = rest.split_once('}') else {
        return false;
    };
    let Some(text) = text.strip_prefix(start) else {
        return false;
    };
    let mut splits = text.char_indices().skip(1).map(|(at, _)| at);
    splits.any(|at| fits(&text[at..], end)) || (end.is_empty() && !text.is_empty())
}

#[test]
fn the_table_is_what_the_code_enforces() {
    let output = Command::new(env!("CARGO_BIN_EXE_ucp"))
        .arg("limits")
        .output();
    let output = output.expect("the binary starts");
    let told = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(
        told == file("docs/limits.md"),
        "docs/limits.md is not what the code says; write it with `ucp limits > docs/limits.md`"
    );
}

#[test]
fn every_limit_is_shown() {
    let rows = rows();
    let limits: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    let shown: Vec<&str> = SHOWN.iter().map(|(name, _)| *name).collect();
    let once: BTreeSet<&str> = limits.iter().copied().collect();
    assert_eq!(once.len(), limits.len(), "a name is there twice");
    assert_eq!(
        limits, shown,
        "each limit is shown, in the order of the table"
    );
    for (name, shown) in SHOWN {
        if let By(path, test) = shown {
            let signature = format!("fn {test}(");
            assert!(
                file(path).contains(&signature),
                "{name}: {path} has no {test}"
            );
        }
    }
}

#[tokio::test]
async fn the_last_value_is_allowed_and_the_first_beyond_is_refused() {
    let mut wrong = String::new();
    for row in rows() {
        let shown = SHOWN.iter().find(|(name, _)| *name == row.name);
        let Some((name, Here(status, request))) = shown else {
            continue;
        };
        let most = row.most.expect("a fixed limit");
        let reply = async |value: usize| {
            // No region has a name as long as one may be.
            let regions = Regions::of(&["*".to_owned(), "r".repeat(most)]);
            let regions = regions.unwrap_or_default();
            let world = World::builder().regions(regions).build().await;
            let Sent { method, path, body } = request(&world, value);
            let reply = world.call(method, &path, &body).await;
            world.settle().await;
            reply
        };
        let told = |reply: &Reply| -> String { reply.text.chars().take(400).collect() };
        let allowed = reply(most).await;
        if allowed.status != *status {
            wrong += &format!("{name} {most}: {} {}\n", allowed.status, told(&allowed));
        }
        let refused = reply(most + 1).await;
        if !row.tells(&refused) {
            let told = told(&refused);
            wrong += &format!(
                "{name} {most} + 1: {} {told}, not {}\n",
                refused.status, row.beyond
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[tokio::test]
async fn ids_of_requests() {
    let row = rows().into_iter().find(|row| row.name == "request-id");
    let most = row.and_then(|row| row.most).expect("a fixed limit");
    let world = World::builder().build().await;
    for (length, is_kept) in [(most, true), (most + 1, false)] {
        let id = "x".repeat(length);
        let headers = [
            ("x-ms-correlation-request-id", id.as_str()),
            ("x-ms-client-request-id", &id),
            ("x-ms-return-client-request-id", "true"),
        ];
        let path = format!("/planes?{API}");
        let reply = world
            .send_with(&headers, "GET", &path, "")
            .await
            .expect(200);
        let kept = reply.header("x-ms-correlation-request-id") == Some(&id);
        assert_eq!(kept, is_kept, "{length}");
        let client = reply.header("x-ms-client-request-id");
        assert_eq!(client, is_kept.then_some(id.as_str()), "{length}");
    }
}

#[tokio::test]
async fn details_of_an_error() {
    let row = rows().into_iter().find(|row| row.name == "details");
    let most = row.and_then(|row| row.most).expect("a fixed limit");
    let world = World::builder().build().await;
    for violations in [most, most + 1] {
        let wrong: Vec<usize> = vec![1; violations];
        let properties = json!({"CidrBlock": "10.0.0.0/16", "Tags": wrong});
        let reply = world.put(VPC, "main", properties).await.expect(400);
        let details = reply.body["error"]["details"].as_array().expect("details");
        let listed = details
            .iter()
            .filter(|detail| detail["code"] == "WrongType");
        assert_eq!(listed.count(), most);
        let more = details
            .iter()
            .filter(|detail| detail["message"] == "and 1 more");
        assert_eq!(more.count(), violations - most, "{details:?}");
    }
}
