//! `:import` into a resource group: many resources at once, and the result of each (contract section 8).

use serde_json::{Value, json};
use ucp_testkit::{ACCOUNT, GROUP, REGION, World, apply, on_every_store, tracked_by};

const LOGS: &str = "AWS.Logs/LogGroup";

fn scope() -> String {
    format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}")
}

fn item(alias: &str, name: &str) -> Value {
    json!({"alias": alias, "type": LOGS, "scope": scope(), "primaryIdentifier": name})
}

async fn stray(world: &World, name: &str) {
    let body = json!({"properties": {"LogGroupName": name}});
    world.post(LOGS, "put", &body).await.expect(201);
    world.settle().await;
}

async fn import(world: &World, items: Value) -> ucp_testkit::Reply {
    let body = json!({"resources": items}).to_string();
    world.call("POST", &format!("{GROUP}/:import"), &body).await
}

fn aliases(list: &Value) -> Vec<&str> {
    let items = list.as_array().expect("a list").iter();
    items
        .map(|item| item["alias"].as_str().expect("an alias"))
        .collect()
}

#[apply(on_every_store)]
async fn every_item_has_its_outcome(world: &World) {
    for name in ["one", "two", "three"] {
        stray(world, name).await;
    }
    let before = json!({"trackedBy": tracked_by(LOGS, "tracked"), "primaryIdentifier": "one"});
    world.post(LOGS, "import", &before).await.expect(201);
    let owner = json!({"trackedBy": tracked_by(LOGS, "owner"), "primaryIdentifier": "three", "ownedResource": true});
    world.post(LOGS, "import", &owner).await.expect(201);

    let mut second_owner = item("second-owner", "three");
    second_owner["ownedResource"] = json!(true);
    let by_reference_id = json!({"trackedBy": tracked_by(LOGS, "by-id"), "properties": {"LogGroupName": "two"},
        "scope": format!("{}/providers/{LOGS}", scope()), "ownedResource": true});
    let reply = import(
        world,
        json!([
            item("a", "one"),
            item("gone", "nowhere"),
            item("Tracked", "two"),
            second_owner,
            by_reference_id
        ]),
    )
    .await
    .expect(202);
    world.settle().await;
    let status = world.status(&reply).await;
    assert_eq!(status["status"], "Succeeded", "{status}");
    assert_eq!(status["percentComplete"], 100);
    let result = &status["properties"];
    assert_eq!(aliases(&result["imported"]), ["a", "by-id"]);
    assert_eq!(aliases(&result["missing"]), ["gone"]);
    assert_eq!(aliases(&result["alreadyTracked"]), ["Tracked"]);
    assert_eq!(aliases(&result["failed"]), ["second-owner"]);
    assert_eq!(result["failed"][0]["index"], 3);
    assert_eq!(
        result["failed"][0]["error"]["details"][0]["code"],
        "OwnedElsewhere"
    );
    let location = reply
        .header("location")
        .unwrap()
        .trim_start_matches("http://localhost:8787");
    assert_eq!(&world.get(location).await.expect(200).body, result);

    let references = world.references().await;
    let maps = |alias: &str| {
        let reference = references
            .iter()
            .find(|reference| reference["name"] == alias);
        reference.map(|reference| reference["mapsTo"]["primaryIdentifier"].clone())
    };
    assert_eq!(maps("a"), Some(json!("one")));
    assert_eq!(maps("by-id"), Some(json!("two")));
    assert_eq!(maps("tracked"), Some(json!("one")), "left as it was");
    assert_eq!(maps("gone"), None);
}

