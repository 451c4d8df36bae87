use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use ucp_testkit::{ACCOUNT, REGION, tracked_by};

use crate::draw::Draw;

/// AWS assigns the identifiers of its resources.
pub(super) const VPC: &str = "AWS.EC2/VPC";
/// The declaration names its resources.
pub(super) const LOG_GROUP: &str = "AWS.Logs/LogGroup";
/// AWS assigns the identifiers of its resources, and the value is write-only.
pub(super) const SECRET: &str = "AWS.SecretsManager/Secret";

/// An alias, with what all its declarations have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Alias {
    pub(super) resource_type: &'static str,
    pub(super) name: &'static str,
    /// The CIDR block of its VPC, or the name of its resource. Without it, it may stand for any VPC.
    pub(super) mark: Option<&'static str>,
}

const fn alias(
    resource_type: &'static str,
    name: &'static str,
    mark: Option<&'static str>,
) -> Alias {
    Alias {
        resource_type,
        name,
        mark,
    }
}

impl Alias {
    /// Whether it may stand for what was not created under it. What it declares must not require a replacement.
    fn may_import(&self) -> bool {
        self.mark.is_none() || self.resource_type == LOG_GROUP
    }
}

/// Two aliases declare the log group `one`, which is put by name too.
pub(super) const ALIASES: [Alias; 7] = [
    alias(VPC, "v1", Some("10.1.0.0/16")),
    alias(VPC, "v2", Some("10.2.0.0/16")),
    alias(VPC, "imported", None),
    alias(LOG_GROUP, "l1", Some("one")),
    alias(LOG_GROUP, "l2", Some("two")),
    alias(LOG_GROUP, "l3", Some("one")),
    alias(SECRET, "s1", Some("secret")),
];

/// The log groups that are put and deleted by name.
pub(super) const NAMES: [&str; 2] = ["one", "three"];

/// What a request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Subject {
    Alias(Alias),
    LogGroup(&'static str),
    /// The VPC at this place among those that exist.
    Vpc(usize),
}

/// An act in a world.
#[derive(Clone, Debug)]
pub(super) enum Act {
    Put {
        subject: Subject,
        properties: Value,
        owned: bool,
    },
    Delete(Subject),
    /// Imports what the alias declares, or the VPC at this place among those that exist.
    Import {
        alias: Alias,
        place: usize,
        owned: bool,
    },
    /// Deletes the reference.
    Forget(Alias),
    /// Changes the resource at this place among those that exist, outside of `ucp`.
    Change(usize),
    /// Deletes it outside of `ucp`.
    Vanish(usize),
    Pass(Duration),
    Step,
    Settle,
}

/// How a request is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// The client waits for the verdict while workers step.
    Waiting,
    /// The client waits for the end of the operation.
    ToTheEnd,
    /// The client does not wait, and no worker steps.
    NotWaiting,
    /// Two clients send the same and wait.
    Twice,
}

/// Draws the acts of a world: a few dozen, about a few aliases and names. Half of the puts repeat the last declaration.
pub(super) fn drawn(draw: &Draw) -> Vec<(Act, Way)> {
    let subjects: Vec<Subject> = (0..3 + draw.below(3)).map(|_| subject(draw)).collect();
    let mut last = BTreeMap::new();
    let count = 30 + draw.below(31);
    let acts = (0..count).map(|_| {
        let subject = draw.pick(&subjects);
        (one(draw, subject, &mut last), way(draw))
    });
    acts.collect()
}

fn subject(draw: &Draw) -> Subject {
    match draw.one_in(4) {
        true => Subject::LogGroup(draw.pick(&NAMES)),
        false => Subject::Alias(draw.pick(&ALIASES)),
    }
}

