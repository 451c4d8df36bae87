//! The references.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use ucp_model::{
    CorrelationId, GroupId, Identifier, Outline, ProvisioningState, Reference, ReferenceId,
    ResourceGroup, Scope, Target, Timestamp, TypeName,
};
use ucp_store::{
    Adoption, Basis, Error, Event, Forgotten, Limit, Page, RecordedAlias, RecordedTarget,
    ReferenceUpdate, References, Release, reference_keys, rules,
};

use crate::busy::{ended_last_on, live_on};
use crate::database::{Abort, Row, Transaction, statements, transaction, values};
use crate::json::to_json;
use crate::reference_row::{self, columns, delete, is_lineage_taken, lock, other_owner, put};
use crate::{Sql, busy, events, groups, leftover_row};

statements! {
    /// The keys of groups and references are a JSON array. Each is looked up: a join could read all references.
    RECORDED = ["SELECT asked.place, groups.*, ", columns!(), ",
            ", live_on!("resource_references.target_key"), " AS holder,
            ", ended_last_on!("resource_references.target_key"), " AS last_ended,
            CASE WHEN resource_references.key IS NULL THEN (
                SELECT named.key FROM resource_references AS named WHERE COALESCE(named.lineage, named.key) = asked.asked_key
            ) END AS named_after_it
        FROM ("]
        postgres "SELECT place, pair->>0 AS asked_group, pair->>1 AS asked_key
            FROM json_array_elements($1::json) WITH ORDINALITY AS given(pair, place)
        ) AS asked JOIN LATERAL ("
        sqlite "SELECT key + 1 AS place, value->>0 AS asked_group, value->>1 AS asked_key FROM json_each($1)
        ) AS asked CROSS JOIN (" ["
            SELECT key AS group_key_of, id AS group_id, location AS group_location, tags AS group_tags, body AS group_body,
                created_at AS group_created_at, updated_at AS group_updated_at, revision AS group_revision,
                deletion AS group_deletion
            FROM resource_groups"]
        postgres " WHERE key = asked.asked_group LIMIT 1
        ) AS groups ON TRUE
        LEFT JOIN LATERAL (
            SELECT * FROM resource_references AS named WHERE named.key = asked.asked_key LIMIT 1
        ) AS resource_references ON TRUE"
        sqlite ") AS groups ON groups.group_key_of = asked.asked_group
        LEFT JOIN resource_references ON resource_references.key = asked.asked_key";
    COUNT = ["SELECT COUNT(*) AS counted FROM (
            SELECT key FROM resource_references WHERE group_key = $1 ORDER BY key LIMIT $2
        ) AS bounded"];
    /// The keys are a JSON array. Each is looked up: a join could read all references.
    ACCOUNTED_FOR = ["SELECT target_key FROM ("]
        postgres "SELECT json_array_elements_text($1::json) AS target_key"
        sqlite "SELECT value AS target_key FROM json_each($1)" [") AS asked
        WHERE COALESCE(
            (SELECT 1 FROM resource_references WHERE resource_references.target_key = asked.target_key LIMIT 1),
            (SELECT 1 FROM leftovers WHERE leftovers.target_key = asked.target_key LIMIT 1)
        ) = 1"];
}

#[async_trait]
impl References for Sql {
    async fn get_reference(&self, id: &ReferenceId) -> Result<Option<Reference>, Error> {
        reference_row::get(&self.database, id).await
    }

    async fn recorded_alias(&self, id: &ReferenceId) -> Result<RecordedAlias, Error> {
        let read = |ids| self.recorded_aliases(ids);
        let row = self.asked_aliases.ask(id.clone(), read).await?;
        recorded_alias(&row.ok_or(Error::NoSuchGroup)?)
    }

    async fn list_references(
        &self,
        group: &GroupId,
        type_name: Option<&TypeName>,
        after: Option<&ReferenceId>,
        limit: Limit,
    ) -> Result<Page<Reference>, Error> {
        groups::get(&self.database, group).await?;
        let keys = reference_keys(group, type_name, after);
        reference_row::list(&self.database, keys, limit).await
    }

    async fn list_outlines(&self, group: &GroupId) -> Result<Vec<Outline>, Error> {
        groups::get(&self.database, group).await?;
        reference_row::outlines(&self.database, group).await
    }

    async fn accounted_for(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        identifiers: &[Identifier],
    ) -> Result<BTreeSet<Identifier>, Error> {
        let mut keys = BTreeMap::new();
        for identifier in identifiers {
            let target = Target {
                scope,
                type_name,
                identifier,
            };
            keys.insert(target.key(), identifier);
        }
        if keys.is_empty() {
            return Ok(BTreeSet::new());
        }
        let values = values![to_json(&keys.keys().collect::<Vec<_>>())?];
        let mut known = BTreeSet::new();
        for row in &self.database.read(ACCOUNTED_FOR, values).await? {
            if let Some(identifier) = keys.get(row.get::<&str>("target_key")?) {
                known.insert((*identifier).clone());
            }
        }
        Ok(known)
    }

    async fn update_reference(
        &self,
        id: &ReferenceId,
        update: ReferenceUpdate,
        caller: &str,
        correlation_id: &CorrelationId,
        now: Timestamp,
    ) -> Result<Reference, Error> {
        transaction!(self, |tx| async {
            let (_, reference) = idle(&mut tx, id).await?;
            rules::refuse_elsewhere(&reference, &update)?;
            if let Some(target) = reference.target().map(|target| target.key()) {
                if let Some(busy) = busy::holder(&mut tx, &target).await? {
                    return Err(Error::Busy(busy).into());
                }
                if update.owned == Some(true)
                    && let Some(owner) = other_owner(&mut tx, &target, id).await?
                {
                    return Err(Error::OwnedElsewhere(owner).into());
                }
            }
            let updated = rules::update(reference, update.clone(), now);
            put(&mut tx, &updated).await?;
            let event = rules::updated(&updated, caller, correlation_id, now);
            events::append(&mut tx, &event, Some(id)).await?;
            Ok(updated)
        })
    }

    async fn remember(&self, reference: &Reference, basis: &Basis) -> Result<bool, Error> {
        reference_row::remember(&self.database, reference, basis).await
    }

    async fn adopt(&self, adoption: Adoption) -> Result<bool, Error> {
        transaction!(self, |tx| adopt(&mut tx, &adoption))
    }

    async fn forget_reference(
        &self,
        id: &ReferenceId,
        keeps_plan_policy: bool,
        caller: &str,
        correlation_id: &CorrelationId,
        now: Timestamp,
    ) -> Result<Forgotten, Error> {
        transaction!(self, |tx| async {
            let (group, reference) = idle(&mut tx, id).await?;
            if reference.owned {
                return Ok(Forgotten::Owned(Box::new(reference)));
            }
            rules::judge_forgetting(group.body.policy(), keeps_plan_policy)?;
            delete(&mut tx, id).await?;
            if reference.provisioning_state == ProvisioningState::Unknown {
                leftover_row::decide(&mut tx, id).await?;
            }
            let event = rules::forgot(&reference, caller, correlation_id, now);
            events::append(&mut tx, &event, Some(id)).await?;
            Ok(Forgotten::Forgotten)
        })
    }

    async fn release_reference(&self, release: Release) -> Result<(), Error> {
        transaction!(self, |tx| async {
            let Release {
                caller,
                correlation_id,
                at,
                ..
            } = &release;
            let id = &release.reference.id;
            let (group, reference) = idle(&mut tx, id).await?;
            rules::judge_forgetting(group.body.policy(), release.keeps_plan_policy)?;
            let heir = rules::inherit(&release, &reference)?;
            delete(&mut tx, id).await?;
            if reference.provisioning_state == ProvisioningState::Unknown {
                leftover_row::decide(&mut tx, id).await?;
            }
            let event = rules::forgot(&reference, caller, correlation_id, *at);
            events::append(&mut tx, &event, Some(id)).await?;
            if let Some(heir) = heir {
                // A deletion that is under way would take along what is owned.
                let open = groups::open(groups::share(&mut tx, &heir.id.group).await?);
                open.map_err(|_| Error::PreconditionFailed)?;
                reference_row::own(&mut tx, &heir).await?;
                let event = rules::updated(&heir, caller, correlation_id, *at);
                events::append(&mut tx, &event, Some(&heir.id)).await?;
            }
            Ok(())
        })
    }

    async fn references_to(
        &self,
        targets: &[String],
        limit: usize,
    ) -> Result<Vec<Reference>, Error> {
        reference_row::list_to(&self.database, targets, limit).await
    }

    async fn count_references(&self, group: &GroupId, limit: usize) -> Result<usize, Error> {
        let values = values![group.key(), i64::try_from(limit).unwrap_or(i64::MAX)];
        self.database.count(COUNT, values).await
    }

    async fn remove_events(&self, before: Timestamp, limit: usize) -> Result<u64, Error> {
        events::remove(&self.database, before, limit).await
    }

    async fn list_events(&self, reference: &ReferenceId) -> Result<Vec<Event>, Error> {
        events::list(&self.database, reference).await
    }
}

impl Sql {
    /// Returns the row of each alias, for its caller to read; none if there is no such group.
    async fn recorded_aliases(&self, ids: Vec<ReferenceId>) -> Result<Vec<Option<Row>>, Error> {
        let keys: Vec<_> = ids.iter().map(|id| (id.group.key(), id.key())).collect();
        let rows = self
            .database
            .read(RECORDED, values![to_json(&keys)?])
            .await?;
        let mut recorded: Vec<_> = ids.iter().map(|_| None).collect();
        for row in rows {
            let place: usize = row.count("place")?;
            if let Some(recorded) = recorded.get_mut(place.wrapping_sub(1)) {
                *recorded = Some(row);
            }
        }
        Ok(recorded)
    }
}

fn recorded_alias(row: &Row) -> Result<RecordedAlias, Error> {
    let is_known = row.get::<Option<&str>>("id")?.is_some();
    let reference = is_known.then(|| reference_row::read(row)).transpose()?;
    Ok(RecordedAlias {
        group: groups::read_after(row, "group_")?,
        target: RecordedTarget {
            holder: busy::id(row, "holder")?,
            is_referenced: reference.as_ref().is_some_and(|r| r.identifier.is_some()),
            last_ended: busy::id(row, "last_ended")?,
        },
        is_lineage_taken: row.get::<Option<&str>>("named_after_it")?.is_some(),
        reference,
    })
}

/// Writes an adoption. The resource stays locked until then: otherwise an operation could be accepted on it, delete it,
/// and end without having seen this reference.
async fn adopt(transaction: &mut Transaction, adoption: &Adoption) -> Result<bool, Abort> {
    let Adoption {
        reference, event, ..
    } = adoption;
    groups::hold(transaction, &reference.id.group).await?;
    let current = lock(transaction, &reference.id).await?;
    let (mut target, mut owner) = (RecordedTarget::default(), None);
    if let Some(key) = reference.target().map(|target| target.key()) {
        busy::lock(transaction, &key).await?;
        // The owner first: the end of an operation that was accepted before it knew the resource shows in the target,
        // too.
        if reference.owned {
            owner = other_owner(transaction, &key, &reference.id).await?;
        }
        target = busy::find(transaction, &key).await?;
    }
    let is_lineage_taken = match &current {
        Some(_) => false,
        None => is_lineage_taken(transaction, &reference.lineage, &reference.id).await?,
    };
    let is_adopted = rules::adopt(adoption, current.as_ref(), &target, owner)? && !is_lineage_taken;
    if is_adopted {
        put(transaction, reference).await?;
        if let Some(target) = reference.target() {
            leftover_row::settle(transaction, &target.key()).await?;
        }
        let was_unknown =
            current.is_some_and(|current| current.provisioning_state == ProvisioningState::Unknown);
        if was_unknown {
            leftover_row::decide(transaction, &reference.id).await?;
        }
        events::append(transaction, event, Some(&reference.id)).await?;
    }
    Ok(is_adopted)
}

/// Returns a reference without a live operation, with its group, and locks both until the transaction ends.
async fn idle(
    transaction: &mut Transaction,
    id: &ReferenceId,
) -> Result<(ResourceGroup, Reference), Abort> {
    // The group first, as everywhere: otherwise two transactions could wait for each other.
    let group = groups::share(transaction, &id.group).await?;
    let reference = lock(transaction, id).await?.ok_or(Error::NoSuchReference)?;
    let group = groups::open(group)?;
    rules::refuse_busy(&reference)?;
    Ok((group, reference))
}
