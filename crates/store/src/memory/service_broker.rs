use std::collections::BTreeSet;

use async_trait::async_trait;
use ucp_model::operation::GroupWork;
use ucp_model::{
    BindingId, GroupId, InstanceId, Operation, Order, Reference, ServiceBinding, ServiceInstance,
    Timestamp,
};

use super::Memory;
use super::tables::Tables;
use crate::rules::{self, Claimant, Concerned};
use crate::{Error, PlaceOrder, ServiceBroker};

#[async_trait]
impl ServiceBroker for Memory {
    async fn get_service_instance(
        &self,
        id: &InstanceId,
    ) -> Result<Option<ServiceInstance>, Error> {
        Ok(self.tables().service_instances.get(&id.key()).cloned())
    }

    async fn get_service_binding(&self, id: &BindingId) -> Result<Option<ServiceBinding>, Error> {
        Ok(self.tables().service_bindings.get(&id.key()).cloned())
    }

    async fn list_service_bindings(
        &self,
        instance: &InstanceId,
    ) -> Result<Vec<ServiceBinding>, Error> {
        Ok(self.tables().bindings_of(instance))
    }

    async fn list_service_references(
        &self,
        group: &GroupId,
        instance: &InstanceId,
    ) -> Result<Vec<Reference>, Error> {
        Ok(self.tables().references_of_instance(group, instance))
    }

    async fn place_order(&self, order: PlaceOrder) -> Result<ServiceInstance, Error> {
        let mut tables = self.tables();
        let group_key = order.instance.group.key();
        let recorded = tables.groups.get(&group_key).cloned();
        let made = match &recorded {
            Some(_) => None,
            None => order.group.clone(),
        };
        let group = recorded
            .or_else(|| made.clone())
            .ok_or(Error::NoSuchGroup)?;
        if let Some(deletion) = group.body.deletion {
            return Err(Error::GroupDeleting(deletion));
        }
        let key = order.instance.id.key();
        let current = tables.service_instances.get(&key);
        let (instance, mut bindings) = rules::placed(&order, &group, current)?;
        let standing = tables.bindings_of(&instance.id);
        let keys: BTreeSet<String> = standing.iter().map(|it| it.id.key()).collect();
        rules::refuse_many_bindings(&bindings, keys)?;
        if instance.is_gone() {
            let gone = rules::gone_with_instance(standing, order.placed_at);
            bindings.splice(0..0, gone);
        }
        let tagged = tables.tagged(&order)?;

        // What the acceptance writes, it writes after its last check.
        let cancelled = order.cancels;
        let cancelled = cancelled.filter(|id| tables.operations.contains_key(id));
        let is_made = made.is_some();
        if let Some(made) = made {
            tables.groups.insert(group_key.clone(), made);
        }
        if let Some(operation) = order.operation
            && let Err(refused) = tables.accept(operation, Claimant::Anyone)
        {
            if is_made {
                tables.groups.remove(&group_key);
            }
            return Err(refused);
        }
        if let Some(cancelled) = cancelled {
            tables.request_cancel(cancelled, order.placed_at);
        }
        for reference in tagged {
            let key = reference.id.key();
            tables.references.insert(key, reference);
        }
        tables.write_services(&instance, bindings);
        Ok(instance)
    }

    async fn remove_gone_services(&self, before: Timestamp, limit: usize) -> Result<u64, Error> {
        let mut tables = self.tables();
        let bindings = tables.service_bindings.iter();
        let bindings = bindings.filter_map(|(key, it)| Some((it.gone_at()?, key.clone())));
        let bindings = earliest(bindings, before, limit);
        for key in &bindings {
            tables.service_bindings.remove(key);
        }
        if bindings.len() >= limit {
            return Ok(counted(&bindings));
        }
        let instances = tables.service_instances.iter();
        let instances = instances.filter_map(|(key, it)| Some((it.gone_at()?, key.clone())));
        let instances = earliest(instances, before, limit);
        for key in &instances {
            tables.service_instances.remove(key);
            tables
                .service_bindings
                .retain(|_, binding| binding.id.instance.key() != *key);
        }
        Ok(counted(&bindings) + counted(&instances))
    }
}

