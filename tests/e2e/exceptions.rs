//! Calls that AWS answers with an exception: every exception of a create, an update and a delete, when nothing was done and
//! when the reply to what was done was lost. The cells are those of `docs/errors/retry-classes.md`.

use std::time::Duration;

use serde_json::{Value, json};
use ucp_simulator::faults::{Effect, fault, refuse};
use ucp_simulator::{Action, ExceptionCode};
use ucp_testkit::{Reply, World, apply, on_every_store};

use crate::retries::{end, owned};

const LOG_GROUP: &str = "AWS.Logs/LogGroup";
const VPC: &str = "AWS.EC2/VPC";

/// What an exception calls for if nothing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// The call is sent again.
    Passes,
    /// It ends the operation.
    Lasts,
    /// What the call is about is not there. A delete has reached its goal then.
    Gone,
}

fn class(code: ExceptionCode) -> Option<Class> {
    Some(match code {
        ExceptionCode::ConcurrentModification
        | ExceptionCode::ConcurrentOperation
        | ExceptionCode::ExpiredToken
        | ExceptionCode::HandlerFailure
        | ExceptionCode::HandlerInternalFailure
        | ExceptionCode::InternalFailure
        | ExceptionCode::InvalidCredentials
        | ExceptionCode::NetworkFailure
        | ExceptionCode::ResourceConflict
        | ExceptionCode::ServiceInternalError
        | ExceptionCode::ServiceUnavailable
        | ExceptionCode::Throttling => Class::Passes,
        ExceptionCode::AccessDenied
        | ExceptionCode::AlreadyExists
        | ExceptionCode::CfnRegistry
        | ExceptionCode::GeneralService
        | ExceptionCode::InvalidAction
        | ExceptionCode::InvalidRequest
        | ExceptionCode::NotStabilized
        | ExceptionCode::NotUpdatable
        | ExceptionCode::PrivateType
        | ExceptionCode::RequestEntityTooLarge
        | ExceptionCode::Serialization
        | ExceptionCode::ServiceLimitExceeded
        | ExceptionCode::TypeNotFound
        | ExceptionCode::UnknownOperation
        | ExceptionCode::UnrecognizedClient
        | ExceptionCode::UnsupportedAction
        | ExceptionCode::Validation => Class::Lasts,
        ExceptionCode::ResourceNotFound => Class::Gone,
        // Both are about a request of ours, which other tests follow.
        ExceptionCode::ClientTokenConflict | ExceptionCode::RequestTokenNotFound => return None,
    })
}

fn cells() -> impl Iterator<Item = (ExceptionCode, Class)> {
    let all = ExceptionCode::ALL.iter().copied();
    all.filter_map(|code| Some((code, class(code)?)))
}

/// Refuses the next two such calls. Before them, the reply to one that is done is lost, if any is: they are refused when
/// it is.
fn refuse_twice(world: &World, call: Action, code: ExceptionCode, is_done: bool) {
    let ordered = if is_done {
        fault(Effect::DropReply {}).on(call).times(1)
    } else {
        fault(refuse(code).saying("As ordered.")).on(call).times(2)
    };
    world.aws.add_fault(ordered);
}

/// Carries out the operation that was accepted after [`refuse_twice`], and returns its status.
async fn ended(
    world: &World,
    accepted: Reply,
    call: Action,
    code: ExceptionCode,
    is_done: bool,
) -> Value {
    if is_done {
        while !world.aws.faults().is_empty() {
            world.step().await;
        }
        refuse_twice(world, call, code, false);
    }
    world.settle().await;
    world.aws.clear_faults();
    let status = world.status(&accepted).await;
    // What is under way in AWS comes to its end.
    world.clock.advance(Duration::from_secs(10));
    status
}

