//! Who may say that a reference owns its resource.

use std::sync::Arc;

use serde_json::json;
use ucp_access::Role;
use ucp_store::holding::Hold;
use ucp_testkit::{ACCOUNT, Reply, StoreKind, World};

use super::grant;

const OURS: &str = "/planes/radius/local/resourcegroups/ours";
const VPC: &str = "/planes/radius/local/resourcegroups/ours/providers/AWS.EC2/VPC:reference/vpc";

fn region(name: &str) -> String {
    format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{name}")
}

async fn put(world: &World, place: &str) -> Reply {
    let body =
        json!({"alias": "vpc", "trackedBy": OURS, "properties": {"CidrBlock": "10.0.0.0/16"}});
    let path = format!("{place}/providers/AWS.EC2/VPC/:put");
    world
        .call_as("root", "POST", &path, &body.to_string())
        .await
}

/// Alice says whether the reference owns its resource. No worker steps meanwhile.
async fn owns(world: &World, owned: bool) -> Reply {
    let body = json!({"ownedResource": owned}).to_string();
    let headers = [("authorization", "Bearer alice")];
    world.send_with(&headers, "PATCH", VPC, &body).await
}

/// The alias comes to stand for a resource in another region after the request was judged, and before it writes. Only
/// Postgres lets another writer in between.
#[tokio::test]
async fn ownership_is_judged_where_the_resource_is_when_it_is_written() {
    let (ours, theirs) = (region("us-west-2"), region("eu-west-1"));
    for (granted, status) in [(&[OURS, &ours][..], 403), (&[OURS, &ours, &theirs], 200)] {
        let Some(builder) = World::builder().on(StoreKind::Postgres).await else {
            return;
        };
        let builder = builder.granting(vec![grant("alice", Role::Contributor, granted)]);
        let world = builder.build().await;
        world.put_group("ours").await;
        put(&world, &ours).await.expect(201);
        world.settle().await;
        owns(&world, true).await.expect(200);

        let hold = Hold::before(0);
        let held = Arc::clone(&hold).over(owns(&world, false));
        let meanwhile = async {
            hold.reached().await;
            let deleted = world.call_as("root", "DELETE", VPC, "").await;
            deleted.expect(202);
            world.settle().await;
            put(&world, &theirs).await.expect(201);
            world.settle().await;
            hold.release();
        };
        let (reply, ()) = tokio::join!(held, meanwhile);
        let reply = reply.expect(status);
        if status == 403 {
            assert!(reply.text.contains(&theirs), "{}", reply.text);
        }
        let reference = world.call_as("root", "GET", VPC, "").await.expect(200);
        assert_eq!(reference.body["ownedResource"], json!(status == 403));
        world.finish().await;
    }
}
