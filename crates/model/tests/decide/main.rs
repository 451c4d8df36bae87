//! The state machine: the transition of each state on each observation, and invariants over random sequences.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod any_order;
mod beliefs;
mod bounds;
mod lost_replies;
mod missing;
mod plans;
mod progress;
mod replacements;
mod resolving;
mod retries;
mod searches;

use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;
use ucp_model::operation::resource::{self, Decision, Next};
use ucp_model::operation::{
    Action, AdoptionPolicy, CLIENT_TOKEN_LIFE, Call, Chance, Change, Effect, Holder, Intent, Kind,
    Listing, Observation, Options, PATIENCE, PlanOutcome, Presence, Proof, ReferenceChange,
    ReplacementOrder, Replacing, ResourceWork as Operation, SETTLING_WINDOW, Search, Searched,
    Sightings, State, Taken, Verdict,
};
use ucp_model::{
    AdditionalInfo, ClientToken, CloudControlRequest, Ended, Failure, Fault, FaultClass,
    HandlerErrorCode, HookFailure, Identifier, LeftoverReason, NewLeftover, OperationId, Ownership,
    Progress, ProgressStatus, RequestToken, Scope, Setback, Timestamp, TypeName,
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
        type_name: None,
        action: None,
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
    bearing(identifier, digest, Ownership::Unmarked)
}

fn present_with(digest: &str, ownership: Ownership) -> Presence {
    bearing("vpc-1", digest, ownership)
}

fn bearing(identifier: &str, digest: &str, ownership: Ownership) -> Presence {
    Presence::Present {
        identifier: name(identifier),
        live: json!({}),
        digest: digest.to_owned(),
        ownership,
    }
}

/// A look that finds the resource with this mark.
fn marked(ownership: Ownership, plan: PlanOutcome) -> Observation {
    Observation::Looked(present_with("d", ownership), plan)
}

fn rejected() -> Fault {
    Fault::new(FaultClass::Rejected, "InvalidRequestException", "no")
}

fn denied() -> Fault {
    Fault::new(FaultClass::Denied, "AccessDeniedException", "no")
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

/// The operation when one more look proves the absence of its subject at [`START`].
fn almost_proven(operation: Operation) -> Operation {
    let sightings = Sightings {
        last_seen_at: Some(START.before(SETTLING_WINDOW)),
        missed: 4,
        missed_in_all: 4,
        missed_since: Some(START),
        listed: Some(false),
        ..Sightings::default()
    };
    Operation {
        sightings,
        ..operation
    }
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

/// AWS calls the resource `VPC-1`, which `by` has.
fn taken_by(by: Holder) -> Observation {
    let identifier = name("VPC-1");
    Observation::Taken(Taken { identifier, by })
}

fn another_operation() -> Holder {
    Holder::Operation(OperationId(Uuid::from_u128(7)))
}

fn another_owner() -> Holder {
    let owner = "/planes/radius/local/resourceGroups/rg/providers/AWS.EC2/VPC:reference/b";
    Holder::Owner(owner.parse().unwrap())
}
