//! Query parameters and paging.

use axum::extract::{FromRequestParts, Query};
use axum::http::Uri;
use axum::http::request::Parts;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::context::RequestContext;
use crate::problem::Problem;
use crate::routes::API_VERSION;

/// How many items a page may be asked to hold.
const TOP: std::ops::RangeInclusive<usize> = 5..=20;
const TOP_DEFAULT: usize = 10;

/// The names of the page size, of which ARM's own has a `$`.
const TOP_NAMES: &[&str] = &["top", "$top"];
const SKIP_TOKEN_NAMES: &[&str] = &["skipToken", "$skipToken"];

/// The parameters of a query, whose names count in any letter case.
pub(crate) struct Parameters(Vec<(String, String)>);

impl Parameters {
    pub(crate) fn of(uri: &Uri) -> Result<Self, Problem> {
        let Query(pairs) = Query::try_from_uri(uri)
            .map_err(|_| Problem::bad_request("The query cannot be read."))?;
        Ok(Self(pairs))
    }

    /// The first value under one of these names.
    pub(crate) fn get(&self, names: &[&str]) -> Option<&str> {
        self.all(names).next()
    }

    fn all(&self, names: &[&str]) -> impl Iterator<Item = &str> {
        let is_meant = |given: &str| names.iter().any(|name| name.eq_ignore_ascii_case(given));
        let pairs = self.0.iter().filter(move |(name, _)| is_meant(name));
        pairs.map(|(_, value)| value.as_str())
    }
}

/// Refuses a page size that is out of range, on lists and everywhere else: the check runs before routing.
pub(crate) fn judge_top(uri: &Uri) -> Result<(), Problem> {
    for given in Parameters::of(uri)?.all(TOP_NAMES) {
        if !given.parse().is_ok_and(|top| TOP.contains(&top)) {
            let shown: String = given
                .chars()
                .take(20)
                .flat_map(char::escape_debug)
                .collect();
            return Err(Problem::bad_request(format!(
                "top is '{shown}'. Give a number from {} to {}, or leave it out.",
                TOP.start(),
                TOP.end()
            )));
        }
    }
    Ok(())
}

/// Which page of a list is asked for.
#[derive(Debug)]
pub(crate) struct Page {
    /// How many items it may hold.
    pub(crate) top: usize,
    /// What the link to it said; none for the first.
    pub(crate) skip_token: Option<String>,
    path: String,
    api_version: Option<String>,
}

impl Page {
    /// Where the page after this one is, absolute.
    pub(crate) fn next_link(&self, skip_token: &str, context: &RequestContext) -> String {
        let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let version = self.api_version.as_deref().unwrap_or(API_VERSION);
        let Self { path, top, .. } = self;
        let skip_token = encoded(skip_token);
        context.absolute(&format!(
            "{path}?api-version={version}&skipToken={skip_token}&top={top}"
        ))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Page {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let parameters = Parameters::of(&parts.uri)?;
        let top = parameters.get(TOP_NAMES).and_then(|top| top.parse().ok());
        Ok(Self {
            top: top.unwrap_or(TOP_DEFAULT),
            skip_token: parameters.get(SKIP_TOKEN_NAMES).map(str::to_owned),
            path: parts.uri.path().to_owned(),
            api_version: parameters.get(&["api-version"]).map(str::to_owned),
        })
    }
}
