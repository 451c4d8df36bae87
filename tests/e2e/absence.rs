//! Absence and ownership are claims that are proven: one "not found" makes no second resource and ends no reference, and
//! what AWS did not name is not ours.

use std::time::Duration;

use serde_json::{Value, json};
use ucp_model::operation::SETTLING_WINDOW;
use ucp_simulator::faults::{Effect, Failure, fail, fault, refuse};
use ucp_simulator::{Action, ExceptionCode, HandlerErrorCode};
use ucp_testkit::{
    ACCOUNT, GROUP, REGION, Reply, StoreKind, World, apply, on_every_store, tracked_by,
};

const VPC: &str = "AWS.EC2/VPC";
const LOG_GROUP: &str = "AWS.Logs/LogGroup";

fn vpc() -> Value {
    json!({"CidrBlock": "10.0.0.0/16"})
}

fn logs() -> Value {
    json!({"LogGroupName": "logs"})
}

/// Reads do not find what is there.
fn hide(world: &World, probability: f64) {
    let not_found = fault(refuse(ExceptionCode::ResourceNotFound));
    let not_found = not_found.on(Action::GetResource);
    world.aws.add_fault(not_found.with_probability(probability));
}

fn once(world: &World, call: Action, effect: impl Into<Effect>) {
    world.aws.add_fault(fault(effect).on(call).times(1));
}

fn broken() -> Failure {
    fail(HandlerErrorCode::GeneralServiceException).saying("as ordered")
}

fn vanish(world: &World, type_name: &str, identifier: &str) {
    world.vanish(type_name, identifier);
}

async fn settled(world: &World, reply: &Reply) -> Value {
    world.settle().await;
    world.status(reply).await
}

async fn only_vpc(world: &World) -> String {
    world.put_and_settle(VPC, "main", vpc()).await;
    let live = world.live("AWS::EC2::VPC");
    let [vpc] = &live[..] else {
        panic!("expected one VPC: {live:?}")
    };
    vpc.clone()
}

/// The identifier that the only reference stands for, whether it is owned, and its state.
async fn reference(world: &World) -> (Value, Value, Value) {
    let references = world.references().await;
    let [reference] = &references[..] else {
        panic!("expected one reference: {references:?}")
    };
    (
        reference["mapsTo"]["primaryIdentifier"].clone(),
        reference["ownedResource"].clone(),
        reference["provisioningState"].clone(),
    )
}

fn stands(identifier: &str, owned: bool, state: &str) -> (Value, Value, Value) {
    (json!(identifier), json!(owned), json!(state))
}

/// How many reads a run has: as many as promised in a nightly run, where that is quick.
fn reads_of(kind: StoreKind) -> usize {
    match kind {
        StoreKind::Memory if ucp_choice::has_all() => 10_000,
        StoreKind::Memory => 2_000,
        StoreKind::Sqlite | StoreKind::Postgres => 500,
    }
}

#[apply(on_every_store)]
async fn thousands_of_reads_with_false_not_founds_make_no_second_resource(kind: StoreKind) {
    let Some(builder) = World::builder().on(kind).await else {
        return;
    };
    let world = &builder.seeded(1).build().await;
    let vpc = only_vpc(world).await;
    hide(world, 0.3);
    let mut reads = 0;
    while reads < reads_of(kind) {
        for number in 0..50 {
            let properties =
                json!({"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": number % 3 == 0});
            let ended = world.put_and_settle(VPC, "main", properties).await;
            assert_eq!(ended["status"], "Succeeded", "{ended}");
            // Nothing is to be explained by a change of ours.
            world.clock.advance(SETTLING_WINDOW);
        }
        reads = world.calls("GetResource");
        // The stores go through what they have.
        world.sweep(SETTLING_WINDOW).await;
    }
    assert!(world.calls("ListResources") > 0, "it was too easy");
    assert_eq!(world.creates(), 1);
    assert_eq!(world.live("AWS::EC2::VPC"), [vpc.as_str()]);
    assert_eq!(reference(world).await, stands(&vpc, true, "Succeeded"));
}

#[apply(on_every_store)]
async fn what_was_seen_lately_is_looked_for_during_the_settling_window(world: &World) {
    let vpc = only_vpc(world).await;
    // No list tells that it is there.
    once(
        world,
        Action::ListResources,
        refuse(ExceptionCode::AccessDenied),
    );
    hide(world, 1.0);
    let reply = world.put(VPC, "main", self::vpc()).await.expect(201);
    let running = world.status(&reply).await;
    assert_eq!(running["status"], "Provisioning", "{running}");
    assert_eq!(running["properties"]["progress"]["phase"], "missing");
    world.clock.advance(Duration::from_secs(50));
    for _ in 0..20 {
        world.step().await;
    }
    world.aws.clear_faults();
    assert_eq!(settled(world, &reply).await["status"], "Succeeded");
    assert_eq!(world.creates(), 1);
    assert_eq!(reference(world).await, stands(&vpc, true, "Succeeded"));
}