fn counted(removed: &[String]) -> u64 {
    removed.iter().fold(0, |count, _| count + 1)
}

/// Returns the keys of up to `limit` rows that are gone since before then.
fn earliest(
    gone: impl Iterator<Item = (Timestamp, String)>,
    before: Timestamp,
    limit: usize,
) -> Vec<String> {
    let mut gone: Vec<_> = gone.filter(|(at, _)| *at < before).collect();
    gone.sort_unstable();
    gone.into_iter().take(limit).map(|(_, key)| key).collect()
}

impl Tables {
    /// The bindings of an instance that are not gone.
    fn bindings_of(&self, instance: &InstanceId) -> Vec<ServiceBinding> {
        let key = instance.key();
        let bindings = self.service_bindings.values();
        bindings
            .filter(|binding| binding.id.instance.key() == key && !binding.is_gone())
            .cloned()
            .collect()
    }

    /// The references of an instance that get tags, with them.
    fn tagged(&self, order: &PlaceOrder) -> Result<Vec<Reference>, Error> {
        if order.tags.is_empty() {
            return Ok(Vec::new());
        }
        let ServiceInstance { group, id, .. } = &order.instance;
        let references = self.references_of_instance(group, id).into_iter();
        let tagged = references.filter_map(|reference| {
            let tags = order.tags.iter().map(|(key, value)| (key, value));
            rules::tagged(&reference, id, tags, order.placed_at).transpose()
        });
        tagged.collect()
    }

    fn write_services(&mut self, instance: &ServiceInstance, bindings: Vec<ServiceBinding>) {
        for binding in bindings {
            self.service_bindings.insert(binding.id.key(), binding);
        }
        self.service_instances
            .insert(instance.id.key(), instance.clone());
    }

    /// Ends the change that an operation carries out.
    pub(super) fn end_order(&mut self, operation: &Operation, work: &GroupWork, order: &Order) {
        let instance = self.service_instances.get(&order.instance.key());
        let Some(instance) = instance.cloned() else {
            return;
        };
        let bindings = match rules::concerned(order, work) {
            Concerned::One(id) => {
                let binding = self.service_bindings.get(&id.key());
                binding.cloned().into_iter().collect()
            }
            Concerned::All => self.bindings_of(&order.instance),
            Concerned::None => Vec::new(),
        };
        let left = if rules::may_leave_some(order, work) {
            let left = self.references_of_instance(&work.group, &order.instance);
            left.iter().map(|it| it.id.key()).collect()
        } else {
            BTreeSet::new()
        };
        let ended = rules::ended_order(operation, instance, bindings, &left);
        if let Some((instance, bindings)) = ended {
            self.write_services(&instance, bindings);
        }
    }

    fn references_of_instance(&self, group: &GroupId, instance: &InstanceId) -> Vec<Reference> {
        let references = self.references_of(group).into_iter();
        let of_instance = references.filter(|it| rules::is_called_after(&it.id, instance));
        of_instance.collect()
    }

    /// Returns whether an instance is in the group that is not gone.
    pub(super) fn has_services(&self, group: &str) -> bool {
        let mut instances = self.service_instances.values();
        instances.any(|instance| instance.group.key() == group && !instance.is_gone())
    }

    /// Removes the instances of a group, and their bindings.
    pub(super) fn remove_services(&mut self, group: &str) {
        let mut removed = BTreeSet::new();
        self.service_instances.retain(|key, instance| {
            let is_kept = instance.group.key() != group;
            if !is_kept {
                removed.insert(key.clone());
            }
            is_kept
        });
        self.service_bindings
            .retain(|_, binding| !removed.contains(&binding.id.instance.key()));
    }
}
