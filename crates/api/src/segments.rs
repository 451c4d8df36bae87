//! The segments of an id, decoded once, with ARM's keywords accepted in any letter case.

use percent_encoding::percent_decode_str;
use ucp_model::ids::{encode_segment, is_misleading};

/// ARM's keywords, as spelled in the routes.
const KEYWORDS: &[&str] = &[
    "accounts",
    "leftovers",
    "locations",
    "operations",
    "operationResults",
    "operationStatuses",
    "providers",
    "regions",
    "resourcegroups",
    "resources",
];
/// The namespaces of built-in resource providers.
const NAMESPACES: &[&str] = &["System.AWS", "System.Azure", "System.Resources"];
/// POST actions.
const ACTIONS: &[&str] = &[
    ":apply",
    ":approve",
    ":cancel",
    ":delete",
    ":get",
    ":import",
    ":put",
    ":refactor",
    ":reject",
    ":release",
    ":undo",
    ":validate",
    ":whatIf",
];

/// The reason why a path is not an id.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Unreadable(&'static str);

/// The decoded segments of an id, with keywords spelled as in the routes.
#[derive(Clone, Debug)]
pub(crate) struct Segments(Vec<String>);

impl Segments {
    /// Splits and decodes a path that begins with `/planes`.
    pub(crate) fn of(path: &str) -> Result<Self, Unreadable> {
        let path = path.strip_suffix('/').unwrap_or(path);
        let path = path.strip_prefix('/').unwrap_or(path);
        let mut segments = path.split('/').map(decode).collect::<Result<Vec<_>, _>>()?;
        fold_keywords(&mut segments);
        Ok(Self(segments))
    }

    /// Iterates over the decoded segments.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Returns the path with canonical escaping.
    pub(crate) fn path(&self) -> String {
        self.0.iter().fold(String::new(), |path, segment| {
            path + "/" + &encode_segment(segment)
        })
    }

    /// Whether both name the same resource. Segments are compared in any letter case, except for the identifier of an
    /// AWS resource.
    pub(crate) fn same_resource(&self, other: &Self) -> bool {
        let Self(segments) = self;
        let providers = segments.iter().position(|segment| segment == "providers");
        let is_aws = |at: &usize| {
            let namespace = segments.get(at + 1);
            segments.get(1).is_some_and(|kind| kind == "aws")
                && namespace.is_some_and(|namespace| !NAMESPACES.contains(&namespace.as_str()))
        };
        let identifier = providers.filter(is_aws).map(|at| at + 3);
        let same = |(place, (mine, theirs)): (usize, (&String, &String))| {
            if identifier.is_some_and(|at| place >= at) {
                mine == theirs
            } else {
                mine.to_lowercase() == theirs.to_lowercase()
            }
        };
        segments.len() == other.0.len() && segments.iter().zip(&other.0).enumerate().all(same)
    }
}

fn decode(raw: &str) -> Result<String, Unreadable> {
    if raw.is_empty() {
        return Err(Unreadable("The path contains an empty segment ('//')."));
    }
    let segment = percent_decode_str(raw)
        .decode_utf8()
        .map_err(|_| Unreadable("The path is not UTF-8 once its percent-escapes are decoded."))?;
    if segment.chars().any(is_misleading) {
        return Err(Unreadable(
            "The path contains a control character or a bidirectional one.",
        ));
    }
    if segment == "." || segment == ".." {
        return Err(Unreadable("The path contains a '.' or '..' segment."));
    }
    Ok(segment.into_owned())
}

/// Rewrites keywords to their canonical spelling. An id is `planes`, the plane's kind and its name, then keywords and
/// names in turn. `providers` is followed by a namespace and a type, of which only `auditEvents`, `credentials`,
/// `locations`, `plans`, `predictions`, `refactors`, `resourceTypes` and `roleAssignments` are keywords.
fn fold_keywords(segments: &mut [String]) {
    fn fold(segment: &mut String, known: &[&str]) {
        if let Some(keyword) = known
            .iter()
            .find(|keyword| keyword.eq_ignore_ascii_case(segment))
        {
            (*keyword).clone_into(segment);
        }
    }
    let mut providers = None;
    let mut is_location = false;
    for (place, segment) in segments.iter_mut().enumerate() {
        match (place, providers) {
            (0, _) => fold(segment, &["planes"]),
            (1, _) => fold(segment, &["aws", "azure", "radius"]),
            (_, Some(at)) if place == at + 1 => fold(segment, NAMESPACES),
            (_, Some(at)) if place == at + 2 => {
                fold(
                    segment,
                    &[
                        "auditEvents",
                        "credentials",
                        "locations",
                        "plans",
                        "predictions",
                        "refactors",
                        "resourceTypes",
                        "roleAssignments",
                    ],
                );
                is_location = segment == "locations";
            }
            (_, Some(at)) if place == at + 3 && is_location => fold(segment, &["global"]),
            _ if place % 2 == 1 => fold(segment, KEYWORDS),
            _ => {}
        }
        if providers.is_none() && place % 2 == 1 && segment == "providers" {
            providers = Some(place);
        }
    }
    if let Some(last) = segments.last_mut() {
        fold(last, ACTIONS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A route with a keyword that is not listed would be found in one letter case only.
    #[test]
    fn keywords_of_routes_are_folded() {
        let document = crate::openapi();
        let routes = document.paths.paths.keys();
        for route in routes.filter(|route| route.starts_with("/planes")) {
            let sample = route.replace(['{', '}'], "").replace("/type", "/aws");
            let shouted = sample.to_uppercase();
            let literals = |path: &str| -> Vec<String> {
                let segments = Segments::of(path).expect("a path");
                let given = route.split('/').skip(1);
                let literal = segments
                    .0
                    .into_iter()
                    .zip(given)
                    .filter(|(_, given)| !given.starts_with('{'));
                literal.map(|(segment, _)| segment).collect()
            };
            assert_eq!(literals(&shouted), literals(&sample), "{route}");
        }
    }
}