#[apply(on_every_store)]
async fn a_refused_create_leaves_the_reference_to_what_was_lost(world: &World) {
    let old = only_vpc(world).await;
    vanish(world, "AWS::EC2::VPC", &old);
    world.expect_log("the call did not succeed");
    once(
        world,
        Action::CreateResource,
        refuse(ExceptionCode::ServiceLimitExceeded).saying("no more"),
    );
    let ended = world.put_and_settle(VPC, "main", vpc()).await;
    assert_eq!(ended["status"], "Failed", "{ended}");
    let message = ended["error"]["message"].as_str().expect("a message");
    assert!(message.contains(&old), "{message}");
    assert_eq!(reference(world).await, stands(&old, true, "Failed"));

    let ended = world.put_and_settle(VPC, "main", vpc()).await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");
    let [new] = &world.live("AWS::EC2::VPC")[..] else {
        panic!("expected one VPC")
    };
    assert_eq!(reference(world).await, stands(new, true, "Succeeded"));
    let events = world.events(VPC, "main").await;
    let lost = events.last().and_then(|event| event.lost.as_deref());
    assert!(lost.is_some_and(|lost| lost.ends_with(&old)), "{events:?}");
}

#[apply(on_every_store)]
async fn a_delete_is_sent_although_nothing_is_found(world: &World) {
    only_vpc(world).await;
    hide(world, 1.0);
    let reply = world.delete(VPC, "main").await.expect(202);
    assert_eq!(settled(world, &reply).await["status"], "Succeeded");
    assert!(world.live("AWS::EC2::VPC").is_empty());
    assert!(world.references().await.is_empty());
    assert_eq!(world.calls("DeleteResource"), 1);
}

#[apply(on_every_store)]
async fn a_delete_by_name_of_what_is_referenced_is_sent_too(world: &World) {
    world.put_and_settle(LOG_GROUP, "logs", logs()).await;
    hide(world, 1.0);
    let reply = world
        .post(LOG_GROUP, "delete", &json!({"properties": logs()}))
        .await
        .expect(202);
    assert_eq!(settled(world, &reply).await["status"], "Succeeded");
    assert!(world.live("AWS::Logs::LogGroup").is_empty());
    assert!(world.references().await.is_empty());
}

#[apply(on_every_store)]
async fn not_found_does_not_end_a_delete_while_the_resource_lives(world: &World) {
    let vpc = only_vpc(world).await;
    for effect in [
        Effect::from(fail(HandlerErrorCode::NotFound)),
        Effect::from(refuse(ExceptionCode::ResourceNotFound)),
    ] {
        once(world, Action::DeleteResource, effect);
    }
    world.expect_log("the call did not succeed");
    let reply = world.delete(VPC, "main").await.expect(202);
    assert_eq!(settled(world, &reply).await["status"], "Succeeded");
    assert!(world.live("AWS::EC2::VPC").is_empty(), "{vpc} lives");
    assert_eq!(world.calls("DeleteResource"), 3);
}

#[apply(on_every_store)]
async fn what_is_shown_and_never_deletable_keeps_its_reference(world: &World) {
    let vpc = only_vpc(world).await;
    let not_found = fault(fail(HandlerErrorCode::NotFound)).on(Action::DeleteResource);
    world.aws.add_fault(not_found);
    let reply = world.delete(VPC, "main").await.expect(202);
    let ended = settled(world, &reply).await;
    assert_eq!(ended["error"]["code"], "NotFound", "{ended}");
    assert_eq!(reference(world).await, stands(&vpc, true, "Failed"));
    assert!(world.calls("DeleteResource") < 200);
}

#[apply(on_every_store)]
async fn what_a_list_holds_is_not_created_anew(world: &World) {
    let vpc = only_vpc(world).await;
    hide(world, 1.0);
    let ended = world.put_and_settle(VPC, "main", self::vpc()).await;
    assert_eq!(ended["error"]["code"], "NotFound", "{ended}");
    assert_eq!(world.creates(), 1);
    assert_eq!(reference(world).await, stands(&vpc, true, "Succeeded"));
}

#[apply(on_every_store)]
async fn a_name_that_is_in_use_after_all_stays_owned(world: &World) {
    world.put_and_settle(LOG_GROUP, "logs", logs()).await;
    world.clock.advance(Duration::from_secs(3_600));
    let denied = fault(refuse(ExceptionCode::AccessDenied)).on(Action::ListResources);
    world.aws.add_fault(denied);
    let not_found = fault(refuse(ExceptionCode::ResourceNotFound)).on(Action::GetResource);
    // The request, and five looks.
    world.aws.add_fault(not_found.times(6));
    let ended = world.put_and_settle(LOG_GROUP, "logs", logs()).await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");
    assert_eq!(world.calls("CreateResource"), 2);
    assert_eq!(reference(world).await, stands("logs", true, "Succeeded"));
}

