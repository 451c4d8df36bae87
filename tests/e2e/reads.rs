//! Reads of live resources: GET by name, lists and `:get` (contract sections 4.1 and 4.2, D20, D22, D23, D26, D27, D33,
//! D34).

use serde_json::{Value, json};
use ucp_model::ids::encode_segment;
use ucp_simulator::faults::{Effect, fault, refuse};
use ucp_simulator::{Action, ExceptionCode};
use ucp_testkit::{ACCOUNT, REGION, World, apply, on_every_store, tracked_by};

const CLUSTER: &str = "AWS.ECS/Cluster";
const LOG_GROUP: &str = "AWS.Logs/LogGroup";
const STAGE: &str = "AWS.ApiGateway/Stage";
const VPC: &str = "AWS.EC2/VPC";

fn collection(resource_type: &str) -> String {
    format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{resource_type}")
}

/// The id of a resource, which is also the path of its GET.
fn id(resource_type: &str, identifier: &str) -> String {
    format!(
        "{}/{}",
        collection(resource_type),
        encode_segment(identifier)
    )
}

async fn create(world: &World, resource_type: &str, properties: Value) {
    let body = json!({ "properties": properties });
    world.post(resource_type, "put", &body).await.expect(201);
    world.settle().await;
}

fn hide(world: &World, reads: u32) {
    let hidden = refuse(ExceptionCode::ResourceNotFound).saying("as ordered");
    world
        .aws
        .add_fault(fault(hidden).on(Action::GetResource).times(reads));
}

#[apply(on_every_store)]
async fn section_4_1_a_get_answers_what_aws_shows(world: &World) {
    create(
        world,
        LOG_GROUP,
        json!({"LogGroupName": "logs", "RetentionInDays": 7}),
    )
    .await;
    let read = world.get(&id(LOG_GROUP, "logs")).await.expect(200);
    assert_eq!(read.body["id"], id(LOG_GROUP, "logs"));
    assert_eq!(
        (&read.body["name"], &read.body["type"]),
        (&json!("logs"), &json!(LOG_GROUP))
    );
    assert_eq!(read.body["properties"]["RetentionInDays"], 7);
    assert!(
        read.body["properties"].get("provisioningState").is_none(),
        "{}",
        read.text
    );
    assert!(
        read.header("etag").is_none() && read.header("location").is_none(),
        "{read:?}"
    );

    let missing = world.get(&id(LOG_GROUP, "Logs")).await.expect(404);
    assert_eq!(
        missing.code(),
        "NotFound",
        "AWS identifiers compare byte for byte"
    );
    assert_eq!(missing.body["error"]["target"], id(LOG_GROUP, "Logs"));
    let elsewhere = id(LOG_GROUP, "logs").replace(REGION, "eu-west-1");
    world.get(&elsewhere).await.expect(404);
}

#[apply(on_every_store)]
async fn d23_a_list_follows_aws_page_by_page(world: &World) {
    world.expect_log("AWS did not answer a read");
    let path = collection(CLUSTER);
    let none = world.get(&path).await.expect(200);
    assert_eq!(none.body, json!({"value": []}));
    let names: Vec<String> = (10..35).map(|number| format!("c/{number}")).collect();
    for name in &names {
        let body = json!({"properties": {"ClusterName": name}});
        world.post(CLUSTER, "put", &body).await.expect(201);
    }
    world.settle().await;
    create(
        world,
        LOG_GROUP,
        json!({"LogGroupName": "another type"[..7]}),
    )
    .await;

    let first = world
        .get(&format!("{path}?api-version=2023-10-01-preview"))
        .await
        .expect(200);
    let next = first.body["nextLink"].as_str().expect("more to come");
    let next = next
        .strip_prefix("http://localhost:8787")
        .expect("an absolute URL");
    assert!(
        next.starts_with(&path) && next.contains("api-version=2023-10-01-preview"),
        "{next}"
    );
    let second = world.get(next).await.expect(200);
    assert!(second.body.get("nextLink").is_none(), "{}", second.text);
    let listed: Vec<&Value> = [&first, &second]
        .into_iter()
        .flat_map(|page| page.body["value"].as_array().expect("a list"))
        .collect();
    assert_eq!(
        listed.iter().map(|item| &item["name"]).collect::<Vec<_>>(),
        names.iter().collect::<Vec<_>>()
    );
    for (item, name) in listed.iter().zip(&names) {
        assert_eq!(item["id"], id(CLUSTER, name));
        assert_eq!(item["type"], CLUSTER);
        assert_eq!(item["properties"]["ClusterName"], **name);
    }
    let with_dollar = world
        .get(&next.replace("skipToken", "$skipToken"))
        .await
        .expect(200);
    assert_eq!(with_dollar.body, second.body);
    let spoilt = world
        .get(&format!("{path}?skipToken=spoilt"))
        .await
        .expect(400);
    assert_eq!(
        spoilt.code(),
        "InvalidRequestException",
        "AWS's token is AWS's to judge"
    );
}

