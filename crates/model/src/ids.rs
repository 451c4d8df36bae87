//! Resource ids and the other names of this field, parsed once and carried as types.
//!
//! ARM's own segments, group names and aliases compare case-insensitively and keep the casing of their first write;
//! each such id therefore has a `key()`, folded here in Rust and never by a database collation. AWS identifiers
//! compare byte for byte.

use std::fmt;
use std::str::FromStr;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The longest alias, in characters; ARM's own limit for the names of tracked resources is shorter for most types.
pub const ALIAS_MAX_CHARS: usize = 128;
/// The longest primary identifier that Cloud Control accepts, in characters.
pub const IDENTIFIER_MAX_CHARS: usize = 1_024;

/// What must be escaped in the last segment of an id, besides controls and everything outside ASCII.
const SEGMENT: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'/')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'}');

/// Why a text is not the id it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidId(String);

fn invalid<T>(message: impl Into<String>) -> Result<T, InvalidId> {
    Err(InvalidId(message.into()))
}

/// Percent-encodes one path segment the way ids carry it (`arn:aws:…/x` becomes `arn:aws:…%2Fx`).
pub fn encode_segment(segment: &str) -> String {
    utf8_percent_encode(segment, SEGMENT).to_string()
}

macro_rules! uuid_newtype {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.as_hyphenated().fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                Uuid::try_parse(text).map(Self).map_err(|_| InvalidId(format!("'{text}' is not a uuid")))
            }
        }
    };
}

macro_rules! text_newtype {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Takes the text as it is.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

uuid_newtype! {
    /// The id of an operation, seen in `operationStatuses` and `operationResults`.
    OperationId
}
uuid_newtype! {
    /// Our idempotency key for one mutation of Cloud Control, honoured by AWS for 36 hours.
    ClientToken
}
text_newtype! {
    /// Cloud Control's handle for a change in flight, kept by AWS for 7 days.
    RequestToken
}
text_newtype! {
    /// `x-ms-correlation-request-id`: what ties the calls of one deployment together.
    CorrelationId
}
text_newtype! {
    /// An AWS primary identifier; several properties are joined by `|`. Compared byte for byte.
    Identifier
}

impl Identifier {
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

/// What kind of resources a plane is the root of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PlaneKind {
    /// AWS resources.
    Aws,
    /// Resource groups.
    Radius,
}

impl PlaneKind {
    /// The word in ids.
    pub fn as_str(self) -> &'static str {
        match self {
            PlaneKind::Aws => "aws",
            PlaneKind::Radius => "radius",
        }
    }

    /// `System.AWS/planes`, the `type` of ARM replies.
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
                "'{}' is not a type of planes; there are aws and radius",
                excerpt(word)
            ))
        })
    }
}

/// A segment that clients take out of paths before they send them, escaped or not (RFC 3986, 5.2.4).
fn is_dots(segment: &str) -> bool {
    matches!(segment, "." | "..")
}

/// A plane, the root of resource ids: `/planes/radius/local` or `/planes/aws/aws`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlaneId {
    /// Of what.
    pub kind: PlaneKind,
    /// The plane's name.
    pub name: String,
}

impl PlaneId {
    /// The plane `/planes/{kind}/{name}`.
    pub fn new(kind: PlaneKind, name: &str) -> Result<Self, InvalidId> {
        Ok(Self {
            kind,
            name: arm_name("plane", name)?,
        })
    }

    /// What the store compares.
    pub fn key(&self) -> String {
        self.to_string().to_ascii_lowercase()
    }
}

impl fmt::Display for PlaneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/planes/{}/{}", self.kind.as_str(), self.name)
    }
}

/// A resource group: `/planes/radius/{plane}/resourcegroups/{name}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GroupId {
    /// The radius plane's name.
    pub plane: String,
    /// The group's name.
    pub name: String,
}

impl GroupId {
    /// The group `name` on the radius plane `plane`.
    pub fn new(plane: &str, name: &str) -> Result<Self, InvalidId> {
        Ok(Self {
            plane: arm_name("plane", plane)?,
            name: arm_name("resource group", name)?,
        })
    }

    /// The plane that it is on.
    pub fn plane_id(&self) -> PlaneId {
        PlaneId {
            kind: PlaneKind::Radius,
            name: self.plane.clone(),
        }
    }

    /// What the store compares.
    pub fn key(&self) -> String {
        self.to_string().to_ascii_lowercase()
    }
}

impl fmt::Display for GroupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "/planes/radius/{}/resourcegroups/{}",
            self.plane, self.name
        )
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
    /// The credential `name` on the aws plane `plane`.
    pub fn new(plane: &str, name: &str) -> Result<Self, InvalidId> {
        Ok(Self {
            plane: arm_name("plane", plane)?,
            name: arm_name("credential", name)?,
        })
    }

    /// What the store compares.
    pub fn key(&self) -> String {
        self.to_string().to_ascii_lowercase()
    }
}

impl fmt::Display for CredentialId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "/planes/aws/{}/providers/System.AWS/credentials/{}",
            self.plane, self.name
        )
    }
}

/// The rule for planes, groups and credentials: 1 to 63 characters, `^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$`.
fn arm_name(what: &str, name: &str) -> Result<String, InvalidId> {
    let bytes = name.as_bytes();
    let fits = bytes.len() <= 63
        && bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
    if fits {
        return Ok(name.to_owned());
    }
    invalid(format!(
        "'{}' is not a {what} name: 1 to 63 letters, digits and hyphens, starting with a letter and not ending with a hyphen",
        excerpt(name)
    ))
}