#[apply(on_every_store)]
async fn what_a_failed_create_shows_late_is_kept_and_told(world: &World) {
    let lag = Effect::Lag {
        least_millis: 20_000,
        most_millis: 30_000,
        replicas: 1,
    };
    world.aws.add_fault(fault(lag));
    once(world, Action::CreateResource, broken().made());
    let ended = world.put_and_settle(VPC, "main", vpc()).await;
    assert_eq!(ended["status"], "Failed", "{ended}");
    let [left] = &world.live("AWS::EC2::VPC")[..] else {
        panic!("expected one VPC")
    };
    let message = ended["error"]["message"].as_str().expect("a message");
    assert!(message.contains(left), "{message}");
    assert_eq!(reference(world).await, stands(left, true, "Failed"));
}

#[apply(on_every_store)]
async fn what_a_failed_create_did_not_leave_has_no_reference(world: &World) {
    once(world, Action::CreateResource, broken());
    let ended = world.put_and_settle(LOG_GROUP, "logs", logs()).await;
    // An event that repeats a declared name tells nothing of what there is.
    assert_eq!(ended["error"]["message"], "as ordered", "{ended}");
    assert!(world.references().await.is_empty());
}

/// Somebody else makes the log group between the look and the create, which then fails without naming anything.
#[apply(on_every_store)]
async fn what_a_failed_create_did_not_name_is_not_ours(world: &World) {
    let path =
        format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{LOG_GROUP}/:put");
    let by_name = json!({"properties": logs()}).to_string();
    world.call("POST", &path, &by_name).await.expect(201);
    world.settle().await;
    once(
        world,
        Action::GetResource,
        refuse(ExceptionCode::ResourceNotFound),
    );
    once(world, Action::CreateResource, broken().hidden());
    let ended = world.put_and_settle(LOG_GROUP, "logs", logs()).await;
    let message = ended["error"]["message"].as_str().expect("a message");
    assert!(message.contains("it is not ours"), "{message}");
    assert!(world.references().await.is_empty());
    let group = format!("{GROUP}?api-version=2023-10-01-preview");
    let reply = world.call("DELETE", &group, "").await;
    assert!(matches!(reply.status, 200 | 202 | 204), "{}", reply.text);
    world.settle().await;
    assert_eq!(world.live("AWS::Logs::LogGroup"), ["logs"]);
}

/// The outcome of a failure, whether or not the first reply was lost.
#[apply(on_every_store)]
async fn a_failure_ends_alike_when_the_first_reply_was_lost(world: &World) {
    world.tolerate_log("the call did not succeed");
    let fails = |call, failure, is_lost| {
        once(world, call, failure);
        if is_lost {
            once(world, call, Effect::DropReply {});
        }
    };
    for is_lost in [false, true] {
        let alias = format!("left-{is_lost}");
        fails(Action::CreateResource, broken().made(), is_lost);
        let declared = json!({"LogGroupName": alias});
        world.put_and_settle(LOG_GROUP, &alias, declared).await;
        let path = tracked_by(LOG_GROUP, &alias);
        let reference = world.get(&path).await.expect(200).body;
        assert_eq!(reference["ownedResource"], true, "{reference}");
        assert_eq!(reference["provisioningState"], "Failed", "{reference}");

        fails(Action::DeleteResource, broken(), is_lost);
        let reply = world.delete(LOG_GROUP, &alias).await.expect(202);
        let ended = settled(world, &reply).await;
        assert_eq!(ended["status"], "Failed", "{ended}");
        let reference = world.get(&path).await.expect(200).body;
        assert_eq!(reference["ownedResource"], true, "{reference}");

        // The name is somebody else's.
        let alias = format!("stray-{is_lost}");
        let declared = json!({"LogGroupName": alias});
        let untracked = json!({"properties": declared});
        world.post(LOG_GROUP, "put", &untracked).await.expect(201);
        world.settle().await;
        let path = tracked_by(LOG_GROUP, &alias);
        once(
            world,
            Action::GetResource,
            refuse(ExceptionCode::ResourceNotFound),
        );
        fails(Action::CreateResource, broken().hidden(), is_lost);
        let ended = world.put_and_settle(LOG_GROUP, &alias, declared).await;
        let message = ended["error"]["message"].as_str().expect("a message");
        assert!(message.contains("it is not ours"), "{message}");
        world.get(&path).await.expect(404);
    }
}
