//! What is compared: declarations, and references in them.

use serde_json::{Value, json};

use crate::world::*;

/// A queue `a` in the group `s`, renamed to `b`, with these declarations. Returns whether it is found.
fn is_found(old: Value, new: Value) -> bool {
    let state = state(vec![deployed("s/AWS.SQS/Queue/a", "q-1", old, json!({}))]);
    let refactor = judged(&state, &body(vec![declared("s/AWS.SQS/Queue/b", new)], &[]));
    !moves(&refactor).is_empty()
}

#[test]
fn contents_are_typed_and_in_a_canonical_form() {
    assert!(is_found(
        json!({"a": 1, "b": [1.0]}),
        json!({"b": [1], "a": 1})
    ));
    assert!(!is_found(json!({"a": 1}), json!({"a": "1"})));
    assert!(!is_found(json!({"a": true}), json!({"a": "true"})));
    assert!(!is_found(json!({"a": [1, 2]}), json!({"a": [2, 1]})));
    assert!(!is_found(json!({"a": {}}), json!({"a": []})));
    assert!(!is_found(json!({"a": ["bc"]}), json!({"a": ["b", "c"]})));
    assert!(!is_found(json!({"ab": "c"}), json!({"a": "bc"})));
    assert!(!is_found(json!({"a": {"b": 1}}), json!({"a": {}, "b": 1})));
}

#[test]
fn nulls_write_only_values_and_default_tags_are_left_out() {
    assert!(is_found(
        json!({"a": 1, "b": {}}),
        json!({"a": 1, "b": {"c": null}})
    ));
    let old_tags = json!([{"Key": "team", "Value": "x"}, {"Key": "own", "Value": "y"}]);
    let mut old = deployed(
        "s/AWS.SQS/Queue/a",
        "q-1",
        json!({"n": 1, "Tags": old_tags}),
        json!({}),
    );
    old.default_tags = json!({"Tags": [{"Key": "team", "Value": "x"}]});
    let new_tags = json!([{"Key": "own", "Value": "y"}]);
    let mut new = declared(
        "s/AWS.SQS/Queue/b",
        json!({"n": 1, "Tags": new_tags, "Secret": {"Word": "w", "Hint": "h"}}),
    );
    new.properties["Secret"] = json!({"Word": "w"});
    new.write_only.insert("/Secret/Word".to_owned());
    old.declared.as_mut().unwrap()["Secret"] = json!({});
    let refactor = judged(&state(vec![old.clone()]), &body(vec![new.clone()], &[]));
    assert_moves(
        &refactor,
        &["s/AWS.SQS/Queue/a → s/AWS.SQS/Queue/b: Digest"],
    );

    // Where only default tags are declared, there is no list of them.
    old.declared = Some(json!({"n": 1, "Tags": [{"Key": "team", "Value": "x"}]}));
    new.properties = json!({"n": 1});
    let only = judged(&state(vec![old.clone()]), &body(vec![new.clone()], &[]));
    assert_eq!(moves(&only).len(), 1);
    // Tags in the form of a map.
    old.declared = Some(json!({"n": 1, "Tags": {"team": "x", "own": "y"}}));
    old.default_tags = json!({"Tags": {"team": "x"}});
    new.properties = json!({"n": 1, "Tags": {"own": "y"}});
    let map = judged(&state(vec![old.clone()]), &body(vec![new.clone()], &[]));
    assert_eq!(moves(&map).len(), 1);
    // A tag of the same key and another value is the user's.
    old.declared = Some(json!({"n": 1, "Tags": {"team": "mine", "own": "y"}}));
    let mine = judged(&state(vec![old]), &body(vec![new], &[]));
    assert!(moves(&mine).is_empty());
}

