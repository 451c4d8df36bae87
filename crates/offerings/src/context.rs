//! What a request brings besides parameters.

use std::collections::BTreeMap;
use std::fmt;

/// Where an instance or a binding belongs, and what it is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// The id of the instance.
    pub instance_id: String,
    /// The id of the binding; `None` for an instance.
    pub binding_id: Option<String>,
    /// The organization.
    pub organization_guid: String,
    /// The space.
    pub space_guid: String,
    /// The name of the platform.
    pub platform: String,
    /// The AWS account.
    pub account: String,
    /// The AWS region.
    pub region: String,
    /// When the binding expires, as a text; `None` unless [`Binding::expires_after`](crate::Binding::expires_after) says
    /// that it does.
    pub expires_at: Option<String>,
}

/// A value of [`Context`] that a name in `((…))` stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attribute {
    InstanceId,
    BindingId,
    OrganizationGuid,
    SpaceGuid,
    Platform,
    Account,
    Region,
    ExpiresAt,
}

impl Attribute {
    const ALL: [Self; 8] = [
        Self::InstanceId,
        Self::BindingId,
        Self::OrganizationGuid,
        Self::SpaceGuid,
        Self::Platform,
        Self::Account,
        Self::Region,
        Self::ExpiresAt,
    ];

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::InstanceId => "instance_id",
            Self::BindingId => "binding_id",
            Self::OrganizationGuid => "organization_guid",
            Self::SpaceGuid => "space_guid",
            Self::Platform => "platform",
            Self::Account => "account",
            Self::Region => "region",
            Self::ExpiresAt => "expires_at",
        }
    }
}

impl Context {
    pub(crate) fn value(&self, attribute: Attribute) -> Option<&str> {
        match attribute {
            Attribute::InstanceId => Some(&self.instance_id),
            Attribute::BindingId => self.binding_id.as_deref(),
            Attribute::OrganizationGuid => Some(&self.organization_guid),
            Attribute::SpaceGuid => Some(&self.space_guid),
            Attribute::Platform => Some(&self.platform),
            Attribute::Account => Some(&self.account),
            Attribute::Region => Some(&self.region),
            Attribute::ExpiresAt => self.expires_at.as_deref(),
        }
    }
}

/// Random texts by their names in `((random/…))`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Randoms(pub BTreeMap<String, String>);

impl fmt::Debug for Randoms {
    /// Formats the names alone: the texts are secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
