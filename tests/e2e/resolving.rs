//! An alias whose create has an unknown outcome decides itself: what the create made is found, or it is proven that it
//! made nothing.

use std::time::Duration;

use serde_json::{Value, json};
use ucp_model::{Lineage, Mark, ReferenceId};
use ucp_simulator::faults::{Effect, fail, fault, refuse};
use ucp_simulator::{Action, ExceptionCode, HandlerErrorCode};
use ucp_testkit::{
    ACCOUNT, GROUP, REGION, StoreKind, World, apply, crash_everywhere, on_every_store, tracked_by,
};

use crate::searches::{crowd, throttle_reads};

const API_VERSION: &str = "api-version=2023-10-01-preview";
const VPC: &str = "AWS.EC2/VPC";
const LOG_GROUP: &str = "AWS.Logs/LogGroup";
/// It has no tags, and AWS names it.
const ATTACHMENT: &str = "AWS.EC2/VPCGatewayAttachment";

/// By then every keeper looks.
const A_WHILE: Duration = Duration::from_secs(60);
/// As long as AWS may take for a create of a type that does not say.
const LONG: Duration = Duration::from_secs(2 * 3600);
/// The longest time between two looks.
const LONGEST: Duration = Duration::from_secs(6 * 3600);

fn vpc() -> Value {
    json!({"CidrBlock": "10.0.0.0/16"})
}

fn logs() -> Value {
    json!({"LogGroupName": "logs"})
}

fn attachment() -> Value {
    json!({"VpcId": "vpc-0123456789abcdef0"})
}

async fn leftovers(world: &World) -> Vec<Value> {
    let listed = world.get(&format!("{GROUP}/leftovers")).await.expect(200);
    let value = listed.body["value"].as_array();
    value.expect("a page of leftovers").clone()
}

async fn only_reference(world: &World) -> Value {
    let references = world.references().await;
    let [reference] = &references[..] else {
        panic!("one reference, not {references:?}")
    };
    reference.clone()
}

/// What came of a create, which AWS does not say.
#[derive(Clone, Copy, Debug)]
enum Made {
    /// AWS has made it, and does not name it.
    Hidden,
    /// The same, and our token is spent.
    Conflict,
    /// Nothing: AWS takes our token for another's.
    Nothing,
}

/// A put whose create has an unknown outcome.
async fn unknown(world: &World, resource_type: &str, declared: Value, made: Made) {
    world.tolerate_log("the call did not succeed");
    let spent = || {
        let spent = refuse(ExceptionCode::ClientTokenConflict).saying("spent");
        let spent = fault(spent).on(Action::CreateResource);
        world.aws.add_fault(spent.times(1));
    };
    match made {
        Made::Hidden => {
            let late = fail(HandlerErrorCode::ServiceTimeout).saying("late");
            let late = fault(late.hidden().made()).on(Action::CreateResource);
            world.aws.add_fault(late.times(1));
        }
        Made::Conflict => {
            let dropped = fault(Effect::DropReply {}).on(Action::CreateResource);
            world.aws.add_fault(dropped.times(1));
        }
        Made::Nothing => spent(),
    }
    // The operation itself may not find it.
    let unlisted = refuse(ExceptionCode::AccessDenied).saying("no");
    let unlisted = fault(unlisted).on(Action::ListResources);
    world.aws.add_fault(unlisted);
    let reply = world.put(resource_type, "main", declared).await.expect(201);
    if matches!(made, Made::Conflict) {
        world.step().await;
        spent();
    }
    world.settle().await;
    world.aws.clear_faults();
    let ended = world.status(&reply).await;
    assert_eq!(ended["error"]["code"], "OutcomeUnknown", "{ended}");
    assert_eq!(only_reference(world).await["provisioningState"], "Unknown");
    assert_eq!(leftovers(world).await.len(), 1);
}

/// Lets time pass, and the keeper and the workers do what is due then.
async fn pass(world: &World, duration: Duration) {
    world.clock.advance(duration);
    world.keep().await;
    world.settle().await;
}

