//! What is compared: declarations, and references in them.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use ucp_refactor::{Body, Declared, Deployed, LastSecrets, State};

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
    old.declared.as_mut().unwrap()["Secret"] = json!({"Word": "w"});
    old.write_only.insert("/Secret/Word".to_owned());
    old.secrets = LastSecrets::Known;
    let refactor = judged(&state(vec![old.clone()]), &body(vec![new.clone()], &[]));
    assert_moves(
        &refactor,
        &["s/AWS.SQS/Queue/a → s/AWS.SQS/Queue/b: Digest"],
    );

    // Where only default tags are declared, there is no list of them.
    old.declared = Some(json!({"n": 1, "Tags": [{"Key": "team", "Value": "x"}]}));
    (old.secrets, old.write_only) = (LastSecrets::None, BTreeSet::new());
    new.write_only = BTreeSet::new();
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

/// A database with a password.
fn database(alias: &str, word: &str) -> (Deployed, Declared) {
    let properties = json!({"n": 1, "Word": word});
    let at = format!("s/AWS.SQS/Queue/{alias}");
    let mut old = deployed(&at, &format!("id-{alias}"), properties.clone(), json!({}));
    let mut new = declared(&at, properties);
    old.write_only.insert("/Word".to_owned());
    new.write_only.insert("/Word".to_owned());
    old.secrets = LastSecrets::Known;
    (old, new)
}

fn databases(old: &[(&str, &str)], new: &[(&str, &str)]) -> (State, Body) {
    let old = old.iter().map(|(alias, word)| database(alias, word).0);
    let new = new.iter().map(|(alias, word)| database(alias, word).1);
    (state(old.collect()), body(new.collect(), &[]))
}

#[test]
fn a_write_only_value_that_is_another_is_an_update_in_place() {
    let (state, body) = databases(&[("a", "x")], &[("a", "y")]);
    let refactor = judged(&state, &body);
    assert_moves(&refactor, &[]);
    assert_eq!(changes(&refactor)[1], ["s/AWS.SQS/Queue/a"]);
}

#[test]
fn what_has_other_write_only_values_is_another() {
    let (mut state, mut body) = databases(&[("a", "x")], &[("b", "y")]);
    let [create, update, undeclared] = changes(&judged(&state, &body));
    assert_eq!(create, ["s/AWS.SQS/Queue/b"]);
    assert_eq!(update, [""; 0]);
    assert_eq!(undeclared, ["s/AWS.SQS/Queue/a"]);
    assert!(
        refused(&judged(&state, &body)).is_empty(),
        "it is in one region"
    );
    // Nothing moves where nothing is known, or was put.
    body.resources[0].properties["Word"] = json!("x");
    assert_eq!(moves(&judged(&state, &body)).len(), 1);
    state.resources[0].secrets = LastSecrets::None;
    assert_moves(&judged(&state, &body), &[]);
    state.resources[0].secrets = LastSecrets::Unknown;
    let unknown = judged(&state, &body);
    assert!(moves(&unknown).is_empty());
    assert_eq!(
        ambiguities(&unknown),
        ["s/AWS.SQS/Queue/a | s/AWS.SQS/Queue/b: Identical"]
    );
    body.moves = mappings(&[("s/AWS.SQS/Queue/a", "s/AWS.SQS/Queue/b")]);
    assert_eq!(moves(&judged(&state, &body)).len(), 1);
}

#[test]
fn write_only_values_tell_resources_of_one_content_apart() {
    let (state, body) = databases(
        &[("a", "x"), ("b", "y"), ("c", "z"), ("d", "z")],
        &[("e", "y"), ("f", "x"), ("g", "z"), ("h", "z")],
    );
    let refactor = judged(&state, &body);
    assert_eq!(
        moves(&refactor),
        [
            "s/AWS.SQS/Queue/a → s/AWS.SQS/Queue/f: Digest",
            "s/AWS.SQS/Queue/b → s/AWS.SQS/Queue/e: Digest",
        ],
    );
    assert_eq!(
        ambiguities(&refactor),
        ["s/AWS.SQS/Queue/c s/AWS.SQS/Queue/d | s/AWS.SQS/Queue/g s/AWS.SQS/Queue/h: Identical"]
    );
}

