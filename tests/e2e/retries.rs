//! Changes that AWS ends with an error: which are made again, and what comes of each. The cells are those of
//! `docs/errors/retry-classes.md`; what they come to is written down here a second time.

use serde_json::{Value, json};
use ucp_simulator::faults::{Effect, Failure, fail, fault, refuse};
use ucp_simulator::{Action, ExceptionCode, HandlerErrorCode};
use ucp_testkit::{Reply, World, apply, on_every_store};

const LOG_GROUP: &str = "AWS.Logs/LogGroup";
const VPC: &str = "AWS.EC2/VPC";

/// What an error calls for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// The change is made again.
    Passes,
    /// It is made again, if a look can tell that it was not made.
    PassesUnseen,
    Unknown,
    Watched,
    Taken,
    Gone,
    Lasts,
    /// The handler refuses before it makes anything.
    Refused,
}

pub(crate) const CODES: [(HandlerErrorCode, Class); 16] = [
    (HandlerErrorCode::AccessDenied, Class::Refused),
    (HandlerErrorCode::AlreadyExists, Class::Taken),
    (HandlerErrorCode::GeneralServiceException, Class::Lasts),
    (HandlerErrorCode::InternalFailure, Class::PassesUnseen),
    (HandlerErrorCode::InvalidCredentials, Class::Passes),
    (HandlerErrorCode::InvalidRequest, Class::Refused),
    (HandlerErrorCode::NetworkFailure, Class::PassesUnseen),
    (HandlerErrorCode::NotFound, Class::Gone),
    (HandlerErrorCode::NotStabilized, Class::Watched),
    (HandlerErrorCode::NotUpdatable, Class::Refused),
    (HandlerErrorCode::ResourceConflict, Class::Passes),
    (HandlerErrorCode::ServiceInternalError, Class::PassesUnseen),
    (HandlerErrorCode::ServiceLimitExceeded, Class::Lasts),
    (HandlerErrorCode::ServiceTimeout, Class::Unknown),
    (HandlerErrorCode::Throttling, Class::Passes),
    (
        HandlerErrorCode::UnauthorizedTaggingOperation,
        Class::Refused,
    ),
];

/// Reads and lists show a change half a minute late.
pub(crate) fn show_late(world: &World) {
    let lag = Effect::Lag {
        least_millis: 20_000,
        most_millis: 40_000,
        replicas: 1,
    };
    world.aws.add_fault(fault(lag));
}

/// The next such call fails, the resource being named or not, and the change made or not.
pub(crate) fn fail_once(
    world: &World,
    call: Action,
    code: HandlerErrorCode,
    is_named: bool,
    is_made: bool,
) {
    let mut failure: Failure = fail(code).saying("As ordered.");
    if !is_named {
        failure = failure.hidden();
    }
    if is_made {
        failure = failure.made();
    }
    world.aws.clear_faults();
    world.aws.add_fault(fault(failure).on(call).times(1));
}

/// The end of an operation: `Succeeded`, or the code of its error.
pub(crate) fn end(ended: &Value) -> String {
    match ended["status"].as_str() {
        Some("Succeeded") => "Succeeded".to_owned(),
        Some("Failed") => ended["error"]["code"].as_str().expect("a code").to_owned(),
        other => panic!("{other:?}: {ended}"),
    }
}

async fn ended(world: &World, accepted: &Reply) -> String {
    world.settle().await;
    end(&world.status(accepted).await)
}

/// The reference of an alias; whether it owns its resource.
pub(crate) async fn owned(world: &World, alias: &str) -> Option<bool> {
    let references = world.references().await;
    let reference = references.iter().find(|it| it["name"] == alias)?;
    reference["ownedResource"].as_bool()
}

