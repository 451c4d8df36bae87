//! The references: which AWS resource an alias stands for.

use async_trait::async_trait;
use ucp_model::{
    CorrelationId, GroupId, Identifier, ProvisioningState, Reference, ReferenceId, Scope, Timestamp,
};
use ucp_store::{Error, Event, Forgotten, ReferenceUpdate, References, rules};

use crate::database::{Abort, Row, Transaction, statements, transaction, values};
use crate::json::{corrupt, count, from_json, parsed, to_json};
use crate::{Sql, events, groups, operations};

/// All that a [`Reference`] is made of.
macro_rules! columns {
    () => {
        "id, plane, account, region, identifier, owned, provisioning_state, baseline, observed, \
         observed_at, created_at, updated_at, revision, tags"
    };
}

statements! {
    /// When two first puts of an alias meet here, the second waits, and then fails to insert its operation.
    PUT = ["INSERT INTO mappings (key, id, group_key, plane, account, region, identifier, target_key, owned,
            provisioning_state, baseline, observed, observed_at, created_at, updated_at, revision, tags)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
        ON CONFLICT (key) DO UPDATE SET
            identifier = excluded.identifier,
            target_key = excluded.target_key,
            owned = excluded.owned,
            provisioning_state = excluded.provisioning_state,
            baseline = excluded.baseline,
            observed = excluded.observed,
            observed_at = excluded.observed_at,
            updated_at = excluded.updated_at,
            revision = excluded.revision,
            tags = excluded.tags"];
    GET = ["SELECT ", columns!(), " FROM mappings WHERE key = $1"];
    LOCK = ["SELECT ", columns!(), " FROM mappings WHERE key = $1"] lock " FOR UPDATE";
    LIST = ["SELECT ", columns!(), " FROM mappings WHERE group_key = $1 ORDER BY key"];
    DELETE = ["DELETE FROM mappings WHERE key = $1"];
    /// The owner of an AWS resource other than one mapping.
    OTHER_OWNER = ["SELECT id FROM mappings WHERE target_key = $1 AND owned = 1 AND key <> $2"];
    /// Keeps operations from being accepted for the mappings of an AWS resource.
    LOCK_ALL = ["SELECT key FROM mappings WHERE target_key = $1 ORDER BY key"] lock " FOR UPDATE";
    DELETE_IDLE = ["DELETE FROM mappings WHERE target_key = $1 AND NOT EXISTS (
            SELECT 1 FROM operations
            WHERE operations.reference_key = mappings.key AND operations.ended_at IS NULL
        )"];
}

#[async_trait]
impl References for Sql {
    async fn get_reference(&self, id: &ReferenceId) -> Result<Option<Reference>, Error> {
        let rows = self.database.read(GET, values![id.key()]).await?;
        rows.first().map(read).transpose()
    }

    async fn list_references(&self, group: &GroupId) -> Result<Vec<Reference>, Error> {
        groups::get(&self.database, group).await?;
        let rows = self.database.read(LIST, values![group.key()]).await?;
        rows.iter().map(read).collect()
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
            let mapping = lock(&mut tx, id).await?.ok_or(Error::NotMapped)?;
            groups::hold(&mut tx, &id.group).await?;
            operations::refuse_busy_alias(&mut tx, id).await?;
            if let Some(target) = mapping.target().map(|target| target.key()) {
                if let Some(busy) = operations::holder(&mut tx, &target).await? {
                    return Err(Error::Busy(busy).into());
                }
                if update.owned == Some(true)
                    && let Some(owner) = other_owner(&mut tx, &target, id).await?
                {
                    return Err(Error::OwnedElsewhere(owner).into());
                }
            }
            let updated = rules::update(mapping, update.clone(), now);
            put(&mut tx, &updated).await?;
            let event = rules::updated(&updated, caller, correlation_id, now);
            events::append(&mut tx, &event, Some(id)).await?;
            Ok(updated)
        })
    }

    async fn forget_reference(
        &self,
        id: &ReferenceId,
        caller: &str,
        correlation_id: &CorrelationId,
        now: Timestamp,
    ) -> Result<Forgotten, Error> {
        transaction!(self, |tx| async {
            let mapping = lock(&mut tx, id).await?.ok_or(Error::NotMapped)?;
            groups::hold(&mut tx, &id.group).await?;
            operations::refuse_busy_alias(&mut tx, id).await?;
            if mapping.owned {
                return Ok(Forgotten::Owned(Box::new(mapping)));
            }
            delete(&mut tx, id).await?;
            let event = rules::forgot(&mapping, caller, correlation_id, now);
            events::append(&mut tx, &event, Some(id)).await?;
            Ok(Forgotten::Forgotten)
        })
    }

    async fn list_events(&self, reference: &ReferenceId) -> Result<Vec<Event>, Error> {
        events::list(&self.database, reference).await
    }
}