/// Whether they have done so already, the values tell if nothing else does.
#[test]
fn mapped_resources_that_differ_in_write_only_values_change_places_once() {
    let (a, b) = ("s/AWS.SQS/Queue/a", "s/AWS.SQS/Queue/b");
    let of = |new_a: &str, new_b: &str, secrets: LastSecrets| {
        let (mut state, mut body) =
            databases(&[("a", "x"), ("b", "y")], &[("a", new_a), ("b", new_b)]);
        state.resources[1].secrets = secrets;
        body.moves = mappings(&[(a, b), (b, a)]);
        judged(&state, &body)
    };
    let changed = [format!("{a} → {b}: Mapping"), format!("{b} → {a}: Mapping")];
    assert_eq!(moves(&of("y", "x", LastSecrets::Known)), changed);
    assert_moves(&of("x", "y", LastSecrets::Known), &[]);
    let unclear = format!("{a} {b} | {b} {a}: MovesUnclear");
    for (new_a, new_b, secrets) in [
        ("z", "x", LastSecrets::Known),
        ("x", "z", LastSecrets::Known),
        ("x", "y", LastSecrets::Unknown),
        ("y", "x", LastSecrets::Unknown),
    ] {
        let refactor = of(new_a, new_b, secrets);
        assert_eq!(refused(&refactor), [unclear.as_str()], "{new_a} {new_b}");
    }
}

/// The code of a function is in a bucket of the same body.
#[test]
fn a_reference_in_a_write_only_value_is_its_value() {
    let arn = json!({"/Arn": "arn-1"});
    let of = |name: &str| json!({"$reference": format!("AWS.SNS/Topic/{name}#/Arn")});
    for (word, old_word, is_found) in [
        (of("new"), json!("arn-1"), true),
        (
            json!({"Of": {"$concat": [of("new"), "/x"]}}),
            json!({"Of": "arn-1/x"}),
            true,
        ),
        (of("new"), json!("arn-2"), false),
        (of("other"), json!("arn-1"), false),
    ] {
        let (mut old, mut new) = database("a", "x");
        new.address = address("s/AWS.SQS/Queue/b");
        old.declared.as_mut().unwrap()["Word"] = old_word;
        new.properties["Word"] = word;
        let bucket = deployed("s/AWS.SNS/Topic/old", "t-1", json!({"n": 7}), arn.clone());
        let renamed = declared("s/AWS.SNS/Topic/new", json!({"n": 7}));
        let other = declared("s/AWS.SNS/Topic/other", json!({"n": 8}));
        let state = state(vec![bucket, old]);
        let refactor = judged(&state, &body(vec![new, renamed, other], &[]));
        assert_eq!(moves(&refactor).len(), 1 + usize::from(is_found));
        assert!(ambiguities(&refactor).is_empty());
        assert!(changes(&refactor)[1].is_empty());
    }
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

/// By the value that AWS has given it, or by name.
#[test]
fn what_refers_to_itself_is_found() {
    let arn = "arn:aws:sqs:us-east-1:123456789012:q";
    for (identifier, attributes, literal, pointer) in [
        ("q-1", json!({"/Arn": arn}), arn, "#/Arn"),
        ("sg-1", json!({"/GroupId": "sg-1"}), "sg-1", ""),
        ("sg-1", json!({"/GroupId": "sg-1"}), "sg-1", "#/GroupId"),
    ] {
        let old = deployed(
            "s/AWS.SQS/Queue/a",
            identifier,
            json!({"Of": literal}),
            attributes,
        );
        let state = state(vec![old]);
        for of in [
            json!(literal),
            json!({"$reference": format!("AWS.SQS/Queue/b{pointer}")}),
        ] {
            let new = declared("s/AWS.SQS/Queue/b", json!({"Of": of}));
            let refactor = judged(&state, &body(vec![new], &[]));
            assert_eq!(
                moves(&refactor),
                ["s/AWS.SQS/Queue/a → s/AWS.SQS/Queue/b: Digest"],
                "{of}"
            );
        }
    }
}
