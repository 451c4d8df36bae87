//! Default tags.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};
use ucp_model::operation::group::is_of_tags;
use ucp_model::{Lineage, Mark, TypeName};
use ucp_schema::{Catalogue, Classes, ResourceSchema};

/// Types whose tags can be updated by their schema, but are in a property that default tags do not support.
const EXCEPTIONS: [&str; 2] = [
    // In each element of `TagSpecifications`.
    "AWS::EC2::CapacityReservation",
    "AWS::EC2::CapacityReservationFleet",
];

fn schema(name: &str) -> Arc<ResourceSchema> {
    let name = TypeName::from_cloudformation(name).unwrap();
    Catalogue::embedded().get(&name).unwrap()
}

fn defaults(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    let pairs = pairs.iter();
    pairs
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

fn tagged(name: &str, mut properties: Value) -> Value {
    let defaults = defaults(&[("env", "dev"), ("team", "platform")]);
    schema(name).add_default_tags(&mut properties, &defaults);
    properties
}

#[test]
fn what_is_declared_wins_by_key() {
    assert_eq!(
        tagged(
            "AWS::EC2::VPC",
            json!({"Tags": [{"Key": "env", "Value": "prod"}]})
        ),
        json!({"Tags": [{"Key": "env", "Value": "prod"}, {"Key": "team", "Value": "platform"}]})
    );
    assert_eq!(
        tagged(
            "AWS::SSM::Parameter",
            json!({"Name": "p", "Tags": {"team": "web"}})
        ),
        json!({"Name": "p", "Tags": {"team": "web", "env": "dev"}})
    );
    assert_eq!(
        tagged("AWS::Logs::LogGroup", json!({})),
        json!({"Tags": [{"Key": "env", "Value": "dev"}, {"Key": "team", "Value": "platform"}]})
    );
}

#[test]
fn a_type_takes_default_tags_if_it_can_change_its_tags() {
    for (name, takes) in [
        ("AWS::EC2::VPC", true),
        ("AWS::SSM::Parameter", true),
        ("AWS::EC2::CapacityReservation", false),
        ("AWS::EC2::VPCGatewayAttachment", false),
    ] {
        assert_eq!(schema(name).takes_default_tags(), takes, "{name}");
        let is_changed = tagged(name, json!({})) != json!({});
        assert_eq!(is_changed, takes, "{name}");
    }
}

#[test]
fn each_type_gets_its_own_form() {
    let group = tagged("AWS::AutoScaling::AutoScalingGroup", json!({}));
    assert_eq!(
        group["Tags"][0],
        json!({"Key": "env", "Value": "dev", "PropagateAtLaunch": false})
    );
    let table = tagged("AWS::EC2::VPC", json!({"Tags": "none"}));
    assert_eq!(table, json!({"Tags": "none"}), "left for validation");
}

#[test]
fn a_default_never_forces_a_replacement() {
    let catalogue = Catalogue::embedded();
    for name in catalogue.type_names() {
        let schema = catalogue.get(name).unwrap();
        if schema.document()["tagging"]["tagUpdatable"] != json!(false) {
            continue;
        }
        assert_eq!(tagged(name.as_str(), json!({})), json!({}), "{name}");
    }
}

/// For all types with updatable tags, and the tags are valid by the schema.
#[test]
fn every_type_with_tags_gets_them() {
    let catalogue = Catalogue::embedded();
    let mut untagged = BTreeSet::new();
    let mut count = 0;
    for name in catalogue.type_names() {
        let schema = catalogue.get(name).unwrap();
        let tagging = &schema.document()["tagging"];
        let is_taggable =
            tagging["taggable"] == json!(true) && tagging["tagUpdatable"] == json!(true);
        if !(is_taggable && schema.is_updatable()) {
            continue;
        }
        let properties = tagged(name.as_str(), json!({}));
        if properties == json!({}) {
            let tags = schema.tag_property().unwrap().to_string();
            let conditional = &schema.document()["conditionalCreateOnlyProperties"];
            let conditional = conditional.as_array().into_iter().flatten();
            let is_fixed = schema
                .listed(Classes::CREATE_ONLY)
                .any(|path| path.to_string() == tags)
                || conditional.into_iter().any(|path| *path == tags.as_str());
            if !is_fixed {
                untagged.insert(name.to_string());
            }
            continue;
        }
        count += 1;
        let violations = schema.validate_declaration(&properties);
        assert!(violations.is_empty(), "{name}: {properties} {violations:?}");
    }
    println!("{count} types get tags, {untagged:?} do not");
    assert!(count > 1_000, "{count}");
    assert_eq!(untagged, EXCEPTIONS.map(str::to_owned).into());
}

fn mark() -> Mark {
    let reference = "/planes/radius/local/resourceGroups/rg/providers/AWS.EC2/VPC:reference/a";
    Mark::of(&Lineage::of(&reference.parse().unwrap()))
}

#[test]
fn a_create_carries_the_mark_where_its_type_and_its_tags_permit_it() {
    let mark = mark();
    let marked = |name: &str, properties: Value| schema(name).with_mark(&properties, &mark);
    let pair = json!({"Key": "ucp:reference", "Value": mark.as_str()});
    let vpc = marked("AWS::EC2::VPC", json!({"CidrBlock": "10.0.0.0/16"})).unwrap();
    assert_eq!(vpc["Tags"], json!([pair]));
    let declared = json!({"Name": "p", "Type": "String", "Value": "v", "Tags": {"a": "b"}});
    let parameter = marked("AWS::SSM::Parameter", declared).unwrap();
    assert_eq!(
        parameter["Tags"],
        json!({"a": "b", "ucp:reference": mark.as_str()})
    );
    assert_eq!(marked("AWS::EC2::VPCGatewayAttachment", json!({})), None);
    // Fifty tags are as many as a resource can have.
    let tags = |count: usize| -> Value {
        let tag = |index| json!({"Key": format!("k{index}"), "Value": "v"});
        (0..count).map(tag).collect()
    };
    let limited = Catalogue::embedded();
    let limited = limited.get(&TypeName::from_cloudformation("AWS::ECR::Repository").unwrap());
    let limited = limited.unwrap();
    assert!(
        limited
            .with_mark(&json!({"Tags": tags(49)}), &mark)
            .is_some()
    );
    assert_eq!(limited.with_mark(&json!({"Tags": tags(50)}), &mark), None);
}

#[test]
fn every_type_that_carries_the_mark_shows_it_to_us_and_to_nobody_else() {
    let mark = mark();
    let (mut carrying, mut fixed) = (0, 0);
    let catalogue = Catalogue::embedded();
    for name in catalogue.type_names() {
        let schema = catalogue.get(name).unwrap();
        let Some(marked) = schema.with_mark(&json!({}), &mark) else {
            continue;
        };
        carrying += 1;
        fixed += usize::from(!schema.takes_default_tags());
        assert_eq!(schema.mark_in(&marked), Some(mark.as_str()), "{name}");
        assert_eq!(schema.shown(&marked), json!({}), "{name}");
    }
    assert!(carrying > 800, "only {carrying} types carry the mark");
    // Tags that only a create can set are enough.
    assert!(fixed > 10, "only {fixed} of them cannot change their tags");
}

/// Names in tags are anybody's words, so they are left out where models are searched for names.
#[test]
fn the_tags_of_every_type_are_known_by_their_name() {
    let catalogue = Catalogue::embedded();
    for schema in catalogue
        .type_names()
        .filter_map(|name| catalogue.get(name))
    {
        if let Some(property) = schema.tag_property() {
            let pointer = property.pointer();
            let mut members = pointer.split('/');
            assert!(members.any(is_of_tags), "{} {pointer}", schema.type_name());
        }
    }
}
