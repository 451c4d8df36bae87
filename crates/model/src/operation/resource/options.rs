use serde::{Deserialize, Serialize};

/// What a put does if its alias is new but AWS already has a resource with the declared identifier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AdoptionPolicy {
    /// Adopt the resource without owning it, and update it.
    #[default]
    Adopt,
    /// Fail, and leave the resource unchanged.
    Fail,
}

/// What a put does if the resource does not exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CreationPolicy {
    /// Create the resource.
    #[default]
    Create,
    /// Fail: the request was a PATCH, which changes what exists.
    Fail,
}

/// What a put does with properties that it does not declare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum UpdateMode {
    /// Leave them unchanged.
    #[default]
    Merge,
    /// Remove them, as PUT does in HTTP.
    Replace,
}

/// What a put does if the change requires replacing the resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReplacementPolicy {
    /// Refuse, and name the properties that require it.
    #[default]
    Refuse,
    /// Create the new resource; once it exists, delete the old one if it is owned.
    CreateBeforeDelete,
    /// Delete the old resource, then create the new one. A resource that is not owned is left unchanged.
    DeleteBeforeCreate,
}

/// What a put does if the outcome of the create before it is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Resolve {
    /// Refuse, and say how to decide.
    #[default]
    Refuse,
    /// Leave what that create may have made, and go on as under a new alias.
    Abandon,
}

/// What becomes of a resource that would be deleted or replaced, if other references stand for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OnShared {
    /// Nothing: the change is refused.
    #[default]
    Refuse,
    /// It is left alone, and the reference gives it up.
    Release,
}

impl OnShared {
    /// Returns whether the change is refused.
    pub fn refuses(&self) -> bool {
        *self == OnShared::Refuse
    }
}

/// The caller's options for one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Options {
    /// What to do if the resource already exists.
    pub adoption_policy: AdoptionPolicy,
    /// What to do if the resource does not exist.
    pub creation_policy: CreationPolicy,
    /// What to do with undeclared properties.
    pub update_mode: UpdateMode,
    /// `"ownedResource": true`: own the resource even if it is adopted.
    pub take_ownership: bool,
    /// `"ownedResource": false`: do not own what is created under a new alias.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub declines_ownership: bool,
    /// What to do if the change requires replacing the resource.
    pub replacement_policy: ReplacementPolicy,
    /// What to do if the outcome of the create before is unknown.
    pub resolve: Resolve,
    /// Whether the parent operation makes the change again if something else is changing or using the resource.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub parent_retries: bool,
    /// What to do if other references stand for a resource that is replaced.
    #[serde(skip_serializing_if = "OnShared::refuses")]
    pub on_shared: OnShared,
    /// `"resend": true`: send the whole declaration of what AWS cannot read, although it was put so last.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub resend: bool,
    /// `"requireProof": true`: fail if AWS reports success, but has dropped a part of the change.
    pub require_proof: bool,
}

impl Options {
    /// Returns whether a put that replaces a resource gives it up if other references stand for it.
    pub fn gives_up_shared(&self) -> bool {
        self.on_shared == OnShared::Release && self.replacement_policy != ReplacementPolicy::Refuse
    }
}
