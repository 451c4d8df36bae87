//! The options of a put beside a resource that is deployed: its put obeys them.

use ucp_simulator::Action;
use ucp_simulator::faults::{Effect, fault};

use super::deploying::{causes, deploy, states};
use super::*;

/// A deployment of the only resource of the group, of which the moves stay.
fn deployment(resource: Value) -> Value {
    let declared = body("apply", &[(OLD, vec![resource])]);
    with(declared, json!({"deploy": true, "onFailure": "keep"}))
}

#[apply(on_every_store)]
async fn what_is_not_to_be_adopted_is_not(world: &World) {
    let theirs = json!({"properties": logs("theirs")});
    world.post(LOGS, "put", &theirs).await.expect(201);
    world.settle().await;
    let declared = |more: Value| deployment(with(resource("logs", LOGS, logs("theirs")), more));
    let (_, status) = deploy(world, &declared(json!({"adoptionPolicy": "fail"}))).await;
    assert_eq!(status["error"]["code"], "RefactorFailed", "{status}");
    assert_eq!(causes(&status), ["Conflict"], "{status}");
    reference(world, OLD, LOGS, "logs").await.expect(404);

    let (_, status) = deploy(world, &declared(json!({"ownedResource": true}))).await;
    assert_eq!(status["status"], "Succeeded", "{status}");
    let adopted = reference(world, OLD, LOGS, "logs").await.expect(200).body;
    assert_eq!(adopted["ownedResource"], true, "{adopted}");
}

#[apply(on_every_store)]
async fn what_is_to_be_replaced_is_replaced_where_it_has_moved(world: &World) {
    world.put_and_settle(VPC, "old", vpc()).await;
    let id = world.live("AWS::EC2::VPC").remove(0);
    let moves = json!({"moves": [{"from": "rg/AWS.EC2/VPC/old", "to": "rg/AWS.EC2/VPC/new"}]});
    let declared = |more: Value| {
        let other = json!({"CidrBlock": "10.9.0.0/16"});
        let resource = with(resource("new", VPC, other), more);
        with(deployment(resource), moves.clone())
    };
    let (_, status) = deploy(world, &declared(json!({}))).await;
    assert_eq!(status["error"]["code"], "RefactorFailed", "{status}");
    assert_eq!(world.live("AWS::EC2::VPC"), [id.as_str()]);
    let policy = json!({"replacementPolicy": "createBeforeDelete"});
    let (_, status) = deploy(world, &declared(policy)).await;
    assert_eq!(states(&status), [("new".to_owned(), "Succeeded")]);
    let live = world.live("AWS::EC2::VPC");
    assert_eq!(live.len(), 1);
    assert_ne!(live[0], id);
    let replaced = reference(world, OLD, VPC, "new").await.expect(200).body;
    assert_eq!(replaced["mapsTo"]["primaryIdentifier"], live[0].as_str());
}

#[apply(on_every_store)]
async fn proof_tags_and_the_mode_of_an_update_are_obeyed(world: &World) {
    let kept = |days: u32| json!({"LogGroupName": "main", "RetentionInDays": days});
    world.put_and_settle(LOGS, "logs", kept(7)).await;
    let declared =
        |properties: Value, more: Value| deployment(with(resource("logs", LOGS, properties), more));
    let paths = vec!["/RetentionInDays".to_owned()];
    let dropping = fault(Effect::DropPaths { paths }).on(Action::UpdateResource);
    world.aws.add_fault(dropping.times(1));
    let proof = json!({"requireProof": true});
    let (_, status) = deploy(world, &declared(kept(14), proof)).await;
    assert_eq!(causes(&status), ["PartiallyApplied"], "{status}");

    // What is not declared any more is removed.
    let more = json!({"updateMode": "replace", "tags": {"team": "net"}});
    let (_, status) = deploy(world, &declared(logs("main"), more)).await;
    assert_eq!(status["status"], "Succeeded", "{status}");
    let updated = reference(world, OLD, LOGS, "logs").await.expect(200).body;
    let properties = &updated["properties"];
    assert_eq!(properties.get("RetentionInDays"), None, "{updated}");
    assert_eq!(
        properties["Tags"],
        json!([{"Key": "team", "Value": "net"}]),
        "{updated}"
    );
}
