use serde::{Deserialize, Serialize};

/// What a put does when its alias is new but AWS already has a resource under the identifier it declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AdoptionPolicy {
    /// Map it, not owned, and update it.
    #[default]
    Adopt,
    /// Refuse, and leave it alone.
    Fail,
}

/// What a put does about properties that it does not declare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum UpdateMode {
    /// Leave them alone.
    #[default]
    Merge,
    /// Remove them: strict PUT.
    Replace,
}

/// What a put does when the resource would have to be replaced to become what is declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReplacementPolicy {
    /// Refuse, and name what would force it.
    #[default]
    Refuse,
    /// Create the new resource; once it stands, delete the old one if it is owned.
    CreateBeforeDelete,
    /// Delete the old resource, then create the new one. One that is not owned is left alone.
    DeleteBeforeCreate,
}

/// What the caller may choose about one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Options {
    /// What to do about an existing resource.
    pub adoption_policy: AdoptionPolicy,
    /// What to do about undeclared properties.
    pub update_mode: UpdateMode,
    /// `"ownedResource": true`: own it even when it was adopted.
    pub take_ownership: bool,
    /// What to do about a change that AWS makes only by replacing the resource.
    pub replacement_policy: ReplacementPolicy,
}
