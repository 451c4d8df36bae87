//! Who may do what, by the command line and the configuration file.

use clap::Args;
use ucp_access::{DeniedType, Grant, Role, Scope, Subject};

/// Who may do what.
#[derive(Debug, Default, Args)]
pub(crate) struct Rights {
    /// Who may do everything, and give rights to others: the name of a user, or `group:NAME`. May be repeated.
    #[arg(long = "admin", env = "UCP_ADMIN", value_name = "NAME")]
    pub(crate) admins: Vec<Subject>,
    /// A resource type that nobody may change, such as AWS.IAM/Role, or all types of a service, such as 'AWS.IAM/*'. They
    /// can still be read. May be repeated.
    #[arg(
        long = "deny-type",
        env = "UCP_DENY_TYPE",
        value_delimiter = ',',
        value_name = "TYPE"
    )]
    pub(crate) denied: Vec<DeniedType>,
}

/// Warns of types that make resources of denied types.
pub(crate) fn warn(access: &ucp_app::Access) {
    let ways = DeniedType::ways_around(&access.denied);
    if !ways.is_empty() {
        tracing::warn!(
            denied.passed_by = ways.join(", "),
            "resources of these types make others in AWS, of denied types too: deny them as well, or deny the calls in the policy of the role"
        );
    }
}

impl Rights {
    /// Adds what the configuration file says.
    pub(crate) fn with(self, grants: Vec<Grant>, denied: Vec<DeniedType>) -> ucp_app::Access {
        let owners = self.admins.into_iter().map(|who| Grant {
            who,
            role: Role::Owner,
            scopes: vec![Scope::everything()],
        });
        ucp_app::Access {
            grants: owners.chain(grants).collect(),
            denied: self.denied.into_iter().chain(denied).collect(),
        }
    }
}
