//! Grants by whom they are for.

use std::collections::HashMap;

use crate::grant::{Grant, Subject};
use crate::principal::Principal;

/// Grants by whom they are for, so that finding those of a principal does not take longer the more there are.
#[derive(Clone, Debug, Default)]
pub struct GrantIndex {
    users: HashMap<String, Vec<Grant>>,
    groups: HashMap<String, Vec<Grant>>,
}

impl GrantIndex {
    /// Returns the grants for a principal, and for the groups of which it is a member.
    pub fn naming<'a>(&'a self, principal: &'a Principal) -> impl Iterator<Item = &'a Grant> {
        let own = self.users.get(&principal.name).into_iter();
        let groups = principal.groups.iter();
        let of_groups = groups.filter_map(|group| self.groups.get(group));
        own.chain(of_groups).flatten()
    }

    /// Returns whether nobody is given anything.
    pub fn is_empty(&self) -> bool {
        self.users.is_empty() && self.groups.is_empty()
    }
}

impl Extend<Grant> for GrantIndex {
    fn extend<I: IntoIterator<Item = Grant>>(&mut self, grants: I) {
        for grant in grants {
            let (of_kind, name) = match &grant.who {
                Subject::User(name) => (&mut self.users, name),
                Subject::Group(name) => (&mut self.groups, name),
            };
            of_kind.entry(name.clone()).or_default().push(grant);
        }
    }
}

impl FromIterator<Grant> for GrantIndex {
    fn from_iter<I: IntoIterator<Item = Grant>>(grants: I) -> Self {
        let mut index = Self::default();
        index.extend(grants);
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::principal::Source;
    use crate::role::Role;
    use crate::scope::Scope;

    #[test]
    fn a_principal_finds_what_names_it_or_its_groups() {
        let grant = |who: &str, role| {
            let everything = vec![Scope::everything()];
            Grant::new(who.parse().unwrap(), role, everything).unwrap()
        };
        let index: GrantIndex = [
            grant("alice", Role::Reader),
            grant("group:team", Role::Contributor),
            grant("alice", Role::Approver),
            grant("group:alice", Role::Owner),
            grant("team", Role::Owner),
            grant("Alice", Role::Owner),
            grant("group:others", Role::Owner),
        ]
        .into_iter()
        .collect();
        let alice = Principal {
            name: "alice".to_owned(),
            groups: vec!["team".to_owned(), "nobody".to_owned()],
            source: Source::Certificate,
            grants: Vec::new(),
        };
        let roles: Vec<Role> = index.naming(&alice).map(|grant| grant.role).collect();
        assert_eq!(roles, [Role::Reader, Role::Approver, Role::Contributor]);
        assert_eq!(index.naming(&Principal::anonymous()).count(), 0);
        assert!(!index.is_empty());
        assert!(GrantIndex::default().is_empty());
    }
}