/// As much of a caller's text as an error message should repeat.
fn excerpt(text: &str) -> String {
    let short: String = text.chars().take(80).flat_map(char::escape_debug).collect();
    if text.chars().count() > 80 {
        format!("{short}…")
    } else {
        short
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

/// A tracked reference, the `trackedBy` of the contract:
/// `/planes/radius/{plane}/resourcegroups/{group}/providers/AWS.EC2/VPC:reference/{alias}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ReferenceId {
    /// The group in which the alias is unique.
    pub group: GroupId,
    /// The type it refers to.
    pub type_name: TypeName,
    /// The user's own name for the resource.
    pub alias: String,
}

impl ReferenceId {
    /// The reference `alias` to a `type_name` in `group`.
    pub fn new(group: GroupId, type_name: TypeName, alias: &str) -> Result<Self, InvalidId> {
        if alias.is_empty() || alias.chars().count() > ALIAS_MAX_CHARS {
            return invalid(format!("an alias has 1 to {ALIAS_MAX_CHARS} characters"));
        }
        if is_dots(alias) {
            return invalid(format!("no URL can lead to the alias '{alias}'"));
        }
        if alias
            .chars()
            .any(|letter| letter.is_control() || letter == '/')
        {
            return invalid(format!(
                "the alias '{}' holds a control character or a '/'",
                excerpt(alias)
            ));
        }
        Ok(Self {
            group,
            type_name,
            alias: alias.to_owned(),
        })
    }

    /// What the store compares.
    pub fn key(&self) -> String {
        format!(
            "{}/providers/{}:reference/{}",
            self.group.key(),
            self.type_name.arm(),
            self.alias
        )
        .to_lowercase()
    }

    /// `AWS.EC2/VPC:reference`, the `type` of ARM replies.
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

    /// Parses a tracking id. The type keeps the caller's spelling until the schema catalogue has resolved it.
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        const SHAPE: &str = "/planes/radius/{plane}/resourceGroups/{group}/providers/AWS.{Service}/{Resource}:reference/{alias}";
        let wrong = || {
            InvalidId(format!(
                "'{}' is not a tracking id of the form {SHAPE}",
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
        let alias = percent_encoding::percent_decode_str(alias)
            .decode_utf8()
            .map_err(|_| wrong())?;
        Self::new(
            GroupId::new(plane, group)?,
            TypeName::from_segments(namespace, resource)?,
            &alias,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACKED: &str =
        "/planes/radius/local/resourceGroups/My-RG/providers/AWS.EC2/VPC:reference/My-VPC";

    #[test]
    fn a_tracking_id_keeps_its_casing_and_compares_without_it() {
        let id: ReferenceId = TRACKED.parse().unwrap();
        assert_eq!(
            id.to_string(),
            "/planes/radius/local/resourcegroups/My-RG/providers/AWS.EC2/VPC:reference/My-VPC"
        );
        assert_eq!(
            id.key(),
            TRACKED
                .to_ascii_uppercase()
                .parse::<ReferenceId>()
                .unwrap()
                .key()
        );
        assert_eq!(id.type_name.as_str(), "AWS::EC2::VPC");
    }

    #[test]
    fn what_is_not_a_tracking_id_says_so() {
        for text in [
            "",
            "my-vpc",
            "/planes/radius/local/resourceGroups/rg",
            "/planes/aws/local/resourceGroups/rg/providers/AWS.EC2/VPC:reference/a",
            "/planes/radius/local/resourceGroups/rg/providers/AWS.EC2/VPC/a",
            "/planes/radius/local/resourceGroups/rg/providers/AWS.EC2/:reference/a",
            "/planes/radius/local/resourceGroups/rg/providers/EC2/VPC:reference/a",
            "/planes/radius/local/resourceGroups/-rg/providers/AWS.EC2/VPC:reference/a",
            "/planes/radius/local/resourceGroups/rg/providers/AWS.EC2/VPC:reference/",
            "/planes/radius/local/resourceGroups/rg/providers/AWS.EC2/VPC:reference/a%00",
            "/planes/radius/local/resourceGroups/rg/providers/AWS.EC2/é:reference/a/b",
        ] {
            assert!(text.parse::<ReferenceId>().is_err(), "{text}");
        }
    }

    #[test]
    fn identifiers_are_escaped_in_ids_and_compared_byte_for_byte() {
        let scope = Scope::new("aws", "123456789012", "us-west-2").unwrap();
        let type_name = TypeName::from_segments("AWS.Logs", "LogGroup").unwrap();
        let identifier = Identifier::new("a/b|c d");
        assert_eq!(
            scope.resource(&type_name, &identifier),
            "/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/AWS.Logs/LogGroup/a%2Fb|c%20d"
        );
        let key = |name| {
            Target {
                scope: &scope,
                type_name: &type_name,
                identifier: &Identifier::new(name),
            }
            .key()
        };
        assert_ne!(key("Foo"), key("foo"));
    }

    #[test]
    fn regions_are_checked_for_form_only() {
        assert!(Scope::new("aws", "1234", "eu-north-9").is_ok());
        for region in [
            "",
            "US-EAST-1",
            "us_east_1",
            "us-east-1/..",
            "us-east-1.evil.example",
            "-us",
            "us-",
        ] {
            assert!(Scope::new("aws", "1234", region).is_err(), "{region}");
        }
    }
}
