//! Tracked puts (contract sections 4.2, 4.3 and 7).

use serde_json::json;
use ucp_simulator::faults::{Effect, fail, fault, refuse};
use ucp_simulator::{Action, ExceptionCode, HandlerErrorCode};
use ucp_testkit::{ACCOUNT, REGION, World, apply, on_every_store, tracked_by};

const VPC: &str = "AWS.EC2/VPC";
const LOG_GROUP: &str = "AWS.Logs/LogGroup";

#[apply(on_every_store)]
async fn the_same_put_twice_makes_one_resource(world: &World) {
    let first = world
        .put(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await
        .expect(201);
    assert_eq!(first.body["type"], VPC);
    assert_eq!(
        first.body["properties"],
        json!({"CidrBlock": "10.0.0.0/16", "provisioningState": "Provisioning"})
    );
    assert!(
        first.body.get("id").is_none() && first.body.get("name").is_none(),
        "not known yet"
    );
    let base = format!(
        "http://localhost:8787/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/AWS.EC2/locations/global"
    );
    assert!(
        first
            .status_url()
            .starts_with(&format!("{base}/operationStatuses/")),
        "{first:?}"
    );
    assert!(
        first
            .header("location")
            .unwrap()
            .starts_with(&format!("{base}/operationResults/")),
        "{first:?}"
    );
    assert_eq!(first.header("retry-after"), Some("1"));
    world.settle().await;
    assert_eq!(world.status(&first).await["status"], "Succeeded");
    let live = world.live("AWS::EC2::VPC");
    assert_eq!(live.len(), 1);

    let second = world
        .put(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await
        .expect(200);
    assert!(second.header("azure-asyncoperation").is_none() && second.header("location").is_none());
    assert_eq!(second.body["name"], live[0].as_str());
    assert_eq!(second.body["properties"]["provisioningState"], "Succeeded");
    assert_eq!(world.live("AWS::EC2::VPC"), live);
    assert_eq!(
        (world.calls("CreateResource"), world.calls("UpdateResource")),
        (1, 0)
    );
}

#[apply(on_every_store)]
async fn a_changed_property_is_an_update_of_the_same_resource(world: &World) {
    world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    let live = world.live("AWS::EC2::VPC");
    let properties = json!({"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": false});
    let reply = world.put(VPC, "main", properties).await.expect(201);
    assert_eq!(reply.body["properties"]["EnableDnsSupport"], false);
    assert_eq!(
        reply.body["properties"]["VpcId"],
        live[0].as_str(),
        "live properties stand below the declared"
    );
    world.settle().await;
    assert_eq!(world.status(&reply).await["status"], "Succeeded");
    assert_eq!(world.live("AWS::EC2::VPC"), live);
    assert_eq!(
        world.references().await[0]["properties"]["EnableDnsSupport"],
        false
    );
    let history: Vec<(String, Vec<String>)> = world
        .events(VPC, "main")
        .await
        .into_iter()
        .map(|event| {
            (
                event.outcome,
                event
                    .changes
                    .into_iter()
                    .map(|change| change.path)
                    .collect(),
            )
        })
        .collect();
    assert_eq!(
        history,
        [
            ("Succeeded".to_owned(), vec!["/CidrBlock".to_owned()]),
            ("Succeeded".to_owned(), vec!["/EnableDnsSupport".to_owned()]),
        ]
    );
}

#[apply(on_every_store)]
async fn aliases_compare_without_case_and_types_have_one_spelling(world: &World) {
    world
        .put_and_settle(VPC, "Main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    let body = json!({"trackedBy": tracked_by("aws.ec2/vpc", "MAIN").replace("rg", "RG"),
        "properties": {"CidrBlock": "10.0.0.0/16"}});
    world.post("aws.ec2/vpc", "put", &body).await.expect(200);
    assert_eq!(world.references().await[0]["name"], "Main");
    assert_eq!(world.calls("CreateResource"), 1);
}

#[apply(on_every_store)]
async fn a_busy_alias_answers_409_with_the_running_operations_url(world: &World) {
    let first = world
        .put(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await
        .expect(201);
    for action in ["put", "delete"] {
        let body = json!({"trackedBy": tracked_by(VPC, "main"), "properties": {"CidrBlock": "10.0.0.0/16"}});
        let refused = world.post(VPC, action, &body).await.expect(409);
        assert_eq!(refused.code(), "Conflict");
        assert_eq!(
            refused.body["error"]["details"][0]["target"],
            first.status_url()
        );
    }
    world.settle().await;
    assert_eq!(world.calls("CreateResource"), 1);
}

#[apply(on_every_store)]
async fn fifty_puts_at_once_make_one_create(world: &World) {
    let put = || world.put(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}));
    let replies = all_at_once(50, put).await;
    let created = replies.iter().filter(|status| **status == 201).count();
    let refused = replies.iter().filter(|status| **status == 409).count();
    assert_eq!((created, refused), (1, 49), "{replies:?}");
    world.settle().await;
    assert_eq!(world.calls("CreateResource"), 1);
    assert_eq!(world.live("AWS::EC2::VPC").len(), 1);
}