/// AWS gives the identifier. What it did not name is found by its mark, though reads and lists show it late: nothing is
/// made twice, and nothing is forgotten that the handler made.
#[apply(on_every_store)]
async fn every_code_of_a_create_whose_name_aws_gives(world: &World) {
    for (index, (code, class)) in world.sample(CODES).enumerate() {
        for (is_named, is_made) in [(false, false), (false, true), (true, false), (true, true)] {
            let cell = format!("{code} named {is_named} made {is_made}");
            let (before, creates) = (world.live("AWS::EC2::VPC"), world.creates());
            fail_once(world, Action::CreateResource, code, is_named, is_made);
            show_late(world);
            let alias = format!("v-{index}-{is_named}-{is_made}");
            let declared = json!({"CidrBlock": "10.0.0.0/16"});
            let status = world.put_and_settle(VPC, &alias, declared.clone()).await;
            world.aws.clear_faults();
            let told = code.to_string();
            // The end, the creates, and the resources that are there then.
            let (end_of, creates_of, live_of) = match (class, is_made) {
                (Class::Passes | Class::PassesUnseen, false) => ("Succeeded", 2, 1),
                // The mark proves that this create has made it.
                (
                    Class::Passes
                    | Class::PassesUnseen
                    | Class::Unknown
                    | Class::Watched
                    | Class::Taken,
                    true,
                ) => ("Succeeded", 1, 1),
                (Class::Unknown, false) => ("OutcomeUnknown", 1, 0),
                (Class::Taken, false) => ("AlreadyExists", 1, 0),
                (Class::Watched, false) => (told.as_str(), 1, 0),
                (Class::Lasts | Class::Gone | Class::Refused, _) => {
                    (told.as_str(), 1, usize::from(is_made))
                }
            };
            assert_eq!(end(&status), end_of, "{cell}: {status}");
            assert_eq!(world.creates() - creates, creates_of, "{cell}");
            let mut made = world.live("AWS::EC2::VPC");
            made.retain(|vpc| !before.contains(vpc));
            assert_eq!(made.len(), live_of, "{cell}");
            let is_ours = owned(world, &alias).await;
            match (class, live_of) {
                // It is not searched for, but its mark is on it.
                (Class::Refused, _) if !is_named => {
                    assert_eq!(is_ours, None, "{cell}");
                    made.iter().for_each(|made| world.lets_go(made));
                }
                (_, 1) => assert_eq!(is_ours, Some(true), "{cell}"),
                (Class::Unknown, _) => {}
                _ => assert_eq!(is_ours, None, "{cell}"),
            }
            if end_of == "Succeeded" {
                world.put(VPC, &alias, declared).await.expect(200);
            } else if is_ours == Some(true) {
                let message = status["error"]["message"].as_str().expect("a message");
                let vpcs = world.live("AWS::EC2::VPC");
                assert!(vpcs.iter().any(|vpc| message.contains(vpc)), "{message}");
            }
        }
    }
}

/// The declaration gives the identifier: AWS refuses a second one of that name, and only its mark tells whose it is.
#[apply(on_every_store)]
async fn every_code_of_a_create_of_a_declared_name_that_names_nothing(world: &World) {
    for (index, (code, class)) in world.sample(CODES).enumerate() {
        for is_made in [false, true] {
            let cell = format!("{code} made {is_made}");
            let creates = world.creates();
            fail_once(world, Action::CreateResource, code, false, is_made);
            let alias = format!("g-{index}-{is_made}");
            let declared = json!({"LogGroupName": alias});
            let status = world.put_and_settle(LOG_GROUP, &alias, declared).await;
            let told = code.to_string();
            let (end_of, creates_of) = match (class, is_made) {
                (Class::Passes | Class::PassesUnseen, false) => ("Succeeded", 2),
                (Class::Passes | Class::PassesUnseen | Class::Unknown | Class::Taken, true) => {
                    ("Succeeded", 1)
                }
                (Class::Unknown, false) => ("OutcomeUnknown", 1),
                (Class::Taken, false) => ("AlreadyExists", 1),
                (Class::Watched | Class::Lasts | Class::Gone | Class::Refused, _) => {
                    (told.as_str(), 1)
                }
            };
            assert_eq!(end(&status), end_of, "{cell}: {status}");
            assert_eq!(world.creates() - creates, creates_of, "{cell}");
            let live = world.live("AWS::Logs::LogGroup");
            assert_eq!(
                live.contains(&alias),
                is_made || end_of == "Succeeded",
                "{cell}"
            );
            if end_of == "Succeeded" {
                // The mark proves that the create has made it.
                assert_eq!(owned(world, &alias).await, Some(true), "{cell}");
            }
        }
    }
}

