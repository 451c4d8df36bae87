//! Query parameters and paging.

use std::fmt::{self, Display};
use std::str::FromStr;

use axum::extract::{FromRequestParts, MatchedPath, Query, Request};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as URL_SAFE_NO_PAD;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use ucp_app::{Listed, Status};
use ucp_model::{ErrorCode, Failure, PlanId, Timestamp, excerpt};
use utoipa::IntoParams;

use crate::context::RequestContext;
use crate::problem::Problem;

/// The supported ARM API version of planes, groups and credentials.
pub(crate) const API_VERSION: &str = "2023-10-01-preview";
const API_VERSION_NAMES: &[&str] = &["api-version"];

/// The maximum page size.
pub(crate) const TOP_MAX: usize = 1_000;
/// The page size if none is asked for.
const TOP_DEFAULT: usize = 100;

/// The names of the page size. ARM's has a `$`.
const TOP_NAMES: &[&str] = &["top", "$top"];
const SKIP_TOKEN_NAMES: &[&str] = &["skipToken", "$skipToken"];

/// The parameters of a query. Names are case-insensitive.
pub(crate) struct Parameters(Vec<(String, String)>);

impl Parameters {
    pub(crate) fn of(uri: &Uri) -> Result<Self, Problem> {
        let Query(pairs) = Query::try_from_uri(uri)?;
        Ok(Self(pairs))
    }

    /// Returns the first value under one of these names.
    pub(crate) fn get(&self, names: &[&str]) -> Option<&str> {
        self.all(names).next()
    }

    fn all(&self, names: &[&str]) -> impl Iterator<Item = &str> {
        let is_meant = |given: &str| names.iter().any(|name| name.eq_ignore_ascii_case(given));
        let pairs = self.0.iter().filter(move |(name, _)| is_meant(name));
        pairs.map(|(_, value)| value.as_str())
    }
}

/// Refuses an unknown version and a page size that is out of range, on every route: the check runs before routing.
pub(crate) fn judge(uri: &Uri) -> Result<(), Problem> {
    let parameters = Parameters::of(uri)?;
    for given in parameters.all(API_VERSION_NAMES) {
        if !given.eq_ignore_ascii_case(API_VERSION) {
            return Err(unsupported_version(given));
        }
    }
    for given in parameters.all(TOP_NAMES) {
        if !given.parse().is_ok_and(|top| (1..=TOP_MAX).contains(&top)) {
            return Err(Problem::bad_request(format!(
                "top is '{}'. Use a number from 1 to {TOP_MAX}, or omit it.",
                excerpt(given),
            ))
            .at("top"));
        }
    }
    Ok(())
}

fn unsupported_version(given: &str) -> Problem {
    version_refusal(format!(
        "The api-version '{}' is not supported. Use ?api-version={API_VERSION}.",
        excerpt(given)
    ))
}

fn version_refusal(message: String) -> Problem {
    let failure = Failure::new(ErrorCode::InvalidApiVersionParameter, message);
    Problem::new(StatusCode::BAD_REQUEST, failure)
}

/// The `api-version` parameter, where it is required; [`judge`] has checked its value.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ApiVersion {
    /// The version of the API.
    #[param(rename = "api-version", value_type = String)]
    _version: (),
}

impl<S: Send + Sync> FromRequestParts<S> for ApiVersion {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let parameters = Parameters::of(&parts.uri)?;
        match parameters.get(API_VERSION_NAMES) {
            Some(_) => Ok(Self { _version: () }),
            None => Err(version_refusal(format!(
                "The api-version is missing. Add ?api-version={API_VERSION}."
            ))),
        }
    }
}

/// The requested page of a list.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Page {
    /// The page size; 100 by default.
    #[param(value_type = Option<u64>, minimum = 1, maximum = 1000, example = 100)]
    pub(crate) top: usize,
    /// The start of the page, from the `nextLink` of the previous page. Omit it for the first page.
    #[param(rename = "skipToken")]
    pub(crate) skip_token: Option<String>,
    #[param(ignore)]
    path: String,
    #[param(ignore)]
    api_version: Option<String>,
}

impl Page {
    /// Returns the place after which the page starts: that of the last item of the previous page.
    pub(crate) fn after<Place: FromStr>(&self) -> Result<Option<Place>, Problem> {
        let place = |token: &String| {
            let place = URL_SAFE_NO_PAD.decode(token).ok()?;
            String::from_utf8(place).ok()?.parse().ok()
        };
        let Some(token) = &self.skip_token else {
            return Ok(None);
        };
        match place(token) {
            Some(place) => Ok(Some(place)),
            None => Err(Problem::bad_request(
                "skipToken is not valid. Use nextLink unchanged.",
            )),
        }
    }

    /// Returns the absolute URL of the page after `listed`, if there is one; `place` names the place of an item.
    pub(crate) fn next<T, Place: Display>(
        &self,
        listed: &Listed<T>,
        place: impl Fn(&T) -> Place,
        context: &RequestContext,
    ) -> Option<String> {
        let place = match &listed.resumes_after {
            Some(after) => after.clone(),
            None => place(listed.last_of_more()?).to_string(),
        };
        Some(self.next_link_after(place, context))
    }

