//! Paging (contract section 10, D45). Lists from AWS have AWS's pages (D23) and are tested with the reads.

use serde_json::{Value, json};
use ucp_simulator::faults::{fail, fault};
use ucp_simulator::{Action, HandlerErrorCode};
use ucp_testkit::{ACCOUNT, GROUP, REGION, World, apply, on_every_store, tracked_by};

const API_VERSION: &str = "api-version=2023-10-01-preview";
const LOG_GROUP: &str = "AWS.Logs/LogGroup";

/// `top` is 1 to 1,000, or 400 `BadRequest`, on every route, also where there is none: the check runs before routing.
#[apply(on_every_store)]
async fn top_is_checked_before_routing(world: &World) {
    let vpcs = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/AWS.EC2/VPC");
    for path in [
        "/planes".to_owned(),
        "/planes/aws/aws".to_owned(),
        GROUP.to_owned(),
        format!("{vpcs}/:put"),
        "/planes/nothing/is/served/here".to_owned(),
        "/nothing".to_owned(),
    ] {
        for top in [
            "top=0",
            "top=1001",
            "top=",
            "top=x",
            "top=-5",
            "top=5.0",
            "%24top=0",
            "$top=9999",
            "TOP=0",
            "top=99999999999999999999",
            "top=10&top=1001",
        ] {
            let refused = world
                .get(&format!("{path}?{API_VERSION}&{top}"))
                .await
                .expect(400);
            assert_eq!(refused.code(), "BadRequest", "{path} {top}");
            assert!(refused.text.contains("1 to 1000"), "{}", refused.text);
        }
    }
    for top in ["top=1", "top=1000", "$top=10", "%24top=10"] {
        world
            .get(&format!("/planes?{API_VERSION}&{top}"))
            .await
            .expect(200);
        world.get(&format!("/nothing?{top}")).await.expect(404);
    }
}

fn names(page: &Value, member: &str) -> Vec<String> {
    let items = page[member].as_array().expect("a list").iter();
    let name = |item: &Value| item["name"].as_str().expect("a name").to_owned();
    items.map(name).collect()
}

/// The names on each page, from `path` to the end.
async fn pages(world: &World, path: &str) -> Vec<Vec<String>> {
    let (mut pages, mut next) = (Vec::new(), Some(path.to_owned()));
    while let Some(path) = next {
        let page = world.get(&path).await.expect(200).body;
        pages.push(names(&page, "value"));
        next = page.get("nextLink").map(path_of);
    }
    pages
}

/// The path of a link, which is absolute and says what the next page is.
fn path_of(link: &Value) -> String {
    let link = link.as_str().expect("a URL");
    for parameter in [API_VERSION, "skipToken=", "top="] {
        assert!(link.contains(parameter), "{link}");
    }
    let path = link.strip_prefix("http://localhost:8787");
    path.expect("an absolute URL").to_owned()
}

/// Replaces as many resources whose old ones cannot be deleted. Returns the names of the leftovers, in order.
async fn leave(world: &World, count: usize) -> Vec<String> {
    let kept = fail(HandlerErrorCode::NotUpdatable);
    world.aws.add_fault(fault(kept).on(Action::DeleteResource));
    let mut names = Vec::new();
    for number in 0..count {
        let body = json!({
            "trackedBy": tracked_by("AWS.EC2/VPC", "vpc"),
            "replacementPolicy": "createBeforeDelete",
            "properties": {"CidrBlock": format!("10.{}.0.0/16", number + 1)},
        });
        let reply = world.post("AWS.EC2/VPC", "put", &body).await.expect(201);
        world.settle().await;
        let status = world.status(&reply).await;
        names.push(status["name"].as_str().expect("a name").to_owned());
    }
    world.aws.clear_faults();
    names.sort();
    names
}

