//! How much the resources of a set take of what they refer to: a small body can refer to a large value from each of them.

use serde_json::{Value, json};
use ucp_model::operation::group::MEMBERS_AT_ONCE;
use ucp_testkit::{Reply, World};

use super::{LOGS, send, set, states};

/// Of so many characters, 64 values have less than 16 MiB, and 65 more.
const LENGTH: usize = 261_000;
const FIT: usize = 64;
const PLACE: &str = "/properties/DataProtectionPolicy/Description";

fn member(alias: &str, description: Value) -> Value {
    let properties =
        json!({"LogGroupName": alias, "DataProtectionPolicy": {"Description": description}});
    json!({"alias": alias, "type": LOGS, "properties": properties})
}

/// So many members that refer to the text of `large`.
fn referring(count: usize) -> impl Iterator<Item = Value> {
    let text = json!({"$reference": "large#/DataProtectionPolicy/Description"});
    (0..count).map(move |number| member(&format!("small-{number}"), text.clone()))
}

fn refused(reply: Reply) {
    let reply = reply.expect(400);
    assert_eq!(reply.code(), "InvalidRequest", "{}", reply.text);
    let details = reply.body["error"]["details"].as_array().expect("details");
    assert_eq!(details.len(), 10);
    for detail in details {
        let target = detail["target"].as_str().expect("a place");
        assert!(target.ends_with(PLACE), "{target}");
        assert_eq!(detail["code"], "TooMany");
    }
}

#[tokio::test]
async fn a_set_takes_only_so_much_of_what_it_refers_to() {
    let world = &World::builder().build().await;
    world.put_group("rg").await;
    let large = member("large", Value::from("x".repeat(LENGTH)));
    let all = |count| {
        set([large.clone()]
            .into_iter()
            .chain(referring(count))
            .collect())
    };
    // What is declared in the same set.
    for action in ["whatIf", "apply"] {
        refused(send(world, action, &all(FIT + 1)).await);
    }
    let reply = send(world, "whatIf", &all(FIT)).await.expect(200);
    assert_eq!(reply.body["status"], "Succeeded");
    assert_eq!(world.creates(), 0);
    // What stands outside of it.
    let reply = send(world, "apply", &set(json!([large]))).await;
    reply.expect(202);
    world.settle().await;
    for action in ["whatIf", "apply"] {
        refused(send(world, action, &set(referring(FIT + 1).collect())).await);
    }
    assert_eq!(world.creates(), 1);
}

/// What has become so large since is counted as each member is started.
#[tokio::test]
async fn what_becomes_large_meanwhile_is_taken_as_often_as_there_is_room() {
    let world = &World::builder().build().await;
    world.put_group("rg").await;
    let large = set(json!([member("large", json!("x"))]));
    send(world, "apply", &large).await.expect(202);
    world.settle().await;
    // What was seen before is read again.
    world.clock.advance(std::time::Duration::from_secs(1));
    // The first ones are started at once.
    let small = set(referring(MEMBERS_AT_ONCE + FIT + 2).collect());
    let reply = send(world, "apply", &small).await.expect(202);
    let grown = json!({"DataProtectionPolicy": {"Description": "x".repeat(LENGTH)}});
    let target = ("AWS::Logs::LogGroup", "large");
    let changed = world.aws.patch_out_of_band(None, None, target, &grown);
    changed.expect("it is there");
    world.settle().await;
    let status = world.status(&reply).await;
    let states = states(&status);
    let failed = states.iter().filter(|(_, state)| *state == "Failed");
    assert_eq!(failed.count(), 2, "{states:?}");
    let errors = status["error"]["details"].as_array().expect("details");
    let text = errors[0]["message"].as_str().expect("a message");
    assert!(text.contains("16777216 bytes"), "{text}");
    assert_eq!(world.creates(), 1 + MEMBERS_AT_ONCE + FIT);
}

/// A plan has a value once that many members refer to: whoever may only read cannot fill the database with it.
#[tokio::test]
async fn a_plan_is_not_larger_for_each_member_that_refers_to_a_value() {
    let world = &World::builder().build().await;
    world.put_group("rg").await;
    // Nothing in it repeats.
    let text: String = (0..LENGTH as u64 / 16)
        .map(|number| format!("{:016x}", number.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
        .collect();
    let large = set(json!([member("large", Value::from(text))]));
    send(world, "apply", &large).await.expect(202);
    world.settle().await;
    let mut bytes = Vec::new();
    for count in [1, 16] {
        let reply = send(world, "whatIf", &set(referring(count).collect())).await;
        let reply = reply.expect(200);
        let id = reply.body["properties"]["planId"].as_str();
        let id = id.expect("it is kept").parse().expect("an id");
        let stored = world.store.get_plan(id).await.expect("the store answers");
        let stored = stored.expect("a plan");
        assert!(stored.opened_bytes() > 2 * count * LENGTH);
        let sealed = [Some(stored.content), stored.declared];
        bytes.push(sealed.iter().flatten().map(|it| it.0.len()).sum::<usize>());
    }
    assert!(bytes[1] < 2 * bytes[0], "{bytes:?}");
}
