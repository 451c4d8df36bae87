use std::fmt;
use std::str::FromStr;

/// The path under which planes are served, such as `/apis/api.ucp.dev/v1alpha3` behind Kubernetes; empty by default.
/// Ids do not include it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathBase(String);

impl PathBase {
    /// Returns the path without a trailing slash.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Strips the base from `path`. `None` when `path` is not under the base; empty when it is the base itself.
    pub(crate) fn strip<'a>(&self, path: &'a str) -> Option<&'a str> {
        let (base, rest) = path.split_at_checked(self.0.len())?;
        let below = rest.is_empty() || rest.starts_with('/');
        (below && base.eq_ignore_ascii_case(&self.0)).then_some(rest)
    }
}

impl fmt::Display for PathBase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The text is not a valid path base.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a path such as /apis/api.ucp.dev/v1alpha3: segments of letters, digits, '-', '.', '_' and '~', none of them 'planes'"
)]
pub struct InvalidPathBase;

impl FromStr for PathBase {
    type Err = InvalidPathBase;

    fn from_str(text: &str) -> Result<Self, InvalidPathBase> {
        let path = text.strip_suffix('/').unwrap_or(text);
        if path.is_empty() {
            return Ok(Self::default());
        }
        let is_unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let fits = |segment: &str| {
            segment.bytes().any(|byte| byte != b'.')
                && segment.bytes().all(is_unreserved)
                && !segment.eq_ignore_ascii_case("planes")
        };
        let segments = path.strip_prefix('/').ok_or(InvalidPathBase)?;
        if segments.split('/').all(fits) {
            Ok(Self(path.to_owned()))
        } else {
            Err(InvalidPathBase)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_segments_are_stripped() {
        let base: PathBase = "/apis/Ucp/".parse().unwrap();
        for (path, below) in [
            ("/apis/Ucp/planes", Some("/planes")),
            ("/APIS/ucp/planes", Some("/planes")),
            ("/apis/Ucp", Some("")),
            ("/apis/Ucp/", Some("/")),
            ("/apis/Ucpx/planes", None),
            ("/planes", None),
            ("/apis/é", None),
        ] {
            assert_eq!(base.strip(path), below, "{path}");
        }
        assert_eq!(PathBase::default().strip("/planes"), Some("/planes"));
    }

    #[test]
    fn what_could_not_be_told_from_an_id_is_refused() {
        for text in ["", "/"] {
            assert_eq!(text.parse(), Ok(PathBase::default()));
        }
        for text in [
            "apis",
            "//",
            "/apis//ucp",
            "/a b",
            "/a%20b",
            "/..",
            "/a/./b",
            "/x/Planes",
            "/{a}",
        ] {
            assert_eq!(text.parse::<PathBase>(), Err(InvalidPathBase), "{text}");
        }
    }
}
