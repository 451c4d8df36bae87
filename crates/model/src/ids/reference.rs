//! Reference ids.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::arm::GroupId;
use super::aws::TypeName;
use super::invalid::{InvalidId, invalid};
use super::letters::is_misleading;
use super::segment::{decode_segment, encode_segment, is_dots};
use crate::excerpt::excerpt;

/// The maximum length of an alias, in characters. ARM's own limit for resource names is shorter for most types.
pub const ALIAS_MAX_CHARS: usize = 128;
/// The id of a reference, `trackedBy` on the wire:
/// `/planes/radius/{plane}/resourcegroups/{group}/providers/AWS.EC2/VPC:reference/{alias}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ReferenceId {
    /// The group in which the alias is unique.
    pub group: GroupId,
    /// The type of the AWS resource.
    pub type_name: TypeName,
    /// The alias: the user's own name for the resource.
    pub alias: String,
}

impl ReferenceId {
    /// Creates the id of the reference `alias` to a `type_name` in `group`.
    pub fn new(group: GroupId, type_name: TypeName, alias: &str) -> Result<Self, InvalidId> {
        if alias.is_empty() || alias.chars().count() > ALIAS_MAX_CHARS {
            return invalid(format!("an alias has 1 to {ALIAS_MAX_CHARS} characters"));
        }
        if is_dots(alias) {
            return invalid(format!("the alias '{alias}' cannot be part of a URL"));
        }
        if alias
            .chars()
            .any(|letter| is_misleading(letter) || letter == '/')
        {
            return invalid(format!(
                "the alias '{}' contains a control character, a bidirectional one or a '/'",
                excerpt(alias)
            ));
        }
        Ok(Self {
            group,
            type_name,
            alias: alias.to_owned(),
        })
    }

    /// Returns the key that the store compares.
    pub fn key(&self) -> String {
        let parent = Self::keys_of_type(&self.group, &self.type_name);
        format!("{parent}/{}", self.alias.to_lowercase())
    }

    /// Returns what the keys of all references of a type in a group begin with, before a slash.
    pub fn keys_of_type(group: &GroupId, type_name: &TypeName) -> String {
        let type_name = type_name.arm().to_lowercase();
        format!("{}/providers/{type_name}:reference", group.key())
    }

    /// Returns the `type` in ARM replies, `AWS.EC2/VPC:reference`.
    pub fn arm_type(&self) -> String {
        format!("{}:reference", self.type_name.arm())
    }
}

impl fmt::Display for ReferenceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}/providers/{}/{}",
            self.group,
            self.arm_type(),
            encode_segment(&self.alias)
        )
    }
}

impl FromStr for ReferenceId {
    type Err = InvalidId;

    /// Parses a reference id. The type keeps the caller's spelling until the schema catalogue has resolved it.
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        const SHAPE: &str = "/planes/radius/{plane}/resourceGroups/{group}/providers/AWS.{Service}/{Resource}:reference/{alias}";
        let wrong = || {
            InvalidId(format!(
                "'{}' is not a reference id of the form {SHAPE}",
                excerpt(text)
            ))
        };
        let path = text.strip_prefix('/').ok_or_else(wrong)?;
        let segments: Vec<&str> = path.strip_suffix('/').unwrap_or(path).split('/').collect();
        let [
            planes,
            kind,
            plane,
            groups,
            group,
            providers,
            namespace,
            resource,
            alias,
        ] = segments[..]
        else {
            return Err(wrong());
        };
        let keywords = [
            (planes, "planes"),
            (kind, "radius"),
            (groups, "resourcegroups"),
            (providers, "providers"),
        ];
        if keywords
            .iter()
            .any(|(given, expected)| !given.eq_ignore_ascii_case(expected))
        {
            return Err(wrong());
        }
        let suffix = resource
            .len()
            .checked_sub(":reference".len())
            .filter(|at| resource.is_char_boundary(*at));
        let (resource, suffix) = resource.split_at(suffix.ok_or_else(wrong)?);
        if !suffix.eq_ignore_ascii_case(":reference") {
            return Err(wrong());
        }
        let group = decode_segment(group).ok_or_else(wrong)?;
        let alias = decode_segment(alias).ok_or_else(wrong)?;
        Self::new(
            GroupId::new(plane, &group)?,
            TypeName::from_segments(namespace, resource)?,
            &alias,
        )
    }
}
