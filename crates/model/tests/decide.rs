//! The state machine: the transition of each state on each observation, and invariants over random sequences.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;
use ucp_model::operation::resource::{self, Decision, Next};
use ucp_model::operation::{
    Action, CLIENT_TOKEN_LIFE, CONSISTENCY_BOUND, Call, Chance, Change, Effect, Intent, Kind,
    Observation, PATIENCE, PlanOutcome, Presence, ReferenceChange, ReplacementOrder, Replacing,
    ResourceWork as Operation, State, Verdict,
};
use ucp_model::{
    AdditionalInfo, ClientToken, CloudControlRequest, Ended, Failure, Fault, FaultClass,
    HandlerErrorCode, HookFailure, Identifier, Progress, ProgressStatus, RequestToken, Scope,
    Timestamp, TypeName,
};
use uuid::Uuid;

const START: Timestamp = Timestamp::from_millis(1_000_000);

fn token(number: u128) -> ClientToken {
    ClientToken(Uuid::from_u128(number))
}

fn chance(number: u128) -> Chance {
    Chance {
        token: token(number),
        jitter: 0.5,
    }
}

/// Decides without a request to cancel.
fn decide(
    operation: &Operation,
    observation: Observation,
    now: Timestamp,
    chance: Chance,
) -> Decision {
    resource::decide(operation, false, observation, now, chance)
}

fn operation(kind: Kind) -> Operation {
    let scope = Scope::new("aws", "123456789012", "us-west-2").unwrap();
    let type_name = TypeName::from_cloudformation("AWS::EC2::VPC").unwrap();
    Operation {
        reference: "/planes/radius/local/resourceGroups/rg/providers/AWS.EC2/VPC:reference/a"
            .parse()
            .ok(),
        ..Operation::new(kind, scope, type_name, START)
    }
}

fn intent(action: Action, base: Option<&str>) -> Intent {
    intent_to(call(action, "vpc-1"), base)
}

fn call(action: Action, subject: &str) -> Call {
    match action {
        Action::Create => Call::Create,
        Action::Update => Call::Update(name(subject)),
        Action::Delete => Call::Delete(name(subject)),
    }
}

fn intent_to(call: Call, base: Option<&str>) -> Intent {
    Intent {
        call,
        client_token: token(1),
        issued_at: START,
        base: base.map(str::to_owned),
        unanswered: 1,
    }
}

fn referenced(operation: Operation) -> Operation {
    Operation {
        identifier: Some(Identifier::new("vpc-1")),
        was_referenced: true,
        ..operation
    }
}

fn progress(status: ProgressStatus, identifier: Option<&str>) -> Progress {
    Progress {
        request_token: RequestToken::new("r"),
        status,
        identifier: identifier.map(Identifier::new),
        retry_after: None,
    }
}

fn failed(code: &str) -> ProgressStatus {
    ProgressStatus::Failed {
        code: HandlerErrorCode::of(code),
        message: "text".to_owned(),
        hooks: Vec::new(),
    }
}

fn present(digest: &str) -> Presence {
    present_as("vpc-1", digest)
}

fn present_as(identifier: &str, digest: &str) -> Presence {
    Presence::Present {
        identifier: name(identifier),
        live: json!({}),
        digest: digest.to_owned(),
    }
}

fn rejected() -> Fault {
    Fault::new(FaultClass::Rejected, "InvalidRequestException", "no")
}

fn denied() -> Fault {
    Fault::new(FaultClass::Denied, "ExpiredTokenException", "expired")
}

fn throttled() -> Fault {
    Fault::new(FaultClass::Throttled, "ThrottlingException", "slow")
}

fn lost() -> Fault {
    Fault::outcome_unknown("reset")
}

fn create() -> PlanOutcome {
    PlanOutcome::Create {
        identifier: None,
        changes: Vec::new(),
    }
}

/// A replacement whose identifier the declaration determines.
fn replace_by_name(order: ReplacementOrder) -> PlanOutcome {
    PlanOutcome::Replace {
        old: name("vpc-1"),
        order,
        identifier: Some(name("vpc-2")),
        changes: Vec::new(),
    }
}

fn replace(order: ReplacementOrder) -> PlanOutcome {
    PlanOutcome::Replace {
        old: name("vpc-1"),
        order,
        identifier: None,
        changes: Vec::new(),
    }
}

fn update() -> PlanOutcome {
    PlanOutcome::Update {
        identifier: name("vpc-1"),
        changes: Vec::new(),
    }
}

fn deletion() -> PlanOutcome {
    PlanOutcome::Delete(name("vpc-1"))
}

/// Puts the operation into `state`.
fn in_state(operation: Operation, state: State) -> Operation {
    Operation { state, ..operation }
}

#[track_caller]
fn assert_line(operation: &Operation, observation: Observation, expected: &str) -> Decision {
    assert_line_at(operation, observation, START, expected)
}

