use std::collections::BTreeSet;

use async_trait::async_trait;
use ucp_model::{
    CorrelationId, GroupId, Identifier, Leftover, Lineage, Outline, ProvisioningState, Reference,
    ReferenceId, Scope, Target, Timestamp, TypeName, json,
};

use super::Memory;
use super::tables::page;
use crate::{
    Adoption, Basis, Error, Event, Forgotten, Limit, Page, RecordedAlias, ReferenceUpdate,
    References, Release, reference_keys, rules,
};

#[async_trait]
impl References for Memory {
    async fn get_reference(&self, id: &ReferenceId) -> Result<Option<Reference>, Error> {
        Ok(self.tables().references.get(&id.key()).cloned())
    }

    async fn recorded_alias(&self, id: &ReferenceId) -> Result<RecordedAlias, Error> {
        let tables = self.tables();
        let reference = tables.references.get(&id.key());
        Ok(RecordedAlias {
            group: tables.group(&id.group)?.clone(),
            reference: reference.cloned(),
            target: tables.target_of(reference),
            is_lineage_taken: reference.is_none() && tables.is_lineage_taken(&Lineage::of(id), id),
        })
    }

    async fn list_references(
        &self,
        group: &GroupId,
        type_name: Option<&TypeName>,
        after: Option<&ReferenceId>,
        limit: Limit,
    ) -> Result<Page<Reference>, Error> {
        let tables = self.tables();
        tables.group(group)?;
        let keys = reference_keys(group, type_name, after);
        let most = limit.bytes.max(1);
        let mut bytes = 0_usize;
        let mut items = page(&tables.references, keys, limit.items);
        let within = items.iter().take_while(|reference| {
            let is_within = bytes < most;
            let baseline = reference.baseline.as_ref().map_or(0, json::length);
            let observed = reference.observed.as_ref().map_or(0, json::length);
            bytes = bytes.saturating_add(baseline).saturating_add(observed);
            is_within
        });
        let within = within.count();
        let is_limited = items.len() == limit.items || bytes >= most;
        items.truncate(within);
        Ok(Page { items, is_limited })
    }

    async fn list_outlines(&self, group: &GroupId) -> Result<Vec<Outline>, Error> {
        let tables = self.tables();
        tables.group(group)?;
        let keys = reference_keys(group, None, None);
        let references = page(&tables.references, keys, usize::MAX).into_iter();
        Ok(references.map(Outline::of).collect())
    }

    async fn accounted_for(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        identifiers: &[Identifier],
    ) -> Result<BTreeSet<Identifier>, Error> {
        let tables = self.tables();
        let references = tables.references.values().filter_map(Reference::target);
        let leftovers = tables.leftovers.values().filter_map(Leftover::target);
        let keys: BTreeSet<String> = references
            .chain(leftovers)
            .map(|target| target.key())
            .collect();
        let is_accounted_for = |identifier: &&Identifier| {
            let target = Target {
                scope,
                type_name,
                identifier,
            };
            keys.contains(&target.key())
        };
        Ok(identifiers
            .iter()
            .filter(is_accounted_for)
            .cloned()
            .collect())
    }

    async fn update_reference(
        &self,
        id: &ReferenceId,
        update: ReferenceUpdate,
        caller: &str,
        correlation_id: &CorrelationId,
        now: Timestamp,
    ) -> Result<Reference, Error> {
        let mut tables = self.tables();
        let reference = tables
            .references
            .get(&id.key())
            .ok_or(Error::NoSuchReference)?;
        let reference = reference.clone();
        tables.refuse_deletion(&id.group)?;
        rules::refuse_busy(&reference)?;
        rules::refuse_elsewhere(&reference, &update)?;
        let target = reference.target().map(|target| target.key());
        if let Some(busy) = target.as_ref().and_then(|key| tables.holder_of(key)) {
            return Err(Error::Busy(busy));
        }
        if update.owned == Some(true)
            && let Some(owner) = tables.owner_of(target.as_deref(), &id.key())
        {
            return Err(Error::OwnedElsewhere(owner.id.clone()));
        }
        let updated = rules::update(reference, update, now);
        let event = rules::updated(&updated, caller, correlation_id, now);
        tables.references.insert(id.key(), updated.clone());
        tables.events.push(event);
        Ok(updated)
    }

    async fn remember(&self, learned: &Reference, basis: &Basis) -> Result<bool, Error> {
        let mut tables = self.tables();
        let target = tables.target_of(Some(learned));
        let is_untouched = target.holder.is_none() && target.last_ended == basis.last_ended;
        let reference = tables.references.get_mut(&learned.id.key());
        let unchanged = reference.filter(|reference| {
            is_untouched
                && reference.lineage == learned.lineage
                && reference.revision + 1 == learned.revision
                && reference.created_at == learned.created_at
                && reference.identifier == learned.identifier
        });
        let Some(reference) = unchanged else {
            return Ok(false);
        };
        *reference = Reference {
            id: reference.id.clone(),
            lineage: reference.lineage.clone(),
            scope: reference.scope.clone(),
            identifier: reference.identifier.clone(),
            owned: reference.owned,
            tags: reference.tags.clone(),
            operation: reference.operation,
            ..learned.clone()
        };
        Ok(true)
    }