    /// Returns the absolute URL of the page after `place`.
    pub(crate) fn next_link_after(&self, place: impl Display, context: &RequestContext) -> String {
        self.next_link(&URL_SAFE_NO_PAD.encode(place.to_string()), context)
    }

    /// The same page of the list at `path` below this one.
    pub(crate) fn of_list_below(self, path: &str) -> Self {
        Self {
            path: format!("{}{path}", self.path),
            ..self
        }
    }

    /// Returns the absolute URL of the next page.
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
            api_version: parameters.get(API_VERSION_NAMES).map(str::to_owned),
        })
    }
}

/// The requested page of a list from AWS, which decides the page size.
#[derive(Debug, FromRequestParts, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AwsPage {
    /// The start of the page, from the `nextLink` of the previous page. Omit it for the first page.
    #[param(rename = "skipToken", value_type = Option<String>)]
    pub(crate) page: Page,
}

/// The plan that a request carries out.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PlanQuery {
    /// The plan to carry out. What was planned is done, once, or nothing.
    #[param(rename = "planId", value_type = Option<String>, format = "uuid")]
    pub(crate) plan: Option<PlanId>,
}

const PLAN_NAMES: &[&str] = &["planId"];
/// The last of a route and the methods that read a [`PlanQuery`]. No others end so.
const PLANNED: [(&str, &[Method]); 2] = [
    ("/{identifier}", &[Method::PUT, Method::DELETE]),
    ("/{alias}", &[Method::DELETE]),
];

/// Refuses a plan in the query of a change that carries none out: without it, something else than was planned would be done.
pub(crate) async fn without_plan(request: Request, next: Next) -> Response {
    match judge_plan(&request) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

fn judge_plan(request: &Request) -> Result<(), Problem> {
    let method = request.method();
    let route = request.extensions().get::<MatchedPath>();
    let is_planned = route.is_some_and(|route| {
        let mut planned = PLANNED.iter();
        planned.any(|(end, methods)| route.as_str().ends_with(end) && methods.contains(method))
    });
    if method.is_safe() || is_planned {
        return Ok(());
    }
    match Parameters::of(request.uri())?.get(PLAN_NAMES) {
        Some(_) => Err(Problem::bad_request(
            "planId: this request takes no plan from its query. Name the plan in the body of :put, :delete or :apply.",
        )
        .at("planId")),
        None => Ok(()),
    }
}

impl<S: Send + Sync> FromRequestParts<S> for PlanQuery {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let parameters = Parameters::of(&parts.uri)?;
        let plan = parameters.get(PLAN_NAMES).map(|given| {
            given.parse().map_err(|_| {
                let given = excerpt(given);
                Problem::bad_request(format!("planId is '{given}', which is not a UUID."))
            })
        });
        Ok(Self {
            plan: plan.transpose()?,
        })
    }
}

/// The place of an item in a list that is ordered by time.
pub(crate) struct Moment<Id>(pub(crate) Timestamp, pub(crate) Id);

impl<Id: Display> Display for Moment<Id> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0.as_millis(), self.1)
    }
}

impl<Id: FromStr> FromStr for Moment<Id> {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (time, id) = text.split_once('.').ok_or(())?;
        let time = Timestamp::from_millis(time.parse().map_err(drop)?);
        Ok(Self(time, id.parse().map_err(drop)?))
    }
}

/// The resource group that the items of a list name.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct GroupQuery {
    /// List only what names this resource group: its name, or its id.
    #[param(value_type = Option<String>, example = "demo")]
    pub(crate) group: Option<String>,
}

impl GroupQuery {
    /// Returns the link to a page of a list with this parameter.
    pub(crate) fn added(link: &str, group: &str) -> String {
        let group = utf8_percent_encode(group, NON_ALPHANUMERIC);
        format!("{link}&group={group}")
    }
}

impl<S: Send + Sync> FromRequestParts<S> for GroupQuery {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let parameters = Parameters::of(&parts.uri)?;
        let group = parameters.get(&["group"]).map(str::to_owned);
        Ok(Self { group })
    }
}

/// The filter of a list of operations.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct OperationFilter {
    /// List only operations with this status.
    #[param(value_type = Option<String>)]
    pub(crate) status: Option<Status>,
}

impl<S: Send + Sync> FromRequestParts<S> for OperationFilter {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let parameters = Parameters::of(&parts.uri)?;
        let status = parameters.get(&["status"]).map(status_word).transpose()?;
        Ok(Self { status })
    }
}

fn status_word(given: &str) -> Result<Status, Problem> {
    let known = Status::ALL.into_iter();
    let mut meant = known.filter(|status| status.as_str().eq_ignore_ascii_case(given));
    meant.next().ok_or_else(|| {
        let words = Status::ALL.map(Status::as_str).join(", ");
        Problem::bad_request(format!(
            "status is '{}'. Use one of {words}, or omit it.",
            excerpt(given)
        ))
    })
}
