//! Many plans, on state that is as it was and on state that is not. `UCP_PLANS` says how many.

use std::ops::Range;

use futures_util::StreamExt as _;
use futures_util::stream;
use serde_json::{Value, json};
use ucp_testkit::{StoreKind, World, apply, on_every_store, tracked_by};

use super::{LOGS, carry_out, id_of, refused, status};

/// How many plans are drawn unless the environment says otherwise.
const PLANS: u32 = 110;

fn drawn() -> u32 {
    let given = std::env::var("UCP_PLANS").ok();
    given.map_or(PLANS, |given| given.parse().expect("UCP_PLANS is a number"))
}

/// How many plans are made and carried out in a turn, each of its own log group. The workers run once for all of them.
const IN_TURN: u32 = 50;
/// How many requests are made at once. Each must look in time.
const AT_ONCE: usize = 8;

/// The numbers of the plans, in turns.
fn turns() -> impl Iterator<Item = Range<u32>> {
    let all = drawn();
    let firsts = (0..all).step_by(usize::try_from(IN_TURN).expect("a small number"));
    firsts.map(move |first| first..all.min(first + IN_TURN))
}

/// The name of the log group of a plan.
fn name(number: u32) -> String {
    format!("logs-{}", number % IN_TURN)
}

fn declared(number: u32) -> Value {
    let retentions = [1, 3, 5, 7, 14, 30, 60, 90];
    // A log group has another one in each turn.
    let index = usize::try_from(number / IN_TURN + number).expect("a small number");
    let tags = |from: u32| json!([{"Key": "a", "Value": (from / 3).to_string()}, {"Key": "b", "Value": "1"}]);
    json!({"LogGroupName": name(number), "RetentionInDays": retentions[index % retentions.len()],
        "Tags": tags(number)})
}

async fn plan(world: &World, number: u32) -> String {
    let alias = tracked_by(LOGS, &name(number));
    let body = json!({"trackedBy": alias, "properties": declared(number)});
    let reply = world.post(LOGS, "whatIf", &body).await.expect(200);
    id_of(&reply.body["properties"])
}

fn change(world: &World, number: u32, change: &Value) {
    let name = name(number);
    let target = ("AWS::Logs::LogGroup", name.as_str());
    let changed = world.aws.patch_out_of_band(None, None, target, change);
    changed.expect("it is there");
}

#[apply(on_every_store)]
async fn plans_hold_while_the_state_does(kind: StoreKind) {
    let Some(builder) = World::builder().on(kind).await else {
        return;
    };
    let world = builder.seeded(7).build().await;
    world.put_group("rg").await;
    for turn in turns() {
        let carried_out = stream::iter(turn).map(async |number| {
            let plan = plan(&world, number).await;
            // AWS returns tags in any order.
            if number >= IN_TURN {
                let tags = &declared(number - IN_TURN)["Tags"];
                let mut reversed = tags.as_array().expect("a list").clone();
                reversed.reverse();
                change(&world, number, &json!({ "Tags": reversed }));
            }
            let reply = carry_out(&world, LOGS, &plan).await;
            assert_eq!(reply.status, 201, "{number}: {}", reply.text);
            plan
        });
        let plans: Vec<String> = carried_out.buffered(AT_ONCE).collect().await;
        world.settle().await;
        for plan in plans {
            assert_eq!(status(&world, &plan).await, "Applied");
        }
    }
}

#[apply(on_every_store)]
async fn plans_never_hold_once_the_state_has_changed(kind: StoreKind) {
    let Some(builder) = World::builder().on(kind).await else {
        return;
    };
    let world = builder.seeded(8).build().await;
    world.put_group("rg").await;
    let puts = stream::iter(0..IN_TURN).map(async |number| {
        let put = world.put(LOGS, &name(number), declared(number)).await;
        put.expect(201);
    });
    puts.buffered(AT_ONCE).collect::<()>().await;
    world.settle().await;
    let calls = world.calls("UpdateResource");
    for turn in turns() {
        let refusals = stream::iter(turn).map(async |number| {
            let number = IN_TURN + number;
            let plan = plan(&world, number).await;
            let hot = match number % 3 {
                0 => json!({"RetentionInDays": 1_000 + number}),
                1 => json!({"Tags": [{"Key": "hot", "Value": number.to_string()}]}),
                _ => json!({"LogGroupClass": "DELIVERY", "RetentionInDays": 2_000 + number}),
            };
            change(&world, number, &hot);
            refused(carry_out(&world, LOGS, &plan).await, "LiveStateChanged");
        });
        refusals.buffered(AT_ONCE).collect::<()>().await;
    }
    world.settle().await;
    assert_eq!(world.calls("UpdateResource"), calls);
}