/// The message of the latest event, which a resolve has written.
async fn told(world: &World, resource_type: &str) -> String {
    let event = world.events(resource_type, "main").await.pop();
    let event = event.expect("an event");
    assert_eq!(
        (event.kind.as_str(), event.caller.as_str()),
        ("resolve", "ucp")
    );
    assert_eq!(event.outcome, "Succeeded", "{event:?}");
    event.message.expect("it says what was found out")
}

/// The latest resolve, as the list of operations has it.
async fn latest_resolve(world: &World) -> Value {
    let listed = world.get(&format!("{GROUP}/operations")).await.expect(200);
    let operations = listed.body["value"].as_array().expect("a page").clone();
    let mut resolves = operations
        .into_iter()
        .filter(|one| one["kind"] == "resolve");
    let latest = resolves.next().expect("a resolve");
    assert_eq!(
        (&latest["alias"], &latest["caller"]),
        (&json!("main"), &json!("ucp"))
    );
    latest
}

async fn expect_unknown(world: &World, resource_type: &str, declared: Value) {
    assert_eq!(only_reference(world).await["provisioningState"], "Unknown");
    let refused = world.put(resource_type, "main", declared).await;
    assert_eq!(refused.expect(409).code(), "OutcomeUnknown");
    assert_eq!(leftovers(world).await.len(), 1);
}

#[apply(on_every_store)]
async fn what_the_create_made_is_found_by_its_mark(world: &World) {
    for made in [Made::Hidden, Made::Conflict] {
        unknown(world, VPC, vpc(), made).await;
        world.clock.advance(A_WHILE);
        let identifier = world.live("AWS::EC2::VPC").remove(0);
        assert_eq!(world.keep().await, 1);
        assert_eq!(world.keep().await, 0, "once");
        world.settle().await;

        let reference = only_reference(world).await;
        assert_eq!(reference["provisioningState"], "Failed");
        assert_eq!(reference["ownedResource"], true);
        assert_eq!(
            reference["mapsTo"]["primaryIdentifier"],
            identifier.as_str()
        );
        let observed = world.get(&tracked_by(VPC, "main")).await.expect(200).text;
        assert!(!observed.contains("ucp:reference"), "{observed}");
        assert_eq!(leftovers(world).await, [] as [Value; 0]);
        let told = told(world, VPC).await;
        assert!(
            told.contains(&identifier) && told.contains("same put"),
            "{told}"
        );
        let resolve = latest_resolve(world).await;
        assert_eq!(resolve["status"], "Succeeded");
        assert_eq!(resolve["properties"]["message"], told.as_str());

        world.put(VPC, "main", vpc()).await.expect(200);
        assert_eq!(
            only_reference(world).await["provisioningState"],
            "Succeeded"
        );
        assert_eq!(world.live("AWS::EC2::VPC"), [identifier.as_str()]);
        world.delete(VPC, "main").await;
        world.settle().await;
        assert_eq!(world.live("AWS::EC2::VPC"), [] as [String; 0]);
    }
}

/// A resolve is long enough for a search that AWS throttles.
#[apply(on_every_store)]
async fn a_throttled_search_ends_within_a_resolve(world: &World) {
    crowd(world).await;
    unknown(world, VPC, vpc(), Made::Hidden).await;
    throttle_reads(world);
    pass(world, A_WHILE).await;
    let reference = only_reference(world).await;
    assert_eq!(reference["provisioningState"], "Failed", "{reference}");
    assert_eq!(reference["ownedResource"], true);
    assert_eq!(leftovers(world).await, [] as [Value; 0]);
}

/// A put of something else is an update of what was found.
#[apply(on_every_store)]
async fn a_put_is_planned_against_what_was_found(world: &World) {
    unknown(world, VPC, vpc(), Made::Hidden).await;
    pass(world, A_WHILE).await;
    let declared = json!({"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": false});
    let ended = world.put_and_settle(VPC, "main", declared).await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");
    assert_eq!(ended["kind"], "put");
    assert_eq!((world.creates(), world.live("AWS::EC2::VPC").len()), (1, 1));
}