#[apply(on_every_store)]
async fn d22_identifiers_of_all_kinds_survive(world: &World) {
    for name in [
        "a/b",
        "a:b",
        "a|b",
        "a%2Fb",
        "100%",
        "arn:aws:ecs:us-west-2:123456789012:cluster/x",
        "with space",
        "größe/日本語",
        "what?#x",
        "\"<{`\\^}>\"",
        "::put",
    ] {
        let path = id(CLUSTER, name);
        world.call("PUT", &path, "{}").await.expect(201);
        world.settle().await;
        assert!(
            world.live("AWS::ECS::Cluster").contains(&name.to_owned()),
            "{name}"
        );
        let read = world.get(&path).await.expect(200);
        assert_eq!(read.body["name"], name, "the name stays raw");
        assert_eq!(read.body["id"], path.as_str(), "the id can be fetched");
        assert_eq!(read.body["properties"]["ClusterName"], name);
        let listed = world.get(&collection(CLUSTER)).await.expect(200);
        assert_eq!(listed.body["value"][0]["id"], path.as_str());
        world.call("DELETE", &path, "").await.expect(202);
        world.settle().await;
        world.get(&path).await.expect(404);
        assert!(world.live("AWS::ECS::Cluster").is_empty());
    }
}

#[apply(on_every_store)]
async fn d22_bars_come_raw_or_encoded(world: &World) {
    create(
        world,
        STAGE,
        json!({"RestApiId": "r1", "StageName": "prod"}),
    )
    .await;
    for name in ["r1|prod", "r1%7Cprod", "r1%7cprod"] {
        let read = world
            .get(&format!("{}/{name}", collection(STAGE)))
            .await
            .expect(200);
        assert_eq!(read.body["id"], id(STAGE, "r1|prod"));
        assert_eq!(read.body["name"], "r1|prod");
    }
}

#[apply(on_every_store)]
async fn d22_arns_that_aws_assigns_can_be_read(world: &World) {
    const TARGET_GROUP: &str = "AWS.ElasticLoadBalancingV2/TargetGroup";
    create(world, TARGET_GROUP, json!({"Name": "targets"})).await;
    let [arn] = &world.live("AWS::ElasticLoadBalancingV2::TargetGroup")[..] else {
        panic!("expected one target group")
    };
    assert!(arn.starts_with("arn:") && arn.contains('/'), "{arn}");
    let read = world.get(&id(TARGET_GROUP, arn)).await.expect(200);
    assert_eq!(read.body["name"], arn.as_str());
}

#[apply(on_every_store)]
async fn d26_no_api_version_is_asked_for_but_a_given_one_is_known(world: &World) {
    create(world, LOG_GROUP, json!({"LogGroupName": "logs"})).await;
    let polled = format!("{}/operations", ucp_testkit::GROUP);
    for path in [id(LOG_GROUP, "logs"), collection(LOG_GROUP), polled] {
        for query in ["", "?api-version=2023-10-01-preview"] {
            world.get(&format!("{path}{query}")).await.expect(200);
        }
        for query in ["?api-version=", "?api-version=2020-01-01"] {
            let refused = world.get(&format!("{path}{query}")).await.expect(400);
            assert_eq!(refused.code(), "InvalidApiVersionParameter", "D45");
        }
    }
    let put = format!("{}/:put?api-version=2020-01-01", collection(LOG_GROUP));
    let refused = world.call("POST", &put, "{}").await.expect(400);
    assert_eq!(refused.code(), "InvalidApiVersionParameter");
}

