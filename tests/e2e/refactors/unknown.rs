//! Aliases whose create has an unknown outcome: the register of leftovers knows them by their ids, so they do not move.

use ucp_simulator::faults::{fail, fault, refuse};
use ucp_simulator::{Action, ExceptionCode, HandlerErrorCode};

use super::deploying::{causes, deploy};
use super::*;

/// Two networks. Of the one at `lost` nobody knows whether it exists.
async fn with_lost(world: &World) {
    world.put_and_settle(VPC, "net", vpc()).await;
    let late = fail(HandlerErrorCode::ServiceTimeout).saying("late");
    let late = fault(late.hidden().made()).on(Action::CreateResource);
    world.aws.add_fault(late.times(1));
    let unlisted = refuse(ExceptionCode::AccessDenied).saying("no");
    world
        .aws
        .add_fault(fault(unlisted).on(Action::ListResources));
    world.tolerate_log("the call did not succeed");
    put(world, OLD, VPC, "lost", lost()).await.expect(201);
    world.settle().await;
    world.aws.clear_faults();
    let lost = reference(world, OLD, VPC, "lost").await.expect(200).body;
    assert_eq!(lost["provisioningState"], "Unknown", "{lost}");
}

fn lost() -> Value {
    json!({"CidrBlock": "10.1.0.0/16"})
}

fn renamed(mode: &str, alias: &str) -> Value {
    let resources = vec![
        resource("network", VPC, vpc()),
        resource(alias, VPC, lost()),
    ];
    let from = "rg/AWS.EC2/VPC/lost";
    let moves = json!({"moves": [{"from": from, "to": format!("rg/AWS.EC2/VPC/{alias}")}]});
    with(body(mode, &[(OLD, resources)]), moves)
}

#[apply(on_every_store)]
async fn what_may_not_exist_does_not_move(world: &World) {
    with_lost(world).await;
    let before = world.references().await;
    let plan = refactor(world, &renamed("plan", "found")).await;
    assert_eq!(moves(&plan).len(), 2, "{plan}");
    let apply = format!("{}/:apply", plan["id"].as_str().expect("an id"));
    for (path, body) in [
        (apply.as_str(), json!({})),
        (PLANE, renamed("apply", "found")),
        (
            PLANE,
            with(renamed("apply", "found"), json!({"deploy": true})),
        ),
    ] {
        let refused = post(world, path, &body).await.expect(409);
        assert_eq!(refused.code(), "Conflict", "{}", refused.text);
        assert!(refused.text.contains("leftovers"), "{}", refused.text);
        assert_eq!(world.references().await, before);
    }
}

/// The others move, and it is found later where it was.
#[apply(on_every_store)]
async fn what_may_not_exist_stays(world: &World) {
    with_lost(world).await;
    let declared = renamed("apply", "lost");
    let applied = refactor(world, &declared).await;
    assert_eq!(
        moves(&applied),
        moved(&[("rg/aws.ec2/vpc/net", "rg/aws.ec2/vpc/network", "Digest")])
    );
    // Nor is it put, until that is known.
    let mut changed = with(declared, json!({"deploy": true}));
    changed["groups"][0]["resources"][1]["properties"]["EnableDnsHostnames"] = json!(true);
    let (_, status) = deploy(world, &changed).await;
    assert_eq!(causes(&status), ["Conflict"], "{status}");
    world.clock.advance(std::time::Duration::from_secs(60));
    world.keep().await;
    world.settle().await;
    let found = reference(world, OLD, VPC, "lost").await.expect(200).body;
    assert_eq!(found["provisioningState"], "Failed", "{found}");
    refactor(world, &renamed("apply", "found")).await;
    reference(world, OLD, VPC, "found").await.expect(200);
}
