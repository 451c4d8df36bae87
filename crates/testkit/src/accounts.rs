//! The books of a world: whatever lives in AWS because of ucp is referenced, or a leftover.

use std::collections::BTreeSet;

use serde_json::Value;
use ucp_model::{
    GroupId, Leftover, Mark, Ownership, ProvisioningState, Reference, Register, Scope, Target,
};
use ucp_store::Error;

use crate::World;
use crate::world::{ACCOUNT, REGION};

/// A resource in the simulated AWS: its type and its identifier.
type Live = (String, String);

impl World {
    /// Expects that nothing is lost and nothing is made up:
    ///
    /// - The reference whose mark a resource bears stands for it, or is undecided, or the resource is a leftover.
    /// - A leftover lives in AWS, and no reference stands for it, unless it is a create of unknown outcome.
    pub async fn check_accounts(&self) {
        let group = GroupId::new("local", "rg").expect("a group id");
        let references = match self
            .store
            .list_references(&group, None, None, usize::MAX)
            .await
        {
            Err(Error::NoSuchGroup) => Vec::new(),
            other => other.expect("the store answers"),
        };
        let leftovers = self.leftovers(group).await;
        let mut live = BTreeSet::new();
        let resources = serde_json::to_value(self.aws.resources()).expect("the resources are JSON");
        for resource in resources.as_array().expect("a list") {
            let text = |name: &str| resource[name].as_str().expect("a text").to_owned();
            let is_live = (text("typeName"), text("identifier"));
            if let Some(mark) = mark(&resource["properties"]) {
                let marking = references.iter().find(|reference| {
                    Ownership::of(Some(mark), Some(&reference.lineage)) == Ownership::Ours
                });
                let is_referenced = marking.is_some_and(|reference| {
                    reference.provisioning_state == ProvisioningState::Unknown
                        || stands_for(reference).as_ref() == Some(&is_live)
                });
                let is_left = leftovers
                    .iter()
                    .any(|left| left_of(left).as_ref() == Some(&is_live));
                assert!(
                    is_referenced || is_left,
                    "an orphan: {is_live:?}, marked {mark}; {references:?}; {leftovers:?}"
                );
            }
            live.insert(is_live);
        }
        for leftover in &leftovers {
            if leftover.undecided().is_some() {
                continue;
            }
            let left = left_of(leftover).unwrap_or_else(|| panic!("nothing is left: {leftover:?}"));
            assert!(live.contains(&left), "it does not live: {leftover:?}");
            let mut standing = references.iter().filter_map(stands_for);
            assert!(
                standing.all(|referenced| referenced != left),
                "it is referenced: {leftover:?}"
            );
        }
    }

    async fn leftovers(&self, group: GroupId) -> Vec<Leftover> {
        let place = Scope::new("aws", ACCOUNT, REGION).expect("a scope");
        let mut all = Vec::new();
        for register in [Register::Group(group), Register::Place(place)] {
            match self.store.list_leftovers(&register, None, usize::MAX).await {
                Err(Error::NoSuchGroup) => {}
                listed => all.extend(listed.expect("the store answers")),
            }
        }
        all
    }
}

fn named(target: &Target<'_>) -> Live {
    let type_name = target.type_name.as_str().to_owned();
    (type_name, target.identifier.as_str().to_owned())
}

fn stands_for(reference: &Reference) -> Option<Live> {
    reference.target().as_ref().map(named)
}

fn left_of(leftover: &Leftover) -> Option<Live> {
    leftover.target().as_ref().map(named)
}

/// The mark on a resource, whatever the form of its tags.
fn mark(properties: &Value) -> Option<&str> {
    match properties {
        Value::Object(members) => {
            let own = members.get(Mark::KEY).and_then(Value::as_str);
            let is_tag = members.get("Key").and_then(Value::as_str) == Some(Mark::KEY);
            let tagged = members.get("Value").filter(|_| is_tag);
            own.or_else(|| tagged.and_then(Value::as_str))
                .or_else(|| members.values().find_map(mark))
        }
        Value::Array(elements) => elements.iter().find_map(mark),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}
