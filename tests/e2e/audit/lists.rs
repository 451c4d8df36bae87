//! Reading the audit.

use std::time::Duration;

use serde_json::{Value, json};
use ucp_testkit::{GROUP, World, apply, on_every_store};

use super::{API, VPC};

const EVENTS: &str = "/planes/radius/local/providers/System.Resources/auditEvents";

/// The events of a page, and the path of the next one.
async fn page(world: &World, path: &str) -> (Vec<Value>, Option<String>) {
    let page = world.get(path).await.expect(200).body;
    let next = page["nextLink"].as_str();
    let next = next.map(|next| next.trim_start_matches("http://localhost:8787").to_owned());
    (page["value"].as_array().expect("a value").clone(), next)
}

/// The ids of the events that the query selects, in pages of two.
async fn ids(world: &World, query: &str) -> Vec<String> {
    let mut path = format!("{EVENTS}?{API}&top=2{query}");
    let mut ids = Vec::new();
    loop {
        let (events, next) = page(world, &path).await;
        assert!(events.len() <= 2);
        let name = |event: &Value| {
            event["properties"]["id"]
                .as_str()
                .expect("a value")
                .to_owned()
        };
        ids.extend(events.iter().map(name));
        match next {
            Some(next) => path = next,
            None => return ids,
        }
    }
}

fn group(name: &str) -> String {
    format!("/planes/radius/local/resourcegroups/{name}")
}

#[apply(on_every_store)]
async fn the_audit_is_listed_latest_first_in_pages(world: &World) {
    for name in ["a", "b", "c", "d"] {
        world.clock.advance(Duration::from_secs(1));
        world.put_group(name).await;
    }
    let all = ["d", "c", "b", "a", "rg"].map(group);
    assert_eq!(ids(world, "").await, all);
    let (events, next) = page(world, &format!("{EVENTS}?{API}")).await;
    assert_eq!(next, None);
    let latest = &events[0];
    assert_eq!(latest["type"], "System.Resources/auditEvents");
    assert_eq!(
        latest["properties"]["at"], "2026-01-01T00:00:04Z",
        "{latest}"
    );
    assert_eq!(latest["properties"]["outcome"], "Allowed");
    assert_eq!(latest["properties"]["status"], 200);
    assert!(latest["properties"].get("suppressed").is_none());
    // Keywords in any letter case, as everywhere.
    let shouted = EVENTS.to_uppercase();
    world.get(&format!("{shouted}?{API}")).await.expect(200);
}

#[apply(on_every_store)]
async fn the_audit_is_filtered(world: &World) {
    for name in ["a", "ab", "b"] {
        world.clock.advance(Duration::from_secs(60));
        world.put_group(name).await;
    }
    let missing = format!("{GROUP}x/leftovers/none?{API}");
    world
        .send_with(&[], "DELETE", &missing, "")
        .await
        .expect(404);
    world
        .put(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await
        .expect(201);
    world.settle().await;
    let all = ids(world, "").await;
    assert_eq!(all.len(), 7, "the put is in a group and in an account");
    assert_eq!(ids(world, "&caller=anonymous").await, all);
    assert!(ids(world, "&caller=anonymou").await.is_empty());
    assert_eq!(ids(world, "&action=aws.ec2/vpc/WRITE").await, all[..2]);
    assert_eq!(ids(world, "&outcome=failed").await, all[2..3]);
    assert_eq!(
        ids(world, "&id=/planes/radius/local/resourceGroups/A").await,
        [group("a")]
    );
    let from = "&from=2026-01-01T00:01:00Z&to=2026-01-01T00:03:00Z";
    assert_eq!(ids(world, from).await, [group("ab"), group("a")]);
    let elsewhere = "&from=2026-01-01T02:02:00%2B02:00&outcome=Allowed&id=/planes/radius/local/resourcegroups/b";
    assert_eq!(ids(world, elsewhere).await, [group("b")]);
    for wrong in ["outcome=Maybe", "from=yesterday", "to=2026-01-01"] {
        let refused = world
            .get(&format!("{EVENTS}?{API}&{wrong}"))
            .await
            .expect(400);
        assert_eq!(refused.code(), "BadRequest", "{wrong}");
    }
}

/// A request looks at so many events, and the next page goes on behind them.
#[apply(on_every_store)]
async fn a_filter_looks_at_a_bounded_number_of_events(world: &World) {
    let mut event = world.audited().await.remove(0);
    event.at = event.at.after(Duration::from_secs(1));
    event.action = "other".to_owned();
    let others = vec![event; 1_000];
    for _ in 0..6 {
        world
            .store
            .append_audit_events(&others)
            .await
            .expect("a value");
    }
    let query = format!("{EVENTS}?{API}&action=System.Resources/resourceGroups/write");
    let before = world.asked_store("list_audit_events");
    let (events, next) = page(world, &query).await;
    assert!(events.is_empty());
    assert_eq!(world.asked_store("list_audit_events") - before, 5);
    let (events, next) = page(world, &next.expect("more")).await;
    assert_eq!((events.len(), next), (1, None));
}