/// What is found is compared with the declaration that it was made by: AWS may show a create-only value in a form of its own, and
/// what is not declared any more goes.
#[apply(on_every_store)]
async fn what_is_found_is_as_it_was_declared(world: &World) {
    let tagged = |keys: &[&str]| {
        let tags = keys.iter().map(|key| json!({"Key": key, "Value": "1"}));
        tags.collect::<Value>()
    };
    let of_manager = |tags| json!({"DomainName": "a.example", "Tags": tags});
    let of_lightsail =
        |tags| json!({"CertificateName": "a", "DomainName": "a.example", "Tags": tags});
    type Declared = dyn Fn(Value) -> Value;
    let cases: [(&str, &Declared, Made); 3] = [
        (
            "AWS.CertificateManager/Certificate",
            &of_manager,
            Made::Hidden,
        ),
        (
            "AWS.CertificateManager/Certificate",
            &of_manager,
            Made::Conflict,
        ),
        ("AWS.Lightsail/Certificate", &of_lightsail, Made::Conflict),
    ];
    for (resource_type, declared, made) in cases {
        let restates = fault(Effect::RestateFixed {}).on(Action::CreateResource);
        world.aws.add_fault(restates);
        let before = declared(tagged(&["one", "two"]));
        unknown(world, resource_type, before, made).await;
        // The search of the first look is refused, and the second one finds it.
        let denied = refuse(ExceptionCode::AccessDenied);
        world.aws.add_fault(fault(denied).on(Action::GetResource));
        pass(world, A_WHILE).await;
        assert_eq!(only_reference(world).await["provisioningState"], "Unknown");
        world.aws.clear_faults();
        pass(world, LONGEST).await;
        assert_eq!(only_reference(world).await["provisioningState"], "Failed");
        let live = &world.aws.resources()[0];
        assert_eq!(live.properties["DomainName"], "a.example.");

        let after = || declared(tagged(&["two"]));
        let repaired = world.put_and_settle(resource_type, "main", after()).await;
        assert_eq!(
            repaired["status"], "Succeeded",
            "{resource_type}: {repaired}"
        );
        assert_eq!(
            only_reference(world).await["properties"]["Tags"],
            tagged(&["two"])
        );
        world.put(resource_type, "main", after()).await.expect(200);
        assert_eq!(world.aws.resources().len(), 1);
        world.delete(resource_type, "main").await;
        world.settle().await;
        assert_eq!(world.aws.resources().len(), 0);
    }
}

/// Whoever goes on without what the create may have made is not compared with what that declared.
#[apply(on_every_store)]
async fn what_an_abandoned_create_declared_does_not_count(world: &World) {
    let declared = json!({"LogGroupName": "logs", "RetentionInDays": 7});
    unknown(world, LOG_GROUP, declared, Made::Conflict).await;
    let body = json!({
        "trackedBy": tracked_by(LOG_GROUP, "main"),
        "resolve": "abandon",
        "properties": logs(),
    });
    world.clock.advance(A_WHILE);
    world.post(LOG_GROUP, "put", &body).await.expect(200);
    assert_eq!(world.aws.resources()[0].properties["RetentionInDays"], 7);
}

/// Whoever goes on without it makes a second reference to what another one stands for since.
#[apply(on_every_store)]
async fn an_abandoned_create_is_no_consent_to_a_contradiction(world: &World) {
    let declared = |days: u32| json!({"LogGroupName": "logs", "RetentionInDays": days});
    unknown(world, LOG_GROUP, declared(14), Made::Conflict).await;
    world.clock.advance(A_WHILE);
    world.put(LOG_GROUP, "other", declared(7)).await;
    world.settle().await;
    let abandon = |days| json!({"trackedBy": tracked_by(LOG_GROUP, "main"), "resolve": "abandon", "properties": declared(days)});
    let refused = world.post(LOG_GROUP, "put", &abandon(14)).await.expect(409);
    assert!(
        refused.text.contains("DeclaredOtherwise"),
        "{}",
        refused.text
    );
    world.post(LOG_GROUP, "put", &abandon(7)).await.expect(200);
}

