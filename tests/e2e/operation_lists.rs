//! `GET {group}/operations` (contract sections 5 and 10).

use serde_json::{Value, json};
use ucp_simulator::faults::{fail, fault};
use ucp_simulator::{Action, HandlerErrorCode};
use ucp_testkit::{GROUP, World, apply, on_every_store};

const VPC: &str = "AWS.EC2/VPC";

async fn list(world: &World, query: &str) -> Value {
    world
        .get(&format!("{GROUP}/operations{query}"))
        .await
        .expect(200)
        .body
}

fn names(page: &Value) -> Vec<String> {
    let items = page["value"].as_array().expect("a list").iter();
    items
        .map(|item| item["name"].as_str().expect("an id").to_owned())
        .collect()
}

fn id(url: &str) -> String {
    url.rsplit('/').next().expect("an id").to_owned()
}

#[apply(on_every_store)]
async fn the_operations_of_a_group_are_listed_latest_first_page_by_page(world: &World) {
    assert_eq!(list(world, "").await, json!({"value": []}));
    let mut ids = Vec::new();
    for index in 0..7 {
        let put = world
            .put(
                VPC,
                &format!("a{index}"),
                json!({"CidrBlock": "10.0.0.0/16"}),
            )
            .await
            .expect(201);
        ids.insert(0, id(put.status_url()));
        world.settle().await;
    }
    // Untracked operations and those of other groups are not listed.
    world
        .post(
            VPC,
            "put",
            &json!({"properties": {"CidrBlock": "10.0.0.0/16"}}),
        )
        .await
        .expect(201);
    world.settle().await;

    let first = list(world, "?top=5").await;
    assert_eq!(names(&first), ids[..5]);
    let next = first["nextLink"].as_str().expect("a second page");
    let second = world
        .get(next.trim_start_matches("http://localhost:8787"))
        .await
        .expect(200)
        .body;
    assert_eq!(names(&second), ids[5..]);
    assert!(second.get("nextLink").is_none());
    assert_eq!(first["value"][0]["status"], "Succeeded");
    let told = ["kind", "alias", "caller"].map(|member| &first["value"][0][member]);
    assert_eq!(told, ["put", "a6", "anonymous"], "D49");
    for query in ["?skipToken=x", "?status=Running", "?top=0"] {
        let path = format!("{GROUP}/operations{query}");
        assert_eq!(world.get(&path).await.expect(400).code(), "BadRequest");
    }
    let elsewhere = format!("{}/operations", GROUP.replace("/rg", "/nowhere"));
    world.get(&elsewhere).await.expect(404);
}

#[apply(on_every_store)]
async fn the_status_selects_in_arms_words(world: &World) {
    world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    world.aws.add_fault(
        fault(fail(HandlerErrorCode::InvalidRequest))
            .on(Action::CreateResource)
            .times(1),
    );
    world
        .put_and_settle(VPC, "x", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    let put = world
        .put(VPC, "other", json!({"CidrBlock": "10.0.0.0/16"}))
        .await
        .expect(201);
    let deleting = world.delete(VPC, "main").await.expect(202);
    world.step().await;
    for (word, count) in [
        ("Succeeded", 1),
        ("failed", 1),
        ("Deleting", 1),
        ("Updating", 0),
        ("Canceled", 0),
    ] {
        let page = list(world, &format!("?status={word}")).await;
        assert_eq!(names(&page).len(), count, "{word}: {page}");
    }
    assert_eq!(
        names(&list(world, "?status=Deleting").await),
        [id(deleting.status_url())]
    );
    assert!(names(&list(world, "?status=Provisioning").await).contains(&id(put.status_url())));
    world.settle().await;

    // The operations on the group itself are listed too.
    let path = format!("{GROUP}?api-version=2023-10-01-preview");
    world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    let group = world
        .send_without_waiting("DELETE", &path, "")
        .await
        .expect(202);
    let page = list(world, "?status=Deleting").await;
    assert_eq!(names(&page), [id(group.status_url())]);
    assert_eq!(page["value"][0]["percentComplete"], 0);
    assert_eq!(page["value"][0]["kind"], "deleteGroup");
    let progress = &page["value"][0]["properties"]["progress"];
    assert_eq!(progress["phase"], "running");
    assert_eq!(progress["waitingFor"], "2 of 2 resources");
    world.settle().await;
}
