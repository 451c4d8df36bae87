//! A value of each type that its author leaves open, directly or by a reference: whatever they put there later is never carried out
//! under an approval.

use serde_json::{Value, json};
use ucp_model::TypeName;
use ucp_schema::{Catalogue, ResourceSchema};
use ucp_testkit::{Draw, GROUP, Reply, World, tracked_by};

const API: &str = "api-version=2023-10-01-preview";
const PARAMETER: &str = "AWS.SSM/Parameter";
/// One of so many types has its turn in a normal run; with `UCP_TYPES=all` all have, as in the nightly suite.
const SHARE: usize = 8;
/// Of so many samples of a type, the first that can be planned is taken. One may be invalid in ways that the schema does not express.
const SAMPLES: std::ops::Range<u64> = 1..6;

/// The places of all values that have no members or elements.
fn leaves(value: &Value) -> Vec<String> {
    let mut places = Vec::new();
    ucp_model::json::walk(value, |place, value| {
        if !place.is_root() && ucp_model::json::children(value).next().is_none() {
            places.push(place.to_string());
        }
    });
    places
}

fn with(declared: &Value, place: &str, value: Value) -> Value {
    let mut open = declared.clone();
    *open.pointer_mut(place).expect("a value") = value;
    open
}

async fn set_policy(world: &World, policy: &str) {
    let body = json!({"properties": {"planPolicy": policy}}).to_string();
    let reply = world.call("PATCH", &format!("{GROUP}?{API}"), &body).await;
    reply.expect(200);
}

/// Asserts that a reply names withheld values.
fn is_withheld(reply: &Value, arm: &str, place: &str) {
    let text = reply.to_string();
    assert!(text.contains("\"Withheld\""), "{arm} {place}: {text}");
}

async fn send(world: &World, action: &str, set: &Value) -> Reply {
    let path = format!("{GROUP}/:{action}?{API}");
    world.call("POST", &path, &set.to_string()).await
}

/// Asserts that a request is refused: for its plan, or since the value is not valid.
fn refuse(reply: &Reply, (arm, place): (&str, &str)) {
    let is_refused = [400, 409].contains(&reply.status);
    assert!(is_refused, "{arm} {place}: {} {}", reply.status, reply.text);
}

/// Asserts that nobody can approve a plan.
async fn refuse_approval(world: &World, planned: &Value, (arm, place): (&str, &str)) {
    let id = planned["planId"].as_str().expect("an id");
    let approve = format!("/planes/radius/local/providers/System.Resources/plans/{id}/:approve");
    let review = json!({"fingerprint": planned["fingerprint"]}).to_string();
    let refused = world.call("POST", &approve, &review).await.expect(409);
    is_withheld(&refused.body, arm, place);
}

/// What an author may put at the place: what was declared, and values of other kinds.
fn filled(declared: &Value, place: &str) -> [Value; 4] {
    let value = declared.pointer(place).expect("a value").clone();
    [value, json!("another"), json!(7), json!({"$unknown": true})]
}

