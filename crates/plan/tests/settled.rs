//! What a plan was made for, for every embedded type: what means the same is the same, and everything else is not.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod documents;
mod every;

use std::sync::Arc;

use serde_json::{Value, json};
use ucp_model::TypeName;
use ucp_model::json::{map_children, walk};
use ucp_plan::{first_difference, is_as_planned, settled};
use ucp_schema::{Catalogue, Classes, Cursor, ResourceSchema};

use documents::{open_places, policy};

fn schema(name: &str) -> Arc<ResourceSchema> {
    let name = TypeName::from_cloudformation(name).unwrap();
    Catalogue::embedded().get(&name).unwrap()
}

/// The model with its unordered lists reversed, another value for what is read-only, and tags of AWS.
fn restated(value: &Value, cursor: Cursor<'_>) -> Value {
    let mut restated = match value {
        Value::Object(_) | Value::Array(_) => map_children(value, |step, child| {
            Some(restated(child, cursor.below_or_anything(step)))
        }),
        _ => value.clone(),
    };
    if let Value::Array(elements) = &mut restated {
        if cursor.is(Classes::TAGS) && elements.iter().all(|it| it.get("Key").is_some()) {
            elements.push(json!({"Key": "aws:by", "Value": "AWS"}));
        }
        if cursor.is_unordered() {
            elements.reverse();
        }
    }
    restated
}

fn with_read_only(model: &Value, schema: &ResourceSchema, value: &str) -> Value {
    let mut model = model.clone();
    let members = model.as_object_mut().unwrap();
    for path in schema.listed(Classes::READ_ONLY) {
        let name = path.in_words();
        if schema.root().member(&name).is_some() {
            members.insert(name, json!(value));
        }
    }
    model
}

#[test]
fn what_is_restated_is_the_same() {
    every::type_and_seed(|schema, seed| {
        let model = ucp_sample::declaration(schema, seed);
        let before = settled(&with_read_only(&model, schema, "before"), schema);
        if settled(&before, schema) != before {
            return Err(format!("it is not settled: {before}"));
        }
        let other = with_read_only(&restated(&model, schema.root()), schema, "after");
        match first_difference(&before, &settled(&other, schema)) {
            None => Ok(1),
            Some(place) => Err(format!("{place}: {model} is not {other}")),
        }
    });
}

/// The places of single values, as JSON Pointers.
fn leaves(model: &Value) -> Vec<String> {
    let mut leaves = Vec::new();
    walk(model, |place, value| {
        if !value.is_object() && !value.is_array() {
            leaves.push(place.to_string());
        }
    });
    leaves
}

#[test]
fn any_change_is_a_difference() {
    let changes = every::type_and_seed(|schema, seed| {
        let model = settled(&ucp_sample::declaration(schema, seed), schema);
        let mut changes = 0;
        for place in leaves(&model) {
            let mut changed = model.clone();
            let value = changed.pointer_mut(&place).unwrap();
            *value = match &*value {
                Value::Bool(truth) => json!(!truth),
                Value::Number(number) => json!(number.as_f64().unwrap_or_default() + 1.5),
                Value::String(text) => json!(format!("{text}-changed")),
                Value::Null | Value::Array(_) | Value::Object(_) => continue,
            };
            changes += 1;
            let after = settled(&changed, schema);
            if first_difference(&model, &after).is_none() || is_as_planned(&model, &after) {
                return Err(format!("{place}: {model} is {changed}"));
            }
        }
        for name in model.as_object().unwrap().keys() {
            let mut changed = model.clone();
            changed.as_object_mut().unwrap().shift_remove(name);
            changes += 1;
            let place = first_difference(&model, &changed);
            if place.as_deref() != Some(&format!("/{name}")) {
                return Err(format!("without {name}: {place:?}"));
            }
        }
        Ok(changes)
    });
    assert!(changes > 10_000, "{changes}");
}

