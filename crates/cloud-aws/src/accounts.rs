use std::collections::BTreeMap;

/// How AWS accounts are reached.
#[derive(Clone, Debug, Default)]
pub struct Accounts {
    /// What is said of each account, by its twelve digits.
    pub by_id: BTreeMap<String, Account>,
    /// Whether calls about an account that no role leads to are refused unless the credentials are of that account.
    pub verify: bool,
}

/// How one AWS account is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// The role that calls are made in; without one they are made with the base credentials.
    pub role: Option<AssumedRole>,
    /// The role that Cloud Control works as (`RoleArn`), so that what takes long outlives our session.
    pub cloud_control_role_arn: Option<String>,
}

/// A role to assume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssumedRole {
    /// The role's ARN.
    pub arn: String,
    /// What the role's trust policy may ask for.
    pub external_id: Option<String>,
    /// How the session shows in the account's logs.
    pub session_name: String,
}
