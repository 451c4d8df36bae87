//! What an order of a service broker has drawn at random is shown to nobody but the platform, as far as `ucp` tells of the resources of
//! an instance. Who reads a resource under its AWS name is shown what AWS shows: that takes no database.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use ucp_model::operation::{GroupWork, Work};
use ucp_model::{
    Failure, Identifier, Operation, Reference, ReferenceId, Scope, Secrets, Target, TypeName,
};
use ucp_store::rules::instance_of;
use ucp_store::{of_an_instance, secrets_of};

use crate::changes::{ChangeKind, ResourceChange, WhatIf};
use crate::{Ground, Rejection};

/// How many references to resources are looked at.
const REFERENCES_MAX: usize = 1_000;

impl Ground {
    /// Masks the random values of an instance in an operation on a resource of it. What AWS has shown of a resource that is
    /// gone since is left out: nobody knows any more what was random.
    pub(crate) async fn veiled(&self, mut operation: Operation) -> Result<Operation, Rejection> {
        let store = self.store.as_ref();
        let Work::Resource(work) = &mut operation.work else {
            return Ok(operation);
        };
        let Some(id) = work.reference.as_ref().filter(|id| id.alias.contains(':')) else {
            return Ok(operation);
        };
        let secrets = match of_an_instance(store, id).await? {
            Some((_, instance)) => secrets_of(store, &instance).await?,
            None => Secrets::default(),
        };
        if secrets.is_empty() {
            if let Some(parent) = operation.header.parent {
                let parent = store.get_operation(parent).await?;
                let was_ordered = parent.is_none_or(|parent| {
                    let work = parent.work.group();
                    work.and_then(GroupWork::order).is_some()
                });
                if was_ordered && store.get_reference(id).await?.is_none() {
                    work.result = None;
                }
            }
            return Ok(operation);
        }
        if let Some(result) = &mut work.result {
            secrets.mask(result);
        }
        operation.work.mask(&secrets);
        Ok(operation)
    }

    /// The same in what was observed of a reference.
    pub(crate) async fn veiled_reference(
        &self,
        mut reference: Reference,
    ) -> Result<Reference, Rejection> {
        if let (Some(instance), Some(observed)) = (
            instance_of(&reference.id, &reference.tags),
            &mut reference.observed,
        ) {
            let secrets = secrets_of(self.store.as_ref(), &instance).await?;
            secrets.mask(observed);
        }
        Ok(reference)
    }

    /// The same in why a request about a reference is refused.
    pub(crate) async fn veil_refusal(
        &self,
        reference: Option<&Reference>,
        failure: &mut Failure,
    ) -> Result<(), Rejection> {
        if let Some(instance) = reference.and_then(|it| instance_of(&it.id, &it.tags)) {
            let secrets = secrets_of(self.store.as_ref(), &instance).await?;
            secrets.mask_failure(failure);
        }
        Ok(())
    }

    /// The same in the properties of the reply to a put.
    pub(crate) async fn veil_reply(
        &self,
        reference: Option<&ReferenceId>,
        properties: &mut Map<String, Value>,
    ) -> Result<(), Rejection> {
        let store = self.store.as_ref();
        if let Some(id) = reference
            && let Some((_, instance)) = of_an_instance(store, id).await?
        {
            let secrets = secrets_of(store, &instance).await?;
            secrets.mask_members(properties);
        }
        Ok(())
    }

    /// The same in what would change, and in why it would fail.
    pub(crate) async fn veil_what_if(&self, what_if: &mut WhatIf) -> Result<(), Rejection> {
        let changes = &mut what_if.changes;
        let key = |it: &ResourceChange| {
            // Without an alias, it may be anybody's.
            let tracked_by = it.tracked_by.as_ref();
            tracked_by
                .is_none_or(|id| id.alias.contains(':'))
                .then_some(())?;
            let identifier = it.identifier.as_ref()?;
            Some(key(&it.scope, &it.type_name, identifier))
        };
        let secrets = self
            .secrets_by_target(changes.iter().filter_map(key))
            .await?;
        if let Some(error) = &mut what_if.error {
            secrets.values().for_each(|it| it.mask_failure(error));
        }
        for change in changes {
            let Some(secrets) = key(change).and_then(|key| secrets.get(&key)) else {
                continue;
            };
            if let ChangeKind::Unsupported(reason) = &mut change.kind {
                secrets.mask_text(reason);
            }
            for shown in change.before.iter_mut().chain(&mut change.after) {
                secrets.mask_members(shown);
            }
            for warning in &mut change.warnings {
                secrets.mask_text(&mut warning.message);
            }
            for delta in &mut change.deltas {
                let live = delta.before.iter_mut().chain(&mut delta.after);
                live.chain(&mut delta.last_applied)
                    .for_each(|value| secrets.mask(value));
            }
        }
        Ok(())
    }

    /// Returns what is shown to nobody of resources that are of instances, by their keys.
    async fn secrets_by_target(
        &self,
        keys: impl Iterator<Item = String>,
    ) -> Result<BTreeMap<String, Secrets>, Rejection> {
        let keys: Vec<String> = keys.collect();
        let mut found = BTreeMap::new();
        if keys.is_empty() {
            return Ok(found);
        }
        let store = self.store.as_ref();
        for reference in store.references_to(&keys, REFERENCES_MAX).await? {
            let instance = instance_of(&reference.id, &reference.tags);
            if let (Some(instance), Some(target)) = (instance, reference.target()) {
                let secrets = secrets_of(store, &instance).await?;
                found.insert(target.key(), secrets);
            }
        }
        Ok(found)
    }
}

fn key(scope: &Scope, type_name: &TypeName, identifier: &Identifier) -> String {
    let target = Target {
        scope,
        type_name,
        identifier,
    };
    target.key()
}
