//! Scopes: what a grant is about, and what a request concerns.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use ucp_model::ids::judge_account;
use ucp_model::{GroupId, PlaneId, PlaneKind, TypeName, excerpt};

use crate::invalid::Invalid;

/// A path, and everything below it:
///
/// - `/`
/// - `/planes/radius/{plane}`, or `…/resourcegroups/{group}` below it
/// - `/planes/aws/{plane}`, or below it `…/accounts/{account}`, `…/regions/{region}`, `…/providers/{namespace}` and
///   `…/{type}`, each below the one before.
///
/// Scopes compare by segments, ignoring case.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The path; empty for everything.
    path: String,
    /// What is compared.
    key: String,
}

impl Scope {
    /// Returns the scope of everything, `/`.
    pub fn everything() -> Self {
        Self::of(String::new(), String::new())
    }

    /// Returns the scope of a plane.
    pub fn plane(plane: &PlaneId) -> Self {
        Self::of(plane.to_string(), plane.key())
    }

    /// Returns the scope of a resource group.
    pub fn group(group: &GroupId) -> Self {
        Self::of(group.to_string(), group.key())
    }

    /// Returns the scope of an AWS account.
    pub fn account(plane: &str, account: &str) -> Result<Self, Invalid> {
        let plane = PlaneId::new(PlaneKind::Aws, plane)?;
        judge_account(account)?;
        Ok(Self::of_ascii(format!("{plane}/accounts/{account}")))
    }

    /// Returns the scope of an AWS account and region.
    pub fn region(region: &ucp_model::Scope) -> Self {
        Self::of_ascii(region.to_string())
    }

    /// Returns the scope of an AWS service, such as `AWS.EC2`, in an account and region.
    pub fn namespace(region: &ucp_model::Scope, namespace: &str) -> Result<Self, Invalid> {
        // Any type has a namespace.
        TypeName::from_segments(namespace, "Type").map_err(|_| {
            Invalid(format!(
                "'{}' is not the namespace of an AWS service, such as AWS.EC2.",
                excerpt(namespace)
            ))
        })?;
        Ok(Self::of_ascii(format!("{region}/providers/{namespace}")))
    }

    /// Returns the scope of an AWS resource type in an account and region.
    pub fn resource_type(region: &ucp_model::Scope, type_name: &TypeName) -> Self {
        Self::of_ascii(region.collection(type_name))
    }

    /// Returns the resource group, if the scope is that of one.
    pub fn as_group(&self) -> Option<GroupId> {
        self.path.parse().ok()
    }

