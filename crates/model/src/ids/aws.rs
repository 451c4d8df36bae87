//! AWS resources: where they live, what they are and what AWS calls them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::arm::arm_name;
use super::invalid::{InvalidId, excerpt, invalid};
use super::segment::{encode_segment, is_dots};

/// The longest primary identifier that Cloud Control accepts, in characters.
pub const IDENTIFIER_MAX_CHARS: usize = 1_024;

/// An AWS primary identifier; several properties are joined by `|`. Compared byte for byte.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Identifier(String);

impl Identifier {
    /// Takes the text as it is.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The identifier as a caller gave it, refused when AWS could never accept it.
    pub fn parse(text: &str) -> Result<Self, InvalidId> {
        if text.is_empty() {
            return invalid("the primary identifier is empty");
        }
        if text.chars().count() > IDENTIFIER_MAX_CHARS {
            return invalid(format!(
                "the primary identifier is longer than {IDENTIFIER_MAX_CHARS} characters"
            ));
        }
        if text.chars().any(char::is_control) {
            return invalid("the primary identifier holds a control character");
        }
        if is_dots(text) {
            return invalid(format!(
                "no URL can lead to the primary identifier '{text}'"
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

/// The name of an AWS resource type, `AWS::EC2::VPC` for AWS and `AWS.EC2/VPC` in ids, in its canonical spelling.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TypeName(String);

impl TypeName {
    /// From CloudFormation's spelling, `AWS::EC2::VPC`.
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

    /// From the two segments of an id, `AWS.EC2` and `VPC`. The spelling is the caller's until the schema catalogue
    /// has resolved it.
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

    /// CloudFormation's spelling, `AWS::EC2::VPC`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// `AWS.EC2`, the provider namespace of ids.
    pub fn namespace(&self) -> String {
        let mut parts = self.0.splitn(3, "::");
        format!(
            "{}.{}",
            parts.next().unwrap_or_default(),
            parts.next().unwrap_or_default()
        )
    }

    /// `VPC`, the type segment of ids.
    pub fn resource(&self) -> &str {
        self.0.rsplit("::").next().unwrap_or_default()
    }

    /// `AWS.EC2/VPC`, the `type` of ARM replies.
    pub fn arm(&self) -> String {
        format!("{}/{}", self.namespace(), self.resource())
    }
}

impl fmt::Display for TypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where an AWS resource lives: `/planes/aws/{plane}/accounts/{account}/regions/{region}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Scope {
    /// The aws plane's name.
    pub plane: String,
    /// The AWS account as the caller wrote it.
    pub account: String,
    /// The AWS region.
    pub region: String,
}

impl Scope {
    /// The scope of `account` and `region`.
    pub fn new(plane: &str, account: &str, region: &str) -> Result<Self, InvalidId> {
        let plane = arm_name("plane", plane)?;
        let account_fits = (1..=63).contains(&account.len())
            && account.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !account_fits {
            return invalid(format!(
                "'{}' is not an AWS account: up to 63 letters and digits",
                excerpt(account)
            ));
        }
        let is_region =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let region_fits = (1..=63).contains(&region.len())
            && region.starts_with(|first: char| first.is_ascii_lowercase())
            && !region.ends_with('-')
            && region.bytes().all(is_region);
        if !region_fits {
            return invalid(format!(
                "'{}' is not an AWS region: lower-case letters, digits and hyphens, as in us-west-2",
                excerpt(region)
            ));
        }
        Ok(Self {
            plane,
            account: account.to_owned(),
            region: region.to_owned(),
        })
    }

    /// Whether the two are one account and region, whichever plane leads there.
    pub fn is_same_place(&self, other: &Self) -> bool {
        self.account.eq_ignore_ascii_case(&other.account) && self.region == other.region
    }

    /// The collection of a type in this scope, `C` in the contract.
    pub fn collection(&self, type_name: &TypeName) -> String {
        format!("{self}/providers/{}", type_name.arm())
    }

    /// The id of one AWS resource in this scope.
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

/// One AWS resource, whichever plane or alias leads to it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target<'a> {
    /// Where it lives.
    pub scope: &'a Scope,
    /// What it is.
    pub type_name: &'a TypeName,
    /// AWS's name for it.
    pub identifier: &'a Identifier,
}

impl Target<'_> {
    /// What the store compares: account, region, type and identifier, the identifier byte for byte.
    pub fn key(&self) -> String {
        let Scope {
            account, region, ..
        } = self.scope;
        format!(
            "{}/{}/{}/{}",
            account.to_ascii_lowercase(),
            region,
            self.type_name,
            self.identifier
        )
    }
}