#[track_caller]
fn assert_line_at(
    operation: &Operation,
    observation: Observation,
    now: Timestamp,
    expected: &str,
) -> Decision {
    let decision = decide(operation, observation, now, chance(9));
    assert_eq!(decision.to_string(), expected);
    decision
}

#[test]
fn a_put_follows_its_plan() {
    let put = operation(Kind::Put);
    assert_line(
        &put,
        Observation::Claimed,
        "keep, then Look: look before deciding",
    );
    assert_line(
        &put,
        Observation::Looked(Presence::Absent, create()),
        "submitting, then Submit: nothing stands there yet",
    );
    let there = referenced(put);
    assert_line(
        &there,
        Observation::Looked(present("d"), update()),
        "submitting, then Submit: it differs from the declaration",
    );
    assert_line(
        &there,
        Observation::Looked(present("d"), PlanOutcome::Nothing),
        "succeeded: it is as it should be",
    );
    let impossible = PlanOutcome::Impossible(Failure::new("RequiresReplacement", ""));
    assert_line(
        &there,
        Observation::Looked(present("d"), impossible),
        "failed: the plan cannot be carried out",
    );
    assert_line(
        &there,
        Observation::Looked(Presence::Unknown(throttled()), create()),
        "accepted: cannot look yet",
    );
    assert_line(
        &there,
        Observation::Looked(Presence::Unknown(denied()), create()),
        "failed: AWS refuses the look",
    );
}

#[test]
fn what_is_refused_before_aws_takes_it_leaves_the_reference_untouched() {
    let ends_with = |operation: &Operation, is_cancelled, observation| {
        let decision = resource::decide(operation, is_cancelled, observation, START, chance(9));
        match decision.next {
            Next::Finish(finish) => finish.reference,
            other => panic!("it ends: {other:?}"),
        }
    };
    let there = referenced(operation(Kind::Put));
    let impossible = PlanOutcome::Impossible(Failure::new("RequiresReplacement", ""));
    let unknown = Presence::Unknown(denied());
    let throttled = |kind, action| Operation {
        state: State::Submitting(Intent {
            unanswered: 0,
            ..intent(action, None)
        }),
        ..referenced(operation(kind))
    };
    for (operation, observation) in [
        (&there, Observation::Looked(present("d"), impossible)),
        (&there, Observation::Looked(unknown, create())),
        (&there, Observation::Claimed),
        (
            &referenced(operation(Kind::Delete)),
            Observation::Looked(Presence::Unknown(denied()), deletion()),
        ),
        (&throttled(Kind::Put, Action::Update), Observation::Claimed),
        (
            &throttled(Kind::Delete, Action::Delete),
            Observation::Claimed,
        ),
    ] {
        let is_cancelled = observation == Observation::Claimed;
        let reference = ends_with(operation, is_cancelled, observation);
        assert_eq!(reference, ReferenceChange::Untouched, "{operation:?}");
    }
    let submitted = in_state(there, State::Submitting(intent(Action::Update, None)));
    let refused = Observation::Submitted(Err(rejected()));
    assert_eq!(
        ends_with(&submitted, false, refused),
        ReferenceChange::Kept { owned: false },
        "AWS refused a change that was sent"
    );
}

#[test]
fn a_type_that_cannot_be_read_follows_its_plan_and_relies_on_the_token() {
    let unreadable = || Presence::Unreadable(name("vpc-1"));
    let there = referenced(operation(Kind::Put));
    assert_line(
        &there,
        Observation::Looked(unreadable(), PlanOutcome::Nothing),
        "succeeded: it is as it should be",
    );
    let updating = step(
        &there,
        Observation::Looked(unreadable(), update()),
        "submitting, then Submit: it differs from the declaration",
    );
    let looked = || Observation::Looked(unreadable(), update());
    assert_line(
        &updating,
        looked(),
        "submitting, then Submit: the token makes the same bytes the same request",
    );
    assert_line_at(
        &updating,
        looked(),
        START.after(CLIENT_TOKEN_LIFE),
        "failed: looking cannot tell what the lost reply did",
    );
}

#[test]
fn a_create_is_resent_while_its_token_lives_and_never_after() {
    let create = in_state(
        operation(Kind::Put),
        State::Submitting(intent(Action::Create, None)),
    );
    let decision = assert_line(
        &create,
        Observation::Claimed,
        "submitting, then Submit: the token makes the same bytes the same request",
    );
    let Next::Move(moved) = decision.next else {
        panic!("the resend is recorded first")
    };
    let State::Submitting(resent) = moved.state else {
        panic!("it is still submitting")
    };
    assert_eq!((resent.client_token, resent.unanswered), (token(1), 2));
    let expired = START.after(CLIENT_TOKEN_LIFE);
    assert_line_at(
        &create,
        Observation::Claimed,
        expired,
        "failed: the token has expired and there is nothing to look at",
    );
    let named = Operation {
        identifier: Some(Identifier::new("g")),
        created: true,
        ..create
    };
    assert_line_at(
        &named,
        Observation::Claimed,
        expired,
        "keep, then Look: the token has expired",
    );
}