/// What has a name is found by it.
#[apply(on_every_store)]
async fn what_has_a_name_is_ours_if_it_bears_the_mark(world: &World) {
    unknown(world, LOG_GROUP, logs(), Made::Conflict).await;
    pass(world, A_WHILE).await;
    let reference = only_reference(world).await;
    assert_eq!(reference["provisioningState"], "Failed");
    assert_eq!(reference["ownedResource"], true);
    world.put(LOG_GROUP, "main", logs()).await.expect(200);
}

/// While AWS may still be making it, nothing is believed; then two searches find nothing.
#[apply(on_every_store)]
async fn an_alias_whose_create_made_nothing_is_free(world: &World) {
    unknown(world, VPC, vpc(), Made::Nothing).await;
    pass(world, A_WHILE).await;
    expect_unknown(world, VPC, vpc()).await;
    let resolve = latest_resolve(world).await;
    assert_eq!(resolve["error"]["code"], "OutcomeUnknown");
    let entry = &leftovers(world).await[0];
    assert_eq!(entry["properties"]["tries"], 1);
    assert!(entry["properties"]["nextTryAt"].is_string(), "{entry}");
    let why = entry["properties"]["lastError"]["message"].as_str();
    assert!(why.unwrap().contains("Client token"), "{entry}");

    world.clock.advance(LONG);
    assert_eq!(world.keep().await, 1);
    let lists = world.calls("ListResources");
    world.settle().await;
    assert_eq!(world.calls("ListResources"), lists + 2);
    assert_eq!(world.references().await, [] as [Value; 0]);
    assert_eq!(leftovers(world).await, [] as [Value; 0]);
    let told = told(world, VPC).await;
    assert!(told.contains("made nothing"), "{told}");

    world.put(VPC, "main", vpc()).await.expect(201);
    world.settle().await;
    assert_eq!(world.live("AWS::EC2::VPC").len(), 1);
}

/// The same of what has a name, by the proof that everywhere else is asked for, too.
#[apply(on_every_store)]
async fn a_name_that_is_proven_absent_is_free(world: &World) {
    unknown(world, LOG_GROUP, logs(), Made::Nothing).await;
    pass(world, A_WHILE).await;
    expect_unknown(world, LOG_GROUP, logs()).await;
    let reads = world.calls("GetResource");
    pass(world, LONG).await;
    assert_eq!(world.calls("GetResource"), reads + 5);
    assert_eq!(world.references().await, [] as [Value; 0]);
    assert_eq!(leftovers(world).await, [] as [Value; 0]);
    assert!(told(world, LOG_GROUP).await.contains("'logs'"));
    world.put(LOG_GROUP, "main", logs()).await.expect(201);
    world.settle().await;
}

/// Without a mark, only somebody who knows can decide.
#[apply(on_every_store)]
async fn what_cannot_be_proven_stays_unknown(world: &World) {
    unknown(world, ATTACHMENT, attachment(), Made::Hidden).await;
    let calls = |world: &World| world.calls_on_resources().len();
    let before = calls(world);
    for tries in 1..=12 {
        pass(world, LONGEST).await;
        expect_unknown(world, ATTACHMENT, attachment()).await;
        assert_eq!(leftovers(world).await[0]["properties"]["tries"], tries);
    }
    assert_eq!(calls(world), before, "nothing can be searched for");
    assert_eq!(world.live("AWS::EC2::VPCGatewayAttachment").len(), 1);
}

/// One test per store of what a process without ownership tags cannot prove.
#[apply(on_every_store)]
async fn without_ownership_tags_it_stays_unknown(kind: StoreKind) {
    let Some(builder) = World::builder().on(kind).await else {
        return;
    };
    let world = builder.without_ownership_tags().build().await;
    unknown(&world, VPC, vpc(), Made::Hidden).await;
    for _ in 0..3 {
        pass(&world, LONGEST).await;
        expect_unknown(&world, VPC, vpc()).await;
    }
    world.finish().await;
}

