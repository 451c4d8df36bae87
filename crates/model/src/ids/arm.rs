//! Planes, resource groups, credentials and role assignments.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::group_name::{folded, group_name};
use super::invalid::{InvalidId, invalid};
use super::segment::{decode_segment, encode_segment};
use crate::excerpt::excerpt;

/// The maximum length of the name of a plane, a credential or a role assignment, in characters. It is that of Radius.
pub const PLANE_NAME_MAX_CHARS: usize = 63;

/// An id that compares case-insensitively.
pub trait ArmId: fmt::Display + FromStr<Err = InvalidId> + Clone + Send + Sync {
    /// Returns the key that the store compares.
    fn key(&self) -> String;
}

macro_rules! arm_id {
    ($name:ident) => {
        impl $name {
            /// Returns the key that the store compares.
            pub fn key(&self) -> String {
                self.to_string().to_ascii_lowercase()
            }
        }

        impl ArmId for $name {
            fn key(&self) -> String {
                $name::key(self)
            }
        }
    };
}

/// The kind of a plane, by the resources below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PlaneKind {
    /// AWS resources.
    Aws,
    /// Resource groups.
    Radius,
}

impl PlaneKind {
    /// Returns the segment in ids.
    pub fn as_str(self) -> &'static str {
        match self {
            PlaneKind::Aws => "aws",
            PlaneKind::Radius => "radius",
        }
    }

    /// Returns the `type` in ARM replies, for example `System.AWS/planes`.
    pub fn arm_type(self) -> &'static str {
        match self {
            PlaneKind::Aws => "System.AWS/planes",
            PlaneKind::Radius => "System.Radius/planes",
        }
    }
}

impl FromStr for PlaneKind {
    type Err = InvalidId;

    fn from_str(word: &str) -> Result<Self, InvalidId> {
        let known = [PlaneKind::Aws, PlaneKind::Radius];
        let kind = known
            .into_iter()
            .find(|kind| kind.as_str().eq_ignore_ascii_case(word));
        kind.ok_or_else(|| {
            InvalidId(format!(
                "'{}' is not a plane type; the types are aws and radius",
                excerpt(word)
            ))
        })
    }
}

/// A plane, the root of resource ids: `/planes/radius/local` or `/planes/aws/aws`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlaneId {
    /// The kind of the plane.
    pub kind: PlaneKind,
    /// The plane's name.
    pub name: String,
}

impl PlaneId {
    /// Creates the id `/planes/{kind}/{name}`.
    pub fn new(kind: PlaneKind, name: &str) -> Result<Self, InvalidId> {
        Ok(Self {
            kind,
            name: arm_name("plane", name)?,
        })
    }
}

arm_id!(PlaneId);

impl fmt::Display for PlaneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/planes/{}/{}", self.kind.as_str(), self.name)
    }
}

impl FromStr for PlaneId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        match *segments(text) {
            ["planes", kind, name] => Self::new(kind.parse()?, name),
            _ => invalid(format!("'{}' is not the id of a plane", excerpt(text))),
        }
    }
}

/// A resource group: `/planes/radius/{plane}/resourcegroups/{name}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GroupId {
    /// The radius plane's name.
    pub plane: String,
    /// The group's name, in NFC.
    pub name: String,
}

impl GroupId {
    /// Creates the id of the group `name` on the radius plane `plane`.
    pub fn new(plane: &str, name: &str) -> Result<Self, InvalidId> {
        Ok(Self {
            plane: arm_name("plane", plane)?,
            name: group_name(name)?,
        })
    }

    /// Returns the id of its plane.
    pub fn plane_id(&self) -> PlaneId {
        PlaneId {
            kind: PlaneKind::Radius,
            name: self.plane.clone(),
        }
    }

    /// Returns the key that the store compares.
    pub fn key(&self) -> String {
        let plane = self.plane_id().key();
        format!("{plane}/resourcegroups/{}", self.folded_name())
    }

    /// Returns the name as it is compared.
    pub(crate) fn folded_name(&self) -> String {
        folded(&self.name)
    }
}

impl ArmId for GroupId {
    fn key(&self) -> String {
        GroupId::key(self)
    }
}

impl fmt::Display for GroupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "/planes/radius/{}/resourcegroups/{}",
            self.plane,
            encode_segment(&self.name)
        )
    }
}

