//! Paging rules that hold on every route (contract section 10). Paged lists have their own tests.

use ucp_testkit::{ACCOUNT, GROUP, REGION, World, apply, on_every_store};

const API_VERSION: &str = "api-version=2023-10-01-preview";

/// `top` must be 5 to 20; otherwise 400 `BadRequest`. This holds on every path, even one without a route, since the
/// check runs before routing.
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
            "top=4",
            "top=21",
            "top=",
            "top=x",
            "top=-5",
            "top=5.0",
            "%24top=0",
            "$top=99",
            "TOP=1",
            "top=99999999999999999999",
            "top=10&top=21",
        ] {
            let refused = world
                .get(&format!("{path}?{API_VERSION}&{top}"))
                .await
                .expect(400);
            assert_eq!(refused.code(), "BadRequest", "{path} {top}");
            assert!(refused.text.contains("5 to 20"), "{}", refused.text);
        }
    }
    for top in ["top=5", "top=20", "$top=10", "%24top=10&skipToken=x"] {
        world
            .get(&format!("/planes?{API_VERSION}&{top}"))
            .await
            .expect(200);
        world.get(&format!("/nothing?{top}")).await.expect(404);
    }
}

/// Planes, groups and a group's resources are returned completely, without a `nextLink`, regardless of `top`.
#[apply(on_every_store)]
async fn lists_that_are_not_paged_come_whole(world: &World) {
    for number in 0..7 {
        world.put_group(&format!("group-{number}")).await;
    }
    let groups = format!("/planes/radius/local/resourceGroups?{API_VERSION}&top=5");
    let list = world.get(&groups).await.expect(200);
    assert_eq!(list.body["value"].as_array().unwrap().len(), 8);
    assert!(list.body.get("nextLink").is_none());
    let none = world
        .get(&format!("{GROUP}/resources?{API_VERSION}"))
        .await
        .expect(200);
    assert_eq!(none.text, r#"{"value":[]}"#);
}
