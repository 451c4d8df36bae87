//! The AWS regions that requests may name.
//!
//! Each region costs clients, sessions and schemas of its own, and a request can make up any number of names. So only
//! known regions are allowed, and those that the operator names.

use std::collections::BTreeSet;

use ucp_model::{ErrorCode, Failure, Scope};

use crate::wildcard::Wildcard;
use crate::{Rejection, TypeCases};

/// The regions of all partitions, in alphabetical order. The AWS SDK has this list in the endpoint rules of each
/// service (`partitions.json`), but does not publish it; a test compares the two. The patterns for names of future
/// regions that it has too (`regionRegex`) are not used: any number of made-up names match them.
const KNOWN: &[&str] = &[
    "af-south-1",
    "ap-east-1",
    "ap-east-2",
    "ap-northeast-1",
    "ap-northeast-2",
    "ap-northeast-3",
    "ap-south-1",
    "ap-south-2",
    "ap-southeast-1",
    "ap-southeast-2",
    "ap-southeast-3",
    "ap-southeast-4",
    "ap-southeast-5",
    "ap-southeast-6",
    "ap-southeast-7",
    "ca-central-1",
    "ca-west-1",
    "cn-north-1",
    "cn-northwest-1",
    "eu-central-1",
    "eu-central-2",
    "eu-isoe-west-1",
    "eu-north-1",
    "eu-south-1",
    "eu-south-2",
    "eu-west-1",
    "eu-west-2",
    "eu-west-3",
    "eusc-de-east-1",
    "il-central-1",
    "me-central-1",
    "me-south-1",
    "mx-central-1",
    "sa-east-1",
    "us-east-1",
    "us-east-2",
    "us-gov-east-1",
    "us-gov-west-1",
    "us-iso-east-1",
    "us-iso-west-1",
    "us-isob-east-1",
    "us-isob-west-1",
    "us-isof-east-1",
    "us-isof-south-1",
    "us-west-1",
    "us-west-2",
];

/// How many regions a refusal lists.
const LISTED_MAX: usize = 10;

/// The regions that requests may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regions(BTreeSet<String>);

impl Default for Regions {
    /// All known regions.
    fn default() -> Self {
        Self(KNOWN.iter().copied().map(str::to_owned).collect())
    }
}

/// What cannot be allowed.
#[derive(Debug, thiserror::Error)]
pub enum InvalidRegion {
    /// A name that no region can have.
    #[error("'{0}' cannot be the name of a region: {1}")]
    Name(String, ucp_model::ids::InvalidId),
    /// A pattern that allows nothing.
    #[error("no known region matches '{0}'")]
    Pattern(String),
}

impl Regions {
    /// Returns the given regions. A `*` stands for any characters in the names of known regions; a name without one need
    /// not be known.
    pub fn of(given: &[String]) -> Result<Self, InvalidRegion> {
        let mut regions = BTreeSet::new();
        for given in given {
            if !given.contains('*') {
                let scope = Scope::new("aws", "1", given);
                let scope = scope.map_err(|error| InvalidRegion::Name(given.clone(), error))?;
                regions.insert(scope.region);
                continue;
            }
            let pattern = Wildcard::new(given);
            let mut known = KNOWN
                .iter()
                .filter(|known| pattern.matches(known))
                .peekable();
            if known.peek().is_none() {
                return Err(InvalidRegion::Pattern(given.clone()));
            }
            regions.extend(known.copied().map(str::to_owned));
        }
        Ok(Self(regions))
    }

    /// Returns their names, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl TypeCases {
    /// Refuses a region that is not allowed.
    pub(crate) fn admit_region(&self, scope: &Scope) -> Result<(), Rejection> {
        let Regions(allowed) = &self.regions;
        let region = &scope.region;
        if allowed.contains(region) {
            return Ok(());
        }
        let message = if KNOWN.contains(&region.as_str()) {
            let mut listed: Vec<&str> = allowed.iter().map(String::as_str).collect();
            let more = match listed.len().saturating_sub(LISTED_MAX) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            listed.truncate(LISTED_MAX);
            let listed = listed.join(", ");
            format!(
                "The region '{region}' is not allowed on this server. It allows {listed}{more}. Use one of them, or start ucp with --allowed-region {region} besides those that it has."
            )
        } else {
            format!(
                "The region '{region}' is not known. Correct it, or, if AWS has it, start ucp with --allowed-region {region} besides those that it has, such as '*'."
            )
        };
        Err(Rejection::Invalid(
            Failure::new(ErrorCode::BadRequest, message).with_target(format!("regions/{region}")),
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use serde_json::Value;

    use super::*;

    fn regions(given: &[&str]) -> Result<Vec<String>, InvalidRegion> {
        let given: Vec<String> = given.iter().copied().map(str::to_owned).collect();
        Ok(Regions::of(&given)?.0.into_iter().collect())
    }

    #[test]
    fn regions_are_narrowed_and_extended() {
        assert_eq!(regions(&["*"]).unwrap(), KNOWN);
        assert_eq!(regions(&["eu-west-1"]).unwrap(), ["eu-west-1"]);
        assert_eq!(
            regions(&["cn-*"]).unwrap(),
            ["cn-north-1", "cn-northwest-1"]
        );
        assert_eq!(regions(&["*", "eu-*"]).unwrap(), KNOWN);
        let extended = regions(&["*", "xx-new-1"]).unwrap();
        assert_eq!(extended.len(), KNOWN.len() + 1);
        for wrong in ["", "EU-WEST-1", "eu_west", "eu-nowhere-*"] {
            assert!(regions(&[wrong]).is_err(), "{wrong}");
        }
    }

    /// The SDK's list is read from its source: whoever updates the SDK updates the list.
    #[test]
    fn all_regions_of_the_sdk_are_known() {
        let metadata = Command::new(env!("CARGO"))
            // What other platforms need may not have been downloaded.
            .args(["metadata", "--format-version=1", "--locked", "--offline"])
            .args(["--filter-platform", "host-tuple"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
        let mut packages = metadata["packages"].as_array().unwrap().iter();
        let sdk = packages.find(|package| package["name"] == "aws-sdk-cloudcontrol");
        let manifest = sdk.unwrap()["manifest_path"].as_str().unwrap();
        let source = Path::new(manifest).with_file_name("src/endpoint_lib.rs");
        let source = std::fs::read_to_string(source).unwrap();
        let literal = source.split_once("new_from_json(b\"").unwrap().1;
        let literal = literal.split_once("}\")").unwrap().0;
        let json = format!("{literal}}}")
            .replace("\\\"", "\"")
            .replace("\\\\", "\\");
        let partitions: Value = serde_json::from_str(&json).unwrap();
        let mut regions = BTreeSet::new();
        for partition in partitions["partitions"].as_array().unwrap() {
            let names = partition["regions"].as_object().unwrap().keys();
            // These are not regions, but stand for services without one.
            regions.extend(names.filter(|name| !name.ends_with("-global")).cloned());
        }
        assert_eq!(regions.into_iter().collect::<Vec<_>>(), KNOWN);
    }
}