    async fn adopt(&self, adoption: Adoption) -> Result<bool, Error> {
        let mut tables = self.tables();
        let Adoption {
            reference, event, ..
        } = &adoption;
        tables.refuse_deletion(&reference.id.group)?;
        let key = reference.id.key();
        let target = reference.target().map(|target| target.key());
        let owner = tables.owner_of(target.as_deref(), &key);
        let owner = owner.map(|owner| owner.id.clone());
        let recorded = tables.target_of(Some(reference));
        let current = tables.references.get(&key);
        let is_lineage_taken =
            current.is_none() && tables.is_lineage_taken(&reference.lineage, &reference.id);
        let is_adopted = rules::adopt(&adoption, current, &recorded, owner)? && !is_lineage_taken;
        let was_unknown =
            current.is_some_and(|current| current.provisioning_state == ProvisioningState::Unknown);
        if is_adopted {
            tables.references.insert(key, reference.clone());
            if let Some(target) = &target {
                tables.settle(target);
            }
            if was_unknown {
                tables.decide(&adoption.reference.id);
            }
            tables.events.push(event.clone());
        }
        Ok(is_adopted)
    }

    async fn forget_reference(
        &self,
        id: &ReferenceId,
        keeps_plan_policy: bool,
        caller: &str,
        correlation_id: &CorrelationId,
        now: Timestamp,
    ) -> Result<Forgotten, Error> {
        let mut tables = self.tables();
        let reference = tables
            .references
            .get(&id.key())
            .ok_or(Error::NoSuchReference)?;
        tables.refuse_deletion(&id.group)?;
        rules::refuse_busy(reference)?;
        if reference.owned {
            return Ok(Forgotten::Owned(Box::new(reference.clone())));
        }
        let policy = tables.group(&id.group)?.body.policy();
        rules::judge_forgetting(policy, keeps_plan_policy)?;
        let event = rules::forgot(reference, caller, correlation_id, now);
        let was_unknown = reference.provisioning_state == ProvisioningState::Unknown;
        tables.references.remove(&id.key());
        if was_unknown {
            tables.decide(id);
        }
        tables.events.push(event);
        Ok(Forgotten::Forgotten)
    }

    async fn release_reference(&self, release: Release) -> Result<(), Error> {
        let mut tables = self.tables();
        let Release { caller, at, .. } = &release;
        let id = &release.reference.id;
        let key = id.key();
        let reference = tables.references.get(&key).ok_or(Error::NoSuchReference)?;
        tables.refuse_deletion(&id.group)?;
        rules::refuse_busy(reference)?;
        let policy = tables.group(&id.group)?.body.policy();
        rules::judge_forgetting(policy, release.keeps_plan_policy)?;
        let heir = rules::inherit(&release, reference)?;
        if let Some(heir) = &heir {
            let recorded = tables.references.get(&heir.id.key());
            let is_same = |it: &Reference| {
                let is_idle = it.operation.is_none() && it.target() == heir.target();
                is_idle && it.revision + 1 == heir.revision && it.lineage == heir.lineage
            };
            let is_open = tables.refuse_deletion(&heir.id.group).is_ok();
            if !is_open || !recorded.is_some_and(is_same) {
                return Err(Error::PreconditionFailed);
            }
        }
        let event = rules::forgot(reference, caller, &release.correlation_id, *at);
        let was_unknown = reference.provisioning_state == ProvisioningState::Unknown;
        tables.references.remove(&key);
        if was_unknown {
            tables.decide(id);
        }
        tables.events.push(event);
        if let Some(heir) = heir {
            let event = rules::updated(&heir, caller, &release.correlation_id, *at);
            tables.references.insert(heir.id.key(), heir);
            tables.events.push(event);
        }
        Ok(())
    }

    async fn references_to(
        &self,
        targets: &[String],
        limit: usize,
    ) -> Result<Vec<Reference>, Error> {
        let tables = self.tables();
        let stands = |reference: &&Reference| {
            let target = reference.target().map(|target| target.key());
            target.is_some_and(|target| targets.contains(&target))
        };
        let references = tables.references.values().filter(stands);
        Ok(references.take(limit).cloned().collect())
    }

    async fn count_references(&self, group: &GroupId, limit: usize) -> Result<usize, Error> {
        let tables = self.tables();
        let references = tables.references.values();
        Ok(references
            .filter(|reference| reference.id.group.key() == group.key())
            .take(limit)
            .count())
    }

    async fn remove_events(&self, before: Timestamp, limit: usize) -> Result<u64, Error> {
        let mut tables = self.tables();
        let (mut place, mut removed) = (0, 0);
        tables.events.retain(|event| {
            let is_first = place < limit;
            place += 1;
            let goes = is_first && event.at < before;
            removed += u64::from(goes);
            !goes
        });
        Ok(removed)
    }

    async fn list_events(&self, reference: &ReferenceId) -> Result<Vec<Event>, Error> {
        Ok(self.tables().events_of(&reference.key()))
    }
}
