//! Types whose schemas are only in the CloudFormation registry (contract section 9 "AWS's own code", D34 for their
//! casing).

use std::time::Duration;

use serde_json::{Value, json};
use ucp_simulator::faults::{fault, refuse};
use ucp_simulator::{Action, ExceptionCode};
use ucp_testkit::{
    ACCOUNT, REGION, SCHEMA_TTL, StoreKind, World, apply, on_every_store, tracked_by,
};

use crate::puts::all_at_once;
use crate::sets::{send, set};

const REPORT: &str = "Initech.TPS/Report";
const VPC: &str = "AWS.EC2/VPC";

/// A type whose resources are named by the user.
fn schema() -> Value {
    json!({
        "typeName": "Initech::TPS::Report",
        "description": "A report with a cover sheet",
        "properties": {"Name": {"type": "string"}, "Copies": {"type": "integer"}},
        "required": ["Name"],
        "createOnlyProperties": ["/properties/Name"],
        "primaryIdentifier": ["/properties/Name"],
        "additionalProperties": false,
        "handlers": {"create": {"permissions": []}, "read": {"permissions": []}, "update": {"permissions": []},
            "delete": {"permissions": []}, "list": {"permissions": []}},
    })
}

fn register(world: &World, schema: &Value) {
    let registered = world.aws.register_type(&schema.to_string());
    registered.expect("the simulator takes the schema");
}

/// The registry rejects `DescribeType`.
fn refuse_to_describe(world: &World, exception: ExceptionCode) {
    world
        .aws
        .add_fault(fault(refuse(exception).saying("as ordered")).on(Action::DescribeType));
}

fn described(world: &World) -> usize {
    world.calls("DescribeType")
}

#[apply(on_every_store)]
async fn fifty_first_puts_of_a_private_type_describe_it_once(world: &World) {
    register(world, &schema());
    let put = || world.put(REPORT, "weekly", json!({"Name": "weekly"}));
    let replies = all_at_once(50, put).await;
    let done = replies.iter().filter(|status| **status == 201).count();
    let refused = replies.iter().filter(|status| **status == 409).count();
    assert_eq!((done, refused), (1, 49), "{replies:?}");
    world.settle().await;
    assert_eq!(world.live("Initech::TPS::Report"), ["weekly"]);
    let changed = json!({"Name": "weekly", "Copies": 2});
    let ended = world.put_and_settle(REPORT, "weekly", changed).await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");
    world.delete(REPORT, "weekly").await;
    world.settle().await;
    assert!(world.live("Initech::TPS::Report").is_empty());
    assert_eq!(described(world), 1);
}

#[apply(on_every_store)]
async fn d34_a_private_type_is_known_in_any_casing_once_it_was_described(world: &World) {
    world.expect_log("no schema");
    register(world, &schema());
    let properties = json!({"Name": "weekly"});
    let shouted = "INITECH.TPS/REPORT";
    let unknown = world.put(shouted, "weekly", properties.clone()).await;
    assert_eq!(unknown.expect(400).code(), "TypeNotFoundException");
    let ended = world
        .put_and_settle(REPORT, "weekly", properties.clone())
        .await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");
    let again = world.put(shouted, "weekly", properties).await.expect(200);
    assert_eq!(again.body["type"], REPORT);
    assert_eq!(described(world), 2);
}

#[apply(on_every_store)]
async fn a_type_that_the_registry_does_not_know_is_asked_for_once_in_a_while(world: &World) {
    world.expect_log("no schema");
    for _ in 0..3 {
        let unknown = world.put(REPORT, "weekly", json!({})).await.expect(400);
        assert_eq!(unknown.code(), "TypeNotFoundException");
    }
    assert_eq!(described(world), 1);
    register(world, &schema());
    world.clock.advance(Duration::from_secs(5));
    let properties = json!({"Name": "weekly"});
    let ended = world.put_and_settle(REPORT, "weekly", properties).await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");
    let module = format!("{REPORT}::MODULE");
    let refused = world.put(&module, "weekly", json!({})).await.expect(400);
    assert!(refused.text.contains("module"), "{}", refused.text);
    assert_eq!(described(world), 2);
}

