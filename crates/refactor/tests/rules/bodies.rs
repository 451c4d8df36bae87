//! What is wrong with a body, each with its place.

use serde_json::json;
use ucp_model::Identifier;
use ucp_refactor::{Base, Body, Declared, RESOURCES_MAX, State};

use crate::world::*;

fn told(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    let expected = expected.iter();
    expected
        .map(|(place, code)| ((*place).to_owned(), (*code).to_owned()))
        .collect()
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
    let refers = |name: &str| json!({"to": [{"$reference": name}]});
    let mut body = body(
        vec![
            declared("s/AWS.SQS/Queue/a", json!({})),
            declared("s/aws.sqs/queue/A", json!({})),
            declared("s/AWS.SNS/Topic/t", refers("AWS.SQS/Queue/gone")),
            declared("web/AWS.SNS/Topic/t", refers("AWS.SQS/Queue/a")),
            declared(
                "web/AWS.SNS/Topic/u",
                json!({"a/b": {"$reference": 1}, "c": {"$unknown": true}}),
            ),
        ],
        &[],
    );
    body.groups.push(ucp_refactor::Group {
        place: "/groups/9/name".to_owned(),
        id: group("WEB"),
    });
    body.exclude = vec!["Bucket".to_owned(), "AWS.S3/Bucket".to_owned()];
    body.moves = mappings(&[
        ("s/AWS.SQS/Queue/x", "s/AWS.SQS/Queue/a"),
        ("s/AWS.SQS/Queue/X", "web/AWS.SNS/Topic/t"),
        ("AWS.SQS/Queue/x", "s/AWS.SQS/Queue/a"),
        ("s/AWS.SQS/Queue/y", "s/AWS.SQS/Queue/z"),
        ("other/AWS.SQS/Queue/y", "other/AWS.SQS/Queue/z"),
    ]);
    body.history = Some(vec![
        event("e1", &[("s/AWS.SQS/Queue/x", "s/AWS.SNS/Topic/y")]),
        event("e1", &[("s/AWS.SQS/Queue/x", "nowhere")]),
    ]);
    assert_eq!(
        problems(&state(Vec::new()), &body),
        told(&[
            ("/groups/9/name", "DuplicateName"),
            ("/groups/0/resources/1", "DuplicateName"),
            ("/exclude/0", "InvalidAddress"),
            ("/moves/1/from", "DuplicateName"),
            ("/moves/1", "DifferentTypes"),
            ("/moves/2/from", "InvalidAddress"),
            ("/moves/2/to", "DuplicateName"),
            ("/moves/3/to", "Undeclared"),
            ("/moves/4/from", "UnnamedGroup"),
            ("/moves/4/to", "UnnamedGroup"),
            ("/history/0/moves/0", "DifferentTypes"),
            ("/history/1/id", "DuplicateName"),
            ("/history/1/moves/0/to", "InvalidAddress"),
            ("/groups/0/resources/2/properties/to/0", "UnknownName"),
            ("/groups/0/resources/3/properties/to/0", "UnknownName"),
            ("/groups/0/resources/4/properties/a~1b", "InvalidReference"),
            ("/groups/0/resources/4/properties/c", "InvalidReference"),
        ])
    );
}

#[test]
fn references_name_addresses_of_any_named_group() {
    let id = address("web/AWS.SQS/Queue/b").to_string();
    let body = body(
        vec![
            declared(
                "s/AWS.SNS/Topic/t",
                json!({"a": {"$reference": "web/AWS.SQS/Queue/b#/Arn"}, "b": {"$reference": format!("{id}#/Arn")}}),
            ),
            declared(
                "web/AWS.SNS/Topic/t",
                json!({"a": {"$concat": ["x", {"$reference": "AWS.SQS/Queue/b"}]}}),
            ),
            declared("web/AWS.SQS/Queue/b", json!({})),
        ],
        &[],
    );
    assert_eq!(changes(&judged(&state(Vec::new()), &body))[0].len(), 3);
}