#[test]
fn a_refusal_says_nothing_about_an_earlier_send() {
    let with = |unanswered| {
        let intent = Intent {
            unanswered,
            ..intent(Action::Create, None)
        };
        in_state(operation(Kind::Put), State::Submitting(intent))
    };
    assert_line(
        &with(1),
        Observation::Submitted(Err(rejected())),
        "failed: AWS refuses the create",
    );
    let decision = assert_line(
        &with(2),
        Observation::Submitted(Err(rejected())),
        "failed: refused, but an earlier send may have arrived",
    );
    let Next::Finish(finish) = decision.next else {
        panic!("it ends")
    };
    assert!(matches!(finish.ended, Ended::Failed(failure) if failure.code == "OutcomeUnknown"));
    assert_line(
        &with(2),
        Observation::Submitted(Err(denied())),
        "submitting: denied, but an earlier send may have arrived",
    );
    let decision = assert_line(
        &with(1),
        Observation::Submitted(Err(throttled())),
        "submitting: AWS asks to slow down",
    );
    let Next::Move(moved) = decision.next else {
        panic!("it waits")
    };
    assert!(matches!(moved.state, State::Submitting(intent) if intent.unanswered == 0));
    assert_line(
        &with(1),
        Observation::Submitted(Err(lost())),
        "submitting: the reply was lost",
    );
}

#[test]
fn an_update_whose_reply_was_lost_looks_at_its_base() {
    let update_sent = in_state(
        referenced(operation(Kind::Put)),
        State::Submitting(intent(Action::Update, Some("d"))),
    );
    assert_line(
        &update_sent,
        Observation::Claimed,
        "keep, then Look: look before sending it again",
    );
    let same = assert_line(
        &update_sent,
        Observation::Looked(present("d"), update()),
        "submitting, then Submit: the update has not shown: the same again",
    );
    let Next::Move(moved) = same.next else {
        panic!("the resend is recorded first")
    };
    assert!(matches!(moved.state, State::Submitting(intent) if intent.client_token == token(1)));
    let other = assert_line(
        &update_sent,
        Observation::Looked(present("e"), update()),
        "submitting, then Submit: it differs from the declaration",
    );
    let Next::Move(moved) = other.next else {
        panic!("a new intent is recorded")
    };
    assert!(matches!(moved.state, State::Submitting(intent) if intent.client_token == token(9)));
    assert_line(
        &update_sent,
        Observation::Looked(present("e"), PlanOutcome::Nothing),
        "succeeded: it is as it should be",
    );
}

#[test]
fn a_delete_whose_reply_was_lost_looks_first() {
    let delete = in_state(
        referenced(operation(Kind::Delete)),
        State::Submitting(intent(Action::Delete, None)),
    );
    assert_line(
        &delete,
        Observation::Claimed,
        "keep, then Look: look before sending it again",
    );
    assert_line(
        &delete,
        Observation::Looked(present("d"), deletion()),
        "submitting, then Submit: still there: the same again",
    );
    assert_line(
        &delete,
        Observation::Looked(Presence::Absent, PlanOutcome::Nothing),
        "succeeded: it is as it should be",
    );
}

#[test]
fn a_refused_look_after_a_lost_reply_is_tried_again_for_a_while() {
    let delete = in_state(
        referenced(operation(Kind::Delete)),
        State::Submitting(intent(Action::Delete, None)),
    );
    let looked = || Observation::Looked(Presence::Unknown(denied()), deletion());
    assert_line(
        &delete,
        looked(),
        "submitting: cannot tell yet what the lost reply did",
    );
    let often = Operation {
        attempt: 20,
        ..delete
    };
    assert_line(
        &often,
        looked(),
        "failed: looking cannot tell what the lost reply did",
    );
}

#[test]
fn aws_does_not_put_an_operation_to_sleep() {
    let waiting = in_state(
        referenced(operation(Kind::Put)),
        State::Waiting(intent(Action::Update, None), RequestToken::new("r")),
    );
    let asked = Progress {
        retry_after: Some(START.after(Duration::from_secs(30 * 24 * 3600))),
        ..progress(ProgressStatus::Running, None)
    };
    let decision = decide(&waiting, Observation::Polled(Ok(asked)), START, chance(9));
    let Next::Move(moved) = decision.next else {
        panic!("it waits: {decision}")
    };
    assert_eq!(moved.due_at, START.after(Duration::from_secs(15 * 60)));
}

