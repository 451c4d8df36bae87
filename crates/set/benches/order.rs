//! Resolving and ordering a set of 500 members.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use ucp_model::{GroupId, ReferenceId, TypeName};
use ucp_set::{Draft, Goal, MEMBERS_MAX, Member, Set};

fn main() {
    divan::main();
}

/// Each member refers to the ten before it.
fn set() -> Set {
    let group = GroupId::new("local", "rg").expect("a group");
    let member = |index: usize| {
        let before = index.saturating_sub(10)..index;
        let names: Vec<Value> = before
            .map(|other| json!({ "$reference": format!("m{other}#/GroupId") }))
            .collect();
        let properties = json!({"GroupDescription": format!("{index}"), "Tags": names});
        let type_name =
            TypeName::from_cloudformation("AWS::EC2::SecurityGroup").expect("a type name");
        Member {
            place: format!("/resources/{index}"),
            reference: ReferenceId::new(group.clone(), type_name, &format!("m{index}"))
                .expect("an alias"),
            symbolic_name: None,
            depends_on: Vec::new(),
            goal: Goal::Put(properties.as_object().cloned().expect("an object")),
        }
    };
    Set {
        members: (0..MEMBERS_MAX).map(member).collect(),
        group,
        is_complete: true,
        may_be_unknown: false,
        outputs: Map::new(),
    }
}

#[divan::bench]
fn link_500_members(bencher: divan::Bencher<'_, '_>) {
    bencher.with_inputs(set).bench_values(|set| {
        let draft = Draft::of(set);
        let outside = draft.outside();
        let linked = draft.link(&BTreeMap::new(), &BTreeMap::new(), &BTreeSet::new());
        assert!(outside.is_empty() && linked.problems.is_empty());
        linked
    });
}
