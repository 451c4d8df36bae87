//! What names mean, what is wrong with a set, and in which order its members come.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers are test code too, which panics on failure"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use ucp_model::{GroupId, Identifier, ReferenceId, TypeName};
use ucp_schema::{Catalogue, ResourceSchema};
use ucp_set::{
    Draft, Goal, Linked, MEMBERS_MAX, Member, OUTPUTS_MAX, Outside, REFERENCES_MAX, Set,
    Unresolved, links, resolve, with_unknown,
};

fn group() -> GroupId {
    GroupId::new("local", "rg").unwrap()
}

fn type_name(arm: &str) -> TypeName {
    let (namespace, resource) = arm.split_once('/').unwrap();
    TypeName::from_segments(namespace, resource).unwrap()
}

fn id(arm: &str, alias: &str) -> ReferenceId {
    ReferenceId::new(group(), type_name(arm), alias).unwrap()
}

fn schema(type_name: &TypeName) -> Arc<ResourceSchema> {
    Catalogue::embedded().get(type_name).unwrap()
}

/// `[type, alias, properties or null for a delete, symbolicName, dependsOn]`
fn set(members: Value, outputs: Value) -> Set {
    let member = |(index, member): (usize, &Value)| Member {
        place: format!("/resources/{index}"),
        reference: id(member[0].as_str().unwrap(), member[1].as_str().unwrap()),
        goal: match &member[2] {
            Value::Object(properties) => Goal::Put(properties.clone()),
            _ => Goal::Delete,
        },
        symbolic_name: member[3].as_str().map(str::to_owned),
        depends_on: member[4]
            .as_array()
            .into_iter()
            .flatten()
            .map(|name| name.as_str().unwrap().to_owned())
            .collect(),
    };
    let members = members.as_array().unwrap().iter().enumerate();
    Set {
        group: group(),
        members: members.map(member).collect(),
        is_complete: true,
        may_be_unknown: false,
        outputs: outputs.as_object().cloned().unwrap_or_default(),
    }
}

fn link_with(
    set: Set,
    known: &BTreeMap<Outside, Vec<ReferenceId>>,
    deleted: &BTreeSet<String>,
) -> Linked {
    let ids = set.members.iter().map(|member| member.reference.clone());
    let ids = ids.chain(known.values().flatten().cloned());
    let schemas = ids.map(|id| (id.key(), schema(&id.type_name))).collect();
    Draft::of(set).link(known, &schemas, deleted)
}

fn link(members: Value) -> Linked {
    link_with(set(members, json!({})), &BTreeMap::new(), &BTreeSet::new())
}

fn told(linked: &Linked) -> Vec<(String, &str)> {
    let problems = linked.problems.iter();
    problems
        .map(|problem| {
            let place = problem.target.clone();
            (place.unwrap_or_default(), problem.code.as_str())
        })
        .collect()
}

const VPC: &str = "AWS.EC2/VPC";
const SUBNET: &str = "AWS.EC2/Subnet";