#[test]
fn progress_events_end_or_continue_the_wait() {
    let create = waiting(
        Action::Create,
        Operation {
            created: true,
            ..operation(Kind::Put)
        },
    );
    let decision = assert_line(
        &create,
        polled(ProgressStatus::Running, Some("vpc-2")),
        "waiting: in flight",
    );
    let Next::Move(moved) = decision.next else {
        panic!("it waits")
    };
    assert_eq!(
        moved.identifier,
        Some(Identifier::new("vpc-2")),
        "stored as soon as AWS reveals it"
    );
    assert!(moved.due_at > START);
    assert_line(
        &create,
        polled(ProgressStatus::Success, Some("vpc-2")),
        "observing, then Read: AWS reports success",
    );
    assert_line(
        &create,
        polled(ProgressStatus::Success, None),
        "failed: no identifier",
    );
    assert_line(
        &create,
        polled(failed("NotStabilized"), None),
        "failed: the create failed and named nothing",
    );
    assert_line(
        &create,
        polled(failed("NotStabilized"), Some("vpc-2")),
        "salvaging, then Read: the create failed but named a resource",
    );
    assert_line(
        &create,
        polled(failed("AlreadyExists"), None),
        "failed: something else stands in the way",
    );
    assert_line(
        &create,
        Observation::Polled(Err(Fault::new(FaultClass::TokenUnknown, "", ""))),
        "submitting: AWS has forgotten the request: find out what came of it",
    );
    let update = waiting(Action::Update, referenced(operation(Kind::Put)));
    let decision = assert_line(
        &update,
        polled(failed("InternalFailure"), None),
        "failed: AWS reports failure",
    );
    let Next::Finish(finish) = decision.next else {
        panic!("it ends")
    };
    assert_eq!(finish.reference, ReferenceChange::Kept { owned: false });
    assert_line(
        &update,
        polled(failed("NotFound"), None),
        "failed: AWS reports failure",
    );
    let delete = waiting(Action::Delete, referenced(operation(Kind::Delete)));
    assert_line(
        &delete,
        polled(failed("NotFound"), None),
        "succeeded: already gone",
    );
    assert_line(
        &delete,
        polled(ProgressStatus::Success, None),
        "succeeded: AWS reports success",
    );
}

#[test]
fn a_result_that_is_not_visible_yet_is_waited_for_within_a_bound() {
    let observing = in_state(
        referenced(operation(Kind::Put)),
        State::Observing(Action::Create),
    );
    assert_line(
        &observing,
        Observation::Read(Presence::Absent),
        "observing: not visible yet",
    );
    assert_line_at(
        &observing,
        Observation::Read(Presence::Absent),
        START.after(CONSISTENCY_BOUND),
        "observing: not visible yet",
    );
    let observing = Operation {
        attempt: 3,
        ..observing
    };
    assert_line_at(
        &observing,
        Observation::Read(Presence::Absent),
        START.after(CONSISTENCY_BOUND),
        "failed: never became visible",
    );
    assert_line(
        &observing,
        Observation::Read(present("d")),
        "succeeded: done",
    );
}

/// The operation after a step that does not end it.
#[track_caller]
fn step(operation: &Operation, observation: Observation, expected: &str) -> Operation {
    match assert_line(operation, observation, expected).next {
        Next::Move(moved) => moved.of(operation, START),
        other => panic!("{other:?} is no step"),
    }
}

fn waiting(action: Action, operation: Operation) -> Operation {
    in_state(
        operation,
        State::Waiting(intent(action, None), RequestToken::new("r")),
    )
}

fn polled(status: ProgressStatus, identifier: Option<&str>) -> Observation {
    Observation::Polled(Ok(progress(status, identifier)))
}

fn name(text: &str) -> Identifier {
    Identifier::new(text)
}

fn owning(operation: Operation) -> Operation {
    Operation {
        was_owned: true,
        ..referenced(operation)
    }
}

#[test]
fn the_alias_moves_when_the_new_resource_stands() {
    let put = owning(operation(Kind::Put));
    let plan = replace(ReplacementOrder::CreateBeforeDelete);
    let creating = step(
        &put,
        Observation::Looked(present("d"), plan),
        "submitting, then Submit: the new one first",
    );
    assert_eq!(creating.identifier, None);
    assert_eq!(creating.referenced().unwrap().identifier.as_str(), "vpc-1");
    let created = Observation::Submitted(Ok(progress(ProgressStatus::Success, Some("vpc-2"))));
    let created = step(
        &creating,
        created,
        "observing, then Read: AWS reports success",
    );
    assert_eq!(created.referenced().unwrap().identifier.as_str(), "vpc-1");
    let deleting = step(
        &created,
        Observation::Read(present("d")),
        "submitting, then Submit: the new one stands, so the old one can go",
    );
    assert_eq!(deleting.referenced().unwrap().identifier.as_str(), "vpc-2");
    assert_eq!(deleting.subject(), Some(&name("vpc-1")));
    let deleted = Observation::Submitted(Ok(progress(ProgressStatus::Success, None)));
    let last = step(
        &deleting,
        deleted,
        "observing, then Read: only the new one is left",
    );
    let decision = assert_line(&last, Observation::Read(present("d")), "succeeded: done");
    let Next::Finish(finish) = decision.next else {
        panic!("it ends")
    };
    assert_eq!(finish.identifier, Some(name("vpc-2")));
    assert_eq!(finish.reference, ReferenceChange::Applied { owned: true });

    let partial = step(
        &deleting,
        Observation::Submitted(Err(rejected())),
        "observing, then Read: the new one stands beside the old one",
    );
    let decision = assert_line(
        &partial,
        Observation::Read(present("d")),
        "failed: the new one stands beside the old one",
    );
    let Next::Finish(finish) = decision.next else {
        panic!("it ends")
    };
    assert_eq!(finish.identifier, Some(name("vpc-2")));
    assert_eq!(finish.reference, ReferenceChange::Applied { owned: true });
    let Ended::Failed(failure) = finish.ended else {
        panic!("it fails")
    };
    assert_eq!(failure.code, "PartiallyApplied");
    assert!(
        failure.message.contains("deleting 'vpc-1' failed"),
        "{}",
        failure.message
    );
}