#[apply(on_every_store)]
async fn d34_types_come_in_any_casing_and_go_in_their_own(world: &World) {
    create(world, LOG_GROUP, json!({"LogGroupName": "logs"})).await;
    for resource_type in ["aws.logs/loggroup", "AWS.LOGS/LOGGROUP"] {
        let read = world.get(&id(resource_type, "logs")).await.expect(200);
        assert_eq!(read.body["id"], id(LOG_GROUP, "logs"));
        assert_eq!(read.body["type"], LOG_GROUP);
        let listed = world.get(&collection(resource_type)).await.expect(200);
        assert_eq!(listed.body["value"][0]["type"], LOG_GROUP);
        let body = json!({"properties": {"LogGroupName": "logs"}});
        let read = world.post(resource_type, "get", &body).await.expect(200);
        assert_eq!(read.body["id"], id(LOG_GROUP, "logs"));
        let put = world.call("PUT", &id(resource_type, "logs"), "{}").await;
        assert_eq!(put.expect(200).body["type"], LOG_GROUP);
    }
    assert_eq!(world.calls("CreateResource"), 1);
}

#[apply(on_every_store)]
async fn section_4_2_get_by_parts(world: &World) {
    create(
        world,
        STAGE,
        json!({"RestApiId": "r1", "StageName": "prod"}),
    )
    .await;
    let get = async |properties: Value| {
        let body = json!({ "properties": properties });
        world.post(STAGE, "get", &body).await
    };
    let parts = json!({"StageName": "prod", "RestApiId": "r1", "Description": "ignored"});
    let read = get(parts).await.expect(200);
    assert_eq!(read.body, world.get(&id(STAGE, "r1|prod")).await.body);
    let incomplete = get(json!({"StageName": "prod"})).await.expect(400);
    assert_eq!(incomplete.code(), "BadRequest");
    assert!(
        incomplete.text.contains("/properties/RestApiId"),
        "{}",
        incomplete.text
    );
    assert!(
        !incomplete.text.contains("/properties/StageName"),
        "{}",
        incomplete.text
    );
    let missing = get(json!({"StageName": "test", "RestApiId": "r1"}))
        .await
        .expect(404);
    assert_eq!(missing.code(), "NotFound");
    assert_eq!(missing.body["error"]["target"], id(STAGE, "r1|test"));
    let message = missing.body["error"]["message"]
        .as_str()
        .expect("a message");
    assert!(
        message.contains("RestApiId 'r1' and StageName 'test'"),
        "{message}"
    );
    world
        .call("POST", &format!("{}/:get", collection(STAGE)), "{")
        .await
        .expect(400);
}

