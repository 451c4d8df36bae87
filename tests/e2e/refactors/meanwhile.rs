//! What changes between the judgement and the transaction is met there: it is told, and nothing has moved.

use super::*;

/// Sends a refactor, of which something happens once it is judged. Nothing but that changes.
async fn met(
    world: &World,
    body: &Value,
    meanwhile: impl Future<Output = Reply>,
    (status, code): (u16, &str),
) {
    world.hold_next_accept();
    let body = body.to_string();
    let moving = world.send_without_waiting("POST", PLANE, &body);
    let meanwhile = async {
        world.is_accept_held().await;
        let changed = meanwhile.await;
        assert!(changed.status < 300, "{}", changed.text);
        let before = everything(world).await;
        world.release_accepts();
        before
    };
    let (refused, before) = tokio::join!(moving, meanwhile);
    let refused = refused.expect(status);
    assert_eq!(refused.code(), code, "{}", refused.text);
    let told = refused.text.contains("Nothing has moved");
    assert!(told || code == "Conflict", "{}", refused.text);
    assert_eq!(everything(world).await, before);
}

async fn everything(world: &World) -> Vec<Value> {
    let mut all = world.references().await;
    for path in [
        format!("{}?{API}", group("web")),
        format!("/planes/radius/local/providers/System.Resources/refactors?{API}"),
    ] {
        all.push(world.get(&path).await.body);
    }
    all
}

async fn put_web(world: &World, properties: Value) -> Reply {
    let path = format!("{}?{API}", group("web"));
    let body = json!({"location": "global", "properties": properties});
    world.call("PUT", &path, &body.to_string()).await
}

const STALE: (u16, &str) = (412, "PreconditionFailed");

#[apply(on_every_store)]
async fn moves_meet_other_groups_references_and_events(world: &World) {
    deployed(world).await;
    let split = split("apply");
    // It was to be created.
    met(world, &split, put_web(world, json!({})), STALE).await;

    let tags = json!({"tags": {"a": "b"}}).to_string();
    let net = format!("{}?{API}", address(OLD, VPC, "net"));
    met(world, &split, world.call("PATCH", &net, &tags), STALE).await;

    let taking = async {
        let taken = put(world, "web", VPC, "network", vpc()).await;
        world.settle().await;
        taken
    };
    met(world, &split, taking, STALE).await;
    let taken = format!("{}?{API}", address("web", VPC, "network"));
    world.call("DELETE", &taken, "").await.expect(202);
    world.settle().await;

    let delete = format!("{}?{API}", group("web"));
    let deleting = world.call("DELETE", &delete, "");
    met(world, &split, deleting, STALE).await;

    // Another event of the group, which moves nothing of this one.
    let event = json!({"history": [{"id": "other", "moves": []}]});
    let event = with(body("apply", &[(OLD, vec![])]), event);
    met(world, &split, post(world, PLANE, &event), STALE).await;

    let other = json!({"CidrBlock": "10.0.0.0/16", "EnableDnsHostnames": true});
    let busy = put(world, OLD, VPC, "net", other);
    met(world, &split, busy, (409, "Conflict")).await;
    world.settle().await;
}

/// Nothing is accepted, and nothing is sent.
#[apply(on_every_store)]
async fn a_deployment_meets_other_policies_and_aliases(world: &World) {
    deployed(world).await;
    put_web(world, json!({})).await.expect(200);
    let more = vec![resource("more", LOGS, logs("more"))];
    let kept = vec![
        resource("net", VPC, vpc()),
        resource("audit", LOGS, logs("main")),
    ];
    let declared = body("apply", &[(OLD, kept), ("web", more)]);
    let deployment = with(declared, json!({"deploy": true}));
    let calls = world.calls_on_resources().len();

    let strict = put_web(world, json!({"planPolicy": "required"}));
    met(world, &deployment, strict, (409, "PlanRequired")).await;
    put_web(world, json!({"planPolicy": "optional"}))
        .await
        .expect(200);
    assert_eq!(world.calls_on_resources().len(), calls);

    let taking = async {
        let taken = put(world, "web", LOGS, "more", logs("other")).await;
        world.settle().await;
        taken
    };
    met(world, &deployment, taking, STALE).await;
    let groups = world.live("AWS::Logs::LogGroup");
    assert!(!groups.contains(&"more".to_owned()), "{groups:?}");
}