#[test]
fn an_old_resource_that_is_not_owned_is_left_alone() {
    let put = referenced(operation(Kind::Put));
    let plan = replace(ReplacementOrder::CreateBeforeDelete);
    let creating = step(
        &put,
        Observation::Looked(present("d"), plan),
        "submitting, then Submit: the new one first",
    );
    let created = Observation::Submitted(Ok(progress(ProgressStatus::Success, Some("vpc-2"))));
    let created = step(
        &creating,
        created,
        "observing, then Read: AWS reports success",
    );
    assert_line(&created, Observation::Read(present("d")), "succeeded: done");
}

#[test]
fn a_failed_replacement_leaves_the_old_resource_referenced() {
    let put = owning(operation(Kind::Put));
    let plan = replace(ReplacementOrder::CreateBeforeDelete);
    let creating = step(
        &put,
        Observation::Looked(present("d"), plan),
        "submitting, then Submit: the new one first",
    );
    let ends_at_old = |decision: Decision| {
        let Next::Finish(finish) = decision.next else {
            panic!("it ends")
        };
        assert_eq!(finish.identifier, Some(name("vpc-1")));
        assert_eq!(finish.reference, ReferenceChange::Kept { owned: false });
    };
    let refused = Observation::Submitted(Err(rejected()));
    ends_at_old(assert_line(
        &creating,
        refused,
        "failed: AWS refuses the create",
    ));
    let taken = Observation::Submitted(Ok(progress(failed("AlreadyExists"), None)));
    ends_at_old(assert_line(
        &creating,
        taken,
        "failed: something else has the new identifier",
    ));

    let broken = Observation::Submitted(Ok(progress(failed("NotStabilized"), Some("vpc-2"))));
    let salvaging = step(
        &creating,
        broken,
        "salvaging, then Read: the create failed but named a resource",
    );
    let undoing = step(
        &salvaging,
        Observation::Read(present("d")),
        "submitting, then Submit: what the failed create left has to go",
    );
    assert_eq!(undoing.subject(), Some(&name("vpc-2")));
    let deleted = Observation::Submitted(Ok(progress(ProgressStatus::Success, None)));
    ends_at_old(assert_line(
        &undoing,
        deleted,
        "failed: AWS reports success",
    ));
    let refused = Observation::Submitted(Err(rejected()));
    let decision = assert_line(&undoing, refused, "failed: AWS refuses the change");
    let Next::Finish(finish) = &decision.next else {
        panic!("it ends")
    };
    let Ended::Failed(failure) = &finish.ended else {
        panic!("it fails")
    };
    assert!(
        failure.message.contains("left 'vpc-2' in AWS"),
        "{}",
        failure.message
    );
    ends_at_old(decision);
}

/// After a failed create, a resource with the declared identifier may be someone else's.
#[test]
fn what_a_failed_create_may_have_left_under_a_declared_name_is_not_deleted() {
    let put = owning(operation(Kind::Put));
    let plan = replace_by_name(ReplacementOrder::CreateBeforeDelete);
    let creating = step(
        &put,
        Observation::Looked(present("d"), plan),
        "submitting, then Submit: the new one first",
    );
    let broken = Observation::Submitted(Ok(progress(failed("NotStabilized"), Some("vpc-2"))));
    let salvaging = step(
        &creating,
        broken,
        "salvaging, then Read: the create failed but named a resource",
    );
    let decision = assert_line(
        &salvaging,
        Observation::Read(present("d")),
        "failed: what is left may be somebody else's",
    );
    let Next::Finish(finish) = decision.next else {
        panic!("it ends")
    };
    assert_eq!(finish.identifier, Some(name("vpc-1")));
    let Ended::Failed(failure) = finish.ended else {
        panic!("it fails")
    };
    assert!(failure.message.contains("'vpc-2'"), "{}", failure.message);
}

