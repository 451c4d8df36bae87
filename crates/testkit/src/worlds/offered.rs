//! What platforms order in worlds.

use axum::body::Body;
use axum::http::{HeaderValue, Request};
use serde::{Deserialize, Serialize};
use serde_json::json;
use ucp_model::Reference;

use super::alias::SPACE_GROUP;

/// What platforms order in worlds. There is one instance of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Offered {
    /// A VPC, which another plan replaces with the new one first.
    Net,
    /// A log group of a name, which another plan replaces with the old one first, and a secret.
    Logs,
}

/// The blocks of the VPC under each plan.
const BLOCKS: [&str; 2] = ["10.0.0.0/16", "10.20.0.0/16"];

/// The edits of the files after which the log group has another name in them, and the same in AWS.
pub(super) const CALLED_OTHERWISE: [(&str, &str, &str); 3] = [
    ("logs.toml", "[resources.group]", "[resources.journal]"),
    ("logs.toml", "group/", "journal/"),
    ("logs.toml", ".group.", ".journal."),
];

impl Offered {
    pub(super) const ALL: [Self; 2] = [Self::Net, Self::Logs];

    fn instance(self) -> &'static str {
        match self {
            Self::Net => "net",
            Self::Logs => "logs",
        }
    }

    fn service(self) -> String {
        format!("{}-service", self.instance())
    }

    /// The plan that an instance is made with, and the one that it may change to.
    fn plan(self, is_changed: bool) -> &'static str {
        match (self, is_changed) {
            (Self::Net, false) => "net-ten",
            (Self::Net, true) => "net-twenty",
            (Self::Logs, false) => "logs-small",
            (Self::Logs, true) => "logs-other",
        }
    }

    pub(super) fn path(self) -> String {
        format!("/v2/service_instances/{}", self.instance())
    }

    pub(super) fn provision(self) -> (&'static str, String, String) {
        let body = json!({
            "service_id": self.service(), "plan_id": self.plan(false),
            "organization_guid": "org", "space_guid": "space",
        });
        let path = format!("{}?accepts_incomplete=true", self.path());
        ("PUT", path, body.to_string())
    }

    pub(super) fn change_plan(self) -> (&'static str, String, String) {
        let body = json!({"service_id": self.service(), "plan_id": self.plan(true)});
        let path = format!("{}?accepts_incomplete=true", self.path());
        ("PATCH", path, body.to_string())
    }

    /// Changes a parameter.
    pub(super) fn retain(days: u32) -> (&'static str, String, String) {
        let of = Self::Logs;
        let body = json!({"service_id": of.service(), "parameters": {"retention": days}});
        let path = format!("{}?accepts_incomplete=true", of.path());
        ("PATCH", path, body.to_string())
    }

    pub(super) fn deprovision(self, is_changed: bool) -> (&'static str, String, String) {
        let (service, plan) = (self.service(), self.plan(is_changed));
        let named = format!("service_id={service}&plan_id={plan}&accepts_incomplete=true");
        ("DELETE", format!("{}?{named}", self.path()), String::new())
    }

    /// Whether a reference is one of its instance.
    pub(super) fn has(self, reference: &Reference) -> bool {
        let of = reference.id.alias.split(':').next();
        reference.id.group.name == SPACE_GROUP && of == Some(self.instance())
    }
}

/// Whether a VPC has such a block, in AWS's form or ours.
pub(super) fn is_ordered(block: &str) -> bool {
    BLOCKS.contains(&block.trim_end_matches('.'))
}

/// Signs a request in, if it is one of a platform.
pub(super) fn signed_in(mut request: Request<Body>) -> Request<Body> {
    if request.uri().path().starts_with("/v2/") {
        // `cf` with the password `password`.
        let headers = [
            ("authorization", "Basic Y2Y6cGFzc3dvcmQ="),
            ("x-broker-api-version", "2.17"),
        ];
        for (name, value) in headers {
            let value = HeaderValue::from_static(value);
            request.headers_mut().insert(name, value);
        }
    }
    request
}