/// The mappings of a group that nobody else holds.
pub(crate) async fn of_group(
    transaction: &mut Transaction,
    group: &GroupId,
) -> Result<Vec<Reference>, Abort> {
    let rows = transaction.fetch(LIST, values![group.key()]).await?;
    let mappings: Result<Vec<Reference>, Error> = rows.iter().map(read).collect();
    Ok(mappings?)
}

/// The mapping of an alias, which nobody else changes until the transaction ends.
pub(crate) async fn lock(
    transaction: &mut Transaction,
    id: &ReferenceId,
) -> Result<Option<Reference>, Abort> {
    let row = transaction.fetch_optional(LOCK, values![id.key()]).await?;
    Ok(row.as_ref().map(read).transpose()?)
}

/// Writes the mapping, new or changed.
pub(crate) async fn put(transaction: &mut Transaction, mapping: &Reference) -> Result<(), Abort> {
    let values = values![
        mapping.id.key(),
        mapping.id.to_string(),
        mapping.id.group.key(),
        mapping.scope.plane.as_str(),
        mapping.scope.account.as_str(),
        mapping.scope.region.as_str(),
        mapping.identifier.as_ref().map(Identifier::as_str),
        mapping.target().map(|target| target.key()),
        mapping.owned,
        mapping.provisioning_state.as_str(),
        mapping.baseline.as_ref().map(to_json).transpose()?,
        mapping.observed.as_ref().map(to_json).transpose()?,
        mapping.observed_at.map(Timestamp::as_millis),
        mapping.created_at.as_millis(),
        mapping.updated_at.as_millis(),
        count(mapping.revision)?,
        to_json(&mapping.tags)?,
    ];
    transaction.execute(PUT, values).await?;
    Ok(())
}

pub(crate) async fn delete(transaction: &mut Transaction, id: &ReferenceId) -> Result<(), Abort> {
    transaction.execute(DELETE, values![id.key()]).await?;
    Ok(())
}

/// The reference other than `own` that owns the AWS resource.
pub(crate) async fn other_owner(
    transaction: &mut Transaction,
    target: &str,
    own: &ReferenceId,
) -> Result<Option<ReferenceId>, Abort> {
    let row = transaction
        .fetch_optional(OTHER_OWNER, values![target, own.key()])
        .await?;
    let id = row.map(|row| parsed(row.get("id")?));
    Ok(id.transpose()?)
}

/// Removes the mappings of an AWS resource that no live operation works on.
///
/// Locking is a statement of its own: the one that deletes then sees every operation that was accepted before.
pub(crate) async fn delete_idle(transaction: &mut Transaction, target: &str) -> Result<(), Abort> {
    transaction.fetch(LOCK_ALL, values![target]).await?;
    transaction.execute(DELETE_IDLE, values![target]).await?;
    Ok(())
}

fn read(row: &Row) -> Result<Reference, Error> {
    let identifier: Option<String> = row.get("identifier")?;
    let baseline: Option<&str> = row.get("baseline")?;
    let observed: Option<&str> = row.get("observed")?;
    let word: &str = row.get("provisioning_state")?;
    let Some(provisioning_state) = ProvisioningState::parse(word) else {
        return corrupt(format!("there is no provisioning state '{word}'"));
    };
    Ok(Reference {
        id: parsed(row.get("id")?)?,
        scope: Scope {
            plane: row.get("plane")?,
            account: row.get("account")?,
            region: row.get("region")?,
        },
        identifier: identifier.map(Identifier::new),
        owned: row.flag("owned")?,
        tags: from_json(row.get("tags")?)?,
        provisioning_state,
        baseline: baseline.map(from_json).transpose()?,
        observed: observed.map(from_json).transpose()?,
        observed_at: row
            .get::<Option<i64>>("observed_at")?
            .map(Timestamp::from_millis),
        created_at: Timestamp::from_millis(row.get("created_at")?),
        updated_at: Timestamp::from_millis(row.get("updated_at")?),
        revision: row.count("revision")?,
    })
}