#[apply(on_every_store)]
async fn without_the_registry_only_unknown_types_suffer(world: &World) {
    world.expect_log("no schema");
    world.expect_log("AWS did not answer a read");
    register(world, &schema());
    refuse_to_describe(world, ExceptionCode::InternalFailure);
    let vpc = json!({"CidrBlock": "10.0.0.0/16"});
    let ended = world.put_and_settle(VPC, "main", vpc).await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");
    assert_eq!(described(world), 0);

    let properties = json!({"Name": "weekly"});
    for _ in 0..3 {
        let later = world.put(REPORT, "weekly", properties.clone()).await;
        let later = later.expect(503);
        assert_eq!(later.code(), "ServiceUnavailable");
        assert!(later.text.contains("--schema-dir"), "{}", later.text);
        assert_eq!(later.header("retry-after"), Some("1"));
    }
    assert_eq!(described(world), 1);
    world.aws.clear_faults();
    refuse_to_describe(world, ExceptionCode::AccessDenied);
    world.clock.advance(Duration::from_secs(5));
    let denied = world.put(REPORT, "weekly", properties.clone()).await;
    let denied = denied.expect(403);
    assert_eq!(denied.code(), "AccessDeniedException");

    world.aws.clear_faults();
    world.clock.advance(Duration::from_secs(60));
    let ended = world.put_and_settle(REPORT, "weekly", properties).await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");
}

/// Repeats the put until the reply has this status, because the background refresh takes an unknown time.
async fn put_until(world: &World, properties: &Value, status: u16) {
    let mut last = None;
    for _ in 0..1_000 {
        let reply = world.put(REPORT, "weekly", properties.clone()).await;
        if reply.status == status {
            return;
        }
        last = Some(reply);
        tokio::task::yield_now().await;
    }
    panic!("no reply had the status {status}: {last:?}");
}

#[apply(on_every_store)]
async fn an_old_schema_is_used_at_once_and_refreshed_in_the_background(world: &World) {
    world.expect_log("no schema");
    register(world, &schema());
    let ended = world
        .put_and_settle(REPORT, "weekly", json!({"Name": "weekly"}))
        .await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");

    let mut newer = schema();
    newer["properties"]["Cover"] = json!({"type": "boolean"});
    register(world, &newer);
    let covered = json!({"Name": "weekly", "Cover": true});
    world.clock.advance(SCHEMA_TTL - Duration::from_secs(60));
    world
        .put(REPORT, "weekly", covered.clone())
        .await
        .expect(400);
    assert_eq!(described(world), 1);

    world.clock.advance(Duration::from_secs(60));
    world
        .put(REPORT, "weekly", covered.clone())
        .await
        .expect(400);
    put_until(world, &covered, 201).await;
    assert_eq!(described(world), 2);
    world.settle().await;
    let ended = world
        .put_and_settle(REPORT, "weekly", covered.clone())
        .await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");

    refuse_to_describe(world, ExceptionCode::InternalFailure);
    world.clock.advance(SCHEMA_TTL);
    put_until(world, &covered, 200).await;
    while described(world) < 3 {
        tokio::task::yield_now().await;
    }
    put_until(world, &covered, 200).await;
}

/// AWS has taken the word, so nobody has to mend the templates that have it.
#[apply(on_every_store)]
async fn a_word_that_a_schema_has_lost_stays_where_it_was_put(world: &World) {
    let with = |formats: Value| {
        let mut schema = schema();
        schema["properties"]["Format"] = json!({"type": "string", "enum": formats});
        schema
    };
    register(world, &with(json!(["pdf", "ps"])));
    let declared = |name: &str, format: &str| json!({"Name": name, "Format": format});
    let weekly = declared("weekly", "ps");
    let ended = world.put_and_settle(REPORT, "weekly", weekly.clone()).await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");
    register(world, &with(json!(["pdf"])));
    world.clock.advance(SCHEMA_TTL);
    put_until(world, &declared("weekly", "tiff"), 400).await;
    while described(world) < 2 {
        tokio::task::yield_now().await;
    }
    let refused = [json!(["InvalidValue", "/properties/Format"])];
    let other =
        json!({"trackedBy": tracked_by(REPORT, "other"), "properties": declared("other", "ps")});
    loop {
        let reply = world.post(REPORT, "validate", &other).await;
        if reply.status == 400 {
            assert_eq!(reply.details(), refused, "{}", reply.text);
            break;
        }
        tokio::task::yield_now().await;
    }
    world
        .put(REPORT, "weekly", weekly.clone())
        .await
        .expect(200);
    let set = set(json!([
        {"alias": "weekly", "type": REPORT, "properties": weekly},
        {"alias": "other", "type": REPORT, "properties": declared("other", "ps")},
    ]));
    let reply = send(world, "validate", &set).await.expect(400);
    let refused = [json!(["InvalidValue", "/resources/1/properties/Format"])];
    assert_eq!(reply.details(), refused, "{}", reply.text);
}

