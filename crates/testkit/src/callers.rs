//! Who sends the requests of a test.

use async_trait::async_trait;
use ucp_access::{Grant, Principal, Role, Scope, Source, Subject};
use ucp_authentication::{IdentityProvider, Refused};

/// Who is let in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Callers {
    /// Whoever comes.
    Anybody,
    /// Who says who they are.
    Known,
}

/// The caller that may do everything.
pub(crate) const ROOT: &str = "root";

/// Returns what lets the root do everything.
pub(crate) fn root() -> Grant {
    let who = Subject::User(ROOT.to_owned());
    let everything = vec![Scope::everything()];
    Grant::new(who, Role::Owner, everything).expect("a grant")
}

/// Takes each token for the name of its caller: `NAME`, or `NAME;GROUP,GROUP`.
#[derive(Debug)]
pub(crate) struct Names;

#[async_trait]
impl IdentityProvider for Names {
    async fn verify(&self, token: &str) -> Result<Principal, Refused> {
        let (name, groups) = token.split_once(';').unwrap_or((token, ""));
        let groups = groups.split(',').filter(|group| !group.is_empty());
        Ok(Principal {
            name: name.to_owned(),
            groups: groups.map(str::to_owned).collect(),
            source: Source::Oidc,
            grants: Vec::new(),
        })
    }

    fn prefix(&self) -> &str {
        ""
    }
}