/// As in a set.
#[test]
fn references_name_aliases_and_symbolic_names_too() {
    let refers = |name: &str| json!({"to": {"$reference": name}});
    let named = Declared {
        symbolic_name: Some("first".to_owned()),
        ..declared("s/AWS.SQS/Queue/a", json!({"n": 1}))
    };
    let twice = Declared {
        symbolic_name: Some("FIRST".to_owned()),
        ..declared("web/AWS.SQS/Queue/a", json!({"n": 1}))
    };
    let mut body = body(
        vec![
            named,
            twice.clone(),
            declared("s/AWS.SQS/Queue/b", refers("First#/Arn")),
            declared("s/AWS.SQS/Queue/c", refers("A")),
        ],
        &[],
    );
    let old = |at: &str, properties| deployed(at, at, properties, json!({"/Arn": "arn"}));
    let olds = state(vec![
        old("s/AWS.SQS/Queue/a", json!({"n": 1})),
        old("s/AWS.SQS/Queue/x", json!({"to": "arn"})),
        old("s/AWS.SQS/Queue/y", json!({"to": "s/AWS.SQS/Queue/a"})),
    ]);
    assert_moves(
        &judged(&olds, &body),
        &[
            "s/AWS.SQS/Queue/x → s/AWS.SQS/Queue/b: Digest",
            "s/AWS.SQS/Queue/y → s/AWS.SQS/Queue/c: Digest",
        ],
    );

    // One group has each name once. A name is not looked for in other groups.
    body.resources.extend([
        Declared {
            place: "/groups/0/resources/4".to_owned(),
            address: address("s/AWS.SNS/Topic/a"),
            ..twice
        },
        Declared {
            place: "/groups/0/resources/5".to_owned(),
            ..declared("web/AWS.SNS/Topic/t", refers("b"))
        },
    ]);
    body.deleted = [
        "s/AWS.SQS/Queue/y",
        "s/AWS.SQS/Queue/Y",
        "s/AWS.SQS/Queue/a",
    ]
    .iter()
    .zip([
        "/groups/0/resources/6",
        "/groups/0/resources/7",
        "/groups/0/resources/8",
    ])
    .map(|(at, place)| ucp_refactor::Deleted {
        place: place.to_owned(),
        address: address(at),
        symbolic_name: at.ends_with("/y").then(|| "last".to_owned()),
    })
    .collect();
    body.resources.push(Declared {
        place: "/groups/0/resources/9".to_owned(),
        ..declared(
            "s/AWS.SNS/Topic/u",
            json!({"a": {"$reference": "y"}, "b": {"$reference": "AWS.SQS/Queue/Y"}, "c": {"$reference": "Last"}}),
        )
    });
    assert_eq!(
        problems(&olds, &body),
        told(&[
            ("/groups/0/resources/7", "DuplicateName"),
            ("/groups/0/resources/8", "DuplicateName"),
            ("/groups/0/resources/4/symbolicName", "DuplicateName"),
            ("/groups/0/resources/3/properties/to", "AmbiguousName"),
            ("/groups/0/resources/5/properties/to", "UnknownName"),
            ("/groups/0/resources/9/properties/a", "StillNeeded"),
            ("/groups/0/resources/9/properties/b", "StillNeeded"),
            ("/groups/0/resources/9/properties/c", "StillNeeded"),
        ])
    );
}

/// It stays, and what refers to it is recognised.
#[test]
fn what_is_in_a_group_that_is_not_named_is_referred_to() {
    let refers = json!({"to": {"$reference": "other/AWS.SQS/Queue/jobs#/Arn"}});
    let body = body(vec![declared("s/AWS.SQS/Queue/b", refers)], &[]);
    let old =
        |at: &str, properties| deployed(at, at, properties, json!({"/Arn": format!("arn-{at}")}));
    let olds = vec![
        old(
            "s/AWS.SQS/Queue/a",
            json!({"to": "arn-other/AWS.SQS/Queue/jobs"}),
        ),
        old("other/AWS.SQS/Queue/jobs", json!({"n": 1})),
    ];
    let refactor = judged(&state(olds), &body);
    assert_moves(
        &refactor,
        &["s/AWS.SQS/Queue/a → s/AWS.SQS/Queue/b: Digest"],
    );
    assert_eq!(changes(&refactor), [vec![], vec![], vec![] as Vec<String>]);
    assert_eq!(
        problems(&state(Vec::new()), &body),
        told(&[("/groups/0/resources/0/properties/to", "UnknownName")])
    );
}

