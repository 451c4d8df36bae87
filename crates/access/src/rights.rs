//! What a principal may do.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::denied::DeniedType;
use crate::grant::Grant;
use crate::principal::{ANONYMOUS, Principal};
use crate::refusal::{Reason, Refusal};
use crate::role::{Right, Role};
use crate::scope::Scope;

/// What a principal may do. What no grant gives is refused.
#[derive(Clone, Debug)]
pub struct Rights {
    /// The name of the principal.
    client: Arc<str>,
    granted: Granted,
    denied: Arc<[DeniedType]>,
}

#[derive(Clone, Debug)]
enum Granted {
    Everything,
    /// Each role over a scope.
    These(Vec<(Role, Scope)>),
}

impl Rights {
    /// Returns all rights over everything, for callers of whom nobody asks who they are.
    pub fn unlimited() -> Self {
        Self::granting(ANONYMOUS, Granted::Everything)
    }

    /// Returns the rights that `grants` give to `principal`, and those of its credential.
    pub fn of<'a>(principal: &'a Principal, grants: impl IntoIterator<Item = &'a Grant>) -> Self {
        let named = grants.into_iter().filter(|grant| principal.is(&grant.who));
        let own = &principal.grants;
        let roles = named.chain(own).flat_map(|grant| {
            let scopes = grant.scopes.iter().cloned();
            scopes.map(|scope| (grant.role, scope))
        });
        Self::granting(&principal.name, Granted::These(roles.collect()))
    }

    /// Returns these rights without that to change resources of the `denied` types.
    pub fn except(self, denied: Arc<[DeniedType]>) -> Self {
        Self { denied, ..self }
    }

    /// Returns whether nothing has to be granted.
    pub fn are_unlimited(&self) -> bool {
        match self.granted {
            Granted::Everything => true,
            Granted::These(_) => false,
        }
    }

    /// Returns whether everything may be changed.
    pub fn change_everything(&self) -> bool {
        self.denied.is_empty() && self.permits(Right::Write, &Scope::everything())
    }

    /// Returns the scopes that grants name for reading, in the order of their keys. They may not exist.
    pub fn readable(&self) -> BTreeSet<&Scope> {
        match &self.granted {
            Granted::Everything => BTreeSet::new(),
            Granted::These(roles) => roles
                .iter()
                .filter(|(role, _)| role.contains(Right::Read))
                .map(|(_, scope)| scope)
                .collect(),
        }
    }

    /// Returns whether the principal has a right over the whole scope.
    pub fn permits(&self, right: Right, scope: &Scope) -> bool {
        self.missing(right, scope).is_none()
    }

    /// Returns whether the principal has a right over anything.
    pub fn permits_somewhere(&self, right: Right) -> bool {
        match &self.granted {
            Granted::Everything => true,
            Granted::These(roles) => roles.iter().any(|(role, _)| role.contains(right)),
        }
    }

    /// Returns whether the principal has a right over what an id names, whatever that is.
    pub fn permits_at(&self, right: Right, id: &str) -> bool {
        match &self.granted {
            Granted::Everything => true,
            Granted::These(roles) => roles
                .iter()
                .any(|(role, over)| role.contains(right) && over.contains(id)),
        }
    }

    /// Refuses an action that needs a right over the whole scope, if the principal does not have it.
    pub fn judge(&self, right: Right, action: &str, scope: &Scope) -> Result<(), Box<Refusal>> {
        match self.missing(right, scope) {
            None => Ok(()),
            Some(reason) => Err(Box::new(Refusal {
                client: self.client.to_string(),
                action: action.to_owned(),
                scope: scope.clone(),
                reason,
            })),
        }
    }

    /// Returns why a right is missing, if it is.
    fn missing(&self, right: Right, scope: &Scope) -> Option<Reason> {
        let is_granted = match &self.granted {
            Granted::Everything => true,
            Granted::These(roles) => roles
                .iter()
                .any(|(role, over)| role.contains(right) && over.covers(scope)),
        };
        if !is_granted {
            return Some(Reason::NotGranted);
        }
        match right {
            // Nothing of AWS changes by it.
            Right::Read | Right::Approve => None,
            Right::Write | Right::ManageCredentials | Right::ManageAccess => {
                let denied = self.denied.iter().find(|types| types.matches(scope));
                denied.cloned().map(Reason::Denied)
            }
        }
    }

    fn granting(client: &str, granted: Granted) -> Self {
        Self {
            client: client.into(),
            granted,
            denied: Arc::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grant::Subject;
    use crate::principal::Source;

    const ROLE: &str = "/planes/aws/aws/accounts/1/regions/us-west-2/providers/AWS.IAM/Role";
    const VPC: &str = "/planes/aws/aws/accounts/1/regions/us-west-2/providers/AWS.EC2/VPC";
    const GROUP: &str = "/planes/radius/local/resourcegroups/demo";

    fn scope(text: &str) -> Scope {
        text.parse().unwrap()
    }

    fn grant(who: &str, role: Role, scopes: &[&str]) -> Grant {
        let scopes = scopes.iter().map(|text| scope(text)).collect();
        Grant::new(who.parse().unwrap(), role, scopes).unwrap()
    }

    fn alice() -> Principal {
        Principal {
            name: "alice".to_owned(),
            groups: vec!["team".to_owned()],
            source: Source::Certificate,
            grants: vec![grant("bob", Role::Reader, &[VPC])],
        }
    }

    #[test]
    fn an_id_is_in_the_scopes_above_it() {
        let owner = Principal {
            grants: vec![grant("alice", Role::Owner, &[GROUP, VPC])],
            ..alice()
        };
        let rights = Rights::of(&owner, &[]);
        for (id, is_in) in [
            (GROUP, true),
            (
                "/planes/radius/local/resourceGroups/DEMO/providers/AWS.EC2/VPC:reference/a",
                true,
            ),
            ("/planes/radius/local/resourcegroups/demo2", false),
            (
                "/planes/aws/aws/accounts/1/regions/us-west-2/providers/AWS.EC2/VPC/vpc-1",
                true,
            ),
            (
                "/planes/aws/aws/accounts/1/regions/us-west-2/providers/AWS.EC2/VPCEndpoint",
                false,
            ),
            ("/planes/radius/local", false),
            ("GET", false),
            ("", false),
        ] {
            assert_eq!(rights.permits_at(Right::ManageAccess, id), is_in, "{id}");
        }
        let everything = grant("alice", Role::Owner, &["/"]);
        let all = Rights::of(&alice(), [&everything]);
        assert!(all.permits_at(Right::ManageAccess, "/planes/radius/local"));
        let reader = grant("alice", Role::Reader, &["/"]);
        assert!(!Rights::of(&alice(), [&reader]).permits_at(Right::ManageAccess, GROUP));
    }

    #[test]
    fn a_right_somewhere_is_one_over_any_scope() {
        let contributor = grant("alice", Role::Contributor, &[GROUP]);
        let rights = Rights::of(&alice(), [&contributor]);
        assert!(rights.permits_somewhere(Right::Write));
        assert!(!rights.permits_somewhere(Right::ManageAccess));
        assert!(Rights::unlimited().permits_somewhere(Right::ManageAccess));
    }

    #[test]
    fn without_a_grant_nothing_is_permitted() {
        let rights = Rights::of(&Principal::anonymous(), &[]);
        for right in [Right::Read, Right::Write, Right::ManageAccess] {
            assert!(!rights.permits(right, &scope(GROUP)));
        }
    }

    #[test]
    fn grants_to_the_name_to_its_groups_and_of_the_credential_add_up() {
        let grants = [
            grant("alice", Role::Contributor, &[GROUP]),
            grant("group:team", Role::Reader, &["/planes/radius/other"]),
            grant("group:alice", Role::Owner, &["/"]),
            grant("team", Role::Owner, &["/"]),
            grant("Alice", Role::Owner, &["/"]),
        ];
        let alice = alice();
        let rights = Rights::of(&alice, &grants);
        assert!(rights.permits(Right::Write, &scope(GROUP)));
        assert!(!rights.permits(Right::Read, &scope("/planes/radius/local")));
        assert!(rights.permits(Right::Read, &scope("/planes/radius/other")));
        assert!(!rights.permits(Right::Write, &scope("/planes/radius/other")));
        assert!(rights.permits(Right::Read, &scope(VPC)));
        assert!(!rights.permits(Right::Write, &scope(VPC)));
        assert!(!rights.permits(Right::Read, &scope("/")));
        let refusal = rights.judge(Right::Write, "AWS.EC2/VPC/write", &scope(VPC));
        assert_eq!(
            refusal.unwrap_err().to_string(),
            format!(
                "The client 'alice' does not have authorization to perform action 'AWS.EC2/VPC/write' over scope '{VPC}'. Nothing was changed. Ask an owner of the scope, or of one above it, for a role; the operator of this server can give one too."
            )
        );
    }

    #[test]
    fn a_denied_type_is_read_and_not_changed_by_anybody() {
        let denied = |types: &str| Rights::unlimited().except([types.parse().unwrap()].into());
        let all = denied("aws.iam/*");
        assert!(all.permits(Right::Read, &scope(ROLE)));
        assert!(all.permits(Right::Write, &scope(VPC)));
        assert!(all.permits(Right::Write, &scope(GROUP)));
        let refusal = all.judge(Right::Write, "AWS.IAM/Role/write", &scope(ROLE));
        assert_eq!(
            refusal.unwrap_err().to_string(),
            format!(
                "The client 'anonymous' does not have authorization to perform action 'AWS.IAM/Role/write' over scope '{ROLE}'. Nothing was changed. The operator of this server denies changes of aws.iam/* to everybody."
            )
        );
        assert!(!denied("AWS.IAM/Role").permits(Right::Write, &scope(ROLE)));
        let elsewhere = ROLE.replace("/aws/aws/", "/aws/providers/");
        assert!(!all.permits(Right::Write, &scope(&elsewhere)));
        assert!(denied("AWS.IAM/Rol").permits(Right::Write, &scope(ROLE)));
        assert!(denied("AWS.IA/*").permits(Right::Write, &scope(ROLE)));
        for text in [
            "*",
            "AWS.IAM",
            "AWS.IAM/",
            "AWS.*/Role",
            "AWS.IAM/R*",
            "IAM/*",
        ] {
            assert!(text.parse::<DeniedType>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_grant_has_scopes_and_not_too_many() {
        let of = |count| {
            let scopes = vec![Scope::everything(); count];
            Grant::new(Subject::User("a".to_owned()), Role::Reader, scopes)
        };
        assert!(of(0).is_err());
        assert!(of(20).is_ok());
        let error = of(21).unwrap_err();
        assert_eq!(
            error.to_string(),
            "A grant has 1 to 20 scopes, and this one has 21."
        );
    }

    #[test]
    fn a_grant_is_stored_as_the_configuration_file_has_it() {
        for (who, member) in [("bob", "user"), ("group:bob", "group")] {
            let stored = grant(who, Role::CredentialsAdmin, &["/"]);
            let json = serde_json::to_string(&stored).unwrap();
            let expected =
                format!(r#"{{"{member}":"bob","role":"credentialsAdmin","scopes":["/"]}}"#);
            assert_eq!(json, expected);
            assert_eq!(serde_json::from_str::<Grant>(&json).unwrap(), stored);
        }
    }

    #[test]
    fn subjects_are_read_as_they_are_written() {
        for text in ["alice", "token:ci", "group:oidc:team"] {
            assert_eq!(text.parse::<Subject>().unwrap().to_string(), text);
        }
        let long = "a".repeat(257);
        for text in ["", "group:", "a\nb", &long] {
            assert!(text.parse::<Subject>().is_err(), "{text}");
        }
    }
}
