//! Comparing 10,000 resources, all of which have been renamed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use ucp_model::{GroupId, Identifier, ReferenceId, Scope, TypeName};
use ucp_refactor::{
    Base, Body, Declared, Deployed, Group, OnAmbiguity, RESOURCES_MAX, State, refactor,
};

fn main() {
    divan::main();
}

fn group(name: &str) -> GroupId {
    GroupId::new("local", name).expect("a group")
}

fn address(group_name: &str, index: usize) -> ReferenceId {
    let type_name = TypeName::from_cloudformation("AWS::SQS::Queue").expect("a type name");
    ReferenceId::new(group(group_name), type_name, &format!("q{index}")).expect("an alias")
}

fn content(index: Option<usize>, to: Option<Value>) -> Value {
    let mut content = json!({
        "QueueName": index.map_or_else(|| "queue".to_owned(), |index| format!("queue-{index}")),
        "DelaySeconds": 5,
        "VisibilityTimeout": 120,
        "Tags": [{"Key": "team", "Value": "platform"}, {"Key": "stage", "Value": "production"}],
    });
    if let Some(to) = to {
        content["RedrivePolicy"] = json!({"deadLetterTargetArn": to, "maxReceiveCount": 5});
    }
    content
}

/// Resources, of which each has a name of its own if they are `distinct`, and may refer to another one.
fn stack(distinct: bool, refers_to: impl Fn(usize) -> Option<usize>) -> (State, Body) {
    let scope = || Scope::new("aws", "123456789012", "us-east-1").expect("a scope");
    let name = |index: usize| distinct.then_some(index);
    let resources = (0..RESOURCES_MAX).map(|index| {
        let arn =
            |index: usize| Value::from(format!("arn:aws:sqs:us-east-1:123456789012:q{index}"));
        Deployed {
            address: address("old", index),
            scope: scope(),
            identifier: Some(Identifier::new(format!("https://sqs/q{index}"))),
            declared: Some(content(name(index), refers_to(index).map(arn))),
            attributes: BTreeMap::from([("/Arn".to_owned(), arn(index))]),
            default_tags: json!({}),
            write_only: BTreeSet::new(),
            secrets: ucp_refactor::LastSecrets::None,
        }
    });
    let declared = (0..RESOURCES_MAX).rev().map(|index| {
        let to = refers_to(index);
        let to = to.map(|to| json!({"$reference": format!("AWS.SQS/Queue/q{to}#/Arn")}));
        Declared {
            place: format!("/groups/0/resources/{index}"),
            address: address("new", index),
            symbolic_name: None,
            scope: scope(),
            identifier: None,
            identified_by: None,
            properties: content(name(index), to),
            default_tags: json!({}),
            write_only: BTreeSet::new(),
        }
    });
    let named = ["old", "new"].map(|name| Group {
        place: "/groups/0/name".to_owned(),
        id: group(name),
    });
    let body = Body {
        base: Base::Plane("local".to_owned()),
        groups: named.into(),
        resources: declared.collect(),
        deleted: Vec::new(),
        moves: Vec::new(),
        exclude: Vec::new(),
        history: None,
        on_ambiguity: OnAmbiguity::Refuse,
        deploy: false,
    };
    let state = State {
        resources: resources.collect(),
        events: Vec::new(),
    };
    (state, body)
}

fn measure(bencher: divan::Bencher<'_, '_>, (state, body): (State, Body), moves: usize) {
    bencher.bench_local(|| {
        let found = refactor(&state, &body, |_, _, _| true).expect("a body without problems");
        assert_eq!(found.moves.len(), moves);
        found
    });
}

/// Each refers to the one before it, and all are the same otherwise.
#[divan::bench(sample_count = 10)]
fn chain(bencher: divan::Bencher<'_, '_>) {
    measure(
        bencher,
        stack(false, |index| index.checked_sub(1)),
        RESOURCES_MAX,
    );
}

/// All refer to the first one.
#[divan::bench(sample_count = 10)]
fn star(bencher: divan::Bencher<'_, '_>) {
    measure(
        bencher,
        stack(true, |index| (index > 0).then_some(0)),
        RESOURCES_MAX,
    );
}

/// Each differs from every other one.
#[divan::bench(sample_count = 10)]
fn distinct(bencher: divan::Bencher<'_, '_>) {
    measure(bencher, stack(true, |_| None), RESOURCES_MAX);
}

/// Nothing tells them apart.
#[divan::bench(sample_count = 10)]
fn identical(bencher: divan::Bencher<'_, '_>) {
    measure(bencher, stack(false, |_| None), 0);
}

/// Each refers to the next, around, and all are the same otherwise.
#[divan::bench(sample_count = 10)]
fn ring(bencher: divan::Bencher<'_, '_>) {
    measure(
        bencher,
        stack(false, |index| Some((index + 1) % RESOURCES_MAX)),
        0,
    );
}

/// Only the first one, to which a chain of the same leads, is told apart, by who refers to it.
#[divan::bench(sample_count = 10)]
fn tail(bencher: divan::Bencher<'_, '_>) {
    let before = |index: usize| match index {
        0 => Some(1),
        index => Some(index - 1),
    };
    measure(bencher, stack(false, before), RESOURCES_MAX);
}

/// Each is named after the one before it, so that each is known only once that one is.
#[divan::bench(sample_count = 10)]
fn texts(bencher: divan::Bencher<'_, '_>) {
    let (mut state, mut body) = stack(true, |_| None);
    for (index, deployed) in state.resources.iter_mut().enumerate().skip(1) {
        let name = format!("after arn:aws:sqs:us-east-1:123456789012:q{}", index - 1);
        deployed.declared = Some(json!({ "QueueName": name }));
    }
    for (index, declared) in body.resources.iter_mut().rev().enumerate().skip(1) {
        let before = json!({"$reference": format!("AWS.SQS/Queue/q{}#/Arn", index - 1)});
        declared.properties = json!({"QueueName": {"$concat": ["after ", before]}});
    }
    measure(bencher, (state, body), RESOURCES_MAX);
}
