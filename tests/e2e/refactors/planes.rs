//! Groups of another radius plane, which are named by their ids.

use super::*;

const THERE: &str = "/planes/radius/other/resourceGroups/web";

/// The split of [`split`] with the new group on another plane.
fn split_to_another_plane(mode: &str) -> Value {
    let mut split = split(mode);
    split["groups"][1]["name"] = json!(THERE);
    split
}

fn id_there(resource_type: &str, alias: &str) -> String {
    format!("{THERE}/providers/{resource_type}:reference/{alias}")
}

async fn listed(world: &World, plane: &str, group: &str) -> Vec<Value> {
    let records = format!("/planes/radius/{plane}/providers/System.Resources/refactors");
    let list = format!("{records}?{API}&group={group}");
    let listed = world.get(&list).await.expect(200).body;
    listed["value"].as_array().expect("records").clone()
}

#[apply(on_every_store)]
async fn a_group_of_another_plane_is_moved_to_and_from(world: &World) {
    deployed(world).await;
    let calls = world.calls_on_resources().len();
    let plan = refactor(world, &split_to_another_plane("plan")).await;
    let there = THERE.replace("resourceGroups", "resourcegroups");
    assert_eq!(plan["groups"]["create"], json!([there]));
    let applied = refactor(world, &split_to_another_plane("apply")).await;
    assert_eq!(moves(&applied).len(), 2, "{applied}");
    world.get(&id_there(VPC, "network")).await.expect(200);
    reference(world, OLD, VPC, "net").await.expect(404);
    // A group of that name on the plane itself is another one.
    world
        .get(&format!("{}?{API}", group("web")))
        .await
        .expect(404);

    // It is of the plane that it was sent to, and of both groups.
    let both = [OLD, THERE];
    for group in both {
        assert_eq!(listed(world, "local", group).await.len(), 2, "{group}");
        assert_eq!(listed(world, "other", group).await.len(), 0, "{group}");
    }
    let path = applied["id"].as_str().expect("an id");
    let elsewhere = path.replace("/local/", "/other/");
    world.get(&elsewhere).await.expect(404);

    // The event is in the history of either, wherever it is asked.
    let event = json!([applied["name"]]);
    let plane_there = PLANE.replace("local", "other");
    for (plane, name) in [
        (PLANE, OLD),
        (PLANE, THERE),
        (&plane_there, "web"),
        (&plane_there, GROUP),
    ] {
        let alone = body("plan", &[(name, vec![])]);
        let plan = post(world, plane, &alone).await.expect(200).body;
        assert_eq!(plan["history"]["environment"], event, "{plane} {name}");
    }
    let alone = post(world, PLANE, &body("plan", &[("web", vec![])])).await;
    assert_eq!(alone.expect(200).body["history"]["environment"], json!([]));

    // And back, by an address of a name and one of an id.
    let undone = post(world, &format!("{path}/:undo"), &json!({})).await;
    let undone = undone.expect(200).body;
    assert_eq!(moves(&undone).len(), 2);
    world.get(&format!("{THERE}?{API}")).await.expect(404);
    reference(world, OLD, SUBNET, "sub").await.expect(200);
    let redo = format!("{}/:undo", undone["id"].as_str().expect("an id"));
    post(world, &redo, &json!({})).await.expect(200);
    world.get(&id_there(SUBNET, "subnet")).await.expect(200);
    assert_eq!(world.calls_on_resources().len(), calls);
    assert_eq!(world.creates(), 3);
}

/// Sent to that plane, and named by ids: in `moves`, in `exclude` and in references.
#[apply(on_every_store)]
async fn addresses_of_another_plane_are_tracking_ids(world: &World) {
    deployed(world).await;
    let plane = PLANE.replace("local", "other");
    let network = id_there(VPC, "network");
    let subnet =
        json!({"VpcId": {"$reference": format!("{network}#/VpcId")}, "CidrBlock": "10.0.1.0/24"});
    let old = vec![
        resource("front", SUBNET, subnet),
        resource("l", LOGS, logs("main")),
    ];
    let web = vec![resource("network", VPC, vpc())];
    let declared = json!({
        "moves": [{"from": address(OLD, VPC, "net"), "to": "web/AWS.EC2/VPC/network"}],
        "exclude": [address(OLD, LOGS, "logs")],
    });
    let declared = with(body("apply", &[(GROUP, old), ("web", web)]), declared);
    let applied = post(world, &plane, &declared).await.expect(200).body;
    assert_eq!(moves(&applied).len(), 2, "{applied}");
    world.get(&network).await.expect(200);
    reference(world, OLD, SUBNET, "front").await.expect(200);
    reference(world, OLD, LOGS, "logs").await.expect(200);
    // The same alias on its own plane is another one.
    let again = json!({"moves": [{"from": "rg/AWS.EC2/VPC/net", "to": "web/AWS.EC2/VPC/network"}]});
    let again = with(declared, again);
    let refused = post(world, &plane, &again).await.expect(400);
    assert_eq!(
        refused.body["error"]["details"][0]["target"],
        "/moves/0/from"
    );
}
