//! Many plans, on state that is as it was and on state that is not. `UCP_PLANS` says how many.

use serde_json::{Value, json};
use ucp_testkit::{StoreKind, World, apply, on_every_store};

use super::{LOGS, carry_out, change_outside, id_of, planned, refused};

/// How many plans are drawn unless the environment says otherwise.
const PLANS: u32 = 40;

fn drawn() -> u32 {
    let given = std::env::var("UCP_PLANS").ok();
    given.map_or(PLANS, |given| given.parse().expect("UCP_PLANS is a number"))
}

fn declared(number: u32) -> Value {
    let retentions = [1, 3, 5, 7, 14, 30, 60, 90];
    let index = usize::try_from(number).expect("a small number") % retentions.len();
    let tags = |from: u32| json!([{"Key": "a", "Value": (from / 3).to_string()}, {"Key": "b", "Value": "1"}]);
    json!({"LogGroupName": "logs", "RetentionInDays": retentions[index], "Tags": tags(number)})
}

#[apply(on_every_store)]
async fn plans_hold_while_the_state_does(kind: StoreKind) {
    let Some(builder) = World::builder().on(kind).await else {
        return;
    };
    let world = builder.seeded(7).build().await;
    world.put_group("rg").await;
    for number in 0..drawn() {
        let plan = id_of(&planned(&world, declared(number)).await);
        // AWS returns tags in any order.
        if number > 0 {
            let tags = &world.aws.resources()[0].properties["Tags"];
            let mut reversed = tags.as_array().expect("a list").clone();
            reversed.reverse();
            change_outside(&world, &json!({ "Tags": reversed }));
        }
        let reply = carry_out(&world, LOGS, &plan).await;
        assert!(
            matches!(reply.status, 200 | 201),
            "{number}: {}",
            reply.text
        );
        world.settle().await;
        let end = super::status(&world, &plan).await;
        assert!(
            matches!(end.as_str(), "Applied" | "Pending"),
            "{number}: {end}"
        );
    }
}

#[apply(on_every_store)]
async fn plans_never_hold_once_the_state_has_changed(kind: StoreKind) {
    let Some(builder) = World::builder().on(kind).await else {
        return;
    };
    let world = builder.seeded(8).build().await;
    world.put_group("rg").await;
    world.put_and_settle(LOGS, "logs", declared(0)).await;
    let calls = world.calls("UpdateResource");
    for number in 1..=drawn() {
        let plan = id_of(&planned(&world, declared(number)).await);
        let change = match number % 3 {
            0 => json!({"RetentionInDays": 1_000 + number}),
            1 => json!({"Tags": [{"Key": "hot", "Value": number.to_string()}]}),
            _ => json!({"LogGroupClass": "DELIVERY", "RetentionInDays": 2_000 + number}),
        };
        change_outside(&world, &change);
        refused(carry_out(&world, LOGS, &plan).await, "LiveStateChanged");
    }
    assert_eq!(world.calls("UpdateResource"), calls);
}