#[test]
fn equivalent_documents_are_the_same() {
    let schema = schema("AWS::IAM::Role");
    let of = |policy: Value| settled(&json!({ "AssumeRolePolicyDocument": policy }), &schema);
    let statement = |action: Value| json!({"Effect": "Allow", "Action": action});
    let policy = |action: Value| json!({"Version": "2012-10-17", "Statement": [statement(action)]});
    let one = of(policy(json!(["a:b", "c:d"])));
    assert_eq!(one, of(policy(json!(["c:d", "a:b"]))));
    assert_eq!(
        one,
        of(Value::from(policy(json!(["a:b", "c:d"])).to_string()))
    );
    assert_ne!(one, of(policy(json!("a:b"))));
}

#[test]
fn what_was_unknown_may_be_anything() {
    let schema = schema("AWS::Logs::LogGroup");
    let unknown = json!({"$unknown": true});
    let tags = |one: Value, other: Value| json!({"LogGroupName": "g", "Tags": [{"Key": "a", "Value": one}, {"Key": "b", "Value": other}]});
    let planned = settled(&tags(unknown.clone(), json!("2")), &schema);
    for (one, other, is_planned) in [
        (json!("1"), json!("2"), true),
        (json!("z"), json!("2"), true),
        (json!("1"), json!("3"), false),
    ] {
        let model = settled(&tags(one, other), &schema);
        assert_eq!(is_as_planned(&planned, &model), is_planned, "{model}");
    }
    let mut more = tags(json!("1"), json!("2"));
    more["RetentionInDays"] = json!(7);
    assert!(!is_as_planned(&planned, &settled(&more, &schema)));
    let open = json!({"LogGroupName": "g", "RetentionInDays": unknown});
    let open = settled(&open, &schema);
    assert!(is_as_planned(
        &open,
        &settled(&json!({"LogGroupName": "g"}), &schema)
    ));
}

/// The element of a list in a path.
const ELEMENT: &str = "*";

/// Returns where a type has documents, down to this depth.
fn document_places(cursor: Cursor<'_>, depth: usize) -> Vec<Vec<String>> {
    let mut places = Vec::new();
    for name in cursor.shape().member_names() {
        let member = cursor.member(name).unwrap();
        if member.is(Classes::WRITE_ONLY | Classes::READ_ONLY) {
            continue;
        }
        let is_document = name.contains("Policy") || name.contains("Document");
        if is_document && member.shape().member_names().next().is_none() {
            places.push(vec![name.to_owned()]);
        }
        if depth > 0 {
            let below = document_places(member, depth - 1).into_iter();
            let of_element = document_places(member.element(), depth - 1).into_iter();
            let of_element = of_element.map(|it| [vec![ELEMENT.to_owned()], it].concat());
            places.extend(
                below
                    .chain(of_element)
                    .map(|it| [vec![name.to_owned()], it].concat()),
            );
        }
    }
    places
}

/// Returns properties that have this value at a place.
fn at(place: &[String], value: Value) -> Value {
    place
        .iter()
        .rev()
        .fold(value, |value, step| match step.as_str() {
            ELEMENT => json!([value]),
            name => json!({ name: value }),
        })
}

/// A value that is known when a plan is carried out has no say in the form of its document.
#[test]
fn a_document_that_is_known_is_as_it_was_planned_with_unknown_values() {
    let unknown = json!({"$unknown": true});
    let documents = every::type_and_seed(|schema, seed| {
        let mut documents = 0;
        for name in document_places(schema.root(), 2) {
            let document = policy();
            let known = settled(&at(&name, document.clone()), schema);
            for place in open_places(&document) {
                documents += 1;
                let mut open = document.clone();
                *open.pointer_mut(&place).unwrap() = unknown.clone();
                let planned = settled(&at(&name, open), schema);
                if !is_as_planned(&planned, &known) {
                    return Err(format!("{name:?}{place}: {planned} is not {known}"));
                }
                // Whatever else is changed is told.
                for changed in open_places(&document) {
                    let is_apart = !changed.starts_with(&place) && !place.starts_with(&changed);
                    if !is_apart || seed > 1 {
                        continue;
                    }
                    let mut other = document.clone();
                    *other.pointer_mut(&changed).unwrap() = json!("changed");
                    let other = settled(&at(&name, other), schema);
                    if is_as_planned(&planned, &other) {
                        return Err(format!(
                            "{name:?}: {changed} is changed, and {place} unknown"
                        ));
                    }
                }
            }
        }
        Ok(documents)
    });
    assert!(documents > 1_000, "{documents}");
}