#[test]
fn write_only_values_count_for_update() {
    let state = state(vec![deployed(
        "s/AWS.SQS/Queue/a",
        "q-1",
        json!({"n": 1}),
        json!({}),
    )]);
    let mut new = declared("s/AWS.SQS/Queue/b", json!({"n": 1, "Word": "w"}));
    new.write_only.insert("/Word".to_owned());
    let body = body(vec![new], &[]);
    let same = ucp_refactor::refactor(&state, &body, |_, _| true).unwrap();
    assert_eq!(changes(&same), [vec![], vec![], vec![] as Vec<String>]);
    let other = ucp_refactor::refactor(&state, &body, |old, new| {
        assert_eq!(
            (old.address.alias.as_str(), new.address.alias.as_str()),
            ("a", "b")
        );
        false
    })
    .unwrap();
    assert_eq!(moves(&other).len(), 1);
    assert_eq!(changes(&other)[1], ["s/AWS.SQS/Queue/b"]);
}

/// Two queues, told apart by their content, and a topic that has `old` of the first one, and then `new`. Everything is
/// renamed. Returns whether the topic is found.
fn refers_to(old: &str, new: Value, attributes: Value) -> bool {
    let state = state(vec![
        deployed("s/AWS.SQS/Queue/a", "id-a", json!({"n": 1}), attributes),
        deployed(
            "s/AWS.SQS/Queue/b",
            "id-b",
            json!({"n": 2}),
            json!({"/Arn": "arn-b", "/Url": "id-b", "/Zone": "z"}),
        ),
        deployed("s/AWS.SNS/Topic/t", "id-t", json!({"To": old}), json!({})),
    ]);
    let body = body(
        vec![
            declared("s/AWS.SQS/Queue/a2", json!({"n": 1})),
            declared("s/AWS.SQS/Queue/b2", json!({"n": 2})),
            declared("s/AWS.SNS/Topic/t2", json!({"To": new})),
        ],
        &[],
    );
    let refactor = judged(&state, &body);
    let moves = moves(&refactor);
    moves.contains(&"s/AWS.SNS/Topic/t → s/AWS.SNS/Topic/t2: Digest".to_owned())
}

#[test]
fn aws_values_are_references() {
    let all = || json!({"/Arn": "arn-a", "/Url": "id-a", "/Zone": "z"});
    let to = |name: &str| json!({ "$reference": name });
    assert!(refers_to("id-a", to("AWS.SQS/Queue/a2"), all()));
    assert!(refers_to("arn-a", to("AWS.SQS/Queue/a2#/Arn"), all()));
    // In the body too.
    assert!(refers_to("arn-a", json!("arn-a"), all()));
    // The target counts, and the attribute.
    assert!(!refers_to("arn-a", to("AWS.SQS/Queue/b2#/Arn"), all()));
    assert!(!refers_to("arn-a", to("AWS.SQS/Queue/a2"), all()));
    assert!(!refers_to("arn-a", json!("arn-b"), all()));
    // An attribute that has the identifier's value on all of a type is the identifier.
    assert!(refers_to("id-a", to("AWS.SQS/Queue/a2#/Url"), all()));
    assert!(!refers_to(
        "id-a",
        to("AWS.SQS/Queue/b2#/Url"),
        json!({"/Url": "another"})
    ));
    // A value of two resources names neither. Once the target is known, the value is.
    assert!(refers_to("z", to("AWS.SQS/Queue/a2#/Zone"), all()));
    assert!(!refers_to("y", to("AWS.SQS/Queue/a2#/Zone"), all()));
}

#[test]
fn a_reference_to_what_its_target_declares_is_that_value() {
    let state = state(vec![
        deployed(
            "s/AWS.SQS/Queue/a",
            "id-a",
            json!({"Name": "jobs"}),
            json!({}),
        ),
        deployed(
            "s/AWS.SNS/Topic/t",
            "id-t",
            json!({"To": "jobs", "At": "jobs", "Text": "to jobs"}),
            json!({}),
        ),
    ]);
    let body = body(
        vec![
            declared(
                "s/AWS.SQS/Queue/a2",
                json!({"Name": {"$reference": "AWS.SNS/Topic/t2#/At"}}),
            ),
            declared(
                "s/AWS.SNS/Topic/t2",
                json!({
                    "To": {"$reference": "AWS.SQS/Queue/a2#/Name"},
                    "At": "jobs",
                    "Text": {"$concat": ["to ", {"$reference": "AWS.SQS/Queue/a2#/Name"}]},
                }),
            ),
        ],
        &[],
    );
    let refactor = judged(&state, &body);
    assert_moves(
        &refactor,
        &[
            "s/AWS.SNS/Topic/t → s/AWS.SNS/Topic/t2: Digest",
            "s/AWS.SQS/Queue/a → s/AWS.SQS/Queue/a2: Digest",
        ],
    );
}