/// Somebody else's, though it looks like ours.
#[apply(on_every_store)]
async fn what_others_made_is_never_taken(world: &World) {
    let other: ReferenceId = tracked_by(VPC, "other").parse().expect("an id");
    let marked = json!([{"Key": Mark::KEY, "Value": Mark::of(&Lineage::of(&other)).as_str()}]);
    let strangers = async |resource_type: &str, properties: Value| {
        let body = json!({ "properties": properties });
        world.post(resource_type, "put", &body).await.expect(201);
        world.settle().await;
    };
    unknown(world, VPC, vpc(), Made::Nothing).await;
    strangers(VPC, vpc()).await;
    strangers(VPC, vpc()).await;
    let vpcs = world.live("AWS::EC2::VPC");
    let patch = json!([{"op": "add", "path": "/Tags", "value": marked}]);
    let theirs = ("AWS::EC2::VPC", vpcs[0].as_str());
    let patched = world.aws.patch_out_of_band(None, None, theirs, &patch);
    patched.expect("it is patched");
    world.lets_go(&vpcs[0]);
    pass(world, LONG).await;
    assert_eq!(world.references().await, [] as [Value; 0]);
    assert_eq!(world.live("AWS::EC2::VPC"), vpcs);

    // Of the same name: one without a mark may be ours all the same.
    unknown(world, LOG_GROUP, logs(), Made::Nothing).await;
    strangers(LOG_GROUP, logs()).await;
    pass(world, LONG).await;
    expect_unknown(world, LOG_GROUP, logs()).await;
    assert_eq!(only_reference(world).await["ownedResource"], false);
    let stranger = ("AWS::Logs::LogGroup", "logs");
    let patched = world.aws.patch_out_of_band(None, None, stranger, &patch);
    patched.expect("it is patched");
    world.lets_go("logs");
    pass(world, LONGEST).await;
    assert_eq!(world.references().await, [] as [Value; 0]);
    assert_eq!(leftovers(world).await, [] as [Value; 0]);
    assert!(told(world, LOG_GROUP).await.contains("mark of another"));
    assert_eq!(world.live("AWS::Logs::LogGroup"), ["logs"]);
}

/// While it looks, a put says what it always says. Nothing waits long for it.
#[apply(on_every_store)]
async fn whoever_decides_need_not_wait_long(world: &World) {
    unknown(world, VPC, vpc(), Made::Nothing).await;
    pass(world, LONG - A_WHILE).await;
    world.clock.advance(LONG);
    assert_eq!(world.keep().await, 1);
    let body = json!({"trackedBy": tracked_by(VPC, "main"), "properties": vpc()});
    let path = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{VPC}/:put");
    let body = body.to_string();
    let refused = world.send_without_waiting("POST", &path, &body).await;
    assert_eq!(refused.expect(409).code(), "OutcomeUnknown");
    let id = tracked_by(VPC, "main");
    let busy = world
        .send_without_waiting("DELETE", &id, "")
        .await
        .expect(409);
    assert!(busy.text.contains("OperationInProgress"), "{}", busy.text);
    let before = ucp_model::Clock::now(world.clock.as_ref());
    world.settle().await;
    let lasted = ucp_model::Clock::now(world.clock.as_ref()).since(before);
    assert!(lasted <= Duration::from_secs(20), "{lasted:?}");

    // Between two looks nothing is in the way of a decision.
    unknown(world, ATTACHMENT, attachment(), Made::Hidden).await;
    pass(world, A_WHILE).await;
    expect_unknown(world, ATTACHMENT, attachment()).await;
    let id = tracked_by(ATTACHMENT, "main");
    world.call("DELETE", &id, "").await.expect(200);
    assert_eq!(leftovers(world).await, [] as [Value; 0]);
    world.clock.advance(LONGEST);
    assert_eq!(world.keep().await, 0);
    let path = format!("{GROUP}?{API_VERSION}");
    let deleted = world.call_until_settled("DELETE", &path, "").await;
    assert!(matches!(deleted.status, 200 | 204), "{}", deleted.text);
}