#[apply(on_every_store)]
async fn a_restarted_server_finds_the_schema_in_the_store(world: &World) {
    register(world, &schema());
    let ended = world
        .put_and_settle(REPORT, "weekly", json!({"Name": "weekly"}))
        .await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");

    // Its AWS does not know the type.
    let restarted = World::builder().over(&world.store).build().await;
    let wrong = json!({"Name": "weekly", "Cover": true});
    let refused = restarted.put(REPORT, "weekly", wrong).await.expect(400);
    assert_eq!(refused.code(), "InvalidRequest");
    assert_eq!(described(&restarted), 0);
}

#[apply(on_every_store)]
async fn a_private_type_without_a_create_handler_is_refused(world: &World) {
    let mut schema = schema();
    schema["handlers"] = json!({"read": {"permissions": []}});
    register(world, &schema);
    let put = world.put(REPORT, "weekly", json!({"Name": "weekly"})).await;
    let refused = put.expect(400);
    assert_eq!(refused.code(), "UnsupportedActionException");
    assert!(
        refused.text.contains("supports only: read"),
        "{}",
        refused.text
    );
    assert!(world.references().await.is_empty());
}

#[apply(on_every_store)]
async fn an_expression_of_a_stranger_is_not_run(world: &World) {
    let mut schema = schema();
    schema["properties"]["Title"] = json!({"type": "string"});
    schema["propertyTransform"] = json!({"/properties/Title":
        "($f := function($s, $n) { $n = 0 ? $s : $f($s & $s, $n - 1) }; $f(Title & 'x', 60))"});
    register(world, &schema);
    let titled = |title: &str| json!({"Name": "weekly", "Title": title});
    for title in ["first", "second"] {
        let ended = world.put_and_settle(REPORT, "weekly", titled(title)).await;
        assert_eq!(ended["status"], "Succeeded", "{ended}");
    }
    let path =
        format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{REPORT}/weekly");
    let live = world.get(&path).await.expect(200);
    assert_eq!(live.body["properties"]["Title"], "second");
}

/// A server that was started without the schema goes on with an operation of one that has it.
#[apply(on_every_store)]
async fn an_operation_waits_for_a_schema_and_can_be_cancelled_meanwhile(on: StoreKind) {
    let Some(builder) = World::builder().on(on).await else {
        return;
    };
    let knowing = builder.knowing(&schema().to_string()).build().await;
    let world = World::builder().over(&knowing.store).build().await;
    world.expect_log("no schema");
    register(&world, &schema());
    refuse_to_describe(&world, ExceptionCode::InternalFailure);
    let target =
        format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{REPORT}/:put");
    let body = |alias: &str| {
        json!({"trackedBy": tracked_by(REPORT, alias), "properties": {"Name": alias}}).to_string()
    };
    let accepted = async |alias| {
        let body = body(alias);
        let reply = knowing.send_without_waiting("POST", &target, &body);
        reply.await.expect(201)
    };
    let (kept, unwanted) = (accepted("kept").await, accepted("unwanted").await);
    world.step().await;
    let waits = world.status(&unwanted).await;
    let progress = &waits["properties"]["progress"];
    assert_eq!(progress["phase"], "accepted", "{waits}");
    assert_eq!(progress["attempt"], 1, "{waits}");
    assert_eq!(progress["lastError"]["code"], "InternalFailure", "{waits}");

    let url = unwanted.status_url();
    let cancel = format!("{}/:cancel", &url[url.find("/planes/").expect("a path")..]);
    let asked = world.send_without_waiting("POST", &cancel, "").await;
    asked.expect(202);
    world.step().await;
    assert_eq!(world.status(&unwanted).await["status"], "Canceled");
    assert_eq!(world.status(&kept).await["status"], "Accepted");
    assert_eq!(world.calls("CreateResource"), 0);

    world.aws.clear_faults();
    world.clock.advance(Duration::from_secs(60));
    world.settle().await;
    assert_eq!(world.status(&kept).await["status"], "Succeeded");
    assert_eq!(world.live("Initech::TPS::Report"), ["kept"]);
    world.finish().await;
}
