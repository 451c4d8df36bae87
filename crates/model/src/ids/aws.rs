//! AWS resources: scopes, type names and primary identifiers.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::arm::arm_name;
use super::global::{GLOBAL_SERVICES, NAMED_ONCE, PLACE, SAME_RESOURCES};
use super::invalid::{InvalidId, invalid};
use super::letters::is_misleading;
use super::segment::{encode_segment, is_dots};
use crate::excerpt::excerpt;

/// The maximum length of a primary identifier in Cloud Control, in characters.
pub const IDENTIFIER_MAX_CHARS: usize = 1_024;

/// The maximum length of an account in an id, in characters. AWS's have twelve.
pub const ACCOUNT_MAX_CHARS: usize = 63;

/// The maximum length of a region in an id, in characters. It is that of a label of a host name.
pub const REGION_MAX_CHARS: usize = 63;

/// An AWS primary identifier. A compound one has its parts joined by `|`, or is a JSON object of them if one contains
/// `|`. Compared byte for byte, once AWS has spelled it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Identifier(String);

impl Identifier {
    /// Returns whether both are the same but for the case of ASCII letters, which some types fold.
    pub(crate) fn is_spelled_like(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }

    /// Wraps the text without checks.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Parses a caller's text. Fails if AWS could never accept it.
    pub fn parse(text: &str) -> Result<Self, InvalidId> {
        if text.is_empty() {
            return invalid("the primary identifier is empty");
        }
        if text.chars().count() > IDENTIFIER_MAX_CHARS {
            return invalid(format!(
                "the primary identifier is longer than {IDENTIFIER_MAX_CHARS} characters"
            ));
        }
        if text.chars().any(is_misleading) {
            return invalid(
                "the primary identifier contains a control character or a bidirectional one",
            );
        }
        if is_dots(text) {
            return invalid(format!(
                "the primary identifier '{text}' cannot be part of a URL"
            ));
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The canonical name of an AWS resource type: `AWS::EC2::VPC` for AWS, `AWS.EC2/VPC` in ids.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TypeName(String);

impl FromStr for TypeName {
    type Err = InvalidId;

    fn from_str(name: &str) -> Result<Self, InvalidId> {
        Self::parse(name)
    }
}

impl TypeName {
    /// Parses CloudFormation's spelling, `AWS::EC2::VPC`.
    pub fn from_cloudformation(name: &str) -> Result<Self, InvalidId> {
        let parts: Vec<&str> = name.split("::").collect();
        let is_word =
            |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if parts.len() == 3 && parts.iter().all(is_word) {
            return Ok(Self(name.to_owned()));
        }
        if parts.len() == 4 && parts[3] == "MODULE" {
            return invalid(format!(
                "'{}' is a CloudFormation module, not a resource type. Declare the resources in it",
                excerpt(name)
            ));
        }
        invalid(format!(
            "'{}' is not an AWS resource type name such as AWS::EC2::VPC",
            excerpt(name)
        ))
    }

    /// Parses either spelling, `AWS::EC2::VPC` or `AWS.EC2/VPC`.
    pub fn parse(name: &str) -> Result<Self, InvalidId> {
        match name.split_once('/') {
            Some((namespace, resource)) => Self::from_segments(namespace, resource),
            None => Self::from_cloudformation(name),
        }
    }

    /// Parses the two segments of an id, `AWS.EC2` and `VPC`. Keeps the caller's spelling; the schema catalogue
    /// resolves it later.
    pub fn from_segments(namespace: &str, resource: &str) -> Result<Self, InvalidId> {
        match namespace.split_once('.') {
            Some((provider, service)) if !resource.trim_end_matches("::MODULE").contains(':') => {
                Self::from_cloudformation(&format!("{provider}::{service}::{resource}"))
            }
            _ => invalid(format!(
                "'{}/{}' is not an AWS resource type such as AWS.EC2/VPC",
                excerpt(namespace),
                excerpt(resource)
            )),
        }
    }

    /// Returns CloudFormation's spelling, `AWS::EC2::VPC`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the provider namespace in ids, `AWS.EC2`.
    pub fn namespace(&self) -> String {
        let mut parts = self.0.splitn(3, "::");
        format!(
            "{}.{}",
            parts.next().unwrap_or_default(),
            parts.next().unwrap_or_default()
        )
    }

    /// Returns the name of the service, `EC2`.
    pub fn service(&self) -> &str {
        self.0.split("::").nth(1).unwrap_or_default()
    }

    /// Returns whether its resources are the same in every region of an account.
    pub fn is_global(&self) -> bool {
        let is_service = |name: &&str| name.eq_ignore_ascii_case(self.service());
        self.0.starts_with("AWS::") && GLOBAL_SERVICES.iter().any(is_service)
    }

    /// Returns the type segment in ids, `VPC`.
    pub fn resource(&self) -> &str {
        self.0.rsplit("::").next().unwrap_or_default()
    }

    /// Returns the `type` in ARM replies, `AWS.EC2/VPC`.
    pub fn arm(&self) -> String {
        format!("{}/{}", self.namespace(), self.resource())
    }
}

impl fmt::Display for TypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The account and region of an AWS resource: `/planes/aws/{plane}/accounts/{account}/regions/{region}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Scope {
    /// The aws plane's name.
    pub plane: String,
    /// The AWS account, as the caller wrote it.
    pub account: String,
    /// The AWS region.
    pub region: String,
}

impl Scope {
    /// Creates the scope of `account` and `region`.
    pub fn new(plane: &str, account: &str, region: &str) -> Result<Self, InvalidId> {
        let plane = arm_name("plane", plane)?;
        judge_account(account)?;
        let is_region =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let region_fits = (1..=REGION_MAX_CHARS).contains(&region.len())
            && region.starts_with(|first: char| first.is_ascii_lowercase())
            && !region.ends_with('-')
            && region.bytes().all(is_region);
        if !region_fits {
            return invalid(format!(
                "'{}' is not an AWS region: up to {REGION_MAX_CHARS} lower-case letters, digits and hyphens, as in us-west-2",
                excerpt(region)
            ));
        }
        Ok(Self {
            plane,
            account: account.to_owned(),
            region: region.to_owned(),
        })
    }

    /// Returns whether both are the same account and region, regardless of the plane.
    pub fn is_same_place(&self, other: &Self) -> bool {
        self.account.eq_ignore_ascii_case(&other.account) && self.region == other.region
    }

    /// Returns the key of the account and region, regardless of the plane.
    pub fn key(&self) -> String {
        format!("{}/{}", self.account.to_ascii_lowercase(), self.region)
    }

    /// Returns the key of where the resources of a type are: that of the account and region, or of the account alone if they are the
    /// same in every region.
    pub fn place_of(&self, type_name: &TypeName) -> String {
        if type_name.is_global() {
            format!("{}/{PLACE}", self.account.to_ascii_lowercase())
        } else {
            self.key()
        }
    }

    /// Returns the key of where AWS has a name of a type once: resources of one name may be one if their keys are the same, although
    /// their types or regions are others.
    pub fn place_of_name(&self, type_name: &TypeName) -> String {
        let is_it = |other: &&str| other.eq_ignore_ascii_case(type_name.as_str());
        let place = if NAMED_ONCE.iter().any(is_it) {
            format!("{}/{PLACE}", self.account.to_ascii_lowercase())
        } else {
            self.place_of(type_name)
        };
        let mut same = SAME_RESOURCES.iter();
        let first = same.find(|types| types.iter().any(is_it));
        let name = first.map_or(type_name.as_str(), |types| types[0]);
        format!("{place}/{}", name.to_ascii_lowercase())
    }

    /// Returns the URL path of the collection of a type in this scope.
    pub fn collection(&self, type_name: &TypeName) -> String {
        format!("{self}/providers/{}", type_name.arm())
    }

    /// Returns the id of an AWS resource in this scope.
    pub fn resource(&self, type_name: &TypeName, identifier: &Identifier) -> String {
        format!(
            "{}/{}",
            self.collection(type_name),
            encode_segment(identifier.as_str())
        )
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "/planes/aws/{}/accounts/{}/regions/{}",
            self.plane, self.account, self.region
        )
    }
}

/// Checks an AWS account in an id.
pub fn judge_account(account: &str) -> Result<(), InvalidId> {
    let fits = (1..=ACCOUNT_MAX_CHARS).contains(&account.len())
        && account.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if fits {
        return Ok(());
    }
    invalid(format!(
        "'{}' is not an AWS account: up to {ACCOUNT_MAX_CHARS} letters and digits",
        excerpt(account)
    ))
}

/// One AWS resource, regardless of plane and alias.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target<'a> {
    /// The account, and the region in which AWS is asked for it.
    pub scope: &'a Scope,
    /// The resource type.
    pub type_name: &'a TypeName,
    /// The primary identifier.
    pub identifier: &'a Identifier,
}

impl Target<'_> {
    /// Returns the key that the store compares: account, region (none of a [global](TypeName::is_global) type), type, and the
    /// identifier byte for byte.
    pub fn key(&self) -> String {
        let (type_name, identifier) = (self.type_name, self.identifier);
        format!(
            "{}/{type_name}/{identifier}",
            self.scope.place_of(type_name)
        )
    }
}