#[test]
fn an_old_resource_that_goes_first_makes_room_for_an_ordinary_create() {
    let put = owning(operation(Kind::Put));
    let plan = replace(ReplacementOrder::DeleteBeforeCreate);
    let deleting = step(
        &put,
        Observation::Looked(present("d"), plan),
        "submitting, then Submit: the old one has to make room",
    );
    assert_line(
        &deleting,
        Observation::Submitted(Err(rejected())),
        "failed: AWS refuses the change",
    );
    let deleted = Observation::Submitted(Ok(progress(ProgressStatus::Success, None)));
    let again = step(
        &deleting,
        deleted,
        "accepted, then Look: there is room for the new one",
    );
    assert_eq!(again.referenced(), None);
    step(
        &again,
        Observation::Looked(Presence::Absent, create()),
        "submitting, then Submit: nothing stands there yet",
    );
    // The reply to the delete was lost, and the resource is gone.
    let resumed = step(
        &deleting,
        Observation::Looked(Presence::Absent, create()),
        "submitting, then Submit: nothing stands there yet",
    );
    let gone = Some(Replacing::OldGone { old: name("vpc-1") });
    assert_eq!((&again.replacing, &resumed.replacing), (&gone, &gone));
    let failed = Observation::Submitted(Err(rejected()));
    let decision = assert_line(&resumed, failed, "failed: AWS refuses the create");
    let Next::Finish(finish) = decision.next else {
        panic!("it ends")
    };
    assert_eq!(finish.reference, ReferenceChange::Removed);
    let Ended::Failed(failure) = finish.ended else {
        panic!("it fails")
    };
    assert!(
        failure.message.contains("'vpc-1' was deleted already"),
        "{}",
        failure.message
    );
}

#[test]
fn a_cancel_counts_when_aws_confirms_it() {
    let assert_line = |operation: &Operation, observation: Observation, expected: &str| {
        let decision = resource::decide(operation, true, observation, START, chance(9));
        assert_eq!(decision.to_string(), expected);
        decision
    };
    assert_line(
        &operation(Kind::Put),
        Observation::Claimed,
        "canceled: cancelled before anything was sent",
    );
    let throttled = |action| Operation {
        state: State::Submitting(Intent {
            unanswered: 0,
            ..intent(action, None)
        }),
        ..operation(Kind::Put)
    };
    assert_line(
        &throttled(Action::Create),
        Observation::Claimed,
        "canceled: cancelled before AWS took it",
    );
    let removing = Operation {
        replacing: Some(Replacing::OldLast { old: name("vpc-0") }),
        ..throttled(Action::Delete)
    };
    assert_line(
        &removing,
        Observation::Claimed,
        "keep, then Look: look before sending it again",
    );
    let update = waiting(Action::Update, referenced(operation(Kind::Put)));
    assert_line(
        &update,
        Observation::Claimed,
        "keep, then Cancel: somebody asked to cancel it",
    );
    assert_line(
        &update,
        Observation::CancelAsked(Err(rejected())),
        "keep, then Poll: AWS does not cancel it: ask after it",
    );
    assert_line(
        &update,
        Observation::CancelAsked(Ok(progress(ProgressStatus::Running, None))),
        "waiting: in flight",
    );
    let cancelled = step(
        &update,
        polled(ProgressStatus::Canceled, None),
        "salvaging, then Read: cancelled: see what is left",
    );
    let decision = assert_line(
        &cancelled,
        Observation::Read(present("d")),
        "canceled: it is still there",
    );
    let Next::Finish(finish) = decision.next else {
        panic!("it ends")
    };
    assert_eq!(finish.reference, ReferenceChange::Kept { owned: false });
    assert!(finish.live.is_some());
    assert_line(
        &update,
        polled(ProgressStatus::Success, None),
        "observing, then Read: AWS reports success",
    );
}

#[test]
fn the_verdict_is_in_once_something_is_recorded_or_it_ended() {
    let failure = Failure::new("Conflict", "");
    let refused = State::Ended(Ended::Failed(failure.clone()));
    let looked_at = |state| in_state(operation(Kind::Put), state);
    for (operation, verdict) in [
        (looked_at(State::Accepted), Verdict::Undecided),
        (
            looked_at(State::Ended(Ended::Succeeded)),
            Verdict::NothingToDo,
        ),
        (looked_at(refused), Verdict::Refused(&failure)),
    ] {
        assert_eq!(operation.verdict(), verdict);
        let created = Operation {
            created: true,
            ..operation
        };
        assert_eq!(created.verdict(), Verdict::Underway);
    }
    let submitting = looked_at(State::Submitting(intent(Action::Create, None)));
    assert_eq!(submitting.verdict(), Verdict::Underway);
    let made_room = Operation {
        changes: vec![Change {
            path: "/CidrBlock".to_owned(),
            op: "replace".to_owned(),
        }],
        ..looked_at(State::Accepted)
    };
    assert_eq!(made_room.verdict(), Verdict::Underway);
}

