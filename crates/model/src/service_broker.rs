//! What a service broker remembers: the instances that platforms have ordered, and their bindings.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Ended, Failure, GroupId, OperationId, Timestamp, json};

/// Names a service instance: a platform, and the id that it has given. Instances of different platforms are unrelated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceId {
    /// The platform, as the configuration names it.
    pub platform: String,
    /// The id, as the platform spelled it first.
    pub instance: String,
}

/// Names a binding of a service instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BindingId {
    /// The instance.
    pub instance: InstanceId,
    /// The id, as the platform spelled it first.
    pub binding: String,
}

/// A service instance: references in a resource group whose aliases begin with its id.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServiceInstance {
    /// Its id.
    pub id: InstanceId,
    /// The group that its references are in.
    pub group: GroupId,
    /// The id of its offering.
    pub service: String,
    /// The organization that it was ordered in.
    pub organization: String,
    /// The space that it was ordered in.
    pub space: String,
    /// Its name, as the context of the latest request has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What the latest creation or update asks for.
    pub wanted: Provision,
    /// What the latest one that has succeeded asked for. Until one has, the instance has never stood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<Provision>,
    /// Its random values, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub randoms: BTreeMap<String, String>,
    /// Whether a change that may replace its resources has begun since the last one that has succeeded. So they may be of either
    /// plan.
    #[serde(default, skip_serializing_if = "is_false")]
    pub may_be_replaced: bool,
    /// Its latest change.
    pub change: Change,
    /// Increases with each change of it and of its bindings.
    pub revision: u64,
}

/// What is asked for of an instance.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Provision {
    /// The id of the plan.
    pub plan: String,
    /// The version of the plan, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The parameters, with defaults.
    pub parameters: Map<String, Value>,
    /// Those of them that were given, so that the same request is known as such whatever the defaults are by then. `None` if an
    /// earlier version has recorded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<Map<String, Value>>,
}

/// A service binding.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServiceBinding {
    /// Its id.
    pub id: BindingId,
    /// The plan of the instance that it was made for.
    pub plan: String,
    /// The parameters, with defaults.
    pub parameters: Map<String, Value>,
    /// Those of them that were given. `None` if an earlier version has recorded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<Map<String, Value>>,
    /// What it is for, as the request has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bind_resource: Option<Value>,
    /// The binding that it succeeds, if it was rotated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predecessor: Option<String>,
    /// Its own random values, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub randoms: BTreeMap<String, String>,
    /// When it expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// When it should be renewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renew_before: Option<Timestamp>,
    /// Whether it has resources of its own.
    pub has_resources: bool,
    /// What it hands out, once it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// Its latest change.
    pub change: Change,
}

/// What a binding hands out.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Access {
    /// The credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<Value>,
    /// Where the service is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoints: Option<Value>,
}

/// The latest change of an instance or a binding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// What it is.
    pub kind: ChangeKind,
    /// The operation that carries it out; none if nothing had to be done in AWS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<OperationId>,
    /// When it began.
    pub began_at: Timestamp,
    /// What has come of it; none while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<ChangeEnd>,
}

/// What a change is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ChangeKind {
    /// It is made.
    Create,
    /// It is changed.
    Update,
    /// It is deleted.
    Delete,
}

/// What has come of a change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeEnd {
    /// When it ended.
    pub at: Timestamp,
    /// Why it failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// What an apply to a group is for: the order of a platform.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Order {
    /// What it is.
    pub kind: ChangeKind,
    /// The instance that it concerns.
    pub instance: InstanceId,
    /// The binding that it concerns, if it is not the instance as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binding: Option<String>,
    /// Tags of all references that it makes or changes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
    /// The operation that must have ended before it begins: a creation that is cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<OperationId>,
    /// When it gives up reading, if that is all that it does: the platform does not wait longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads_until: Option<Timestamp>,
    /// The person at whose request the platform has ordered it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub originator: Option<Originator>,
}

/// A person, as a platform names it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Originator {
    /// What kind of platform it is.
    pub platform: String,
    /// What the platform says of the person.
    pub value: Value,
}

impl InstanceId {
    /// Returns the key under which it is stored: aliases that begin with ids compare in the same way.
    pub fn key(&self) -> String {
        format!("{}/{}", self.platform, self.instance).to_lowercase()
    }

    /// Returns what the aliases of the references of the instance and its bindings begin with.
    pub fn alias_prefix(&self) -> String {
        format!("{}:", self.instance)
    }