#[test]
fn the_example_is_linked_and_resolved() {
    let declared = set(
        json!([
            [SUBNET, "sub", {"VpcId": {"$reference": "Net#/VpcId"}, "CidrBlock": "10.0.1.0/24",
                "Tags": [{"Key": "of", "Value": {"$concat": ["vpc ", {"$reference": "net"}]}}]}],
            [VPC, "net", {"CidrBlock": "10.0.0.0/16"}],
        ]),
        json!({"subnet": {"$reference": "sub#/SubnetId"}}),
    );
    let linked = link_with(declared, &BTreeMap::new(), &BTreeSet::new());
    assert_eq!(linked.problems, []);
    assert_eq!(linked.order, [1, 0]);
    assert_eq!(linked.members[0].depends_on, [1]);
    let Goal::Put(properties) = &linked.members[0].goal else {
        panic!("it is put");
    };
    let properties = Value::Object(properties.clone());
    assert_eq!(
        properties["VpcId"]["$reference"],
        "/planes/radius/local/resourcegroups/rg/providers/AWS.EC2/VPC:reference/net#/VpcId"
    );
    let found = links(&properties);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].reference.key(), id(VPC, "net").key());
    let unknown = with_unknown(&properties);
    assert_eq!(unknown["VpcId"], json!({"$unknown": true}));
    assert_eq!(unknown["Tags"][0]["Value"], json!({"$unknown": true}));

    let (identifier, live) = (Identifier::new("vpc-1"), json!({"VpcId": "vpc-1"}));
    let resolved = resolve(&properties, |link| link.value_in(&identifier, Some(&live)));
    assert_eq!(
        resolved,
        Ok(json!({"VpcId": "vpc-1", "CidrBlock": "10.0.1.0/24",
            "Tags": [{"Key": "of", "Value": "vpc vpc-1"}]}))
    );
    let missing = resolve(&properties, |link| link.value_in(&identifier, None));
    assert!(
        matches!(missing, Err(Unresolved::Missing(_))),
        "{missing:?}"
    );
    let list = resolve(&properties, |link| match link.pointer {
        Some(_) => Some(json!("vpc-1")),
        None => Some(json!(["a"])),
    });
    assert!(matches!(list, Err(Unresolved::NotText(_))), "{list:?}");
    assert!(
        linked.outputs["subnet"]["$reference"]
            .as_str()
            .unwrap()
            .ends_with("/sub#/SubnetId")
    );
}

#[test]
fn a_name_has_the_type_in_either_spelling() {
    for name in ["AWS.EC2/VPC/net", "AWS::EC2::VPC/net"] {
        let linked = link(json!([
            [VPC, "net", {"CidrBlock": "10.0.0.0/16"}],
            [SUBNET, "net", {"VpcId": {"$reference": format!("{name}#/VpcId")}}],
        ]));
        assert_eq!(linked.problems, [], "{name}");
        assert_eq!(linked.members[1].depends_on, [0], "{name}");
    }
}

#[test]
fn values_that_are_too_long_are_not_put_together() {
    let declared = json!({"Tags": vec![json!({"$reference": id(VPC, "net").to_string()}); 100]});
    let long = |length: usize| resolve(&declared, |_| Some(Value::from("x".repeat(length))));
    assert!(long(2_000).is_ok());
    assert_eq!(long(3_000), Err(Unresolved::TooLong));
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
    let linked = link(json!([
        [VPC, "net", {"CidrBlock": {"$reference": "nobody#/X"}}],
        [SUBNET, "net", {"VpcId": {"$reference": "net"}}],
        [SUBNET, "NET", {"VpcId": {"$reference": "AWS.EC2/VPC/net#/Vpc"}}],
        [VPC, "a", {"Tags": {"$reference": "b"}}],
        [VPC, "b", {"Tags": {"$reference": "a"}}],
        [VPC, "gone", null, "the same"],
        [VPC, "c", {"CidrBlock": {"$reference": "gone#/CidrBlock"}}, "the same", ["nobody", "gone"]],
        ["AWS.RDS/DBInstance", "db", {}],
        [VPC, "d", {"Tags": [{"Value": {"$reference": "db#/MasterUserPassword"}}]}],
        [VPC, "e", {"CidrBlock": {"$reference": "/planes/radius/local"}, "Tags": {"$concat": 1}}],
        [VPC, "f", {"CidrBlock": {"$reference": "f"}}],
    ]));
    assert_eq!(
        told(&linked),
        [
            ("/resources/0/properties/CidrBlock", "UnknownName"),
            ("/resources/1/properties/VpcId", "AmbiguousName"),
            ("/resources/10/properties/CidrBlock", "Cycle"),
            ("/resources/2/alias", "DuplicateName"),
            ("/resources/2/properties/VpcId", "UnknownPath"),
            ("/resources/3/properties/Tags", "Cycle"),
            ("/resources/6/dependsOn/0", "UnknownName"),
            ("/resources/6/dependsOn/1", "StillNeeded"),
            ("/resources/6/properties/CidrBlock", "StillNeeded"),
            ("/resources/6/symbolicName", "DuplicateName"),
            ("/resources/8/properties/Tags/0/Value", "WriteOnly"),
            ("/resources/9/properties/CidrBlock", "UnknownName"),
            ("/resources/9/properties/Tags", "InvalidReference"),
        ]
        .map(|(place, code)| (place.to_owned(), code))
    );
    let of_circle = |problem: &&ucp_model::Detail| {
        let place = problem.target.as_deref();
        place.is_some_and(|place| place.starts_with("/resources/3"))
    };
    let circle = linked.problems.iter().find(of_circle).unwrap();
    assert!(circle.message.contains("a → b → a"), "{}", circle.message);
}

