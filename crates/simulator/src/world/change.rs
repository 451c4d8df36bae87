use std::sync::Arc;

use serde_json::Value;
use ucp_model::{Entropy, Timestamp, json};

use super::dropped;
use super::model::{self, HandlerFailure};
use super::resource::{Resource, ResourceKey};
use super::resources::{Lock, Resources};
use super::stored;
use crate::chance::Chance;
use crate::faults::{self, Disclosure, Failure, Orders};
use crate::progress::{HandlerErrorCode, Operation, OperationStatus, ProgressEvent};
use crate::read_only::Assigner;
use crate::request::{Caller, Request};
use crate::resource_type::ResourceType;

/// A resource request, from its acceptance to its expiry.
pub(super) struct Change {
    pub(super) request_token: String,
    pub(super) client_token: Option<String>,
    pub(super) accepted_at: Timestamp,
    /// The region that was asked.
    pub(super) asked_in: String,
    /// The call, to carry it out and to detect repetitions.
    pub(super) request: Request,
    pub(super) operation: Operation,
    pub(super) resource_type: Arc<ResourceType>,
    /// The key of the resource. Known from the start for an existing resource, and once assigned for a new one.
    pub(super) resource: Option<String>,
    pub(super) status: OperationStatus,
    pub(super) event_time: Timestamp,
    /// When the status changes next. `None` for an ended request, and for one that stays PENDING: an update with an
    /// empty patch, and what a fault orders to stay.
    pub(super) due: Option<Timestamp>,
    /// When the request ends unless it is cancelled.
    pub(super) ends_at: Timestamp,
    /// What faults order for the change.
    pub(super) orders: Orders,
    /// The desired state of a create, until its resource is prepared.
    desired: Option<Value>,
    /// The resource to create, or why it cannot be created.
    prepared: Option<Result<Value, HandlerFailure>>,
    failure: Option<HandlerFailure>,
    /// Whether its failure does not name the resource that was in the way.
    hides_identifier: bool,
    resource_model: Option<String>,
}

/// The parameters of an accepted request.
pub(super) struct Acceptance {
    pub(super) request_token: String,
    pub(super) request: Request,
    pub(super) operation: Operation,
    pub(super) resource_type: Arc<ResourceType>,
    pub(super) desired: Option<Value>,
    pub(super) at: Timestamp,
    pub(super) asked_in: String,
    pub(super) starts_at: Timestamp,
    pub(super) ends_at: Timestamp,
    pub(super) orders: Orders,
}

impl Change {
    pub(super) fn accepted(with: Acceptance) -> Self {
        Self {
            client_token: with.request.client_token().map(str::to_owned),
            resource: (with.request.identifier()).map(|given| with.resource_type.key(given)),
            request_token: with.request_token,
            accepted_at: with.at,
            asked_in: with.asked_in,
            request: with.request,
            operation: with.operation,
            resource_type: with.resource_type,
            status: OperationStatus::Pending,
            event_time: with.at,
            due: with.orders.pending.is_none().then_some(with.starts_at),
            ends_at: with.ends_at,
            orders: with.orders,
            desired: with.desired,
            prepared: None,
            failure: None,
            hides_identifier: false,
            resource_model: None,
        }
    }

    pub(super) fn key(&self) -> Option<ResourceKey> {
        let resource = self.resource.clone()?;
        Some((self.resource_type.name().to_owned(), resource))
    }

    /// Whether the request locks the resource against other requests.
    pub(super) fn holds_resource(&self) -> bool {
        !self.is_over() && !matches!(self.prepared, Some(Err(_)))
    }

    /// Returns what the request locks while it is in flight. A create is going to make the resource, and a delete would
    /// remove another one that is made meanwhile. An update makes none, and what stays PENDING removes none.
    pub(super) fn lock(&self) -> Lock {
        match self.operation {
            Operation::Create => Lock::Identifier,
            Operation::Delete if self.orders.pending.is_none() => Lock::Identifier,
            Operation::Delete | Operation::Update => Lock::Resource,
        }
    }

    /// Returns the status at an earlier time, to a list that lags: what has ended since was in progress.
    pub(super) fn status_at(&self, at: Timestamp) -> OperationStatus {
        if self.is_over() && self.event_time > at {
            OperationStatus::InProgress
        } else {
            self.status
        }
    }

    fn is_over(&self) -> bool {
        match self.status {
            OperationStatus::Success
            | OperationStatus::Failed
            | OperationStatus::CancelComplete => true,
            OperationStatus::Pending
            | OperationStatus::InProgress
            | OperationStatus::CancelInProgress => false,
        }
    }