/// All observations, in a few variants each.
fn observations() -> impl Strategy<Value = Observation> {
    let fault = prop_oneof![
        Just(throttled()),
        Just(lost()),
        Just(denied()),
        Just(rejected()),
        Just(Fault::new(
            FaultClass::Missing,
            "ResourceNotFoundException",
            ""
        )),
        Just(Fault::new(
            FaultClass::Concurrent,
            "ConcurrentOperationException",
            ""
        )),
        Just(Fault::new(
            FaultClass::TokenConflict,
            "ClientTokenConflictException",
            ""
        )),
        Just(Fault::new(
            FaultClass::TokenUnknown,
            "RequestTokenNotFoundException",
            ""
        )),
        Just(Fault::new(FaultClass::Transient, "NetworkFailure", ""))
    ];
    let presence = prop_oneof![
        Just(Presence::Absent),
        Just(Presence::Unreadable(name("vpc-1"))),
        "[de]".prop_map(|digest| present(&digest)),
        fault.clone().prop_map(Presence::Unknown)
    ];
    let plan = prop_oneof![
        Just(create()),
        Just(update()),
        Just(replace(ReplacementOrder::CreateBeforeDelete)),
        Just(replace(ReplacementOrder::DeleteBeforeCreate)),
        Just(deletion()),
        Just(PlanOutcome::Nothing),
        Just(PlanOutcome::Impossible(Failure::new("InvalidRequest", "")))
    ];
    let status = prop_oneof![
        Just(ProgressStatus::Running),
        Just(ProgressStatus::Success),
        Just(ProgressStatus::Canceled),
        "AlreadyExists|NotFound|NotStabilized".prop_map(|code| failed(&code))
    ];
    let progress = (status, prop::option::of(Just("vpc-2")))
        .prop_map(|(status, identifier)| progress(status, identifier));
    let reply = prop_oneof![progress.prop_map(Ok), fault.prop_map(Err)];
    prop_oneof![
        Just(Observation::Claimed),
        (presence.clone(), plan).prop_map(|(presence, plan)| Observation::Looked(presence, plan)),
        presence.prop_map(Observation::Read),
        reply.clone().prop_map(Observation::Submitted),
        reply.clone().prop_map(Observation::Polled),
        reply.prop_map(Observation::CancelAsked),
    ]
}

/// A planner updates only what exists and deletes only for a delete, and nothing can be read without an identifier.
fn can_be_observed(operation: &Operation, observation: &Observation) -> bool {
    let presence = match observation {
        Observation::Looked(presence, _) | Observation::Read(presence) => presence,
        Observation::Claimed
        | Observation::Submitted(_)
        | Observation::Polled(_)
        | Observation::CancelAsked(_)
        | Observation::Taken(_)
        | Observation::Surveyed(_) => return true,
    };
    let is_present = matches!(presence, Presence::Present { .. });
    let plan_fits = match observation {
        Observation::Looked(_, PlanOutcome::Create { .. }) => !operation.deletes() && !is_present,
        Observation::Looked(_, PlanOutcome::Update { .. }) => !operation.deletes() && is_present,
        Observation::Looked(_, PlanOutcome::Replace { .. }) => {
            !operation.deletes() && is_present && operation.was_referenced
        }
        Observation::Looked(_, PlanOutcome::Delete(_)) => operation.deletes(),
        Observation::Looked(_, PlanOutcome::Nothing) => operation.deletes() || is_present,
        _ => true,
    };
    plan_fits && (operation.subject().is_some() || !is_present)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2_000, ..ProptestConfig::default() })]

    /// For any observations in any order, late or duplicate: terminal states absorb, every other state has a next
    /// wake-up, and a token stays the same until a new intent is recorded.
    #[test]
    fn any_order_of_events_is_harmless(
        kind in prop_oneof![Just(Kind::Put), Just(Kind::Delete)],
        was_referenced in any::<bool>(),
        was_owned in any::<bool>(),
        is_cancelled in any::<bool>(),
        events in prop::collection::vec((observations(), 0u64..100_000), 1..60),
    ) {
        let mut now = START;
        let start = operation(kind);
        let start = Operation { was_owned: was_owned && was_referenced, ..start };
        let mut operation = if was_referenced { referenced(start) } else { start };
        for (number, (observation, later)) in events.into_iter().enumerate() {
            now = now.after(Duration::from_millis(later));
            if !can_be_observed(&operation, &observation) {
                continue;
            }
            let is_cancelled = is_cancelled && number >= 3;
            let chance = chance(100 + number as u128);
            let decision = resource::decide(&operation, is_cancelled, observation, now, chance);
            let before = operation.clone();
            match decision.next {
                Next::Keep => prop_assert!(!matches!(decision.effect, Some(Effect::Submit(_))), "sent but not recorded"),
                Next::Move(moved) => {
                    prop_assert!(!before.state.is_terminal(), "a terminal state moved");
                    if let Some(Effect::Submit(intent)) = &decision.effect {
                        prop_assert_eq!(&moved.state, &State::Submitting(intent.clone()), "sent but not recorded");
                    }
                    prop_assert!(!moved.state.is_terminal(), "only a finish ends an operation");
                    prop_assert!(decision.effect.is_some() || moved.due_at >= now, "no wake-up");
                    if let (State::Submitting(old), State::Submitting(new), None) = (&before.state, &moved.state, &moved.planned) {
                        prop_assert_eq!(old.client_token, new.client_token);
                    }
                    operation = moved.of(&operation, now);
                }
                Next::Finish(finish) => {
                    prop_assert!(!before.state.is_terminal(), "a terminal state ended again");
                                        if let ReferenceChange::Applied { .. } | ReferenceChange::Kept { .. } = finish.reference {
                        prop_assert!(finish.identifier.is_some(), "a reference to nothing");
                    }
                    if let Some(Replacing::NewFirst { old, .. } | Replacing::Undoing { old, .. }) = &before.replacing
                        && finish.ended != Ended::Succeeded
                    {
                        prop_assert_eq!(finish.identifier.as_ref(), Some(old), "the old one stays referenced");
                        prop_assert!(finish.reference != ReferenceChange::Removed, "the old one stays referenced");
                    }
                    let is_left = matches!(before.replacing, Some(Replacing::OldLast { .. }));
                    prop_assert!(!is_left, "ended without a word about the old one");
                    prop_assert!(decision.effect.is_none());
                    operation = finish.of(&operation, now);
                }
            }
        }
    }

    /// An operation that learns nothing still ends: no state outlasts [`PATIENCE`] or the life of the token.
    #[test]
    fn an_operation_that_learns_nothing_ends(faults in prop::collection::vec(prop_oneof![Just(lost()), Just(throttled())], 1..4)) {
        let mut now = START;
        let mut operation = referenced(operation(Kind::Put));
        let deadline = START.after(PATIENCE * 9);
        let mut observation = Observation::Claimed;
        let mut due_at = START;
        for turn in 0.. {
            let decision = decide(&operation, observation, now, chance(turn));
            match decision.next {
                Next::Keep => {}
                Next::Move(moved) => { due_at = moved.due_at; operation = moved.of(&operation, now); }
                Next::Finish(_) => break,
            }
            prop_assert!(now < deadline, "still {} after nine days", operation.state.name());
            let fault = faults[usize::try_from(turn).unwrap() % faults.len()].clone();
            observation = match decision.effect {
                Some(Effect::Look(_)) => Observation::Looked(Presence::Unknown(fault), create()),
                Some(Effect::Read(_)) => Observation::Read(Presence::Unknown(fault)),
                Some(Effect::Submit(_)) => Observation::Submitted(Err(fault)),
                Some(Effect::Poll(_)) => Observation::Polled(Err(fault)),
                Some(Effect::Cancel(_)) => Observation::CancelAsked(Err(fault)),
                Some(Effect::Survey | Effect::Start(_)) => unreachable!("for operations on groups"),
                None => { now = now.max(due_at); Observation::Claimed }
            };
        }
    }
}