    /// Returns whether a reference of the instance or its bindings, given by its alias, is of a binding.
    pub fn is_of_binding(&self, alias: &str) -> bool {
        let prefix = self.alias_prefix().chars().count();
        alias.chars().skip(prefix).any(|letter| letter == ':')
    }
}

impl Provision {
    /// Returns whether it is the same plan in the same version with the same parameters.
    pub fn is_same(&self, other: &Self) -> bool {
        self.plan == other.plan
            && self.version == other.version
            && same_members(&self.parameters, &other.parameters)
    }

    /// Returns whether it was asked for by this plan and these parameters.
    pub fn is_given(&self, plan: &str, given: &Map<String, Value>) -> bool {
        self.plan == plan && is_given(&self.given, given)
    }

    /// Returns whether it asks for the same plan and parameters, as they were given or as they come to.
    pub fn asks_the_same(&self, other: &Self) -> bool {
        self.plan == other.plan
            && asks_the_same(
                (&self.given, &self.parameters),
                (&other.given, &other.parameters),
            )
    }
}

/// Returns whether parameters are the same, as they were given or with defaults.
fn asks_the_same(one: Asked<'_>, other: Asked<'_>) -> bool {
    let given = other.0.as_ref();
    given.is_some_and(|given| is_given(one.0, given)) || same_members(one.1, other.1)
}