/// Sends `count` requests concurrently. Returns their statuses.
pub(crate) async fn all_at_once<F: Future<Output = ucp_testkit::Reply>>(
    count: usize,
    request: impl Fn() -> F,
) -> Vec<u16> {
    let mut requests: Vec<_> = (0..count).map(|_| Box::pin(request())).collect();
    let mut statuses = Vec::new();
    std::future::poll_fn(|context| {
        requests.retain_mut(|request| match request.as_mut().poll(context) {
            std::task::Poll::Ready(reply) => {
                statuses.push(reply.status);
                false
            }
            std::task::Poll::Pending => true,
        });
        if requests.is_empty() {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    statuses
}

#[apply(on_every_store)]
async fn a_create_that_fails_without_an_identifier_frees_the_alias(world: &World) {
    world.aws.add_fault(
        fault(
            fail(HandlerErrorCode::ServiceLimitExceeded)
                .saying("too many VPCs")
                .hidden(),
        )
        .on(Action::CreateResource)
        .times(1),
    );
    let ended = world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    assert_eq!(ended["status"], "Failed");
    assert_eq!(ended["error"]["code"], "ServiceLimitExceeded");
    assert!(
        ended["error"]["message"]
            .as_str()
            .unwrap()
            .contains("too many VPCs")
    );
    assert!(world.references().await.is_empty());
    let ended = world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    assert_eq!(ended["status"], "Succeeded");
    assert_eq!(world.live("AWS::EC2::VPC").len(), 1);
}

#[apply(on_every_store)]
async fn a_failed_create_that_left_a_resource_is_kept_and_repaired(world: &World) {
    world.aws.add_fault(
        fault(fail(HandlerErrorCode::GeneralServiceException).made())
            .on(Action::CreateResource)
            .times(1),
    );
    let ended = world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    assert_eq!(
        (&ended["status"], &ended["error"]["code"]),
        (&json!("Failed"), &json!("GeneralServiceException"))
    );
    let [vpc] = &world.live("AWS::EC2::VPC")[..] else {
        panic!("the fault leaves a VPC")
    };
    assert!(
        ended["error"]["message"].as_str().unwrap().contains(vpc),
        "the error names what is left: {ended}"
    );
    let reference = &world.references().await[0];
    assert_eq!(reference["mapsTo"]["primaryIdentifier"], vpc.as_str());
    assert_eq!(
        (&reference["provisioningState"], &reference["ownedResource"]),
        (&json!("Failed"), &json!(true))
    );
    let ended = world
        .put_and_settle(
            VPC,
            "main",
            json!({"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": false}),
        )
        .await;
    assert_eq!(ended["status"], "Succeeded");
    assert_eq!(world.live("AWS::EC2::VPC"), std::slice::from_ref(vpc));
    assert_eq!(
        world.references().await[0]["provisioningState"],
        "Succeeded"
    );
}

/// What a failed create has made is compared with its declaration: AWS may show a create-only value in a form of its own, and what
/// is not declared any more goes.
#[apply(on_every_store)]
async fn what_a_failed_create_has_made_is_as_it_was_declared(world: &World) {
    const CERTIFICATE: &str = "AWS.CertificateManager/Certificate";
    let made = fault(fail(HandlerErrorCode::GeneralServiceException).made());
    let restates = fault(Effect::RestateFixed {});
    for fault in [made, restates] {
        world.aws.add_fault(fault.on(Action::CreateResource));
    }
    let tagged = |tags: &[&str]| {
        let tags = tags.iter().map(|key| json!({"Key": key, "Value": "1"}));
        json!({"DomainName": "a.example", "Tags": tags.collect::<serde_json::Value>()})
    };
    let declared = tagged(&["one", "two"]);
    let failed = world.put_and_settle(CERTIFICATE, "main", declared).await;
    assert_eq!(failed["status"], "Failed", "{failed}");
    assert_eq!(
        world.aws.resources()[0].properties["DomainName"],
        "a.example."
    );

    let repaired = world
        .put_and_settle(CERTIFICATE, "main", tagged(&["two"]))
        .await;
    assert_eq!(repaired["status"], "Succeeded", "{repaired}");
    let tags = world.references().await[0]["properties"]["Tags"].clone();
    assert_eq!(tags, json!([{"Key": "two", "Value": "1"}]));
    world
        .put(CERTIFICATE, "main", tagged(&["two"]))
        .await
        .expect(200);
    assert_eq!((world.creates(), world.calls("UpdateResource")), (1, 1));
}

/// Nobody could read what a create has made. The first look that can finds it as it was declared, in AWS's form; what is read
/// otherwise later is another resource.
#[apply(on_every_store)]
async fn the_first_look_at_what_was_created_shows_what_was_declared(world: &World) {
    const CERTIFICATE: &str = "AWS.CertificateManager/Certificate";
    let restates = fault(Effect::RestateFixed {}).on(Action::CreateResource);
    world.aws.add_fault(restates);
    let denied = fault(refuse(ExceptionCode::AccessDenied));
    world.aws.add_fault(denied.on(Action::GetResource));
    let declared =
        |tag: &str| json!({"DomainName": "a.example", "Tags": [{"Key": "t", "Value": tag}]});
    let made = world
        .put_and_settle(CERTIFICATE, "main", declared("1"))
        .await;
    assert_eq!(made["status"], "Succeeded", "{made}");
    world.aws.clear_faults();

    let put = || world.put(CERTIFICATE, "main", declared("1"));
    for _ in 0..2 {
        put().await.expect(200);
    }
    let certificate = &world.aws.resources()[0];
    let rename = |name: &str| {
        let target = (
            "AWS::CertificateManager::Certificate",
            certificate.identifier.as_str(),
        );
        let name = json!({"DomainName": name});
        let renamed = world.aws.patch_out_of_band(None, None, target, &name);
        renamed.expect("it is there");
    };
    rename("other.example");
    assert_eq!(put().await.expect(409).code(), "RequiresReplacement");
    rename("a.example.");
    let changed = world
        .put_and_settle(CERTIFICATE, "main", declared("2"))
        .await;
    assert_eq!(changed["status"], "Succeeded", "{changed}");
    assert_eq!((world.creates(), world.calls("UpdateResource")), (1, 1));
}

/// The same of what has a name and no tags: AWS has reported that the create succeeded, so it has made what was declared. The name
/// alone does not prove that.
#[apply(on_every_store)]
async fn the_first_look_at_what_has_no_tags_counts_if_the_create_succeeded(world: &World) {
    const ARCHIVE: &str = "AWS.Events/Archive";
    const SOURCE: &str = "arn:aws:events:us-east-1:123456789012:event-bus/a";
    let declared =
        |about: &str| json!({"ArchiveName": "a", "SourceArn": SOURCE, "Description": about});
    let put = async |about: &str| {
        let reply = world.put(ARCHIVE, "main", declared(about)).await;
        let reply = reply.expect(201);
        let denied = fault(refuse(ExceptionCode::AccessDenied));
        world.aws.add_fault(denied.on(Action::GetResource));
        world.settle().await;
        world.aws.clear_faults();
        let ended = world.status(&reply).await;
        assert_eq!(ended["status"], "Succeeded", "{ended}");
    };
    let restates = fault(Effect::RestateFixed {}).on(Action::CreateResource);
    world.aws.add_fault(restates);
    put("1").await;
    put("2").await;
    let again = || world.put(ARCHIVE, "main", declared("2"));
    for _ in 0..2 {
        again().await.expect(200);
    }
    assert_eq!((world.creates(), world.calls("UpdateResource")), (1, 1));
    world.delete(ARCHIVE, "main").await;
    world.settle().await;

    let body = json!({ "properties": declared("2") });
    world.post(ARCHIVE, "put", &body).await.expect(201);
    world.settle().await;
    again().await.expect(200);
    let target = ("AWS::Events::Archive", "a");
    let other = json!({ "SourceArn": format!("{SOURCE}.") });
    let changed = world.aws.patch_out_of_band(None, None, target, &other);
    changed.expect("it is there");
    assert_eq!(again().await.expect(409).code(), "RequiresReplacement");
}

#[apply(on_every_store)]
async fn a_failed_create_that_left_nothing_frees_the_alias(world: &World) {
    world.aws.add_fault(
        fault(fail(HandlerErrorCode::GeneralServiceException))
            .on(Action::CreateResource)
            .times(1),
    );
    let ended = world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    assert_eq!(ended["status"], "Failed");
    assert!(world.references().await.is_empty());
}

#[apply(on_every_store)]
async fn what_was_deleted_out_of_band_is_created_anew(world: &World) {
    world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    let [old] = &world.live("AWS::EC2::VPC")[..] else {
        panic!("expected one VPC")
    };
    world.vanish("AWS::EC2::VPC", old);
    let ended = world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    assert_eq!(ended["status"], "Succeeded");
    let [new] = &world.live("AWS::EC2::VPC")[..] else {
        panic!("expected one VPC")
    };
    assert_ne!(old, new);
    assert_eq!(
        world.references().await[0]["mapsTo"]["primaryIdentifier"],
        new.as_str()
    );
}

#[apply(on_every_store)]
async fn what_was_changed_out_of_band_is_set_back(world: &World) {
    let properties = json!({"LogGroupName": "logs", "RetentionInDays": 7});
    world
        .put_and_settle(LOG_GROUP, "logs", properties.clone())
        .await;
    world
        .aws
        .patch_out_of_band(
            None,
            None,
            ("AWS::Logs::LogGroup", "logs"),
            &json!({"RetentionInDays": 30}),
        )
        .expect("the log group is there");
    let ended = world.put_and_settle(LOG_GROUP, "logs", properties).await;
    assert_eq!(ended["properties"]["RetentionInDays"], 7, "{ended}");
}

#[apply(on_every_store)]
async fn a_failed_update_keeps_the_reference(world: &World) {
    world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    world.aws.add_fault(
        fault(fail(HandlerErrorCode::GeneralServiceException))
            .on(Action::UpdateResource)
            .times(1),
    );
    let changed = json!({"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": false});
    let ended = world.put_and_settle(VPC, "main", changed.clone()).await;
    assert_eq!(
        (&ended["status"], &ended["error"]["code"]),
        (&json!("Failed"), &json!("GeneralServiceException"))
    );
    assert_eq!(world.references().await.len(), 1);
    let ended = world.put_and_settle(VPC, "main", changed).await;
    assert_eq!(ended["status"], "Succeeded");
    assert_eq!(world.live("AWS::EC2::VPC").len(), 1);
}

#[apply(on_every_store)]
async fn a_changed_create_only_property_sends_nothing(world: &World) {
    world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    let refused = world
        .put(VPC, "main", json!({"CidrBlock": "10.1.0.0/16"}))
        .await
        .expect(409);
    assert_eq!(refused.code(), "RequiresReplacement");
    assert_eq!(
        refused.body["error"]["details"][0]["target"],
        "/properties/CidrBlock"
    );
    assert_eq!(world.references().await.len(), 1);
    assert_eq!(
        (world.calls("CreateResource"), world.calls("UpdateResource")),
        (1, 0)
    );
}

#[apply(on_every_store)]
async fn an_existing_resource_with_a_computable_name_is_adopted_but_not_owned(world: &World) {
    let path =
        format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{LOG_GROUP}/:put");
    let untracked = json!({"properties": {"LogGroupName": "logs", "RetentionInDays": 7}});
    world
        .call("POST", &path, &untracked.to_string())
        .await
        .expect(201);
    world.settle().await;

    let refusing = json!({"trackedBy": tracked_by(LOG_GROUP, "logs"), "adoptionPolicy": "fail",
        "properties": {"LogGroupName": "logs"}});
    let reply = world.post(LOG_GROUP, "put", &refusing).await.expect(409);
    assert_eq!(reply.code(), "Conflict");
    assert!(world.references().await.is_empty());

    world
        .put_and_settle(
            LOG_GROUP,
            "logs",
            json!({"LogGroupName": "logs", "RetentionInDays": 14}),
        )
        .await;
    let reference = &world.references().await[0];
    assert_eq!(reference["ownedResource"], false);
    assert_eq!(reference["properties"]["RetentionInDays"], 14);
    assert_eq!(world.calls("CreateResource"), 1);
}

#[apply(on_every_store)]
async fn a_name_taken_in_a_race_is_adopted_but_not_owned(world: &World) {
    let declared = json!({"LogGroupName": "logs"});
    let by_name = json!({"properties": declared});
    world.post(LOG_GROUP, "put", &by_name).await.expect(201);
    world.settle().await;
    // The look came before it.
    world.aws.add_fault(
        fault(refuse(ExceptionCode::ResourceNotFound))
            .on(Action::GetResource)
            .times(1),
    );
    let ended = world.put_and_settle(LOG_GROUP, "logs", declared).await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");
    assert_eq!(world.references().await[0]["ownedResource"], false);
}

#[apply(on_every_store)]
async fn write_only_values_are_updates_only_when_they_change_and_are_never_echoed(world: &World) {
    const SECRET: &str = "AWS.SecretsManager/Secret";
    let declare = |value: &str| json!({"Name": "s", "SecretString": value});
    let reply = world.put(SECRET, "s", declare("canary-one")).await;
    assert!(!reply.text.contains("canary"), "{}", reply.text);
    world.settle().await;
    let status = world.status(&reply).await;
    assert_eq!(status["status"], "Succeeded", "{status}");
    assert!(!status.to_string().contains("canary"));
    assert_eq!(
        world.put(SECRET, "s", declare("canary-one")).await.status,
        200
    );
    let changed = world
        .put(SECRET, "s", declare("canary-two"))
        .await
        .expect(201);
    assert!(!changed.text.contains("canary"));
    world.settle().await;
    assert_eq!(world.calls("UpdateResource"), 1);
    assert!(!world.group().await.to_string().contains("canary"));
}

#[apply(on_every_store)]
async fn throttling_and_lost_replies_cost_only_time(world: &World) {
    world.expect_log("the call did not succeed");
    for operation in [
        Action::CreateResource,
        Action::GetResourceRequestStatus,
        Action::GetResource,
        Action::UpdateResource,
        Action::DeleteResource,
    ] {
        world.aws.add_fault(
            fault(refuse(ExceptionCode::Throttling))
                .on(operation)
                .times(2),
        );
        world
            .aws
            .add_fault(fault(Effect::DropReply {}).on(operation).times(2));
    }
    let created = world
        .put(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await
        .expect(201);
    world.settle().await;
    assert_eq!(world.status(&created).await["status"], "Succeeded");
    assert_eq!(world.live("AWS::EC2::VPC").len(), 1);
    let updated = world
        .put(VPC, "main", json!({"EnableDnsSupport": false}))
        .await
        .expect(201);
    world.settle().await;
    assert_eq!(world.status(&updated).await["status"], "Succeeded");
    let deleted = world.delete(VPC, "main").await.expect(202);
    world.settle().await;
    assert_eq!(world.status(&deleted).await["status"], "Succeeded");
    assert!(world.live("AWS::EC2::VPC").is_empty());
}

#[apply(on_every_store)]
async fn another_region_is_another_resource_and_the_alias_says_so(world: &World) {
    world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    let path = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/eu-west-1/providers/{VPC}/:put");
    let body =
        json!({"trackedBy": tracked_by(VPC, "main"), "properties": {"CidrBlock": "10.0.0.0/16"}});
    let refused = world
        .call("POST", &path, &body.to_string())
        .await
        .expect(409);
    assert!(refused.text.contains(REGION), "{}", refused.text);
}

#[apply(on_every_store)]
async fn what_a_client_sends_back_is_not_a_declaration(world: &World) {
    let properties =
        json!({"CidrBlock": "10.0.0.0/16", "provisioningState": "Succeeded", "Tags": null});
    let ended = world.put_and_settle(VPC, "main", properties).await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");
    assert!(ended["properties"].get("provisioningState").is_none());
}

/// Section 7: the client disconnects, or its deployment is cancelled.
#[apply(on_every_store)]
async fn an_operation_runs_on_when_its_client_goes_away(world: &World) {
    world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    let path = format!(
        "/planes/aws/aws/accounts/{}/regions/{}/providers/{VPC}/:put",
        ucp_testkit::ACCOUNT,
        ucp_testkit::REGION
    );
    let body = json!({"trackedBy": ucp_testkit::tracked_by(VPC, "main"),
        "properties": {"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": false}});
    let request = axum::http::Request::post(path)
        .header("host", "localhost:8787")
        .body(body.to_string().into())
        .unwrap();
    // The request cannot look and the engine is paused, so it waits for the verdict until the client disconnects.
    world.aws.add_fault(
        fault(refuse(ExceptionCode::Throttling))
            .on(Action::GetResource)
            .times(1),
    );
    let accepted = async {
        while world.store.next_claimable_at().await.unwrap().is_none() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        reply = world.send(request) => panic!("answered without a verdict: {}", reply.text),
        () = accepted => {}
    }
    world.settle().await;
    assert_eq!(
        world.references().await[0]["properties"]["EnableDnsSupport"],
        false
    );
}

/// AWS shows create-only values in a form of its own from the start. The same put again finds nothing to do, and one that is changed
/// in other places changes these. What AWS shows otherwise later is another resource.
#[apply(on_every_store)]
async fn a_create_only_value_in_another_form_is_what_was_put(world: &World) {
    const CERTIFICATE: &str = "AWS.CertificateManager/Certificate";
    let restates = fault(Effect::RestateFixed {}).on(Action::CreateResource);
    world.aws.add_fault(restates);
    let declared = |tag: &str| {
        json!({"DomainName": "a.example", "SubjectAlternativeNames": ["b.example"],
        "Tags": [{"Key": "t", "Value": tag}]})
    };
    let made = world
        .put_and_settle(CERTIFICATE, "main", declared("1"))
        .await;
    assert_eq!(made["status"], "Succeeded", "{made}");
    let live = &world.aws.resources()[0];
    assert_eq!(live.properties["DomainName"], "a.example.");
    world
        .put(CERTIFICATE, "main", declared("1"))
        .await
        .expect(200);
    let changed = world
        .put_and_settle(CERTIFICATE, "main", declared("2"))
        .await;
    assert_eq!(changed["status"], "Succeeded", "{changed}");
    world
        .put(CERTIFICATE, "main", declared("2"))
        .await
        .expect(200);
    assert_eq!((world.creates(), world.calls("UpdateResource")), (1, 1));

    let target = (
        "AWS::CertificateManager::Certificate",
        live.identifier.as_str(),
    );
    let other = json!({"DomainName": "other.example"});
    world
        .aws
        .patch_out_of_band(None, None, target, &other)
        .expect("it is there");
    let refused = world
        .put(CERTIFICATE, "main", declared("2"))
        .await
        .expect(409);
    assert_eq!(refused.code(), "RequiresReplacement");
}
