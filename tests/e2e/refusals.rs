//! If an operation fails before anything is sent to AWS, the request returns its failure (contract D30, D31, D35, D36,
//! section 9).

use serde_json::{Value, json};
use ucp_simulator::faults::{fail, fault, refuse};
use ucp_simulator::{Action, ExceptionCode, HandlerErrorCode};
use ucp_testkit::{ACCOUNT, REGION, World, apply, on_every_store, tracked_by};

const LOG_GROUP: &str = "AWS.Logs/LogGroup";
const VPC: &str = "AWS.EC2/VPC";

fn path(resource_type: &str, name: &str) -> String {
    format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{resource_type}/{name}")
}

/// Refuses the look of a request, and then that of its operation.
fn refuse_read(world: &World, exception: &str) {
    world.aws.add_fault(
        fault(
            refuse(ExceptionCode::from_word(exception).expect("an exception")).saying("as ordered"),
        )
        .on(Action::GetResource)
        .times(2),
    );
}

/// Expects that only the first create was sent.
fn assert_nothing_sent(world: &World) {
    let sent = ["CreateResource", "UpdateResource", "DeleteResource"].map(|call| world.calls(call));
    assert_eq!(sent, [1, 0, 0]);
}

#[apply(on_every_store)]
async fn d35_a_replacement_is_refused_at_once_and_leaves_nothing_behind(world: &World) {
    world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    let changed = json!({"CidrBlock": "10.1.0.0/16"});
    let refused = world.put(VPC, "main", changed.clone()).await.expect(409);
    assert_eq!(refused.code(), "RequiresReplacement");
    assert_eq!(
        refused.body["error"]["details"][0]["target"],
        "/properties/CidrBlock"
    );
    assert!(
        refused.header("azure-asyncoperation").is_none(),
        "{refused:?}"
    );
    let events = world.events(VPC, "main").await;
    assert_eq!(events.len(), 1, "only the create: {events:?}");

    let [vpc] = &world.live("AWS::EC2::VPC")[..] else {
        panic!("expected one VPC")
    };
    let body = json!({ "properties": changed }).to_string();
    let refused = world.call("PUT", &path(VPC, vpc), &body).await.expect(409);
    assert_eq!(refused.code(), "RequiresReplacement");

    let body = json!({"trackedBy": tracked_by(VPC, "main"), "properties": changed}).to_string();
    let unwaited = world
        .send_without_waiting("POST", &path(VPC, ":put"), &body)
        .await
        .expect(201);
    world.settle().await;
    let status = world.status(&unwaited).await;
    assert_eq!(
        (&status["status"], &status["error"]["code"]),
        (&json!("Failed"), &json!("RequiresReplacement"))
    );
    let result = unwaited.header("location").expect("a Location");
    let result = result
        .strip_prefix("http://localhost:8787")
        .expect("an absolute URL");
    assert_eq!(
        world.get(result).await.expect(409).code(),
        "RequiresReplacement"
    );
    assert_nothing_sent(world);
}

#[apply(on_every_store)]
async fn d36_a_planned_model_that_breaks_the_schema_is_refused_at_once(world: &World) {
    world
        .put_and_settle(LOG_GROUP, "logs", json!({"LogGroupName": "logs"}))
        .await;
    let wrong = json!({"LogGroupName": "logs", "RetentionInDays": 8});
    let body = json!({"properties": {"RetentionInDays": 8}}).to_string();
    for refused in [
        world.put(LOG_GROUP, "logs", wrong.clone()).await,
        world
            .post(LOG_GROUP, "put", &json!({ "properties": wrong }))
            .await,
        world.call("PUT", &path(LOG_GROUP, "logs"), &body).await,
    ] {
        let refused = refused.expect(400);
        assert_eq!(refused.code(), "InvalidRequest");
        assert_eq!(
            refused.body["error"]["details"][0]["target"],
            "/properties/RetentionInDays"
        );
    }
    assert_nothing_sent(world);
}

#[apply(on_every_store)]
async fn d20_a_look_that_aws_refuses_is_answered_with_its_code(world: &World) {
    world
        .put_and_settle(LOG_GROUP, "logs", json!({"LogGroupName": "logs"}))
        .await;
    let declared = json!({"LogGroupName": "logs", "RetentionInDays": 7});
    let body = json!({"properties": declared}).to_string();
    let name = path(LOG_GROUP, "logs");
    for (exception, status) in [
        ("AccessDeniedException", 403),
        ("InvalidRequestException", 400),
    ] {
        let refused = async |reply: ucp_testkit::Reply| {
            let reply = reply.expect(status);
            assert_eq!(reply.code(), exception);
            assert_eq!(reply.body["error"]["message"], Value::from("as ordered"));
        };
        refuse_read(world, exception);
        refused(world.put(LOG_GROUP, "logs", declared.clone()).await).await;
        refuse_read(world, exception);
        refused(world.call("PUT", &name, &body).await).await;
        refuse_read(world, exception);
        refused(world.call("DELETE", &name, "").await).await;
        refuse_read(world, exception);
        refused(world.delete(LOG_GROUP, "logs").await).await;
    }
    assert_eq!(world.references().await.len(), 1, "the reference stays");
    assert_nothing_sent(world);
}

#[apply(on_every_store)]
async fn d30_what_aws_refuses_is_a_failed_operation(world: &World) {
    world.aws.add_fault(
        fault(fail(HandlerErrorCode::AccessDenied).hidden())
            .on(Action::CreateResource)
            .times(1),
    );
    let body = json!({"properties": {"RetentionInDays": 7}}).to_string();
    let reply = world
        .call("PUT", &path(LOG_GROUP, "logs"), &body)
        .await
        .expect(201);
    world.settle().await;
    let status = world.status(&reply).await;
    assert_eq!(
        (&status["status"], &status["error"]["code"]),
        (&json!("Failed"), &json!("AccessDenied"))
    );
    assert_nothing_sent(world);
    assert!(world.live("AWS::Logs::LogGroup").is_empty());
}