impl FromStr for GroupId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let is = |given: &str, keyword: &str| given.eq_ignore_ascii_case(keyword);
        let wrong = || {
            InvalidId(format!(
                "'{}' is not the id of a resource group",
                excerpt(text)
            ))
        };
        match *segments(text.strip_suffix('/').unwrap_or(text)) {
            [planes, radius, plane, groups, name]
                if is(planes, "planes") && is(radius, "radius") && is(groups, "resourcegroups") =>
            {
                Self::new(plane, &decode_segment(name).ok_or_else(wrong)?)
            }
            _ => Err(wrong()),
        }
    }
}

/// A credential: `/planes/aws/{plane}/providers/System.AWS/credentials/{name}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CredentialId {
    /// The aws plane's name.
    pub plane: String,
    /// The credential's name.
    pub name: String,
}

impl CredentialId {
    /// Creates the id of the credential `name` on the aws plane `plane`.
    pub fn new(plane: &str, name: &str) -> Result<Self, InvalidId> {
        Ok(Self {
            plane: arm_name("plane", plane)?,
            name: arm_name("credential", name)?,
        })
    }
}

arm_id!(CredentialId);

impl fmt::Display for CredentialId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "/planes/aws/{}/providers/System.AWS/credentials/{}",
            self.plane, self.name
        )
    }
}

impl FromStr for CredentialId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        match *segments(text) {
            [
                "planes",
                "aws",
                plane,
                "providers",
                "System.AWS",
                "credentials",
                name,
            ] => Self::new(plane, name),
            _ => invalid(format!("'{}' is not the id of a credential", excerpt(text))),
        }
    }
}

/// A role assignment: `/planes/radius/{plane}/providers/System.Resources/roleAssignments/{name}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoleAssignmentId {
    /// The radius plane's name.
    pub plane: String,
    /// The role assignment's name. Clients of ARM take a UUID.
    pub name: String,
}

impl RoleAssignmentId {
    /// Creates the id of the role assignment `name` on the radius plane `plane`.
    pub fn new(plane: &str, name: &str) -> Result<Self, InvalidId> {
        Ok(Self {
            plane: arm_name("plane", plane)?,
            name: role_assignment_name(name)?,
        })
    }

    /// Returns the id of its plane.
    pub fn plane_id(&self) -> PlaneId {
        PlaneId {
            kind: PlaneKind::Radius,
            name: self.plane.clone(),
        }
    }
}

arm_id!(RoleAssignmentId);

impl fmt::Display for RoleAssignmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "/planes/radius/{}/providers/System.Resources/roleAssignments/{}",
            self.plane, self.name
        )
    }
}

impl FromStr for RoleAssignmentId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        match *segments(text) {
            [
                "planes",
                "radius",
                plane,
                "providers",
                "System.Resources",
                "roleAssignments",
                name,
            ] => Self::new(plane, name),
            _ => invalid(format!(
                "'{}' is not the id of a role assignment",
                excerpt(text)
            )),
        }
    }
}

/// Checks the name of a role assignment: `^[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?$`.
fn role_assignment_name(name: &str) -> Result<String, InvalidId> {
    let fits = (1..=PLANE_NAME_MAX_CHARS).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && !name.starts_with('-')
        && !name.ends_with('-');
    if fits {
        return Ok(name.to_owned());
    }
    invalid(format!(
        "'{}' is not the name of a role assignment: 1 to {PLANE_NAME_MAX_CHARS} letters, digits and hyphens, not starting or ending with a hyphen",
        excerpt(name)
    ))
}

/// Splits an id, as `Display` writes it, into segments.
fn segments(text: &str) -> Vec<&str> {
    text.strip_prefix('/')
        .unwrap_or_default()
        .split('/')
        .collect()
}

/// Checks the name of a plane or credential: `^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$`.
pub(super) fn arm_name(what: &str, name: &str) -> Result<String, InvalidId> {
    let bytes = name.as_bytes();
    let fits = bytes.len() <= PLANE_NAME_MAX_CHARS
        && bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
    if fits {
        return Ok(name.to_owned());
    }
    invalid(format!(
        "'{}' is not a {what} name: 1 to {PLANE_NAME_MAX_CHARS} letters, digits and hyphens, starting with a letter and not ending with a hyphen",
        excerpt(name)
    ))
}
