//! Validation of the bodies of planes, groups and credentials. All violations are reported at once, each with its
//! place.

use std::collections::BTreeMap;

use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use serde_json::{Map, Value};
use ucp_model::ids::InvalidId;
use ucp_model::{Detail, ErrorCode, Failure, MAX_DETAILS, excerpt};

use crate::json::{BODY_MAX_BYTES, is_json, object, read};
use crate::members::{COMMON, kind};
use crate::problem::Problem;

/// The maximum length of a text that a plane, a group or a credential must have, in characters: a location, or the ARN of
/// a role, which is the longest.
pub(crate) const TEXT_MAX_CHARS: usize = 2_048;

/// An invalid name in the path.
#[derive(Debug)]
pub(crate) struct InvalidName(InvalidId);

impl From<InvalidId> for InvalidName {
    fn from(error: InvalidId) -> Self {
        Self(error)
    }
}

impl From<InvalidName> for Problem {
    fn from(name: InvalidName) -> Self {
        let mut violations = Violations::default();
        violations.name(name);
        violations.into()
    }
}

/// A body that must be a JSON object with `Content-Type: application/json`, or the reason why it is not.
pub(crate) struct Payload(Result<Map<String, Value>, String>);

impl<S: Send + Sync> FromRequest<S> for Payload {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let bytes = read(&parts, body, BODY_MAX_BYTES).await?;
        Ok(Self(if is_json(&parts.headers) {
            let read = object(bytes, &parts.extensions).await?;
            read.map_err(|misread| misread.to_string())
        } else {
            Err("Send the body with Content-Type: application/json.".to_owned())
        }))
    }
}

impl Payload {
    /// Returns the name from the path and the body if both are valid, otherwise all violations.
    pub(crate) fn judge<N, T>(
        self,
        name: Result<N, InvalidName>,
        read: impl FnOnce(&Map<String, Value>, &mut Violations) -> Option<T>,
    ) -> Result<(N, T), Problem> {
        let mut violations = Violations::default();
        let name = name.map_err(|error| violations.name(error)).ok();
        let body = match self.0 {
            Ok(body) => read(&body, &mut violations),
            Err(reason) => {
                violations.add("InvalidRequestContent", reason);
                None
            }
        };
        match name.zip(body) {
            Some(read) if violations.count == 0 => Ok(read),
            _ => Err(violations.into()),
        }
    }
}

/// The violations found in a request.
#[derive(Debug, Default)]
pub(crate) struct Violations {
    /// The first [`MAX_DETAILS`] of them.
    details: Vec<Detail>,
    /// How many there are.
    count: usize,
    /// The reply that takes precedence over the details.
    refusal: Option<Problem>,
}

impl Violations {
    fn name(&mut self, name: InvalidName) {
        self.add("InvalidProperties", name.0.to_string());
    }

    /// Sets the reply, whatever the other violations are.
    pub(crate) fn refuse(&mut self, refusal: Problem) {
        self.refusal = Some(refusal);
    }

    /// Adds a violation at `path` in the body.
    pub(crate) fn property(&mut self, path: &str, what: &str) {
        self.add("InvalidProperties", format!("{path} in body {what}"));
    }

    /// Refuses members of the body other than `known` and those that all ARM resources have.
    pub(crate) fn members(&mut self, body: &Map<String, Value>, known: &[&str]) {
        let known = [known, &COMMON].concat();
        self.members_of("$", body, &known);
    }

    /// Refuses members of the object at `path` other than `known`.
    pub(crate) fn members_of(&mut self, path: &str, object: &Map<String, Value>, known: &[&str]) {
        let unknown = object.keys().filter(|name| !known.contains(&name.as_str()));
        for name in unknown {
            let place = format!("{path}['{}']", excerpt(name));
            let members = known.join(", ");
            self.property(
                &place,
                &format!("is not a member; the members are {members}"),
            );
        }
    }

    /// Reads `location`, which every ARM resource has.
    pub(crate) fn location(&mut self, body: &Map<String, Value>) -> String {
        self.text("$.location", body.get("location"))
            .unwrap_or_default()
    }

    /// Reads a required string.
    pub(crate) fn text(&mut self, path: &str, value: Option<&Value>) -> Option<String> {
        match value {
            Some(Value::String(text)) if text.chars().any(char::is_control) => {
                self.property(path, "must not contain control characters");
            }
            Some(Value::String(text)) if text.chars().nth(TEXT_MAX_CHARS).is_some() => {
                self.property(path, &format!("has more than {TEXT_MAX_CHARS} characters"));
            }
            Some(Value::String(text)) => return Some(text.clone()),
            Some(other) => self.property(path, &format!("must be a string, not {}", kind(other))),
            None => self.property(path, "is required"),
        }
        None
    }

    /// Reads an optional object.
    pub(crate) fn object<'a>(
        &mut self,
        path: &str,
        value: Option<&'a Value>,
    ) -> Option<&'a Map<String, Value>> {
        match value {
            None | Some(Value::Null) => None,
            Some(Value::Object(members)) => Some(members),
            Some(other) => {
                self.property(path, &format!("must be an object, not {}", kind(other)));
                None
            }
        }
    }

    /// Reads an optional object whose values are strings, such as tags. Empty when absent.
    pub(crate) fn texts(&mut self, path: &str, value: Option<&Value>) -> BTreeMap<String, String> {
        let mut texts = BTreeMap::new();
        for (name, value) in self.object(path, value).into_iter().flatten() {
            match value {
                Value::String(value) => {
                    texts.insert(name.clone(), value.clone());
                }
                other => self.property(
                    &format!("{path}['{}']", excerpt(name)),
                    &format!("must be a string, not {}", kind(other)),
                ),
            }
        }
        texts
    }

    /// Returns the violations as details of another body, in which this object is at `place`.
    pub(crate) fn within(self, place: &str) -> Vec<Detail> {
        let details = self.details.into_iter();
        let details = details.map(|detail| Detail::at(detail.code, detail.message, place));
        details.collect()
    }

    fn add(&mut self, code: &str, message: String) {
        self.count += 1;
        if self.details.len() == MAX_DETAILS {
            return;
        }
        self.details.push(Detail {
            code: code.to_owned(),
            message,
            target: None,
        });
    }
}

impl From<Violations> for Problem {
    fn from(violations: Violations) -> Self {
        let Violations {
            details,
            count,
            refusal,
        } = violations;
        if let Some(refusal) = refusal {
            return refusal;
        }
        let message = match &details[..] {
            [only] => format!("HTTP request payload failed validation: {}", only.message),
            _ if count > details.len() => format!(
                "HTTP request payload failed validation; the details list the first {} of {count} violations.",
                details.len()
            ),
            _ => "HTTP request payload failed validation; the details list each violation."
                .to_owned(),
        };
        let failure = Failure::new(
            ErrorCode::HttpRequestPayloadAPISpecValidationFailed,
            message,
        )
        .with_target("ucp/openapi")
        .with_details(details);
        Problem::new(StatusCode::BAD_REQUEST, failure)
    }
}