/// A cancelled look decides nothing.
#[apply(on_every_store)]
async fn a_look_can_be_cancelled(world: &World) {
    unknown(world, VPC, vpc(), Made::Hidden).await;
    world.clock.advance(A_WHILE);
    assert_eq!(world.keep().await, 1);
    let id = latest_resolve(world).await["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let cancel = world
        .send_without_waiting("POST", &format!("{id}/:cancel"), "")
        .await;
    cancel.expect(202);
    world.settle().await;
    let ended = world.get(&id).await.expect(200).body;
    assert_eq!(ended["status"], "Canceled", "{ended}");
    expect_unknown(world, VPC, vpc()).await;
    pass(world, LONGEST).await;
    assert_eq!(only_reference(world).await["provisioningState"], "Failed");
}

/// AWS's errors are put up with.
#[apply(on_every_store)]
async fn a_look_that_fails_is_repeated_later(world: &World) {
    unknown(world, VPC, vpc(), Made::Hidden).await;
    let throttled = fault(refuse(ExceptionCode::Throttling)).on(Action::ListResources);
    world.aws.add_fault(throttled.times(2));
    for _ in 0..2 {
        pass(world, LONGEST).await;
        expect_unknown(world, VPC, vpc()).await;
    }
    pass(world, LONGEST).await;
    assert_eq!(only_reference(world).await["provisioningState"], "Failed");
}

/// Another alias that comes to stand for what the create may have made decides nothing for the alias that waits for it.
#[apply(on_every_store)]
async fn another_alias_does_not_end_the_looks(world: &World) {
    for owned in [false, true] {
        unknown(world, LOG_GROUP, logs(), Made::Conflict).await;
        world.clock.advance(A_WHILE);
        let import = json!({
            "trackedBy": tracked_by(LOG_GROUP, "other"),
            "primaryIdentifier": "logs",
            "ownedResource": owned,
        });
        let imported = world.post(LOG_GROUP, "import", &import).await;
        imported.expect(201);
        assert_eq!(leftovers(world).await.len(), 1);
        pass(world, A_WHILE).await;
        let id = tracked_by(LOG_GROUP, "main");
        let reference = world.get(&id).await.expect(200).body;
        assert_eq!(reference["provisioningState"], "Failed", "{reference}");
        assert_eq!(reference["ownedResource"], !owned);
        assert_eq!(leftovers(world).await, [] as [Value; 0]);
        for name in ["main", "other"] {
            world.delete(LOG_GROUP, name).await;
            world.settle().await;
        }
        assert_eq!(world.references().await, [] as [Value; 0]);
        assert_eq!(world.live("AWS::Logs::LogGroup"), [] as [String; 0]);
    }
}

/// Whoever goes on after a crash comes to the same.
#[apply(on_every_store)]
async fn a_process_may_die_at_any_moment(kind: StoreKind) {
    for made in [Made::Hidden, Made::Nothing] {
        let scenario = async |world: &World| {
            unknown(world, VPC, vpc(), made).await;
            world.clock.advance(LONG);
            world.may_crash();
            for _ in 0..3 {
                pass(world, LONGEST).await;
            }
            match made {
                Made::Hidden | Made::Conflict => {
                    let reference = only_reference(world).await;
                    assert_eq!(reference["provisioningState"], "Failed");
                    assert_eq!(reference["ownedResource"], true);
                }
                Made::Nothing => assert_eq!(world.references().await, [] as [Value; 0]),
            }
            assert_eq!(leftovers(world).await, [] as [Value; 0]);
            let made = usize::from(matches!(made, Made::Hidden));
            assert_eq!(world.live("AWS::EC2::VPC").len(), made);
        };
        let passed = crash_everywhere(kind, scenario).await;
        assert!(passed.is_empty() || passed.len() >= 5, "{passed:?}");
    }
}
