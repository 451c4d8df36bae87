//! Ids of resources, references and resource groups, as the API writes them.

use std::fmt;
use std::str::FromStr;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What a segment of a path may have as it is.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The id of a resource group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group(String);

impl FromStr for Group {
    type Err = &'static str;

    /// Reads an id, or the name of a group of the plane `local`.
    fn from_str(text: &str) -> Result<Self, &'static str> {
        let segments: Vec<&str> = text.split('/').collect();
        let is = |segment: &str, word: &str| segment.eq_ignore_ascii_case(word);
        match &segments[..] {
            [name] if !name.is_empty() => {
                let name = utf8_percent_encode(name, SEGMENT);
                Ok(Self(format!("/planes/radius/local/resourceGroups/{name}")))
            }
            ["", planes, radius, plane, groups, name]
                if is(planes, "planes")
                    && is(radius, "radius")
                    && is(groups, "resourceGroups")
                    && !plane.is_empty()
                    && !name.is_empty() =>
            {
                Ok(Self(text.to_owned()))
            }
            _ => Err("expected a name, or /planes/radius/{plane}/resourceGroups/{name}"),
        }
    }
}

impl Group {
    /// The name of its radius plane.
    pub(crate) fn plane(&self) -> &str {
        self.0.split('/').nth(3).unwrap_or_default()
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A path of the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResourceId(String);

impl ResourceId {
    /// Whether it names a resource group, whose routes need the version of the API.
    pub(crate) fn is_group(&self) -> bool {
        self.0.parse::<Group>().is_ok()
    }

    /// Whether it names a reference.
    pub(crate) fn is_reference(&self) -> bool {
        let id = self.0.to_ascii_lowercase();
        id.starts_with("/planes/radius/") && id.contains("/providers/")
    }
}

impl FromStr for ResourceId {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let is_path = text.to_ascii_lowercase().starts_with("/planes/");
        // The rest would be read as a query, or never be sent.
        if is_path && !text.contains(['?', '#']) {
            Ok(Self(text.to_owned()))
        } else {
            Err("expected an id, which begins with /planes/")
        }
    }
}

impl fmt::Display for ResourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The type and the name of what an id stands for: `AWS.EC2/VPC net`.
pub(crate) fn short(id: &str) -> String {
    let Some((_, name)) = id.split_once("/providers/") else {
        return last(id).to_owned();
    };
    let parts: Vec<&str> = name.splitn(3, '/').collect();
    match parts[..] {
        [namespace, resource, name] => {
            let resource = resource.trim_end_matches(":reference");
            format!("{namespace}/{resource} {name}")
        }
        _ => name.to_owned(),
    }
}

/// Returns a name as a segment of a path.
pub(crate) fn segment(name: &str) -> String {
    utf8_percent_encode(name, SEGMENT).to_string()
}

/// The address of a reference in files of moves: `rg/AWS.EC2/VPC/net`. One of another radius plane than this has its id.
pub(crate) fn address(id: &str, radius: &str) -> String {
    let segments: Vec<&str> = id.split('/').collect();
    match segments[..] {
        ["", _, _, plane, _, group, _, namespace, resource, alias]
            if plane.eq_ignore_ascii_case(radius) =>
        {
            let resource = resource.trim_end_matches(":reference");
            format!("{group}/{namespace}/{resource}/{alias}")
        }
        _ => id.to_owned(),
    }
}

/// The last segment of an id.
pub(crate) fn last(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_named_or_has_an_id() {
        let group = |text: &str| text.parse::<Group>().map(|group| group.to_string());
        let demo = "/planes/radius/local/resourceGroups/demo";
        assert_eq!(group("demo").as_deref(), Ok(demo));
        assert_eq!(
            group("größe").as_deref(),
            Ok("/planes/radius/local/resourceGroups/gr%C3%B6%C3%9Fe")
        );
        assert!(group("/planes/radius/x/resourcegroups/demo").is_ok());
        for wrong in [
            "",
            "a/b",
            "/planes/aws/x/resourceGroups/demo",
            "/planes/radius/x/resourceGroups/",
        ] {
            assert!(group(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn ids_are_shortened_for_people() {
        let reference = "/planes/radius/local/resourcegroups/g/providers/AWS.EC2/VPC:reference/net";
        assert_eq!(short(reference), "AWS.EC2/VPC net");
        let resource = "/planes/aws/aws/accounts/1/regions/r/providers/AWS.Logs/LogGroup/a%2Fb";
        assert_eq!(short(resource), "AWS.Logs/LogGroup a%2Fb");
        assert_eq!(short("/planes/radius/local/resourcegroups/g"), "g");
    }

    #[test]
    fn an_id_is_a_path_without_a_query() {
        for wrong in ["planes/x", "/version", "/planes/a?b", "/planes/a#b"] {
            assert!(wrong.parse::<ResourceId>().is_err(), "{wrong}");
        }
    }
}
