//! The embedded catalogue.

use std::sync::Arc;

use ucp_model::TypeName;
use ucp_schema::{Catalogue, ResourceSchema};

fn all() -> Vec<Arc<ResourceSchema>> {
    let catalogue = Catalogue::embedded();
    let names = catalogue.type_names();
    names
        .map(|name| {
            catalogue
                .get(name)
                .unwrap_or_else(|| panic!("{name} does not parse"))
        })
        .collect()
}

#[test]
fn every_public_type_is_there() {
    let schemas = all();
    let without_handlers = schemas.iter().filter(|schema| !schema.is_provisionable());
    assert_eq!((schemas.len(), without_handlers.count()), (1_854, 159));
}

/// Each of them has handlers, or it would not have to be listed.
#[test]
fn what_cannot_be_provisioned_may_be_read_and_deleted() {
    let listed = include_str!("../data/non-provisionable.txt").lines();
    let listed: Vec<&str> = listed.filter(|line| !line.starts_with('#')).collect();
    assert_eq!(listed.len(), 49);
    let catalogue = Catalogue::embedded();
    for name in listed {
        let name = TypeName::from_cloudformation(name).unwrap();
        let schema = catalogue.get(&name).unwrap();
        assert!(
            schema.handlers().create && !schema.is_provisionable(),
            "{name}"
        );
        let operations = schema.operations();
        assert!(operations.contains(&"delete"), "{name}: {operations:?}");
        assert!(!operations.contains(&"update"), "{name}: {operations:?}");
    }
}

#[test]
fn a_type_is_found_in_any_letter_case() {
    let catalogue = Catalogue::embedded();
    let name = TypeName::from_cloudformation("aws::ec2::vpc").unwrap();
    let schema = catalogue.get(&name).unwrap();
    assert_eq!(schema.type_name().as_str(), "AWS::EC2::VPC");
}

#[test]
fn a_misspelt_type_has_a_suggestion() {
    let catalogue = Catalogue::embedded();
    let suggest = |name| catalogue.suggest(&TypeName::from_cloudformation(name).unwrap());
    assert_eq!(suggest("AWS::EC2::VCP").unwrap().as_str(), "AWS::EC2::VPC");
    assert_eq!(
        suggest("AWS::S3::Buckets").unwrap().as_str(),
        "AWS::S3::Bucket"
    );
    assert_eq!(suggest("Acme::Thing::Whatever"), None);
}

#[test]
fn an_added_schema_replaces_the_one_of_the_same_name() {
    let mut catalogue = Catalogue::embedded();
    let text = r#"{"typeName": "AWS::ec2::Vpc", "properties": {"Id": {"type": "string"}},
        "primaryIdentifier": ["/properties/Id"]}"#;
    let name = catalogue.with_schema(text).unwrap();
    let vpc = TypeName::from_cloudformation("AWS::EC2::VPC").unwrap();
    assert_eq!(catalogue.get(&vpc).unwrap().type_name(), &name);
    assert_eq!(Catalogue::embedded().get(&vpc).unwrap().type_name(), &vpc);
    assert_eq!(
        catalogue.type_names().count(),
        Catalogue::embedded().type_names().count()
    );
}

#[test]
fn the_members_of_a_property_are_listed() {
    let catalogue = Catalogue::embedded();
    let name = TypeName::from_cloudformation("AWS::EC2::VPC").unwrap();
    let schema = catalogue.get(&name).unwrap();
    let members = |place: &[&str]| {
        let members = schema.members_at(place)?.into_iter();
        let members = members.map(|member| (member.path.pointer(), member.is_required));
        Some(members.collect::<Vec<_>>())
    };
    let tag = [
        ("/Tags/*/Key".to_owned(), true),
        ("/Tags/*/Value".to_owned(), true),
    ];
    assert_eq!(members(&["Tags"]), Some(tag.to_vec()));
    assert_eq!(members(&["CidrBlock"]), Some(Vec::new()));
    assert_eq!(members(&["Nothing"]), None);
}