/// Every list of ours takes `top`, and its pages have each item once, in order.
#[apply(on_every_store)]
async fn every_list_is_paged(world: &World) {
    for number in 1..5 {
        world.put_group(&format!("rg-{number}")).await;
        let plane = format!("/planes/aws/plane-{number}?{API_VERSION}");
        let body = r#"{"location":"global"}"#;
        world.call("PUT", &plane, body).await.expect(200);
        let name = format!("a-{number}");
        let declared = json!({ "LogGroupName": name });
        world.put_and_settle(LOG_GROUP, &name, declared).await;
    }
    let vpc = json!({"CidrBlock": "10.0.0.0/16"});
    world.put_and_settle("AWS.EC2/VPC", "vpc", vpc).await;
    let left = leave(world, 3).await;
    let left = left.iter().map(String::as_str).collect();
    let groups = "/planes/radius/local/resourceGroups";
    let of_type = tracked_by(LOG_GROUP, "");
    for (path, all) in [
        (
            "/planes".to_owned(),
            vec!["aws", "plane-1", "plane-2", "plane-3", "plane-4", "local"],
        ),
        (
            "/planes/aws".to_owned(),
            vec!["aws", "plane-1", "plane-2", "plane-3", "plane-4"],
        ),
        ("/planes/radius".to_owned(), vec!["local"]),
        (
            groups.to_owned(),
            vec!["rg", "rg-1", "rg-2", "rg-3", "rg-4"],
        ),
        (
            format!("{GROUP}/resources"),
            vec!["vpc", "a-1", "a-2", "a-3", "a-4"],
        ),
        (of_type, vec!["a-1", "a-2", "a-3", "a-4"]),
        (format!("{GROUP}/leftovers"), left),
    ] {
        for (top, size) in [("", 100), ("&top=2", 2), ("&$top=1", 1), ("&top=4", 4)] {
            let found = pages(world, &format!("{path}?{API_VERSION}{top}")).await;
            let expected: Vec<Vec<&str>> = all.chunks(size).map(<[&str]>::to_vec).collect();
            assert_eq!(found, expected, "{path} {top}");
        }
        for token in ["x", "%2F", "L3BsYW5lcw"] {
            let path = format!("{path}?{API_VERSION}&skipToken={token}");
            let refused = world.get(&path).await.expect(400);
            assert!(refused.text.contains("skipToken"), "{}", refused.text);
        }
    }
}

/// The references in a group are a page of its resources, and `resources@nextLink` leads to the next.
#[apply(on_every_store)]
async fn the_references_in_a_group_are_a_page(world: &World) {
    for name in ["a", "b", "c"] {
        let declared = json!({ "LogGroupName": name });
        world.put_and_settle(LOG_GROUP, name, declared).await;
    }
    let get = async |top: usize| {
        let path = format!("{GROUP}?{API_VERSION}&top={top}");
        world.get(&path).await.expect(200).body
    };
    let group = get(2).await;
    assert_eq!(names(&group, "resources"), ["a", "b"]);
    let next = path_of(&group["resources@nextLink"]);
    assert_eq!(pages(world, &next).await, [["c"]]);
    let whole = get(3).await;
    assert_eq!(names(&whole, "resources"), ["a", "b", "c"]);
    assert_eq!(whole.get("resources@nextLink"), None);
}

/// An empty list is a list.
#[apply(on_every_store)]
async fn an_empty_list_is_a_list(world: &World) {
    let none = world
        .get(&format!("{GROUP}/resources?{API_VERSION}"))
        .await
        .expect(200);
    assert_eq!(none.text, r#"{"value":[]}"#);
}

/// A page of large items is shorter, and none is lost.
#[apply(on_every_store)]
async fn a_page_has_only_so_many_bytes(world: &World) {
    let text = "x".repeat(200_000);
    let names: Vec<String> = (10..52).map(|number| format!("a-{number}")).collect();
    for name in &names {
        let declared = json!({"LogGroupName": name, "DataProtectionPolicy": {"Description": text}});
        world.put(LOG_GROUP, name, declared).await.expect(201);
    }
    world.settle().await;
    // 20 of them have less than 4 MiB.
    for top in ["", "&top=41"] {
        let path = format!("{GROUP}/resources?{API_VERSION}{top}");
        let found = pages(world, &path).await;
        let expected: Vec<Vec<String>> = names.chunks(20).map(<[String]>::to_vec).collect();
        assert_eq!(found, expected, "{top}");
    }
    let mut operations = Vec::new();
    let mut next = Some(format!("{GROUP}/operations?{API_VERSION}"));
    while let Some(path) = next {
        let page = world.get(&path).await.expect(200);
        assert!(page.text.len() < 6 << 20, "{} bytes", page.text.len());
        operations.extend(self::names(&page.body, "value"));
        next = page.body.get("nextLink").map(path_of);
    }
    operations.sort();
    operations.dedup();
    assert_eq!(operations.len(), names.len());
}