    /// Makes the transition that is due at `at`.
    pub(super) fn advance(
        &mut self,
        resources: &mut Resources,
        caller: &Caller,
        at: Timestamp,
        entropy: &dyn Entropy,
    ) {
        match self.status {
            OperationStatus::Pending => {
                if let Some(desired) = self.desired.take() {
                    self.prepare(desired, resources, caller, at, entropy);
                }
                self.enter(OperationStatus::InProgress, at, Some(self.ends_at));
            }
            OperationStatus::InProgress => self.finish(resources, caller, at, entropy),
            OperationStatus::CancelInProgress => {
                self.enter(OperationStatus::CancelComplete, at, None);
            }
            OperationStatus::Success
            | OperationStatus::Failed
            | OperationStatus::CancelComplete => {}
        }
    }

    /// Starts cancellation. The change is not made.
    pub(super) fn cancel(&mut self, now: Timestamp, done_at: Timestamp) {
        self.enter(OperationStatus::CancelInProgress, now, Some(done_at));
    }

    fn enter(&mut self, status: OperationStatus, at: Timestamp, due: Option<Timestamp>) {
        self.status = status;
        self.event_time = at;
        self.due = due;
    }

    /// Prepares the resource of a create, which assigns its identifier.
    fn prepare(
        &mut self,
        desired: Value,
        resources: &Resources,
        caller: &Caller,
        at: Timestamp,
        entropy: &dyn Entropy,
    ) {
        let made = self.first_free(&desired, resources, caller, at, entropy);
        let made = made.map(|made| self.named(made));
        let made = made.map_err(HandlerFailure::from);
        self.prepared = Some(made.and_then(|(resource, model)| {
            self.resource = Some(resource.clone());
            let key = (self.resource_type.name().to_owned(), resource);
            let is_revised = self.resource_type.schema.makes_revisions();
            let is_taken = if is_revised {
                resources.is_locked(&key)
            } else {
                resources.is_taken(&key)
            };
            if is_taken {
                // Some handlers name what is in the way, some do not.
                self.hides_identifier = entropy.fraction("simulator.already-exists") < 0.5;
                return Err(HandlerFailure::already_exists(&key));
            }
            Ok(model)
        }));
    }

    /// Returns the key and the model of a new resource. If creates of its type make revisions, it is the first one that is
    /// not there yet.
    fn first_free(
        &self,
        desired: &Value,
        resources: &Resources,
        caller: &Caller,
        at: Timestamp,
        entropy: &dyn Entropy,
    ) -> Result<(String, Value), model::Problem> {
        let made = |revision| {
            let assigner = Assigner {
                resource_type: &self.resource_type,
                caller,
                now: at,
                chance: Chance::new(entropy, "simulator.identifier"),
                revision,
            };
            model::created(&self.resource_type, desired.clone(), &assigner)
        };
        let schema = &self.resource_type.schema;
        if !schema.makes_revisions() || !schema.is_named_by_aws() {
            return made(1);
        }
        let mut revision = 1;
        loop {
            let (resource, model) = made(revision)?;
            let key = (self.resource_type.name().to_owned(), resource);
            if !resources.is_taken(&key) {
                return Ok((key.1, model));
            }
            revision += 1;
        }
    }

    /// Gives a new resource the identifier of a fault.
    fn named(&self, (key, model): (String, Value)) -> (String, Value) {
        let schema = &self.resource_type.schema;
        let ordered = self.orders.name.as_ref();
        let parts = ordered.and_then(|name| schema.properties_of_identifier(name));
        match (ordered, &model, parts) {
            (Some(name), Value::Object(members), Some(Value::Object(parts))) => {
                let renamed = Value::Object(json::overlay(members, &parts));
                let key = self.resource_type.key_of(&renamed);
                (key.unwrap_or_else(|| name.to_string()), renamed)
            }
            _ => (key, model),
        }
    }

    fn finish(
        &mut self,
        resources: &mut Resources,
        caller: &Caller,
        at: Timestamp,
        entropy: &dyn Entropy,
    ) {
        let result = match self.orders.failure.clone() {
            None => self.apply(resources, caller, at, entropy),
            Some(failure) => {
                if failure.change == faults::Change::Made {
                    // If the change cannot be made, the configured failure is still reported.
                    let _ = self.apply(resources, caller, at, entropy);
                }
                Err(HandlerFailure {
                    code: failure.error_code,
                    message: failure.message,
                })
            }
        };
        match result {
            Ok(visible) => {
                self.resource_model = visible.map(|visible| visible.to_string());
                self.enter(OperationStatus::Success, at, None);
            }
            Err(failure) => {
                self.failure = Some(failure);
                self.enter(OperationStatus::Failed, at, None);
            }
        }
    }