/// Returns whether these were given, if it is known what was.
fn is_given(known: &Option<Map<String, Value>>, given: &Map<String, Value>) -> bool {
    let known = known.as_ref();
    known.is_some_and(|known| same_members(known, given))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_false(value: &bool) -> bool {
    !value
}

/// Parameters as they were given, and with defaults.
type Asked<'a> = (&'a Option<Map<String, Value>>, &'a Map<String, Value>);

fn same_members(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    let is_same = |(name, value): (&String, &Value)| {
        other
            .get(name)
            .is_some_and(|other| json::equal(value, other))
    };
    one.len() == other.len() && one.iter().all(is_same)
}

impl BindingId {
    /// Returns the key under which it is stored.
    pub fn key(&self) -> String {
        format!("{}/{}", self.instance.key(), self.binding.to_lowercase())
    }

    /// Returns what the aliases of its references begin with.
    pub fn alias_prefix(&self) -> String {
        format!("{}:{}:", self.instance.instance, self.binding)
    }
}

impl Change {
    /// Returns a change that nothing had to be done for.
    pub fn done(kind: ChangeKind, at: Timestamp) -> Self {
        Self {
            kind,
            operation: None,
            began_at: at,
            ended: Some(ChangeEnd { at, failure: None }),
        }
    }

    /// Returns a change that an operation carries out.
    pub fn begun(kind: ChangeKind, operation: OperationId, at: Timestamp) -> Self {
        Self {
            kind,
            operation: Some(operation),
            began_at: at,
            ended: None,
        }
    }

    /// Returns whether it runs.
    pub fn is_running(&self) -> bool {
        self.ended.is_none()
    }

    /// Returns whether it has succeeded.
    pub fn has_succeeded(&self) -> bool {
        let ended = self.ended.as_ref();
        ended.is_some_and(|ended| ended.failure.is_none())
    }

    /// Returns why it failed, if it did.
    pub fn failure(&self) -> Option<&Failure> {
        self.ended.as_ref()?.failure.as_ref()
    }

    /// Returns whether what it concerns is deleted.
    pub fn has_deleted(&self) -> bool {
        self.kind == ChangeKind::Delete && self.has_succeeded()
    }

    /// Returns when what it concerns was deleted, if it is.
    fn deleted_at(&self) -> Option<Timestamp> {
        let ended = self.ended.as_ref();
        ended.filter(|_| self.has_deleted()).map(|ended| ended.at)
    }

    /// Notes the end of the operation, if that carries out this change. Returns whether it does.
    fn end(&mut self, operation: OperationId, ended: &Ended, at: Timestamp) -> bool {
        if self.operation != Some(operation) || self.ended.is_some() {
            return false;
        }
        let failure = match ended {
            Ended::Succeeded => None,
            Ended::Failed(failure) | Ended::Canceled(failure) => Some(failure.clone()),
        };
        self.ended = Some(ChangeEnd { at, failure });
        true
    }
}

impl ServiceInstance {
    /// Returns whether it is deleted. What is kept of it only tells that.
    pub fn is_gone(&self) -> bool {
        self.change.has_deleted()
    }

    /// Returns since when it is deleted, if it is.
    pub fn gone_at(&self) -> Option<Timestamp> {
        self.change.deleted_at()
    }

    /// Returns whether it has ever stood, and is not deleted.
    pub fn has_stood(&self) -> bool {
        self.applied.is_some() && !self.is_gone()
    }

    /// Notes the end of an operation on it. Returns whether that has carried out its latest change: nothing is noted
    /// otherwise.
    pub fn end(&mut self, operation: OperationId, ended: &Ended, at: Timestamp) -> bool {
        if !self.change.end(operation, ended, at) {
            return false;
        }
        if self.is_gone() {
            self.erase();
        } else if self.change.has_succeeded() {
            self.applied = Some(self.wanted.clone());
            self.may_be_replaced = false;
        }
        true
    }

    /// Marks it as deleted: nothing had to be done for that in AWS.
    pub fn delete(&mut self, at: Timestamp) {
        self.change = Change::done(ChangeKind::Delete, at);
        self.erase();
    }

    /// Erases what only an instance that stands needs.
    fn erase(&mut self) {
        self.name = None;
        self.wanted.parameters.clear();
        self.wanted.given = None;
        self.applied = None;
        self.randoms.clear();
    }
}

impl ServiceBinding {
    /// Returns whether it is deleted.
    pub fn is_gone(&self) -> bool {
        self.change.has_deleted()
    }

    /// Returns since when it is deleted, if it is.
    pub fn gone_at(&self) -> Option<Timestamp> {
        self.change.deleted_at()
    }

    /// Returns whether it has ever stood, and is not deleted.
    pub fn has_stood(&self) -> bool {
        self.access.is_some() && !self.is_gone()
    }

    /// Notes the end of an operation on it. Returns whether that has carried out its latest change: nothing is noted
    /// otherwise.
    pub fn end(&mut self, operation: OperationId, ended: &Ended, at: Timestamp) -> bool {
        let is_latest = self.change.end(operation, ended, at);
        if is_latest && self.is_gone() {
            self.erase();
        }
        is_latest
    }

    /// Marks it as deleted, by itself or together with its instance: nothing had to be done for that in AWS.
    pub fn delete(&mut self, at: Timestamp) {
        self.change = Change::done(ChangeKind::Delete, at);
        self.erase();
    }

    /// Notes that a deletion has failed after some of its resources were gone: what it handed out does not work any more. What
    /// it was made of stays, so that it can be deleted, or made again.
    pub fn lose(&mut self, deletion: &Change) {
        self.change = deletion.clone();
        self.access = None;
    }

    /// Erases what only a binding that stands needs.
    fn erase(&mut self) {
        self.parameters.clear();
        self.given = None;
        self.bind_resource = None;
        self.randoms.clear();
        self.access = None;
    }

    /// Returns whether it was asked for by these parameters.
    pub fn is_given(&self, given: &Map<String, Value>) -> bool {
        is_given(&self.given, given)
    }

    /// Returns whether it was made with the same parameters, as they were given or as they come to.
    pub fn asks_the_same(
        &self,
        given: &Option<Map<String, Value>>,
        parameters: &Map<String, Value>,
    ) -> bool {
        asks_the_same((&self.given, &self.parameters), (given, parameters))
    }

    /// Lays newly evaluated access over what it has.
    pub fn lay_over(&mut self, newer: Access) {
        let access = self.access.get_or_insert_default();
        if let Some(newer) = newer.credentials {
            match (&mut access.credentials, newer) {
                (Some(Value::Object(older)), Value::Object(newer)) => older.extend(newer),
                (older, newer) => *older = Some(newer),
            }
        }
        if newer.endpoints.is_some() {
            access.endpoints = newer.endpoints;
        }
    }
}

// What a platform has given or was given may be secret.
impl fmt::Debug for Provision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Provision")
            .field("plan", &self.plan)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ServiceInstance {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ServiceInstance")
            .field("id", &self.id)
            .field("group", &self.group)
            .field("service", &self.service)
            .field("wanted", &self.wanted)
            .field("applied", &self.applied)
            .field("change", &self.change)
            .field("revision", &self.revision)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ServiceBinding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ServiceBinding")
            .field("id", &self.id)
            .field("plan", &self.plan)
            .field("has_resources", &self.has_resources)
            .field("change", &self.change)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Access").finish_non_exhaustive()
    }
}
