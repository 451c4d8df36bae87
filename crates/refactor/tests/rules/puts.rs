//! What a deployment puts, and in which order.

use serde_json::{Value, json};
use ucp_refactor::{Body, OnAmbiguity, Put, Refactor};

use crate::world::*;

fn deploying(body: Body) -> Body {
    Body {
        deploy: true,
        ..body
    }
}

/// `address: needs`
fn order(body: &Body, refactor: &Refactor) -> Vec<String> {
    let at = |put: &Put| short(&body.resources[put.resource].address);
    let puts = &refactor.puts;
    let needs = |put: &Put| -> Vec<String> { put.needs.iter().map(|it| at(&puts[*it])).collect() };
    puts.iter()
        .map(|put| format!("{}: {}", at(put), needs(put).join(" ")))
        .collect()
}

fn refers(name: &str) -> Value {
    json!({"to": {"$concat": ["x", {"$reference": name}]}})
}

#[test]
fn what_changes_is_put_after_what_it_refers_to() {
    let state = state(vec![
        deployed("s/AWS.SQS/Queue/a", "q-a", json!({"n": 1}), json!({})),
        deployed("s/AWS.SQS/Queue/b", "q-b", json!({"n": 2}), json!({})),
    ]);
    let body = deploying(body(
        vec![
            declared("s/AWS.SNS/Topic/t", refers("AWS.SNS/Topic/u#/Arn")),
            declared("s/AWS.SNS/Topic/u", refers("AWS.SQS/Queue/b")),
            declared("web/AWS.SQS/Queue/a", json!({"n": 1})),
            declared("s/AWS.SQS/Queue/b", json!({"n": 3})),
            declared("web/AWS.SNS/Topic/v", refers("AWS.SQS/Queue/a")),
        ],
        &[],
    ));
    let refactor = judged(&state, &body);
    assert_moves(
        &refactor,
        &["s/AWS.SQS/Queue/a → web/AWS.SQS/Queue/a: Digest"],
    );
    let expected = [
        "s/AWS.SQS/Queue/b: ",
        "web/AWS.SNS/Topic/v: ",
        "s/AWS.SNS/Topic/u: s/AWS.SQS/Queue/b",
        "s/AWS.SNS/Topic/t: s/AWS.SNS/Topic/u",
    ];
    assert_eq!(order(&body, &refactor), expected);
    let linked = &refactor.puts[3].properties;
    let of = format!("{}#/Arn", address("s/AWS.SNS/Topic/u"));
    assert_eq!(
        *linked,
        json!({"to": {"$concat": ["x", {"$reference": of}]}})
    );
    assert!(refactor.puts.iter().all(|put| put.unmet.is_empty()));

    let only_told = Body {
        deploy: false,
        ..body
    };
    assert_eq!(judged(&state, &only_told).puts, []);
}

/// Which of the ambiguous ones will be there, nothing tells. What is excluded stays where it is.
#[test]
fn what_refers_to_nothing_is_told() {
    let twin = |at: &str, id: &str| deployed(at, id, json!({"n": 1}), json!({}));
    let state = state(vec![
        twin("s/AWS.SQS/Queue/a", "q-a"),
        twin("s/AWS.SQS/Queue/b", "q-b"),
        deployed("s/AWS.SQS/Queue/kept", "q-k", json!({"n": 9}), json!({})),
    ]);
    let body = deploying(Body {
        on_ambiguity: OnAmbiguity::Leave,
        exclude: vec!["s/AWS.SQS/Queue/kept".to_owned()],
        ..body(
            vec![
                declared("s/AWS.SQS/Queue/c", json!({"n": 1})),
                declared("s/AWS.SNS/Topic/t", refers("AWS.SQS/Queue/c")),
                declared("s/AWS.SNS/Topic/u", refers("AWS.SQS/Queue/kept")),
            ],
            &[],
        )
    });
    let refactor = judged(&state, &body);
    assert_eq!(ambiguities(&refactor).len(), 1);
    let unmet: Vec<_> = refactor.puts.iter().map(|put| put.unmet.clone()).collect();
    let place = "/groups/0/resources/1/properties/to".to_owned();
    let expected = [vec![(place, address("s/AWS.SQS/Queue/c"))], Vec::new()];
    assert_eq!(unmet, expected);
}

/// A put may replace what it updates.
#[test]
fn who_refers_to_what_is_updated_is_put_after_it() {
    let state = state(vec![
        deployed(
            "s/AWS.SQS/Queue/a",
            "q-a",
            json!({"n": 1}),
            json!({"/Arn": "arn-a"}),
        ),
        deployed(
            "s/AWS.SNS/Topic/t",
            "t-t",
            json!({"to": "arn-a"}),
            json!({}),
        ),
        deployed("s/AWS.SNS/Topic/u", "t-u", json!({"to": "t-t"}), json!({})),
        deployed("s/AWS.SNS/Topic/v", "t-v", json!({"n": 7}), json!({})),
    ]);
    let to = |name: &str| json!({"to": {"$reference": name}});
    let body = deploying(body(
        vec![
            declared("s/AWS.SQS/Queue/a", json!({"n": 2})),
            declared("s/AWS.SNS/Topic/t", to("AWS.SQS/Queue/a#/Arn")),
            declared("s/AWS.SNS/Topic/u", to("AWS.SNS/Topic/t")),
            declared("s/AWS.SNS/Topic/v", json!({"n": 7})),
        ],
        &[],
    ));
    let refactor = judged(&state, &body);
    let update = vec!["s/AWS.SQS/Queue/a".to_owned()];
    assert_eq!(changes(&refactor), [Vec::new(), update, Vec::new()]);
    let expected = [
        "s/AWS.SQS/Queue/a: ",
        "s/AWS.SNS/Topic/t: s/AWS.SQS/Queue/a",
        "s/AWS.SNS/Topic/u: s/AWS.SNS/Topic/t",
    ];
    assert_eq!(order(&body, &refactor), expected);
}
