//! What an operation says of the reference that owns its resource.

use crate::{Detail, GroupId, ReferenceId};

/// Returns a name for the owner, and the detail about it. Who reads an operation on `group` may not read other groups, so
/// only an owner in the same one is named.
pub fn owned_elsewhere(owner: &ReferenceId, group: Option<&GroupId>) -> (String, Detail) {
    const CODE: &str = "OwnedElsewhere";
    if group.is_some_and(|group| group.key() == owner.group.key()) {
        let owner = owner.to_string();
        let detail = Detail::at(CODE, "owns the resource", owner.as_str());
        return (owner, detail);
    }
    let detail = Detail {
        code: CODE.to_owned(),
        message: "a reference of another resource group owns the resource".to_owned(),
        target: None,
    };
    ("a reference of another resource group".to_owned(), detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_named_in_its_own_group_only() {
        let owner = "/planes/radius/local/resourceGroups/ours/providers/AWS.EC2/VPC:reference/vpc";
        let owner: ReferenceId = owner.parse().unwrap();
        let group = |name| GroupId::new("Local", name).unwrap();
        let (name, detail) = owned_elsewhere(&owner, Some(&group("OURS")));
        assert_eq!(name, owner.to_string());
        assert_eq!(detail.target, Some(owner.to_string()));
        for other in [Some(&group("other")), None] {
            let (name, detail) = owned_elsewhere(&owner, other);
            let said = format!("{name} {detail:?}");
            assert!(!said.contains("ours") && !said.contains("vpc"), "{said}");
        }
    }
}