#[test]
fn names_outside_are_looked_up_and_deletes_come_last() {
    let elsewhere = "/planes/radius/local/resourceGroups/Other/providers/aws.ec2/vpc:reference/x";
    let declared = || {
        set(
            json!([
                [VPC, "old", null, null, ["sub"]],
                [SUBNET, "sub", {"VpcId": {"$reference": "Base#/VpcId"}, "CidrBlock": {"$reference": elsewhere}}],
            ]),
            json!({}),
        )
    };
    let base = Outside::Alias("base".to_owned());
    let other = Outside::Reference(elsewhere.parse().unwrap());
    assert_eq!(
        Draft::of(declared()).outside(),
        BTreeSet::from([base.clone(), other.clone()])
    );
    let none = link_with(declared(), &BTreeMap::new(), &BTreeSet::new());
    let places = ["CidrBlock", "VpcId"].map(|name| format!("/resources/1/properties/{name}"));
    assert_eq!(told(&none), places.map(|place| (place, "UnknownName")));

    let mut known = BTreeMap::from([
        (base.clone(), vec![id(VPC, "Base")]),
        (other, vec![elsewhere.parse().unwrap()]),
    ]);
    let linked = link_with(declared(), &known, &BTreeSet::new());
    assert_eq!(linked.problems, []);
    assert_eq!(linked.order, [1, 0]);

    let deleted = BTreeSet::from([id(VPC, "Base").key()]);
    let needed = link_with(declared(), &known, &deleted);
    assert_eq!(
        told(&needed),
        [("/resources/1/properties/VpcId".to_owned(), "StillNeeded")]
    );
    known.insert(base, vec![id(VPC, "base"), id(SUBNET, "base")]);
    let ambiguous = link_with(declared(), &known, &BTreeSet::new());
    assert_eq!(told(&ambiguous)[0].1, "AmbiguousName");
}

#[test]
fn a_name_is_not_unknown_where_members_cannot_be_read() {
    let declared = set(
        json!([[VPC, "a", {"Tags": {"$reference": "b"}}]]),
        json!({}),
    );
    let declared = Set {
        is_complete: false,
        may_be_unknown: false,
        ..declared
    };
    let linked = link_with(declared, &BTreeMap::new(), &BTreeSet::new());
    assert_eq!(linked.problems, []);
}

#[test]
fn members_and_references_have_limits() {
    let many = |count: usize| -> Value {
        (0..count)
            .map(|index| json!([VPC, format!("m{index}"), {}]))
            .collect()
    };
    assert_eq!(link(many(MEMBERS_MAX)).problems, []);
    assert_eq!(
        told(&link(many(MEMBERS_MAX + 1))),
        [("/resources".to_owned(), "TooMany")]
    );
    let references = |count| {
        link(json!([[VPC, "a", {}], [VPC, "b", {"Tags": vec![json!({"$reference": "a"}); count]}]]))
    };
    assert_eq!(references(REFERENCES_MAX).problems, []);
    let too_many = references(REFERENCES_MAX + 1);
    assert_eq!(told(&too_many)[0].1, "TooMany");
    let needs = |count| {
        link(json!([
            [VPC, "a", {}],
            [VPC, "b", {}, null, vec!["a"; count]]
        ]))
    };
    assert_eq!(needs(MEMBERS_MAX).problems, []);
    assert_eq!(
        told(&needs(MEMBERS_MAX + 1)),
        [("/resources/1/dependsOn".to_owned(), "TooMany")]
    );
    let outputs = |count: usize| {
        let outputs: Map<String, Value> = (0..count)
            .map(|index| (index.to_string(), json!(1)))
            .collect();
        let declared = set(json!([]), Value::Object(outputs));
        link_with(declared, &BTreeMap::new(), &BTreeSet::new())
    };
    assert_eq!(outputs(OUTPUTS_MAX).problems, []);
    assert_eq!(
        told(&outputs(OUTPUTS_MAX + 1)),
        [("/outputs".to_owned(), "TooMany")]
    );
}