/// It may be the same in AWS as what is in a group that is named. Only that one is compared.
#[test]
fn what_is_in_a_group_that_is_not_named_is_not_compared() {
    let refers = json!({"to": {"$reference": "other/AWS.SQS/Queue/jobs#/Arn"}});
    let named = |at: &str| Declared {
        identifier: Some(Identifier::new("id")),
        ..declared(at, json!({"n": 1}))
    };
    let old = |at: &str| deployed(at, "id", json!({"n": 1}), json!({"/Arn": "arn"}));
    let outside = old("other/AWS.SQS/Queue/jobs");
    let user = deployed("s/AWS.SQS/Queue/c", "c", json!({"to": "arn"}), json!({}));
    let resources = vec![
        named("s/AWS.SQS/Queue/b"),
        declared("s/AWS.SQS/Queue/c", refers),
    ];
    let mut body = body(resources, &[]);
    let olds = state(vec![
        old("s/AWS.SQS/Queue/a"),
        outside.clone(),
        user.clone(),
    ]);
    let refactor = judged(&olds, &body);
    assert_moves(
        &refactor,
        &["s/AWS.SQS/Queue/a → s/AWS.SQS/Queue/b: Identity"],
    );
    // Without that one, it is new here.
    let alone = state(vec![outside, user]);
    let refactor = judged(&alone, &body);
    assert_moves(&refactor, &[]);
    let create = vec!["s/AWS.SQS/Queue/b".to_owned()];
    assert_eq!(changes(&refactor), [create, vec![], vec![]]);
    // No event of the past moves it.
    body.history = Some(vec![event(
        "e",
        &[("other/AWS.SQS/Queue/jobs", "s/AWS.SQS/Queue/b")],
    )]);
    assert_eq!(moves(&judged(&alone, &body)), [""; 0]);
}

#[test]
fn on_the_route_of_a_group_addresses_are_short() {
    let old = deployed("s/AWS.SQS/Queue/a", "id-a", json!({"n": 1}), json!({}));
    let mut body = body(vec![declared("s/AWS.SQS/Queue/b", json!({"n": 2}))], &[]);
    body.moves = mappings(&[("AWS.SQS/Queue/a", "AWS.SQS/Queue/b")]);
    assert_eq!(problems(&state(vec![old.clone()]), &body).len(), 2);
    body.base = Base::Group(group("s"));
    let refactor = judged(&state(vec![old]), &body);
    assert_eq!(moves(&refactor).len(), 1);
}

/// A set of two that refer to each other, and one that refers to itself.
fn circles(deploy: bool) -> Body {
    let refers = |name: &str| json!({"to": {"$reference": name}});
    Body {
        deploy,
        ..body(
            vec![
                declared("s/AWS.SQS/Queue/a", refers("AWS.SQS/Queue/b")),
                declared("s/AWS.SQS/Queue/b", refers("AWS.SQS/Queue/a")),
                declared("s/AWS.SQS/Queue/c", refers("AWS.SQS/Queue/c")),
            ],
            &[],
        )
    }
}

#[test]
fn a_circle_is_wrong_only_if_it_is_deployed() {
    assert_eq!(
        changes(&judged(&state(Vec::new()), &circles(false)))[0].len(),
        3
    );
    assert_eq!(
        problems(&state(Vec::new()), &circles(true)),
        told(&[
            ("/groups/0/resources/0/properties/to", "Cycle"),
            ("/groups/0/resources/2/properties/to", "Cycle"),
        ])
    );
}

#[test]
fn so_many_resources_are_compared_and_no_more() {
    let many = |count: usize| {
        let resources =
            (0..count).map(|n| declared(&format!("s/AWS.SQS/Queue/q{n}"), json!({"n": n})));
        body(resources.collect(), &[])
    };
    assert_eq!(
        problems(&state(Vec::new()), &many(RESOURCES_MAX + 1)),
        told(&[("/groups", "TooMany")])
    );
    let refactor = judged(&state(Vec::new()), &many(RESOURCES_MAX));
    assert_eq!(refactor.changes.create.len(), RESOURCES_MAX);
    let resources = (0..=RESOURCES_MAX)
        .map(|n| deployed(&format!("s/AWS.SQS/Queue/q{n}"), "", json!(null), json!({})));
    let state = State {
        resources: resources.collect(),
        events: Vec::new(),
    };
    let mut one = many(1);
    one.base = Base::Group(group("s"));
    assert_eq!(problems(&state, &one), told(&[("/resources", "TooMany")]));
}