fn one(draw: &Draw, subject: Subject, last: &mut BTreeMap<Subject, Value>) -> Act {
    match (draw.below(100), subject) {
        (0..5, Subject::Alias(alias)) if alias.may_import() => Act::Import {
            alias,
            place: draw.below(10),
            owned: draw.one_in(3),
        },
        (5..8, Subject::Alias(alias)) => Act::Forget(alias),
        (0..50, _) => {
            let repeated = last.get(&subject).filter(|_| draw.one_in(2)).cloned();
            let properties = repeated.unwrap_or_else(|| declaration(draw, subject));
            last.insert(subject, properties.clone());
            Act::Put {
                subject,
                properties,
                owned: matches!(subject, Subject::Alias(_)) && draw.one_in(10),
            }
        }
        (50..57, _) => Act::Delete(subject),
        (57..59, _) => Act::Delete(Subject::Vpc(draw.below(10))),
        (59..66, _) => Act::Change(draw.below(10)),
        (66..70, _) => Act::Vanish(draw.below(10)),
        (70..77, _) => Act::Pass(Duration::from_millis(100 << draw.below(9))),
        (77..80, _) => Act::Step,
        _ => Act::Settle,
    }
}

fn way(draw: &Draw) -> Way {
    match draw.below(10) {
        0..4 => Way::ToTheEnd,
        4..7 => Way::Waiting,
        7..9 => Way::NotWaiting,
        _ => Way::Twice,
    }
}

/// Draws a declaration. Its create-only properties are always the same, so none requires a replacement.
pub(super) fn declaration(draw: &Draw, subject: Subject) -> Value {
    let (of, mark) = match subject {
        Subject::Alias(alias) => (alias.resource_type, alias.mark),
        Subject::LogGroup(_) => (LOG_GROUP, None),
        Subject::Vpc(_) => (VPC, None),
    };
    let flags = [json!(null), json!(true), json!(false)];
    let mut properties = match of {
        VPC => json!({
            "CidrBlock": mark,
            "EnableDnsSupport": draw.pick(&flags),
            "Tags": draw.pick(&[json!(null), json!([{"Key": "team", "Value": "net"}])]),
        }),
        SECRET => json!({"Name": mark, "SecretString": draw.pick(&["a", "b"])}),
        _ => json!({
            "LogGroupName": mark,
            "RetentionInDays": draw.pick(&[json!(null), json!(7), json!(14)]),
        }),
    };
    if let Some(members) = properties.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
    properties
}

/// A request: method, path and body.
pub(super) type Request = (&'static str, String, String);

/// Returns a put of `properties`.
pub(super) fn put(subject: Subject, properties: &Value, owned: bool) -> Request {
    let mut body = json!({ "properties": properties });
    if owned {
        body["ownedResource"] = json!(true);
    }
    match subject {
        Subject::Alias(alias) => on_alias(alias, "put", body),
        Subject::LogGroup(name) => ("PUT", id(LOG_GROUP, name), body.to_string()),
        Subject::Vpc(_) => unreachable!("VPCs are put by alias"),
    }
}

/// Returns the request of an act, given the identifiers of the VPCs that exist. `None` if the act is none.
pub(super) fn request(act: &Act, vpcs: &[String]) -> Option<Request> {
    let vpc = |place: usize| {
        let vpc = vpcs.get(place % vpcs.len().max(1));
        vpc.map_or("vpc-none", String::as_str)
    };
    Some(match act {
        Act::Put {
            subject,
            properties,
            owned,
        } => put(*subject, properties, *owned),
        Act::Delete(Subject::Alias(alias)) => on_alias(*alias, "delete", json!({})),
        Act::Delete(Subject::LogGroup(name)) => ("DELETE", id(LOG_GROUP, name), String::new()),
        Act::Delete(Subject::Vpc(place)) => ("DELETE", id(VPC, vpc(*place)), String::new()),
        Act::Import {
            alias,
            place,
            owned,
        } => {
            let identifier = alias.mark.unwrap_or_else(|| vpc(*place));
            let body = json!({"primaryIdentifier": identifier, "ownedResource": owned});
            on_alias(*alias, "import", body)
        }
        Act::Forget(alias) => {
            let id = tracked_by(alias.resource_type, alias.name);
            ("DELETE", id, String::new())
        }
        Act::Change(_) | Act::Vanish(_) | Act::Pass(_) | Act::Step | Act::Settle => return None,
    })
}

fn id(resource_type: &str, identifier: &str) -> String {
    format!(
        "/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{resource_type}/{identifier}"
    )
}

fn on_alias(alias: Alias, action: &str, mut body: Value) -> Request {
    body["trackedBy"] = json!(tracked_by(alias.resource_type, alias.name));
    let path = id(alias.resource_type, &format!(":{action}"));
    ("POST", path, body.to_string())
}