#[apply(on_every_store)]
async fn every_code_of_an_update(world: &World) {
    for (index, (code, class)) in world.sample(CODES).enumerate() {
        for is_made in [false, true] {
            let cell = format!("{code} made {is_made}");
            let name = format!("g-{index}-{is_made}");
            let declared = json!({"LogGroupName": name});
            world.put_and_settle(LOG_GROUP, &name, declared).await;
            let updates = world.calls("UpdateResource");
            fail_once(world, Action::UpdateResource, code, true, is_made);
            let changed = json!({"LogGroupName": name, "RetentionInDays": 7});
            let status = world
                .put_and_settle(LOG_GROUP, &name, changed.clone())
                .await;
            let told = code.to_string();
            let (end_of, updates_of) = match (class, is_made) {
                (Class::Passes | Class::PassesUnseen | Class::Unknown | Class::Gone, false) => {
                    ("Succeeded", 2)
                }
                (
                    Class::Passes
                    | Class::PassesUnseen
                    | Class::Unknown
                    | Class::Gone
                    | Class::Watched,
                    true,
                ) => ("Succeeded", 1),
                (Class::Watched, false) | (Class::Taken | Class::Lasts | Class::Refused, _) => {
                    (told.as_str(), 1)
                }
            };
            assert_eq!(end(&status), end_of, "{cell}: {status}");
            let updates = world.calls("UpdateResource") - updates;
            assert_eq!(updates, updates_of, "{cell}");
            assert_eq!(owned(world, &name).await, Some(true), "{cell}");
            if end_of == "Succeeded" {
                world.put(LOG_GROUP, &name, changed).await.expect(200);
            }
        }
    }
}

#[apply(on_every_store)]
async fn every_code_of_a_delete(world: &World) {
    for (index, (code, class)) in world.sample(CODES).enumerate() {
        for is_made in [false, true] {
            // Whether what AWS does not find is gone is told by others.
            if class == Class::Gone && !is_made {
                continue;
            }
            let cell = format!("{code} made {is_made}");
            let name = format!("g-{index}-{is_made}");
            let declared = json!({"LogGroupName": name});
            world.put_and_settle(LOG_GROUP, &name, declared).await;
            let deletes = world.calls("DeleteResource");
            fail_once(world, Action::DeleteResource, code, true, is_made);
            let reply = world.delete(LOG_GROUP, &name).await.expect(202);
            let told = code.to_string();
            let (end_of, deletes_of) = match (class, is_made) {
                (Class::Passes | Class::PassesUnseen | Class::Unknown, false) => {
                    ("Succeeded", 2..3)
                }
                (Class::Passes | Class::PassesUnseen | Class::Unknown, true) | (Class::Gone, _) => {
                    ("Succeeded", 1..3)
                }
                (Class::Watched, true) => ("Succeeded", 1..2),
                (Class::Watched, false) | (Class::Taken | Class::Lasts | Class::Refused, _) => {
                    (told.as_str(), 1..2)
                }
            };
            assert_eq!(ended(world, &reply).await, end_of, "{cell}");
            let deletes = world.calls("DeleteResource") - deletes;
            assert!(deletes_of.contains(&deletes), "{cell}: {deletes} deletes");
            assert_eq!(
                world.live("AWS::Logs::LogGroup").contains(&name),
                !is_made && end_of != "Succeeded",
                "{cell}"
            );
        }
    }
}

/// A role that was put a moment ago may not be in force yet.
#[apply(on_every_store)]
async fn a_denial_right_after_a_put_of_a_role_passes(world: &World) {
    world.tolerate_log("the call did not succeed");
    let role = json!({"RoleName": "worker", "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": []}});
    let denials: [Effect; 2] = [
        refuse(ExceptionCode::AccessDenied).saying("not yet").into(),
        fail(HandlerErrorCode::AccessDenied)
            .saying("not yet")
            .into(),
    ];
    for (index, denial) in denials.into_iter().enumerate() {
        let put = async |alias: String| {
            let denied = fault(denial.clone()).on(Action::CreateResource).times(2);
            world.aws.add_fault(denied.of_type("AWS::Logs::LogGroup"));
            let declared = json!({"LogGroupName": alias});
            let status = world.put_and_settle(LOG_GROUP, &alias, declared).await;
            world.aws.clear_faults();
            end(&status)
        };
        let told = put(format!("before-{index}")).await;
        assert!(told.starts_with("AccessDenied"), "{told}");
        let alias = format!("role-{index}");
        let mut role = role.clone();
        role["RoleName"] = json!(alias);
        let status = world.put_and_settle("AWS.IAM/Role", &alias, role).await;
        assert_eq!(end(&status), "Succeeded", "{status}");
        assert_eq!(put(format!("after-{index}")).await, "Succeeded");
        world.clock.advance(std::time::Duration::from_secs(180));
        let told = put(format!("later-{index}")).await;
        assert!(told.starts_with("AccessDenied"), "{told}");
    }
}