    /// Returns whether `other` is this scope or below it.
    pub fn covers(&self, other: &Self) -> bool {
        let rest = other.key.strip_prefix(&self.key);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Returns whether an id is that of this scope, or below it, in any letter case.
    pub(crate) fn contains(&self, id: &str) -> bool {
        let id = id.to_lowercase();
        let rest = id.strip_prefix(&self.key);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Returns what is compared.
    pub fn key(&self) -> &str {
        match self.key.as_str() {
            "" => "/",
            key => key,
        }
    }

    /// Returns the key of the AWS resource type, `aws.ec2/vpc`, if the scope is that of a type.
    pub(crate) fn type_key(&self) -> Option<&str> {
        let below_aws = self.key.strip_prefix("/planes/aws/")?;
        // Any name may be `providers`, so the place is what counts: plane, accounts, account, regions, region, providers.
        let of_type = below_aws.splitn(7, '/').nth(6)?;
        of_type.contains('/').then_some(of_type)
    }

    fn of_ascii(path: String) -> Self {
        let key = path.to_ascii_lowercase();
        Self::of(path, key)
    }

    fn of(path: String, key: String) -> Self {
        Self { path, key }
    }
}

impl PartialEq for Scope {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Scope {}

impl PartialOrd for Scope {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Scope {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

impl Hash for Scope {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.path.as_str() {
            "" => "/",
            path => path,
        })
    }
}

impl FromStr for Scope {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text == "/" {
            return Ok(Self::everything());
        }
        let wrong = |why: &str| Invalid(format!("'{}' is not a scope: {why}.", excerpt(text)));
        let path = text
            .strip_prefix('/')
            .ok_or_else(|| wrong("it does not begin with a '/'"))?;
        let segments: Vec<&str> = path.split('/').collect();
        let [planes, kind, plane, rest @ ..] = &segments[..] else {
            return Err(wrong("it names no plane, as /planes/radius/local does"));
        };
        let keyword = |given: &str, expected: &str| {
            if given.eq_ignore_ascii_case(expected) {
                Ok(())
            } else {
                Err(wrong(&format!(
                    "'{}' is where {expected} belongs",
                    excerpt(given)
                )))
            }
        };
        keyword(planes, "planes")?;
        let plane = PlaneId::new(kind.parse()?, plane)?;
        match (plane.kind, rest) {
            (PlaneKind::Aws | PlaneKind::Radius, []) => Ok(Self::plane(&plane)),
            (PlaneKind::Radius, [groups, _]) => {
                keyword(groups, "resourcegroups")?;
                Ok(Self::group(&text.parse()?))
            }
            (PlaneKind::Radius, _) => Err(wrong(
                "below a radius plane it can name a resource group, as /planes/radius/local/resourcegroups/demo does",
            )),
            (PlaneKind::Aws, [accounts, account]) => {
                keyword(accounts, "accounts")?;
                Self::account(&plane.name, account)
            }
            (PlaneKind::Aws, [accounts, account, regions, region, rest @ ..]) => {
                keyword(accounts, "accounts")?;
                keyword(regions, "regions")?;
                let region = ucp_model::Scope::new(&plane.name, account, region)?;
                match rest {
                    [] => Ok(Self::region(&region)),
                    [providers, namespace] => {
                        keyword(providers, "providers")?;
                        Self::namespace(&region, namespace)
                    }
                    [providers, namespace, resource] => {
                        keyword(providers, "providers")?;
                        let type_name = TypeName::from_segments(namespace, resource)?;
                        Ok(Self::resource_type(&region, &type_name))
                    }
                    _ => Err(wrong(
                        "a region is followed by /providers/{namespace}/{type} at most",
                    )),
                }
            }
            (PlaneKind::Aws, _) => Err(wrong(
                "an aws plane is followed by /accounts/{account}/regions/{region}/providers/{namespace}/{type} or the beginning of that",
            )),
        }
    }
}

impl Serialize for Scope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Scope {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scope(text: &str) -> Scope {
        text.parse().unwrap()
    }

    #[test]
    fn a_scope_covers_itself_and_what_is_below_it() {
        let chains = [
            &[
                "/",
                "/planes/radius/local",
                "/planes/radius/local/resourcegroups/demo",
            ][..],
            &[
                "/",
                "/planes/aws/aws",
                "/planes/aws/aws/accounts/1",
                "/planes/aws/aws/accounts/1/regions/us-west-2",
                "/planes/aws/aws/accounts/1/regions/us-west-2/providers/AWS.EC2",
                "/planes/aws/aws/accounts/1/regions/us-west-2/providers/AWS.EC2/VPC",
            ],
        ];
        for chain in chains {
            for (above, wide) in chain.iter().enumerate() {
                for (below, narrow) in chain.iter().enumerate() {
                    let covers = scope(wide).covers(&scope(narrow));
                    assert_eq!(covers, above <= below, "{wide} {narrow}");
                }
            }
        }
    }

    #[test]
    fn a_segment_is_whole_and_has_any_case() {
        for (wide, other, covers) in [
            (
                "/planes/radius/local/resourcegroups/a",
                "/planes/radius/local/resourcegroups/ab",
                false,
            ),
            (
                "/planes/radius/local",
                "/planes/radius/local2/resourcegroups/a",
                false,
            ),
            ("/planes/radius/aws", "/planes/aws/aws", false),
            (
                "/planes/aws/aws/accounts/1",
                "/planes/aws/aws/accounts/12/regions/us-west-2",
                false,
            ),
            (
                "/PLANES/Radius/LOCAL/resourceGroups/Straße",
                "/planes/radius/local/resourcegroups/STRASSE",
                true,
            ),
            (
                "/planes/radius/local/resourcegroups/%C3%89t%C3%A9",
                "/planes/radius/local/resourcegroups/e\u{301}TÉ",
                true,
            ),
            (
                "/planes/aws/aws/accounts/AbC/regions/us-west-2/providers/aws.ec2",
                "/planes/aws/AWS/accounts/aBc/regions/us-west-2/providers/AWS.EC2/vpc",
                true,
            ),
        ] {
            assert_eq!(scope(wide).covers(&scope(other)), covers, "{wide} {other}");
        }
    }

    #[test]
    fn what_is_not_a_scope_is_refused_with_the_reason() {
        for (text, why) in [
            ("", "it does not begin with a '/'"),
            ("planes/radius/local", "it does not begin with a '/'"),
            ("/planes", "it names no plane"),
            ("/planes/radius", "it names no plane"),
            ("/planes/azure/x", "'azure' is not a plane type"),
            ("/planes/radius/*", "'*' is not a plane name"),
            ("/planets/radius/x", "'planets' is where planes belongs"),
            ("/planes/radius/local/", "it can name a resource group"),
            (
                "/planes/radius/local/groups/a",
                "'groups' is where resourcegroups belongs",
            ),
            (
                "/planes/radius/local/resourcegroups/",
                "is not the id of a resource group",
            ),
            (
                "/planes/radius/local/resourcegroups/*",
                "is not a resource group name",
            ),
            (
                "/planes/radius/local/resourcegroups/a/providers/AWS.EC2/VPC:reference/b",
                "it can name a resource group",
            ),
            ("/planes/aws/aws/accounts", "an aws plane is followed by"),
            ("/planes/aws/aws/accounts/*", "'*' is not an AWS account"),
            (
                "/planes/aws/aws/accounts/1/regions",
                "an aws plane is followed by",
            ),
            (
                "/planes/aws/aws/accounts/1/regions/US",
                "'US' is not an AWS region",
            ),
            (
                "/planes/aws/aws/accounts/1/regions/us/providers",
                "a region is followed by",
            ),
            (
                "/planes/aws/aws/accounts/1/regions/us/providers/EC2",
                "'EC2' is not the namespace of an AWS service",
            ),
            (
                "/planes/aws/aws/accounts/1/regions/us/providers/AWS.EC2/*",
                "is not an AWS resource type",
            ),
            (
                "/planes/aws/aws/accounts/1/regions/us/providers/AWS.EC2/VPC/vpc-1",
                "a region is followed by",
            ),
        ] {
            let error = text.parse::<Scope>().expect_err(text).to_string();
            assert!(error.contains(why), "{text}: {error}");
            assert!(error.ends_with('.'), "{text}: {error}");
            let first = error.chars().next().unwrap();
            assert!(!first.is_lowercase(), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(scope in any_scope()) {
            let text = scope.to_string();
            let read: Scope = text.parse().unwrap();
            prop_assert_eq!(&read, &scope);
            prop_assert_eq!(read.to_string(), text);
            let json = serde_json::to_string(&scope).unwrap();
            prop_assert_eq!(serde_json::from_str::<Scope>(&json).unwrap(), scope);
        }

        #[test]
        fn covering_is_an_order(a in any_scope(), b in any_scope(), c in any_scope()) {
            prop_assert!(a.covers(&a));
            prop_assert!(Scope::everything().covers(&a));
            prop_assert_eq!(a.covers(&b) && b.covers(&a), a == b);
            if a.covers(&b) && b.covers(&c) {
                prop_assert!(a.covers(&c));
            }
        }

        #[test]
        fn parsing_is_total(text in "[/*a-zA-Z0-9.%:é-]{0,80}") {
            let _ = text.parse::<Scope>();
        }
    }

    /// Draws from few names, so that scopes meet.
    fn any_scope() -> impl Strategy<Value = Scope> {
        let name = prop::sample::select(vec!["a", "A", "ab", "b"]);
        let group = prop::sample::select(vec!["a", "A", "Ä", "a(b)", "aws"]);
        let region = prop::sample::select(vec!["us", "us-west-2"]);
        let namespace = prop::sample::select(vec!["AWS.EC2", "aws.ec2", "AWS.EC"]);
        (0..7_u8, name, group, region, namespace).prop_map(
            |(shape, name, group, region, namespace)| {
                let account = format!("/planes/aws/{name}/accounts/{name}");
                let text = match shape {
                    0 => "/".to_owned(),
                    1 => format!("/planes/radius/{name}"),
                    2 => GroupId::new(name, group).unwrap().to_string(),
                    3 => format!("/planes/aws/{name}"),
                    4 => account,
                    5 => format!("{account}/regions/{region}/providers/{namespace}"),
                    _ => format!("{account}/regions/{region}/providers/{namespace}/VPC"),
                };
                text.parse().unwrap()
            },
        )
    }
}
