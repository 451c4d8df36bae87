//! What the clients of worlds name.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use ucp_model::GroupId;

use crate::{ACCOUNT, REGION};

/// The name of the log group that a platform orders.
pub(super) const ORDERED: &str = "osb-logs";
/// AWS assigns the identifiers of its resources.
pub(super) const VPC: &str = "AWS.EC2/VPC";
/// It is in a VPC.
pub(super) const SUBNET: &str = "AWS.EC2/Subnet";
/// The declaration names its resources.
pub(super) const LOG_GROUP: &str = "AWS.Logs/LogGroup";
/// AWS assigns the identifiers of its resources, and the value is write-only.
pub(super) const SECRET: &str = "AWS.SecretsManager/Secret";

/// The declaration names its resources, and AWS derives their identifiers.
pub(super) const TOPIC: &str = "AWS.SNS/Topic";
/// The declaration names its resources, and AWS has them once for all regions.
pub(super) const ROLE: &str = "AWS.IAM/Role";
/// The declaration names its resources, and AWS keeps the names in lower case.
pub(super) const DATABASE: &str = "AWS.RDS/DBInstance";
/// Its value can be what others are called.
pub(super) const PARAMETER: &str = "AWS.SSM/Parameter";
/// It is in a VPC, and has a policy.
pub(super) const ENDPOINT: &str = "AWS.EC2/VPCEndpoint";

/// The group that may be deleted.
pub(super) const OTHER_GROUP: &str = "other";
/// The group whose sets list one log group, now under this alias and now under that.
pub(super) const RENAMING_GROUP: &str = "renaming";
/// That log group. Somebody always declares it.
pub(super) const RENAMED: &str = "renamed";
/// The group whose sets list a database and a log group, now under this alias and now under that, whose names are not always told
/// alike.
pub(super) const MOVING_GROUP: &str = "moving";
/// The name of both. Somebody always declares them.
pub(super) const MOVED: &str = "moved";
/// The group whose sets list one role, now from this region and now from that, under another alias from each.
pub(super) const ROLES_GROUP: &str = "roles";
/// That role. Somebody always declares it.
pub(super) const KEPT_ROLE: &str = "kept";
/// The other region.
pub(super) const ELSEWHERE: &str = "eu-west-1";
/// The group of the space for which a platform orders.
pub(super) const SPACE_GROUP: &str = "cf-space";

/// An alias, with what all its declarations have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Alias {
    /// Its name in stories.
    pub(super) key: &'static str,
    pub(super) group: &'static str,
    pub(super) resource_type: &'static str,
    pub(super) name: &'static str,
    /// The CIDR block of its VPC, or the name of its resource. Without it, it may stand for any VPC.
    pub(super) mark: Option<&'static str>,
}

/// The aliases. Two of them declare the log group `one`, which is put by name too.
pub(super) const ALIASES: [Alias; 9] = [
    alias("v1", "rg", VPC, "v1", Some("10.1.0.0/16")),
    alias("v2", "rg", VPC, "v2", Some("10.2.0.0/16")),
    alias("imported", "rg", VPC, "imported", None),
    alias("l1", "rg", LOG_GROUP, "l1", Some("one")),
    alias("l2", "rg", LOG_GROUP, "l2", Some("two")),
    alias("l3", "rg", LOG_GROUP, "l3", Some("one")),
    alias("s1", "rg", SECRET, "s1", Some("secret")),
    alias("other/v1", OTHER_GROUP, VPC, "v1", Some("10.3.0.0/16")),
    alias("other/s1", OTHER_GROUP, SECRET, "s1", Some("another")),
];

/// The log groups that are put and deleted by name.
pub(super) const NAMES: [&str; 2] = ["one", "three"];

/// What is replaced. Its name is the same in all its declarations.
pub(super) const REPLACED: Alias = alias("topic", "rg", TOPIC, "topic", Some("topic"));
/// What is made by name, imported, not owned, and given up.
pub(super) const FOREIGN: Alias = alias(
    "foreign",
    RENAMING_GROUP,
    LOG_GROUP,
    "foreign",
    Some("foreign"),
);

/// What stands beside the log group of the renames. Sets may list that log group under its alias.
pub(super) const ASIDE: Alias = alias("aside", RENAMING_GROUP, LOG_GROUP, "c", Some("aside"));

/// What is made by name, imported, not owned, as a resource of an instance.
pub(super) const INTRUDING: Alias = alias(
    "logs:foreign",
    SPACE_GROUP,
    LOG_GROUP,
    "logs:foreign",
    Some(FOREIGN.name),
);
/// What an order has made, imported, not owned.
pub(super) const SHARED: Alias = alias("shared", "rg", LOG_GROUP, "shared", Some(ORDERED));

/// A role, from the region of all else and from the other one.
pub(super) const ROLES: [Alias; 2] = [
    alias("role", "rg", ROLE, "here", Some("role")),
    alias("role/elsewhere", "rg", ROLE, "there", Some("role")),
];

/// The alias of the role from a region.
pub(super) fn role(elsewhere: bool) -> Alias {
    ROLES[usize::from(elsewhere)]
}

const fn alias(
    key: &'static str,
    group: &'static str,
    resource_type: &'static str,
    name: &'static str,
    mark: Option<&'static str>,
) -> Alias {
    Alias {
        key,
        group,
        resource_type,
        name,
        mark,
    }
}

impl Alias {
    /// Whether it may stand for what was not created under it. What it declares must not require a replacement.
    pub(super) fn may_import(&self) -> bool {
        self.mark.is_none() || self.resource_type == LOG_GROUP
    }

    /// The id of its reference.
    pub(super) fn id(&self) -> String {
        let Self {
            resource_type,
            name,
            ..
        } = self;
        format!(
            "{}/providers/{resource_type}:reference/{name}",
            group(self.group)
        )
    }

    /// The name of its type at AWS.
    pub(super) fn type_name(&self) -> String {
        type_name(self.resource_type)
    }

    /// The property that has its mark.
    pub(super) fn marked(&self) -> &'static str {
        match self.resource_type {
            VPC => "CidrBlock",
            SECRET => "Name",
            _ => "LogGroupName",
        }
    }
}

impl Serialize for Alias {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.key)
    }
}

impl<'de> Deserialize<'de> for Alias {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let key = String::deserialize(deserializer)?;
        let known = ALIASES.into_iter().find(|alias| alias.key == key);
        known.ok_or_else(|| D::Error::custom(format!("no world has the alias {key}")))
    }
}

/// What AWS calls a type.
pub(super) fn type_name(resource_type: &str) -> String {
    resource_type.replace(['.', '/'], "::")
}

/// The path of a resource group.
pub(super) fn group(name: &str) -> String {
    format!("/planes/radius/local/resourceGroups/{name}")
}

/// The path of what is called so, below a type.
pub(super) fn below(resource_type: &str, identifier: &str) -> String {
    format!("{}/providers/{resource_type}/{identifier}", scope(false))
}

/// The path of the account and its region, or the other one.
pub(super) fn scope(elsewhere: bool) -> String {
    let region = if elsewhere { ELSEWHERE } else { REGION };
    format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{region}")
}

/// The id of a resource group.
pub(super) fn id_of(group: &str) -> GroupId {
    GroupId::new("local", group).expect("the id of a group")
}