#[apply(on_every_store)]
async fn d12_get_by_alias(world: &World) {
    let get = async |tracked_by: String| {
        let body = json!({"alias": "a label", "trackedBy": tracked_by});
        world.post(VPC, "get", &body).await
    };
    let unknown = get(tracked_by(VPC, "main")).await.expect(404);
    assert_eq!(unknown.code(), "NotFound");
    assert!(unknown.text.contains("main"), "{}", unknown.text);
    let no_group = get(tracked_by(VPC, "main").replace("/rg/", "/nobody/")).await;
    assert_eq!(no_group.expect(404).code(), "ResourceGroupNotFound");
    assert_eq!(
        get(tracked_by(LOG_GROUP, "main")).await.expect(400).code(),
        "BadRequest"
    );
    assert_eq!(
        get("main".to_owned()).await.expect(400).code(),
        "BadRequest"
    );

    world
        .put(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await
        .expect(201);
    let early = get(tracked_by(VPC, "main")).await.expect(404);
    assert!(early.text.contains("under way"), "{}", early.text);
    world.settle().await;
    let [vpc] = &world.live("AWS::EC2::VPC")[..] else {
        panic!("expected one VPC")
    };
    let read = get(tracked_by(VPC, "MAIN")).await.expect(200);
    assert_eq!(read.body, world.get(&id(VPC, vpc)).await.expect(200).body);
    assert_eq!(read.body["properties"]["CidrBlock"], "10.0.0.0/16");

    let path = format!("{}/:get", collection(VPC).replace(REGION, "eu-west-1"));
    let body = json!({"trackedBy": tracked_by(VPC, "main")}).to_string();
    let elsewhere = world.call("POST", &path, &body).await.expect(409);
    assert!(elsewhere.text.contains(REGION), "{}", elsewhere.text);
}

#[apply(on_every_store)]
async fn d27_get_waits_only_for_what_was_just_created(world: &World) {
    create(world, LOG_GROUP, json!({"LogGroupName": "logs"})).await;
    let get = async |name: &str| {
        let body = json!({"properties": {"LogGroupName": name}});
        world.post(LOG_GROUP, "get", &body).await
    };
    let reads = || world.calls("GetResource");

    hide(world, 2);
    let before = reads();
    get("logs").await.expect(200);
    assert_eq!(reads() - before, 3, "it does not show at once");

    let before = reads();
    get("never-created").await.expect(404);
    assert_eq!(reads() - before, 1, "nobody created it");

    hide(world, 1);
    let before = reads();
    world.get(&id(LOG_GROUP, "logs")).await.expect(404);
    assert_eq!(reads() - before, 1, "a GET by name does not wait");

    world.clock.advance(std::time::Duration::from_secs(3600));
    hide(world, 1);
    get("logs").await.expect(404);
}

#[apply(on_every_store)]
async fn d20_what_aws_says_to_a_read_keeps_its_code(world: &World) {
    world.expect_log("AWS did not answer a read");
    for (exception, status) in [
        ("ThrottlingException", 429),
        ("AccessDeniedException", 403),
        ("ExpiredTokenException", 403),
        ("InvalidRequestException", 400),
        ("ServiceInternalErrorException", 500),
    ] {
        for (operation, path) in [
            (Action::GetResource, id(VPC, "vpc-1")),
            (Action::ListResources, collection(VPC)),
        ] {
            let refusal = ExceptionCode::from_word(exception).map(refuse);
            let refusal = refusal.expect("an exception").saying("as ordered");
            world.aws.add_fault(fault(refusal).on(operation).times(1));
            let refused = world.get(&path).await.expect(status);
            assert_eq!(refused.code(), exception);
            assert_eq!(refused.body["error"]["message"], "as ordered");
            let retry_after = refused.header("retry-after");
            assert_eq!(retry_after, (status == 429).then_some("1"), "{exception}");
        }
    }
    world.aws.add_fault(fault(Effect::DropReply {}).times(1));
    let lost = world.get(&id(VPC, "vpc-1")).await.expect(500);
    assert_eq!(lost.code(), "Internal", "{}", lost.text);
}

#[apply(on_every_store)]
async fn section_9_a_log_group_is_absent_in_its_own_way(world: &World) {
    world.aws.add_fault(
        fault(
            refuse(ExceptionCode::InvalidRequest).saying("The specified log group does not exist."),
        )
        .on(Action::GetResource)
        .times(2),
    );
    let missing = world.get(&id(LOG_GROUP, "logs")).await;
    assert_eq!(missing.expect(404).code(), "NotFound");
    world
        .call("DELETE", &id(LOG_GROUP, "logs"), "")
        .await
        .expect(204);
}

#[apply(on_every_store)]
async fn d33_write_only_values_are_in_no_reply(world: &World) {
    const SECRET: &str = "AWS.SecretsManager/Secret";
    let declared = json!({"Name": "s", "SecretString": "canary"});
    create(world, SECRET, declared.clone()).await;
    let [arn] = &world.live("AWS::SecretsManager::Secret")[..] else {
        panic!("expected one secret")
    };
    let path = id(SECRET, arn);
    let parts = json!({"properties": {"Id": arn}});
    let changed = json!({"properties": {"SecretString": "canary-two"}}).to_string();
    for reply in [
        world.get(&path).await.expect(200),
        world.get(&collection(SECRET)).await.expect(200),
        world.post(SECRET, "get", &parts).await.expect(200),
        world.call("PUT", &path, &changed).await.expect(201),
    ] {
        assert!(
            reply.text.contains("Name"),
            "it shows the rest: {}",
            reply.text
        );
        assert!(!reply.text.contains("canary"), "{}", reply.text);
    }
    world.settle().await;
}

#[apply(on_every_store)]
async fn types_that_cannot_be_read_or_listed_are_refused_with_what_they_support(world: &World) {
    // Types with neither read nor list handler, without a list handler, and without any handler.
    const WITHOUT_READ: &str = "AWS.IAM/Policy";
    const WITHOUT_LIST: &str = "AWS.ApiGateway/Account";
    const UNSUPPORTED: &str = "AWS.AppMesh/Mesh";
    world.expect_log("no schema");
    let parts = json!({"properties": {"Id": "p", "MeshName": "p"}});
    for (reply, says) in [
        (
            world.get(&id(WITHOUT_READ, "p")).await,
            "cannot be read. AWS Cloud Control supports only: create, update, delete",
        ),
        (
            world.post(WITHOUT_READ, "get", &parts).await,
            "cannot be read",
        ),
        (
            world.call("PUT", &id(WITHOUT_READ, "p"), "{}").await,
            "cannot be put by name",
        ),
        (
            world.get(&collection(WITHOUT_READ)).await,
            "cannot be listed",
        ),
        (
            world.get(&collection(WITHOUT_LIST)).await,
            "supports only: create, read, update, delete",
        ),
        (
            world.get(&id(UNSUPPORTED, "p")).await,
            "does not support it at all",
        ),
        (
            world.get(&collection(UNSUPPORTED)).await,
            "does not support it at all",
        ),
        (
            world.call("PUT", &id(UNSUPPORTED, "p"), "{}").await,
            "does not support it at all",
        ),
        (
            world.call("DELETE", &id(UNSUPPORTED, "p"), "").await,
            "does not support it at all",
        ),
        (
            world.post(UNSUPPORTED, "get", &parts).await,
            "does not support it at all",
        ),
        (
            world.post(UNSUPPORTED, "delete", &parts).await,
            "does not support it at all",
        ),
    ] {
        let reply = reply.expect(400);
        assert_eq!(reply.code(), "UnsupportedActionException");
        assert!(reply.text.contains(says), "{}", reply.text);
    }
    for reply in [
        world.get(&id("AWS.EC2/VPCC", "p")).await,
        world.get(&collection("AWS.EC2/VPCC")).await,
        world.call("DELETE", &id("AWS.EC2/VPCC", "p"), "").await,
    ] {
        assert_eq!(reply.expect(400).code(), "TypeNotFoundException");
    }
    world
        .get(&id(VPC, "p").replace(REGION, "US_WEST"))
        .await
        .expect(400);
    world.get(&id(VPC, &"p".repeat(1025))).await.expect(400);
    let calls = world.calls_on_resources();
    assert!(calls.is_empty(), "AWS was called: {calls:?}");
}

#[apply(on_every_store)]
async fn no_read_changes_anything(world: &World) {
    world
        .put_and_settle(LOG_GROUP, "logs", json!({"LogGroupName": "logs"}))
        .await;
    let patch = json!({"RetentionInDays": 30});
    let target = ("AWS::Logs::LogGroup", "logs");
    world
        .aws
        .patch_out_of_band(None, None, target, &patch)
        .expect("it is there");
    let before = world.group().await;
    let read = world.get(&id(LOG_GROUP, "logs")).await.expect(200);
    assert_eq!(
        read.body["properties"]["RetentionInDays"], 30,
        "it is live, not remembered"
    );
    world.get(&collection(LOG_GROUP)).await.expect(200);
    assert_eq!(world.group().await, before);
    assert_eq!(world.events(LOG_GROUP, "logs").await.len(), 1);
}