/// Which try is next, when, and why: never "Provisioning" alone.
#[apply(on_every_store)]
async fn the_status_tells_of_each_try(world: &World) {
    let failure = fail(HandlerErrorCode::Throttling).saying("Slow down.");
    let failure = fault(failure.hidden()).on(Action::CreateResource);
    world.aws.add_fault(failure.times(2));
    let declared = json!({"CidrBlock": "10.0.0.0/16"});
    let reply = world.put(VPC, "main", declared).await.expect(201);
    world.step().await;
    let mut tries = Vec::new();
    for _ in 0..50 {
        let status = world.status(&reply).await;
        if status["status"] == "Succeeded" {
            break;
        }
        assert_eq!(status["status"], "Provisioning", "{status}");
        let progress = &status["properties"]["progress"];
        if progress["waitingFor"] == "another try of the create" {
            assert_eq!(progress["lastError"]["code"], "Throttling");
            assert_eq!(progress["lastError"]["message"], "Slow down.");
            tries.push(progress["attempt"].as_u64().expect("a number"));
        }
        let due_at = world.store.next_claimable_at().await.expect("it answers");
        world.clock.move_to(due_at.expect("it goes on"));
        world.step().await;
    }
    assert_eq!(tries, [1, 2]);
    assert_eq!(world.status(&reply).await["status"], "Succeeded");
}

/// Defect 10: a request that AWS forgets each time made five creates a second.
#[apply(on_every_store)]
async fn a_request_that_aws_forgets_is_not_sent_without_end(world: &World) {
    let forgotten = refuse(ExceptionCode::RequestTokenNotFound).saying("never heard of it");
    let forgotten = fault(forgotten).on(Action::GetResourceRequestStatus);
    world.aws.add_fault(forgotten);
    pending(world, 1_000);
    let declared = json!({"CidrBlock": "10.0.0.0/16"});
    let reply = world.put(VPC, "main", declared).await.expect(201);
    assert_eq!(ended(world, &reply).await, "OutcomeUnknown");
    let sends = world.calls("CreateResource");
    assert!((10..=25).contains(&sends), "{sends} sends");
    assert_eq!(world.creates(), 1, "one token, one VPC");
}

fn pending(world: &World, times: u32) {
    let hours = 1_000 * 3_600_000;
    let pending = Effect::Latency {
        least_millis: hours,
        most_millis: hours,
    };
    let pending = fault(pending).on(Action::CreateResource);
    world.aws.add_fault(pending.times(times));
}

/// Defect 10: nobody noticed a request that is in progress for ever.
#[apply(on_every_store)]
async fn what_is_pending_past_its_time_is_cancelled_and_made_again(world: &World) {
    pending(world, 1);
    let declared = json!({"CidrBlock": "10.0.0.0/16"});
    let reply = world.put(VPC, "main", declared.clone()).await.expect(201);
    assert_eq!(ended(world, &reply).await, "Succeeded");
    assert_eq!(world.calls("CancelResourceRequest"), 1);
    assert_eq!(world.creates(), 2);
    assert_eq!(world.live("AWS::EC2::VPC").len(), 1);

    world.aws.clear_faults();
    pending(world, 100);
    let reply = world.put(VPC, "other", declared).await.expect(201);
    assert_eq!(ended(world, &reply).await, "NotStabilized");
    assert_eq!(world.creates(), 2 + 4, "the tries have an end");
    assert_eq!(world.live("AWS::EC2::VPC").len(), 1);
}

