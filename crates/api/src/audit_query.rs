//! The filter of the audit.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use ucp_app::{AuditFilter, AuditOutcome};
use ucp_model::{Timestamp, excerpt};
use utoipa::IntoParams;

use crate::problem::Problem;
use crate::query::Parameters;

/// Which events of the audit are listed; all by default.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AuditQuery {
    /// List only the requests of this caller.
    caller: Option<String>,
    /// List only requests for this action, such as `System.Resources/resourceGroups/write`.
    action: Option<String>,
    /// List only requests with this outcome.
    outcome: Option<String>,
    /// List only requests about this id, and about what is below it.
    id: Option<String>,
    /// List only requests from this time on, in RFC 3339.
    #[param(format = DateTime)]
    from: Option<String>,
    /// List only requests from before this time, in RFC 3339.
    #[param(format = DateTime)]
    to: Option<String>,
}

impl AuditQuery {
    /// Reads the values.
    pub(crate) fn filter(&self) -> Result<AuditFilter, Problem> {
        Ok(AuditFilter {
            plane: None,
            caller: self.caller.clone(),
            action: self.action.clone(),
            outcome: self.outcome.as_deref().map(outcome).transpose()?,
            id: self.id.clone(),
            from: time("from", self.from.as_deref())?,
            to: time("to", self.to.as_deref())?,
        })
    }

    /// Returns the query for the URL of another page.
    pub(crate) fn repeated(&self) -> String {
        let given = [
            ("caller", &self.caller),
            ("action", &self.action),
            ("outcome", &self.outcome),
            ("id", &self.id),
            ("from", &self.from),
            ("to", &self.to),
        ];
        let given = given.into_iter();
        let given = given.filter_map(|(name, value)| Some((name, value.as_ref()?)));
        given.fold(String::new(), |query, (name, value)| {
            let value = utf8_percent_encode(value, NON_ALPHANUMERIC);
            format!("{query}&{name}={value}")
        })
    }
}

impl<S: Send + Sync> FromRequestParts<S> for AuditQuery {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let parameters = Parameters::of(&parts.uri)?;
        let get = |name: &str| parameters.get(&[name]).map(str::to_owned);
        Ok(Self {
            caller: get("caller"),
            action: get("action"),
            outcome: get("outcome"),
            id: get("id"),
            from: get("from"),
            to: get("to"),
        })
    }
}

fn outcome(given: &str) -> Result<AuditOutcome, Problem> {
    let mut known = AuditOutcome::ALL.into_iter();
    let meant = known.find(|outcome| outcome.as_str().eq_ignore_ascii_case(given));
    meant.ok_or_else(|| {
        let words = AuditOutcome::ALL.map(AuditOutcome::as_str).join(", ");
        let given = excerpt(given);
        Problem::bad_request(format!(
            "outcome is '{given}'. Use one of {words}, or omit it."
        ))
        .at("outcome")
    })
}

fn time(name: &str, given: Option<&str>) -> Result<Option<Timestamp>, Problem> {
    let Some(given) = given else {
        return Ok(None);
    };
    match given.parse() {
        Ok(time) => Ok(Some(time)),
        Err(_) => Err(Problem::bad_request(format!(
            "{name} is '{}'. Use a time such as 2026-01-02T03:04:05Z, or omit it.",
            excerpt(given)
        ))
        .at(name)),
    }
}