#[test]
fn declared_values_that_refer_to_each_other_in_a_circle_are_no_values() {
    let name = |to: &str| json!({"Name": {"$reference": format!("AWS.SQS/Queue/{to}#/Name")}});
    let body = body(
        vec![
            declared("s/AWS.SQS/Queue/a", name("b")),
            declared("s/AWS.SQS/Queue/b", name("a")),
        ],
        &[],
    );
    let refactor = judged(&state(Vec::new()), &body);
    assert_eq!(changes(&refactor)[0].len(), 2);
}

#[test]
fn a_text_of_parts_is_known_once_its_parts_are() {
    let state = state(vec![
        deployed(
            "s/AWS.SQS/Queue/a",
            "id-a",
            json!({"n": 1}),
            json!({"/Arn": "arn-a"}),
        ),
        deployed(
            "s/AWS.SNS/Topic/t",
            "id-t",
            json!({"Text": "all of arn-a"}),
            json!({"/Arn": "arn-t"}),
        ),
        deployed(
            "s/AWS.SNS/Topic/u",
            "id-u",
            json!({"Text": "more than arn-t"}),
            json!({}),
        ),
    ]);
    let text = |text: &str, of: &str| json!({"Text": {"$concat": [text, {"$reference": of}]}});
    let body = body(
        vec![
            declared(
                "s/AWS.SNS/Topic/u2",
                text("more than ", "AWS.SNS/Topic/t2#/Arn"),
            ),
            declared(
                "s/AWS.SNS/Topic/t2",
                text("all of ", "AWS.SQS/Queue/a2#/Arn"),
            ),
            declared("s/AWS.SQS/Queue/a2", json!({"n": 1})),
        ],
        &[],
    );
    let refactor = judged(&state, &body);
    assert_eq!(moves(&refactor).len(), 3, "{refactor:?}");
    assert_eq!(changes(&refactor), [vec![], vec![], vec![] as Vec<String>]);
}

#[test]
fn environment_and_type_are_compared() {
    let old = deployed("s/AWS.SQS/Queue/a", "q-1", json!({"n": 1}), json!({}));
    let new = declared("s/AWS.SNS/Topic/b", json!({"n": 1}));
    let other_type = judged(&state(vec![old.clone()]), &body(vec![new], &[]));
    assert_eq!(
        changes(&other_type),
        [vec!["s/AWS.SNS/Topic/b"], vec![], vec!["s/AWS.SQS/Queue/a"]]
    );
    let mut new = declared("s/AWS.SQS/Queue/b", json!({"n": 1}));
    // The plane is no part of the environment.
    new.scope.plane = "other".to_owned();
    let other_plane = judged(&state(vec![old]), &body(vec![new], &[]));
    assert_eq!(moves(&other_plane).len(), 1);
}

#[test]
fn a_value_that_a_resource_declares_itself_is_no_reference_to_it() {
    // The read-only `/Ref` has what `Name` declares, so the names tell the two apart.
    let old = |alias: &str, name: &str| {
        let at = format!("s/AWS.SQS/Queue/{alias}");
        deployed(
            &at,
            &format!("id-{name}"),
            json!({"Name": name}),
            json!({"/Ref": name}),
        )
    };
    let new = |alias: &str, name: &str| {
        declared(&format!("s/AWS.SQS/Queue/{alias}"), json!({"Name": name}))
    };
    let refactor = judged(
        &state(vec![old("a", "x"), old("b", "y")]),
        &body(vec![new("c", "y"), new("d", "x")], &[]),
    );
    assert_moves(
        &refactor,
        &[
            "s/AWS.SQS/Queue/a → s/AWS.SQS/Queue/d: Digest",
            "s/AWS.SQS/Queue/b → s/AWS.SQS/Queue/c: Digest",
        ],
    );
}