/// Plans a declaration while the author decides, and tries to have that approved and carried out with the value.
async fn plan(world: &World, arm: &str, declared: &Value, place: &str) -> Option<()> {
    let tracked_by = tracked_by(arm, "a");
    let open = with(declared, place, json!({"$unknown": true}));
    let body = json!({"trackedBy": tracked_by, "properties": open});
    let reply = world.post(arm, "whatIf", &body).await;
    if reply.status != 200 || reply.body["status"] != "Succeeded" {
        return None;
    }
    let planned = reply.body["properties"].clone();
    let id = planned["planId"].as_str()?.to_owned();
    let withheld = planned["changes"][0]["withheld"].as_array();
    assert!(
        withheld.is_some_and(|it| !it.is_empty()),
        "{arm} {place}: {planned}"
    );

    let set = |parameter: Value| {
        json!({"scope": "/planes/aws/aws/accounts/123456789012/regions/us-west-2", "resources": [
            {"alias": "p", "type": PARAMETER, "properties": {"Name": "p", "Type": "String", "Value": parameter}},
            {"alias": "a", "type": arm, "properties": with(declared, place, json!({"$reference": "p#/Value"}))},
        ]})
    };
    let open_set = set(json!({"$unknown": true}));
    let of_set = send(world, "whatIf", &open_set).await;

    set_policy(world, "approved").await;
    refuse_approval(world, &planned, (arm, place)).await;
    for value in filled(declared, place) {
        let properties = with(declared, place, value);
        let put = json!({"planId": id, "trackedBy": tracked_by, "properties": properties});
        refuse(&world.post(arm, "put", &put).await, (arm, place));
    }
    if let Some(id) = of_set.body["properties"]["planId"].as_str() {
        refuse_approval(world, &of_set.body["properties"], (arm, place)).await;
        let planned = json!({ "planId": id });
        send(world, "apply", &planned).await.expect(409);
        for value in filled(declared, place) {
            let mut filled = set(value);
            filled["planId"] = json!(id);
            refuse(&send(world, "apply", &filled).await, (arm, place));
        }
    }
    let again = world.post(arm, "whatIf", &body).await.expect(200);
    assert_eq!(
        again.body["status"], "Failed",
        "{arm} {place}: {}",
        again.text
    );
    assert_eq!(
        again.body["properties"].get("planId"),
        None,
        "{arm} {place}"
    );
    is_withheld(&again.body, arm, place);

    let reply = send(world, "whatIf", &open_set).await;
    if reply.status == 200 {
        assert_eq!(
            reply.body["status"], "Failed",
            "{arm} {place}: {}",
            reply.text
        );
        let of_type = &reply.body["properties"]["changes"][1];
        let withheld = of_type["withheld"].as_array();
        let is_told =
            withheld.is_some_and(|it| !it.is_empty()) || of_type["changeType"] == "Unsupported";
        assert!(is_told, "{arm} {place}: {of_type}");
        is_withheld(&reply.body, arm, place);
    }
    set_policy(world, "optional").await;
    Some(())
}

async fn judge_type(world: &World, draw: &Draw, name: &TypeName, schema: &ResourceSchema) -> bool {
    let arm = name.arm();
    for seed in SAMPLES {
        let declared = ucp_sample::declaration(schema, seed);
        let places = leaves(&declared);
        if !places.is_empty()
            && plan(world, &arm, &declared, &draw.pick(&places))
                .await
                .is_some()
        {
            return true;
        }
    }
    false
}

/// Judges one of `share` types, from that of the number `first` on.
async fn judge((first, share): (usize, usize)) {
    let world = World::builder().build().await;
    let catalogue = Catalogue::embedded();
    let draw = Draw::new(first as u64);
    let (mut judged, mut left) = (0_usize, Vec::new());
    for name in catalogue.type_names().skip(first).step_by(share) {
        let schema = catalogue.get(name).expect("a schema");
        if !schema.is_provisionable() {
            continue;
        }
        if judge_type(&world, &draw, name, &schema).await {
            judged += 1
        } else {
            left.push(name.to_string())
        }
    }
    println!("{judged} types judged, not planned: {left:?}");
    assert!(left.len() * 50 <= judged, "not planned: {left:?}");
    assert_eq!(world.calls("CreateResource"), 0);
}

#[tokio::test]
async fn a_value_left_open_is_never_carried_out_under_an_approval() {
    let is_all = std::env::var("UCP_TYPES").is_ok_and(|types| types == "all");
    let share = if is_all {
        (0, 1)
    } else {
        ucp_choice::share(SHARE, "left-open")
    };
    judge(share).await;
}

/// Of every type.
#[cfg(feature = "nightly")]
mod every_type {
    #[tokio::test]
    async fn first_half() {
        super::judge((0, 2)).await;
    }

    #[tokio::test]
    async fn second_half() {
        super::judge((1, 2)).await;
    }
}
