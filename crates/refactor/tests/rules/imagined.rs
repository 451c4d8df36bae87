//! Two bodies, without a server.

use serde_json::json;
use ucp_refactor::{Body, has_same_values, imagine, refactor};

use crate::world::*;

fn compared(from: &Body, to: &Body) -> ucp_refactor::Refactor {
    let state = imagine(from, to).expect("a good body");
    refactor(&state, to, has_same_values).expect("a good body")
}

/// What is in a group that no file names is there, for both.
#[test]
fn what_only_others_declare_is_referred_to() {
    let user = |alias: &str, place: &str| {
        let refers = json!({"to": {"$reference": format!("base/AWS.EC2/VPC/net{place}")}});
        body(
            vec![declared(&format!("s/AWS.SQS/Queue/{alias}"), refers)],
            &[],
        )
    };
    for place in ["", "#/VpcId"] {
        assert_moves(
            &compared(&user("a", place), &user("b", place)),
            &["s/AWS.SQS/Queue/a → s/AWS.SQS/Queue/b: Digest"],
        );
    }
    let other = compared(&user("a", ""), &user("b", "#/CidrBlock"));
    assert_moves(&other, &[]);
    // What the first file declares there is what it says.
    let net = |identifier: &str| ucp_refactor::Declared {
        identifier: Some(ucp_model::Identifier::new(identifier)),
        ..declared("base/AWS.EC2/VPC/net", json!({}))
    };
    let mut from = user("a", "");
    from.resources.push(net("vpc-1"));
    from.groups.extend(body(vec![net("vpc-1")], &[]).groups);
    let state = imagine(&from, &user("b", "")).expect("a good body");
    let known = state.resources.iter().find(|it| it.address.alias == "net");
    let known = known.and_then(|it| it.identifier.as_ref());
    assert_eq!(known, Some(&ucp_model::Identifier::new("vpc-1")));
    assert_moves(
        &compared(&from, &user("b", "")),
        &["s/AWS.SQS/Queue/a → s/AWS.SQS/Queue/b: Digest"],
    );
}

fn network(group: &str, net: &str, sub: &str, topic: &str) -> Body {
    let at = |type_of: &str, alias: &str| format!("{group}/{type_of}/{alias}");
    let arn = format!("AWS.SQS/Queue/{net}#/Arn");
    body(
        vec![
            declared(&at(QUEUE, net), json!({"DelaySeconds": 5})),
            declared(
                &at(QUEUE, sub),
                json!({"Redrive": {"Target": {"$reference": arn}}}),
            ),
            declared(
                &at(TOPIC, topic),
                json!({"Name": {"$concat": ["of-", {"$reference": format!("AWS.SQS/Queue/{sub}")}]}}),
            ),
        ],
        &[],
    )
}

#[test]
fn what_is_renamed_is_found_by_what_it_refers_to() {
    let from = network("s", "a", "b", "t");
    let mut to = network("s", "x", "y", "u");
    let refactor = compared(&from, &to);
    assert_moves(
        &refactor,
        &[
            "s/AWS.SNS/Topic/t → s/AWS.SNS/Topic/u: Digest",
            "s/AWS.SQS/Queue/a → s/AWS.SQS/Queue/x: Digest",
            "s/AWS.SQS/Queue/b → s/AWS.SQS/Queue/y: Digest",
        ],
    );
    assert_eq!(changes(&refactor), [[""; 0], [""; 0], [""; 0]]);
    // A declared value may be referred to.
    to.resources[0].properties = json!({"DelaySeconds": 6});
    let refactor = compared(&from, &to);
    assert!(moves(&refactor).len() < 3);
}

#[test]
fn the_same_body_is_nothing() {
    let from = network("s", "a", "b", "t");
    let refactor = compared(&from, &from);
    assert_moves(&refactor, &[]);
    assert_eq!(changes(&refactor), [[""; 0], [""; 0], [""; 0]]);
}

#[test]
fn circles_are_compared() {
    let circle = |one: &str, other: &str| {
        let to = |delay: u64, name: &str| json!({"DelaySeconds": delay, "to": {"$reference": format!("AWS.SQS/Queue/{name}#/Arn")}});
        body(
            vec![
                declared(&format!("s/AWS.SQS/Queue/{one}"), to(1, other)),
                declared(&format!("s/AWS.SQS/Queue/{other}"), to(2, one)),
            ],
            &[],
        )
    };
    let refactor = compared(&circle("a", "b"), &circle("x", "y"));
    assert_moves(
        &refactor,
        &[
            "s/AWS.SQS/Queue/a → s/AWS.SQS/Queue/x: Digest",
            "s/AWS.SQS/Queue/b → s/AWS.SQS/Queue/y: Digest",
        ],
    );
}

#[test]
fn a_body_that_cannot_be_is_told() {
    let to = json!({"to": {"$reference": "AWS.SQS/Queue/b"}});
    let wrong = body(vec![declared("s/AWS.SQS/Queue/a", to)], &[]);
    let problems = imagine(&wrong, &wrong).expect_err("a reference to nothing");
    assert_eq!(problems[0].code.as_str(), "UnknownName");
}

/// The same value has two names.
#[test]
fn an_identifier_may_be_referred_to_as_a_property() {
    let of = |queue: &str, topic: &str, pointer: &str| {
        let mut named = declared(&format!("s/{QUEUE}/{queue}"), json!({"DelaySeconds": 5}));
        named.identified_by = Some("/QueueUrl".to_owned());
        let reference = json!({"$reference": format!("{QUEUE}/{queue}{pointer}")});
        let user = declared(&format!("s/{TOPIC}/{topic}"), json!({"To": reference}));
        body(vec![named, user], &[])
    };
    for old in ["", "#/QueueUrl"] {
        for new in ["", "#/QueueUrl"] {
            let refactor = compared(&of("a", "t", old), &of("b", "u", new));
            assert_eq!(moves(&refactor).len(), 2, "{old} {new}");
        }
    }
    let other = compared(&of("a", "t", ""), &of("b", "u", "#/Arn"));
    assert_eq!(moves(&other).len(), 1);
}