/// Defect 10: AWS was asked to cancel at each poll.
#[apply(on_every_store)]
async fn a_cancel_that_aws_refuses_is_not_asked_for_at_each_poll(world: &World) {
    let hours = 3 * 3_600_000;
    let slow = Effect::Latency {
        least_millis: hours,
        most_millis: hours,
    };
    world.aws.add_fault(fault(slow).on(Action::CreateResource));
    // As AWS mostly does. So it is polled far more often than it could be asked to cancel.
    world.aws.add_fault(fault(Effect::NoRetryAfter {}));
    let refused = refuse(ExceptionCode::UnsupportedAction).saying("cannot be cancelled");
    world
        .aws
        .add_fault(fault(refused).on(Action::CancelResourceRequest));
    let declared = json!({"CidrBlock": "10.0.0.0/16"});
    let reply = world.put(VPC, "main", declared).await.expect(201);
    world.step().await;
    let url = reply.status_url();
    let path = &url[url.find("/planes/").expect("an absolute URL")..];
    let cancel = world.call("POST", &format!("{path}/:cancel"), "").await;
    cancel.expect(202);
    world.step().await;
    let waited = world.status(&reply).await["properties"]["progress"]["waitingFor"].clone();
    let waited = waited.as_str().expect("a sentence");
    assert!(waited.starts_with("AWS to cancel the create"), "{waited}");
    assert_eq!(ended(world, &reply).await, "Succeeded", "it was made");
    let polls = world.calls("GetResourceRequestStatus");
    assert!(polls > 400, "{polls} in three hours");
    let cancels = world.calls("CancelResourceRequest");
    assert!((2..=50).contains(&cancels), "{cancels} in three hours");
}

/// It is given up within minutes once nothing of ours is in the way.
#[apply(on_every_store)]
async fn an_update_waits_for_what_another_operation_does_to_what_it_names(world: &World) {
    const SUBNET: &str = "AWS.EC2/Subnet";
    world
        .put_and_settle(VPC, "net", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    let vpc = world.live("AWS::EC2::VPC").remove(0);
    let subnet = |is_public: bool| json!({"VpcId": vpc, "CidrBlock": "10.0.1.0/24", "MapPublicIpOnLaunch": is_public});
    world.put_and_settle(SUBNET, "a", subnet(false)).await;
    let minutes = 10 * 60_000;
    let slow = Effect::Latency {
        least_millis: minutes,
        most_millis: minutes,
    };
    let slow = fault(slow).on(Action::UpdateResource);
    world.aws.add_fault(slow.of_type("AWS::EC2::Subnet"));
    let conflict = fail(HandlerErrorCode::ResourceConflict).saying("Not now.");
    let conflict = fault(conflict).on(Action::UpdateResource);
    world.aws.add_fault(conflict.of_type("AWS::EC2::VPC"));
    let changed = world.put(SUBNET, "a", subnet(true)).await;
    let declared = json!({"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": false});
    let refused = world.put(VPC, "net", declared).await;
    world.settle().await;
    let (changed, refused) = (world.status(&changed).await, world.status(&refused).await);
    assert_eq!(changed["status"], "Succeeded", "{changed}");
    assert_eq!(refused["error"]["code"], "ResourceConflict", "{refused}");
    let ended = |status: &Value| status["endTime"].as_str().expect("an end").to_owned();
    assert!(ended(&refused) > ended(&changed), "{refused} {changed}");
}

/// Defect 4: the request that has our token is followed.
#[apply(on_every_store)]
async fn the_request_that_a_conflict_names_is_followed(world: &World) {
    world.tolerate_log("the call did not succeed");
    let dropped = fault(Effect::DropReply {}).on(Action::CreateResource);
    world.aws.add_fault(dropped.times(1));
    let declared = json!({"CidrBlock": "10.0.0.0/16"});
    let reply = world.put(VPC, "main", declared).await.expect(201);
    world.step().await;
    world.aws.clear_faults();
    let calls = world.calls_on_resources();
    let request = calls.iter().find_map(|call| call["requestToken"].as_str());
    let request = request.expect("AWS has made it").to_owned();
    let conflict = refuse(ExceptionCode::ClientTokenConflict)
        .saying(format!("The token is that of the request {request}."));
    world
        .aws
        .add_fault(fault(conflict).on(Action::CreateResource));
    assert_eq!(ended(world, &reply).await, "Succeeded");
    assert_eq!(world.live("AWS::EC2::VPC").len(), 1);
    assert_eq!(owned(world, "main").await, Some(true));
}