    /// Makes the change, and returns the resulting properties.
    fn apply(
        &mut self,
        resources: &mut Resources,
        caller: &Caller,
        at: Timestamp,
        entropy: &dyn Entropy,
    ) -> Result<Option<Value>, HandlerFailure> {
        let prepared = self.prepared.take().transpose()?;
        let Some(key) = self.key() else {
            return Ok(None);
        };
        let mut model = match (&self.request, prepared) {
            (Request::UpdateResource(input), _) => {
                let resource = resources.existing().get(&key);
                let resource = resource.ok_or_else(|| HandlerFailure::not_found(&key))?;
                let assigner = Assigner {
                    resource_type: &self.resource_type,
                    caller,
                    now: at,
                    chance: Chance::new(entropy, "simulator.identifier"),
                    revision: 1,
                };
                model::updated(resource, &input.patch_document, &assigner)?
            }
            (_, Some(made)) => made,
            _ => {
                if self.orders.minds_use
                    && let Some(user) = resources.user_of(&key)
                {
                    return Err(HandlerFailure::in_use(&key, user));
                }
                return if resources.remove(&key, at, entropy) {
                    Ok(None)
                } else {
                    Err(HandlerFailure::not_found(&key))
                };
            }
        };
        if self.orders.fills_defaults {
            stored::fill_defaults(&self.resource_type, &mut model);
        }
        if self.orders.restates {
            stored::restate(&self.resource_type, &mut model);
        }
        if self.orders.restates_fixed && self.operation == Operation::Create {
            stored::restate_fixed(&self.resource_type, &mut model);
        }
        if let Some(paths) = &self.orders.dropped_paths {
            let before = resources.existing().get(&key);
            let before = before.map(|resource| &resource.model);
            dropped::leave_out(&self.resource_type, paths, before, &mut model, || {
                entropy.fraction("simulator.dropped-path")
            });
        }
        let resource = Resource {
            resource_type: self.resource_type.clone(),
            model,
            changed_at: at,
        };
        let visible = resource.visible();
        resources.insert(key.clone(), resource, at, entropy);
        if self.orders.runs_twice && self.is_named() {
            return Err(HandlerFailure::already_exists(&key));
        }
        Ok(Some(visible))
    }

    /// Whether it is a create whose desired state has the whole identifier.
    fn is_named(&self) -> bool {
        let Request::CreateResource(input) = &self.request else {
            return false;
        };
        let desired = serde_json::from_str::<Value>(&input.desired_state).ok();
        desired.is_some_and(|desired| self.resource_type.key_of(&desired).is_some())
    }

    /// Returns the progress event of the request.
    pub(super) fn event(&self) -> ProgressEvent {
        // For an existing resource, the caller gave the identifier, so it is hidden only after a failure.
        let may_hide =
            self.operation == Operation::Create || self.status == OperationStatus::Failed;
        let hides = |failure: &Failure| failure.identifier == Disclosure::Hidden;
        let is_ordered = may_hide && self.orders.failure.as_ref().is_some_and(hides);
        let is_hidden = is_ordered || self.hides_identifier;
        ProgressEvent {
            type_name: self.resource_type.name().to_owned(),
            identifier: (self.resource.as_ref())
                .filter(|_| !is_hidden)
                .map(|key| self.resource_type.answered(key)),
            request_token: self.request_token.clone(),
            operation: self.operation,
            operation_status: self.status,
            event_time: self.event_time,
            resource_model: self.resource_model.clone(),
            status_message: self.failure.as_ref().map(|failure| failure.message.clone()),
            error_code: self.failure.as_ref().map(|failure| failure.code),
            retry_after: match self.status {
                _ if !self.orders.says_when => None,
                OperationStatus::CancelInProgress => self.due,
                _ => self.due.map(|_| self.ends_at),
            },
            hooks: match (&self.orders.failure, self.status) {
                (Some(failure), OperationStatus::Failed) => failure.hooks.clone(),
                _ => Vec::new(),
            },
        }
    }
}

impl HandlerFailure {
    pub(super) fn not_found((type_name, identifier): &ResourceKey) -> Self {
        Self {
            code: HandlerErrorCode::NotFound,
            message: format!(
                "Resource of type '{type_name}' with identifier '{identifier}' was not found."
            ),
        }
    }

    fn in_use((type_name, identifier): &ResourceKey, (user_type, user): &ResourceKey) -> Self {
        Self {
            code: HandlerErrorCode::ResourceConflict,
            message: format!(
                "Resource of type '{type_name}' with identifier '{identifier}' has dependencies and cannot be deleted: '{user_type}' '{user}'."
            ),
        }
    }

    fn already_exists((type_name, identifier): &ResourceKey) -> Self {
        Self {
            code: HandlerErrorCode::AlreadyExists,
            message: format!(
                "Resource of type '{type_name}' with identifier '{identifier}' already exists."
            ),
        }
    }
}
