//! The resource groups.

use async_trait::async_trait;
use ucp_model::{GroupId, OperationId, ResourceGroup, Timestamp};
use ucp_store::{Error, GroupDeletion, Groups, NewGroupOperation, Precondition, PutGroup, rules};

use crate::database::{Abort, Database, Row, Transaction, statements, transaction, values};
use crate::state::{count, from_json, parsed, to_json};
use crate::{Sql, group_operations};

/// All that a [`ResourceGroup`] is made of.
macro_rules! columns {
    () => {
        "plane, name, location, tags, default_tags, deletion, created_at, updated_at, revision"
    };
}

statements! {
    /// When two first puts of a group meet here, the second fails, and then finds the group of the first.
    INSERT = ["INSERT INTO resource_groups (key, plane_key, plane, name, location, tags, default_tags,
            created_at, updated_at, revision)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"];
    UPDATE = ["UPDATE resource_groups SET
            location = $2, tags = $3, default_tags = $4, updated_at = $5, revision = $6
        WHERE key = $1"];
    GET = ["SELECT ", columns!(), " FROM resource_groups WHERE key = $1"];
    LIST = ["SELECT ", columns!(), " FROM resource_groups WHERE plane_key = $1 ORDER BY key"];
    /// A foreign key would not stop the group from being changed while an operation is accepted in it.
    HOLD = ["SELECT ", columns!(), " FROM resource_groups WHERE key = $1"] lock " FOR SHARE";
    LOCK = ["SELECT ", columns!(), " FROM resource_groups WHERE key = $1"] lock " FOR UPDATE";
    SET_DELETION = ["UPDATE resource_groups SET deletion = $2 WHERE key = $1"];
    DELETE = ["DELETE FROM resource_groups WHERE key = $1"];
}

#[async_trait]
impl Groups for Sql {
    async fn put_resource_group(
        &self,
        put: PutGroup,
        precondition: &Precondition,
        now: Timestamp,
    ) -> Result<ResourceGroup, Error> {
        transaction!(self, |tx| async {
            let current = lock(&mut tx, &put.id).await?;
            let group = rules::put_group(current.as_ref(), put.clone(), precondition, now)?;
            let (key, location) = (group.id.key(), group.location.as_str());
            let (tags, default_tags) = (to_json(&group.tags)?, to_json(&group.default_tags)?);
            let (updated_at, revision) = (group.updated_at.as_millis(), count(group.revision)?);
            if current.is_some() {
                let values = values![key, location, tags, default_tags, updated_at, revision];
                tx.execute(UPDATE, values).await?;
            } else {
                let values = values![
                    key,
                    group.id.plane.to_ascii_lowercase(),
                    group.id.plane.as_str(),
                    group.id.name.as_str(),
                    location,
                    tags,
                    default_tags,
                    group.created_at.as_millis(),
                    updated_at,
                    revision,
                ];
                tx.execute(INSERT, values).await?;
            }
            Ok(group)
        })
    }

    async fn get_resource_group(&self, id: &GroupId) -> Result<ResourceGroup, Error> {
        get(&self.database, id).await
    }

    async fn list_resource_groups(&self, plane: &str) -> Result<Vec<ResourceGroup>, Error> {
        let plane_key = plane.to_ascii_lowercase();
        let rows = self.database.read(LIST, values![plane_key]).await?;
        rows.iter().map(read).collect()
    }

    async fn delete_resource_group(
        &self,
        new: NewGroupOperation,
        precondition: &Precondition,
    ) -> Result<GroupDeletion, Error> {
        transaction!(self, |tx| group_operations::delete_group(
            &mut tx,
            &new,
            precondition
        ))
    }
}

pub(crate) async fn get(database: &Database, id: &GroupId) -> Result<ResourceGroup, Error> {
    let rows = database.read(GET, values![id.key()]).await?;
    read(rows.first().ok_or(Error::NoSuchGroup)?)
}

/// The recorded id of the group, which stays as it is until the transaction ends and is not being deleted.
pub(crate) async fn hold(transaction: &mut Transaction, id: &GroupId) -> Result<GroupId, Abort> {
    let group = held(transaction, id).await?;
    match group.deletion {
        Some(deletion) => Err(Error::GroupDeleting(deletion).into()),
        None => Ok(group.id),
    }
}

/// The same for the children of its deletion.
pub(crate) async fn hold_even_deleting(
    transaction: &mut Transaction,
    id: &GroupId,
) -> Result<GroupId, Abort> {
    Ok(held(transaction, id).await?.id)
}

async fn held(transaction: &mut Transaction, id: &GroupId) -> Result<ResourceGroup, Abort> {
    let row = transaction.fetch_optional(HOLD, values![id.key()]).await?;
    Ok(read(&row.ok_or(Error::NoSuchGroup)?)?)
}

/// The group, which nobody else holds or changes until the transaction ends.
pub(crate) async fn lock(
    transaction: &mut Transaction,
    id: &GroupId,
) -> Result<Option<ResourceGroup>, Abort> {
    let row = transaction.fetch_optional(LOCK, values![id.key()]).await?;
    Ok(row.as_ref().map(read).transpose()?)
}

/// Writes which operation deletes the group.
pub(crate) async fn set_deletion(
    transaction: &mut Transaction,
    id: &GroupId,
    deletion: Option<OperationId>,
) -> Result<(), Abort> {
    let deletion = deletion.map(|operation| operation.to_string());
    transaction
        .execute(SET_DELETION, values![id.key(), deletion])
        .await?;
    Ok(())
}

pub(crate) async fn delete(transaction: &mut Transaction, id: &GroupId) -> Result<(), Abort> {
    transaction.execute(DELETE, values![id.key()]).await?;
    Ok(())
}

fn read(row: &Row) -> Result<ResourceGroup, Error> {
    let deletion: Option<&str> = row.get("deletion")?;
    Ok(ResourceGroup {
        id: GroupId {
            plane: row.get("plane")?,
            name: row.get("name")?,
        },
        location: row.get("location")?,
        tags: from_json(row.get("tags")?)?,
        default_tags: from_json(row.get("default_tags")?)?,
        deletion: deletion.map(parsed).transpose()?,
        created_at: Timestamp::from_millis(row.get("created_at")?),
        updated_at: Timestamp::from_millis(row.get("updated_at")?),
        revision: row.count("revision")?,
    })
}
