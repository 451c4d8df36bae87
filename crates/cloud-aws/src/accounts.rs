use std::collections::BTreeMap;

/// The configuration of access to AWS accounts.
#[derive(Clone, Debug, Default)]
pub struct Accounts {
    /// The configuration of each account, by its twelve digits.
    pub by_id: BTreeMap<String, Account>,
    /// Whether to verify accounts that no role leads to: calls are then refused unless the credentials belong to the
    /// account.
    pub verify: bool,
}

/// The configuration of access to one AWS account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// The role to assume for calls. Without it, the base credentials are used.
    pub role: Option<AssumedRole>,
    /// The role that Cloud Control assumes (`RoleArn`), so that long changes outlive our session.
    pub cloud_control_role_arn: Option<String>,
}

/// A role to assume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssumedRole {
    /// The role's ARN.
    pub arn: String,
    /// The external id, if the role's trust policy requires one.
    pub external_id: Option<String>,
    /// The session name, as shown in the account's logs.
    pub session_name: String,
    /// The aws plane with whose credential alone it is assumed. A role with an external id is assumed with that of the plane `aws`
    /// unless this says otherwise: whoever owns the credential of a plane sees in its log what it asks for.
    pub plane: Option<String>,
}

impl AssumedRole {
    /// Returns the only plane whose credential assumes the role, if there is only one.
    pub(crate) fn only_plane(&self) -> Option<&str> {
        let default = self.external_id.as_ref().map(|_| "aws");
        self.plane.as_deref().or(default)
    }
}