#[test]
fn only_a_what_if_has_unknown_values() {
    let declared = |may_be_unknown| Set {
        may_be_unknown,
        ..set(
            json!([[VPC, "a", {"CidrBlock": {"$unknown": true}}]]),
            json!({}),
        )
    };
    let link = |declared| link_with(declared, &BTreeMap::new(), &BTreeSet::new());
    let place = "/resources/0/properties/CidrBlock".to_owned();
    assert_eq!(told(&link(declared(false))), [(place, "InvalidReference")]);
    let linked = link(declared(true));
    assert_eq!(linked.problems, []);
    let Goal::Put(properties) = &linked.members[0].goal else {
        panic!("{linked:?}");
    };
    let resolved = resolve(&Value::Object(properties.clone()), |_| None).unwrap();
    assert_eq!(resolved, json!({"CidrBlock": {"$unknown": true}}));
}

#[test]
fn a_text_with_an_unknown_part_is_unknown() {
    let linked = link(json!([
        [VPC, "a", {}],
        [VPC, "b", {"Tags": [{"Key": "of", "Value": {"$concat": ["vpc ", {"$reference": "a"}]}}]}],
    ]));
    let Goal::Put(properties) = &linked.members[1].goal else {
        panic!("{linked:?}");
    };
    let planned = |identifier: Option<&Identifier>| {
        let properties = Value::Object(properties.clone());
        let resolved = resolve(&properties, |link| {
            link.value_planned(identifier, None, false)
        });
        resolved.unwrap()["Tags"][0]["Value"].clone()
    };
    assert_eq!(planned(None), json!({"$unknown": true}));
    assert_eq!(planned(Some(&Identifier::new("vpc-1"))), "vpc vpc-1");
}

/// For each member, the members it refers to.
fn graphs() -> impl Strategy<Value = Vec<Vec<usize>>> {
    (1..30usize)
        .prop_flat_map(|count| prop::collection::vec(prop::collection::vec(0..count, 0..4), count))
}

fn of_graph(graph: &[Vec<usize>]) -> Set {
    let members = graph.iter().enumerate().map(|(index, needs)| {
        let tags: Vec<Value> = needs
            .iter()
            .map(|need| json!({ "$reference": format!("m{need}#/VpcId") }))
            .collect();
        json!([VPC, format!("m{index}"), {"Tags": tags}])
    });
    set(members.collect(), Value::Object(Map::new()))
}

/// Whether a member is reached from what another one needs.
fn reaches(graph: &[Vec<usize>], from: usize, to: usize) -> bool {
    let (mut left, mut seen) = (graph[from].clone(), BTreeSet::new());
    while let Some(next) = left.pop() {
        if next == to {
            return true;
        }
        if seen.insert(next) {
            left.extend(&graph[next]);
        }
    }
    false
}

proptest! {
    /// Either there is a circle, and it is told; or each member comes once, after what it refers to.
    #[test]
    fn any_graph_is_ordered_or_its_circles_are_told(graph in graphs()) {
        let linked = link_with(of_graph(&graph), &BTreeMap::new(), &BTreeSet::new());
        let is_circular = (0..graph.len()).any(|member| reaches(&graph, member, member));
        prop_assert_eq!(!linked.problems.is_empty(), is_circular);
        for problem in &linked.problems {
            prop_assert_eq!(problem.code.as_str(), "Cycle");
        }
        let place = |member| linked.order.iter().position(|ordered| *ordered == member);
        for (member, needs) in graph.iter().enumerate() {
            let is_after = reaches(&graph, member, member)
                || (0..graph.len()).any(|other| reaches(&graph, member, other) && reaches(&graph, other, other));
            prop_assert_eq!(place(member).is_none(), is_after);
            for need in needs {
                prop_assert!(is_after || place(*need) < place(member));
            }
        }
    }
}