/// Nothing is made twice, and nothing is forgotten that was made.
async fn creates(world: &World, resource_type: &str, live_type: &str, declared: Value) {
    world.tolerate_log("the call did not succeed");
    for (index, (code, class)) in world.sample(cells()).enumerate() {
        for is_done in [false, true] {
            let cell = format!("{code} done {is_done}");
            let live = world.live(live_type).len();
            let alias = format!("c-{index}-{is_done}");
            let mut declared = declared.clone();
            if let Some(name) = declared.get_mut("LogGroupName") {
                *name = alias.clone().into();
            }
            refuse_twice(world, Action::CreateResource, code, is_done);
            let put = world.put(resource_type, &alias, declared).await.expect(201);
            let status = ended(world, put, Action::CreateResource, code, is_done).await;
            let ended = end(&status);
            let made = world.live(live_type).len() - live;
            let of_alias = owned(world, &alias).await;
            if is_done {
                assert_eq!(made, 1, "{cell}: {status}");
                assert!(of_alias.is_some(), "{cell}: {status}");
            } else if class == Class::Passes {
                assert_eq!((ended.as_str(), made), ("Succeeded", 1), "{cell}: {status}");
                assert_eq!(of_alias, Some(true), "{cell}");
            } else {
                let told = match code {
                    ExceptionCode::AlreadyExists => "AlreadyExists".to_owned(),
                    code => code.to_string(),
                };
                assert_eq!((ended, made), (told, 0), "{cell}: {status}");
                assert_eq!(of_alias, None, "{cell}");
            }
        }
    }
}

#[apply(on_every_store)]
async fn every_exception_of_a_create_whose_name_aws_gives(world: &World) {
    creates(
        world,
        VPC,
        "AWS::EC2::VPC",
        json!({"CidrBlock": "10.0.0.0/16"}),
    )
    .await;
}

#[apply(on_every_store)]
async fn every_exception_of_a_create_of_a_declared_name(world: &World) {
    creates(
        world,
        LOG_GROUP,
        "AWS::Logs::LogGroup",
        json!({"LogGroupName": ""}),
    )
    .await;
}

#[apply(on_every_store)]
async fn every_exception_of_an_update(world: &World) {
    world.tolerate_log("the call did not succeed");
    world
        .put_and_settle(LOG_GROUP, "g", json!({"LogGroupName": "g"}))
        .await;
    let mut days = [1, 3, 5, 7, 14, 30].into_iter().cycle();
    let cells = cells().filter(|(_, class)| *class != Class::Gone);
    for (code, class) in world.sample(cells) {
        for is_done in [false, true] {
            let cell = format!("{code} done {is_done}");
            let days = days.next().expect("it goes on for ever");
            let changed = json!({"LogGroupName": "g", "RetentionInDays": days});
            refuse_twice(world, Action::UpdateResource, code, is_done);
            let put = world.put(LOG_GROUP, "g", changed).await.expect(201);
            let status = ended(world, put, Action::UpdateResource, code, is_done).await;
            // However often replies were lost: the next put sees what was done.
            let is_watched = is_done && code == ExceptionCode::NotStabilized;
            let expected = match class {
                Class::Passes => "Succeeded".to_owned(),
                Class::Lasts if is_watched => "Succeeded".to_owned(),
                Class::Lasts | Class::Gone => code.to_string(),
            };
            assert_eq!(end(&status), expected, "{cell}: {status}");
        }
    }
}

#[apply(on_every_store)]
async fn every_exception_of_a_delete(world: &World) {
    world.tolerate_log("the call did not succeed");
    for (index, (code, class)) in world.sample(cells()).enumerate() {
        for is_done in [false, true] {
            // Whether what AWS does not find is gone is told by others.
            if class == Class::Gone && !is_done {
                continue;
            }
            let cell = format!("{code} done {is_done}");
            let name = format!("d-{index}-{is_done}");
            let declared = json!({"LogGroupName": name});
            world.put_and_settle(LOG_GROUP, &name, declared).await;
            refuse_twice(world, Action::DeleteResource, code, is_done);
            let delete = world.delete(LOG_GROUP, &name).await.expect(202);
            let status = ended(world, delete, Action::DeleteResource, code, is_done).await;
            let is_watched = is_done && code == ExceptionCode::NotStabilized;
            let stays = class == Class::Lasts && !is_watched;
            let expected = if stays {
                code.to_string()
            } else {
                "Succeeded".to_owned()
            };
            assert_eq!(end(&status), expected, "{cell}: {status}");
            let is_there = world.live("AWS::Logs::LogGroup").contains(&name);
            assert_eq!(is_there, stays && !is_done, "{cell}");
            // However often replies were lost: the next delete sees what was done.
            let of_alias = owned(world, &name).await;
            assert_eq!(of_alias, stays.then_some(true), "{cell}");
        }
    }
}