/// AWS's facts about a failure go into `additionalInfo`.
#[test]
fn a_failed_request_is_named_with_the_hooks_that_refused_it() {
    let hook = HookFailure {
        type_name: Some("MyCompany::Security::Encryption".to_owned()),
        status: "HOOK_COMPLETE_FAILED".to_owned(),
        failure_mode: Some("FAIL".to_owned()),
        ..HookFailure::default()
    };
    let refused = ProgressStatus::Failed {
        code: HandlerErrorCode::of("AccessDenied"),
        message: "a hook".to_owned(),
        hooks: vec![hook.clone()],
    };
    for (action, operation, named) in [
        (Action::Create, operation(Kind::Put), None),
        (
            Action::Update,
            referenced(operation(Kind::Put)),
            Some("vpc-1"),
        ),
        (
            Action::Delete,
            referenced(operation(Kind::Delete)),
            Some("vpc-1"),
        ),
    ] {
        let operation = waiting(action, operation);
        let observation = Observation::Polled(Ok(progress(refused.clone(), None)));
        let decision = decide(&operation, observation, START, chance(9));
        let Next::Finish(finish) = decision.next else {
            panic!("it ends")
        };
        let Ended::Failed(failure) = finish.ended else {
            panic!("it fails")
        };
        let request = CloudControlRequest {
            request_token: RequestToken::new("r"),
            operation: action,
            type_name: operation.type_name.clone(),
            identifier: named.map(Identifier::new),
        };
        let info = [
            AdditionalInfo::CloudControlRequest(request),
            AdditionalInfo::CloudFormationHook(hook.clone()),
        ];
        assert_eq!(failure.additional_info, info);
        let stored = serde_json::to_value(&failure).unwrap();
        assert_eq!(stored["additionalInfo"][1]["type"], "CloudFormationHook");
        assert_eq!(stored["additionalInfo"][1]["info"]["failureMode"], "FAIL");
        assert_eq!(serde_json::from_value::<Failure>(stored).unwrap(), failure);
    }
    let old = json!({"code": "AccessDenied", "message": "written by an earlier version"});
    let old: Failure = serde_json::from_value(old).unwrap();
    assert!(old.additional_info.is_empty());
}