#[apply(on_every_store)]
async fn everything_that_is_wrong_is_told_at_once(world: &World) {
    world.expect_log("no schema");
    let mut unknown_type = item("b", "x");
    unknown_type["type"] = json!("AWS.Logs/LogGrup");
    let reply = import(world, json!([
        item("ok", "x"),
        7,
        {"type": LOGS, "scope": scope(), "primaryIdentifier": "x"},
        unknown_type,
        {"alias": "c", "type": LOGS, "scope": "/planes/aws", "primaryIdentifier": "x"},
        {"alias": "d", "type": LOGS, "scope": scope()},
        item("OK", "y"),
        {"trackedBy": tracked_by(LOGS, "e").replace("/rg/", "/other/"), "scope": scope(), "primaryIdentifier": "x"},
        {"alias": "f", "type": "AWS.EC2/VPC", "scope": format!("{}/providers/{LOGS}", scope()), "primaryIdentifier": "x"},
    ])).await.expect(400);
    assert_eq!(reply.code(), "BadRequest");
    let details = reply.body["error"]["details"].as_array().expect("details");
    let places: Vec<&str> = details
        .iter()
        .map(|detail| detail["target"].as_str().unwrap())
        .collect();
    assert_eq!(
        places,
        (1..9)
            .map(|index| format!("/resources/{index}"))
            .collect::<Vec<String>>()
    );
    assert_eq!(details[2]["code"], "TypeNotFoundException");

    for body in ["{}", r#"{"resources":{}}"#, r#"{"resources":[]}"#] {
        world
            .call("POST", &format!("{GROUP}/:import"), body)
            .await
            .expect(400);
    }
    let many: Vec<Value> = (0..1_001)
        .map(|index| item(&format!("a{index}"), "x"))
        .collect();
    import(world, json!(many)).await.expect(400);
    let elsewhere = json!({"resources": [item("a", "x")]}).to_string();
    let path = format!("{}/:import", GROUP.replace("/rg", "/nowhere"));
    assert_eq!(
        world
            .call("POST", &path, &elsewhere)
            .await
            .expect(404)
            .code(),
        "ResourceGroupNotFound"
    );
    assert!(world.references().await.is_empty());
}

#[apply(on_every_store)]
async fn more_items_than_are_under_way_at_once_all_end(world: &World) {
    stray(world, "one").await;
    // Fifty are under way at once, but for those on the same resource.
    let item = |index| match index % 10 {
        0 => item(&format!("a{index}"), "one"),
        _ => item(&format!("a{index}"), &format!("nowhere{index}")),
    };
    let many: Vec<Value> = (0..60).map(item).collect();
    let reply = import(world, json!(many)).await.expect(202);
    let deleting = world
        .send_without_waiting(
            "DELETE",
            &format!("{GROUP}?api-version=2023-10-01-preview"),
            "",
        )
        .await;
    assert_eq!(
        deleting.expect(409).code(),
        "Conflict",
        "a group is not deleted while something is imported into it"
    );
    world.settle().await;
    let result = world.status(&reply).await["properties"].clone();
    let count = |list: &str| result[list].as_array().unwrap().len();
    // An AWS resource has one operation at a time, so children on the same resource run one after the other.
    assert_eq!(
        (count("imported"), count("missing"), count("failed")),
        (6, 54, 0)
    );
}

/// A type that is not known yet is looked up in AWS. The number of types of a request is limited, and what exceeds it is
/// refused with its place.
#[apply(on_every_store)]
async fn the_types_of_an_import_are_limited(world: &World) {
    world.expect_log("no schema");
    let of_types = |count: usize| -> Value {
        let items = (0..count).map(|at| {
            let resource_type = format!("Initech.TPS/Report{at}");
            let alias = format!("a{at}");
            json!({"alias": alias, "type": resource_type, "scope": scope(), "primaryIdentifier": "x"})
        });
        items.collect()
    };
    let limited = |reply: &ucp_testkit::Reply| -> Vec<String> {
        let details = reply.body["error"]["details"].as_array().expect("details");
        let limited = details.iter().filter(|detail| {
            let message = detail["message"].as_str().expect("a message");
            message.contains("100 types")
        });
        limited
            .map(|detail| detail["target"].as_str().expect("a place").to_owned())
            .collect()
    };
    let most = import(world, of_types(100)).await.expect(400);
    assert!(limited(&most).is_empty(), "{}", most.text);
    let more = import(world, of_types(101)).await.expect(400);
    assert_eq!(limited(&more), ["/resources/100"], "{}", more.text);

    let before = world.calls("DescribeType");
    import(world, of_types(1_000)).await.expect(400);
    let asked = world.calls("DescribeType") - before;
    assert_eq!(asked, 0, "nothing is looked up");
    let of_one = (0..101).map(|at| item(&format!("a{at}"), "x"));
    import(world, of_one.collect()).await.expect(202);
    world.settle().await;
}
